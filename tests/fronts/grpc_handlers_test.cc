// What handlers of gRPC calls see and may do, and the meter of frames beneath them.
#include <gtest/gtest.h>

#include "fronts/grpc/frame_meter.h"
#include "fronts/grpc/http2_session.h"
#include "tests/fronts/grpc_client.h"

namespace weir::testing::grpc_handlers_test {
namespace {

// A front of its own, whose handlers the test sees through.
class GrpcHandlers : public ::testing::Test {
 protected:
  GrpcHandlers() : session_(link_, methods_, GrpcOptions{}), client_(session_, link_) {}

  MethodTable methods_;
  BareLink link_;
  Http2Session session_;
  GrpcClient client_;
};

TEST_F(GrpcHandlers, SeeTheCallersMetadataAndAddress) {
  methods_.AddUnary(
      "/t.T/Echo",
      [](std::string_view message, const CallContext& context, std::string& reply) -> GrpcStatus {
        reply.append(message).append("|").append(context.peer);
        reply.append("|").append(context.metadata.Find("authorization").value_or("none"));
        reply.append("|").append(context.metadata.Find("te").value_or("none"));
        EXPECT_EQ(Instant(context.now), kGrpcStart);
        return {};
      });
  EXPECT_EQ(client_.Call("/t.T/Echo", "hi", {{"authorization", "v"}, {"x-other", "w"}}).messages(),
            (std::vector<std::string>{"hi|192.0.2.7|v|none"}));
  EXPECT_EQ(client_.Call("/t.T/Echo", "").messages(),
            (std::vector<std::string>{"|192.0.2.7|none|none"}));
}

TEST_F(GrpcHandlers, StatusesTravelPercentEncoded) {
  methods_.AddUnary("/t.T/Fail",
                    [](std::string_view message, const CallContext&, std::string& reply) {
                      reply += "not to be seen";
                      return GrpcStatus{GrpcCode::kAborted, std::string(message)};
                    });
  const ClientCall& call = client_.Call("/t.T/Fail", "100 % gr\xc3\xbc\xc3\x9f\n");
  EXPECT_EQ(call.status(), "10");
  EXPECT_EQ(call.message(), "100 %25 gr%C3%BC%C3%9F%0A");
  EXPECT_EQ(call.data, "");
  EXPECT_EQ(client_.Call("/t.T/Fail", std::string(5000, 'x')).message().size(), 512u);
}

TEST_F(GrpcHandlers, AStreamMayBeWrittenToLater) {
  CallStream* stream = nullptr;
  int ends = 0;
  struct Later : StreamingCall {
    explicit Later(int& ends) : ends(ends) {}
    void OnMessage(std::string_view, const CallContext&) override {}
    void OnHalfClose(const CallContext&) override {}
    void OnEnd(const Turn&) override { ends += 1; }
    int& ends;
  };
  methods_.AddStreaming("/t.T/Later", [&](CallStream& call, const CallContext&) {
    stream = &call;
    return std::make_unique<Later>(ends);
  });
  const int32_t id = client_.Open("/t.T/Later", {}, true);
  client_.Exchange();
  ASSERT_NE(stream, nullptr);
  stream->Write("one");
  EXPECT_EQ(link_.flushes, 1);
  client_.Exchange();
  stream->Write("two");
  client_.Exchange();
  EXPECT_EQ(client_[id].messages(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(ends, 0);
  stream->Finish({GrpcCode::kDataLoss, "gone"});
  EXPECT_EQ(ends, 1);
  client_.Exchange();
  EXPECT_EQ(client_[id].status(), "15");
  EXPECT_EQ(client_[id].message(), "gone");
}

TEST_F(GrpcHandlers, LargeAnswersFlowAsThePeerReads) {
  methods_.AddUnary("/t.T/Large",
                    [](std::string_view, const CallContext&, std::string& reply) -> GrpcStatus {
                      reply.append(1'000'000, 'x');
                      return {};
                    });
  EXPECT_EQ(client_.Call("/t.T/Large", "").messages().at(0).size(), 1'000'000u);
}

TEST(FrameMeter, KnowsWhereFramesEnd) {
  FrameMeter meter;
  EXPECT_FALSE(meter.whole());
  meter.Walk(std::string(24, 'P'), kGrpcStart);
  EXPECT_TRUE(meter.whole());
  const std::string frame = Frame(0, 1, 1, "12345");
  for (size_t i = 0; i < frame.size(); ++i) {
    meter.Walk(frame.substr(i, 1), kGrpcStart);
    EXPECT_EQ(meter.whole(), i + 1 == frame.size()) << i;
  }
}

TEST(FrameMeter, PointsComeBackWithTime) {
  FrameMeter meter;
  meter.Walk(std::string(24, 'P'), kGrpcStart);
  const std::string ping = Frame(6, 0, 0, std::string(8, 'p'));
  int64_t count = 1;
  while (meter.Walk(ping, kGrpcStart)) count += 1;
  EXPECT_EQ(count, FrameMeter::kMostPoints);
  count = 1;
  while (meter.Walk(ping, kGrpcStart + std::chrono::seconds(1))) count += 1;
  EXPECT_EQ(count, FrameMeter::kPointsPerSecond);
}

}  // namespace
}  // namespace weir::testing::grpc_handlers_test
