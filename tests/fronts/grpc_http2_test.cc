// gRPC on HTTP/2: what the protocol asks for, and what it does about those who do not keep to it.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include "fronts/grpc/frame_meter.h"
#include "fronts/grpc/grpc_timeout.h"
#include "fronts/grpc/http2_session.h"
#include "tests/fronts/grpc_client.h"

namespace weir::testing::grpc_http2_test {
namespace {

constexpr std::string_view kRules =
    "namespaces: {n: {resources: {r: {limits: [{limit: 1000000, per: 1d}]}}}}";
const std::string kPeek = "/weir.v1.Limiter/Peek";

std::string Question() {
  v1::LimitRequest request;
  request.set_namespace_("n");
  request.set_resource("r");
  request.set_subject("s");
  return request.SerializeAsString();
}

class GrpcHttp2 : public ::testing::Test {
 protected:
  // The client's frames, then some of its own making.
  void GiveRaw(const std::string& frames) {
    client_.Give(client_.TakeBytes());
    client_.Give(frames);
    client_.Listen();
  }

  GrpcRig rig_{Rules(kRules)};
  GrpcClient& client_ = rig_.client;
};

std::string Frame(unsigned char type, unsigned char flags, uint32_t stream,
                  const std::string& payload) {
  std::string frame(9, '\0');
  frame[0] = static_cast<char>(payload.size() >> 16);
  frame[1] = static_cast<char>(payload.size() >> 8);
  frame[2] = static_cast<char>(payload.size());
  frame[3] = static_cast<char>(type);
  frame[4] = static_cast<char>(flags);
  for (size_t i = 0; i < 4; ++i) frame[5 + i] = static_cast<char>(stream >> (24 - 8 * i));
  return frame + payload;
}

TEST_F(GrpcHttp2, AnAnswerIsHeadersAMessageAndTrailers) {
  const ClientCall& call = client_.Call(kPeek, Question());
  EXPECT_EQ(call.Header(":status"), "200");
  EXPECT_EQ(call.Header("content-type"), "application/grpc");
  EXPECT_EQ(call.header_blocks, 2);
  EXPECT_EQ(call.messages().size(), 1u);
  EXPECT_EQ(call.status(), "0");
  EXPECT_EQ(call.message(), "");
  EXPECT_EQ(call.error, 0u);
  EXPECT_TRUE(rig_.protocol->idle());
  EXPECT_FALSE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, AnErrorIsTrailersOnly) {
  const ClientCall& call = client_.Call("/weir.v1.Limiter/Nothing", Question());
  EXPECT_EQ(call.Header(":status"), "200");
  EXPECT_EQ(call.header_blocks, 1);
  EXPECT_EQ(call.status(), "12");
  EXPECT_EQ(call.data, "");
  EXPECT_EQ(client_.Call("weir.v1.Limiter/Request", Question()).status(), "");
  EXPECT_EQ(client_.Call("/weir.v1.Limiter/Requestt", Question()).status(), "12");
}

TEST_F(GrpcHttp2, OtherMethodsAndContentAreRefusedAsHttpDoes) {
  EXPECT_EQ(client_.Call(kPeek, "", {{":method", "GET"}}).Header(":status"), "405");
  EXPECT_EQ(client_.Call(kPeek, "", {{":method", "PUT"}}).Header("allow"), "POST");
  for (const char* type :
       {"application/json", "application/grpc-web", "application/grpc+json", "text/plain", ""}) {
    EXPECT_EQ(client_.Call(kPeek, Question(), {{"content-type", type}}).Header(":status"), "415")
        << type;
  }
  for (const char* type : {"application/grpc+proto", "application/grpc;charset=utf-8"}) {
    EXPECT_EQ(client_.Call(kPeek, Question(), {{"content-type", type}}).status(), "0") << type;
  }
}

TEST_F(GrpcHttp2, TeMayBeMissingButNotBeSomethingElse) {
  EXPECT_EQ(client_.Call(kPeek, Question(), {{"te", ""}}).status(), "0");
  const ClientCall& call = client_.Call(kPeek, Question(), {{"te", "gzip"}});
  EXPECT_EQ(call.error, static_cast<uint32_t>(NGHTTP2_PROTOCOL_ERROR));
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
}

TEST(GrpcTimeout, IsDigitsAndAUnit) {
  EXPECT_EQ(ParseGrpcTimeout("1H"), Duration(std::chrono::hours(1)));
  EXPECT_EQ(ParseGrpcTimeout("2M"), Duration(std::chrono::minutes(2)));
  EXPECT_EQ(ParseGrpcTimeout("3S"), Duration(std::chrono::seconds(3)));
  EXPECT_EQ(ParseGrpcTimeout("20m"), Duration(std::chrono::milliseconds(20)));
  EXPECT_EQ(ParseGrpcTimeout("5u"), Duration(5000));
  EXPECT_EQ(ParseGrpcTimeout("00000007n"), Duration(7));
  EXPECT_EQ(ParseGrpcTimeout("99999999H"), kNever);
  for (const char* text : {"", "S", "5", "-1S", "1s", "1.5S", "123456789S", " 1S", "1S "}) {
    EXPECT_EQ(ParseGrpcTimeout(text), std::nullopt) << text;
  }
}

TEST_F(GrpcHttp2, ACallPastItsDeadlineIsNotDecided) {
  EXPECT_EQ(client_.Call(kPeek, Question(), {{"grpc-timeout", "20m"}}).status(), "0");
  EXPECT_EQ(client_.Call(kPeek, Question(), {{"grpc-timeout", "0m"}}).status(), "4");
  EXPECT_EQ(client_.Call(kPeek, Question(), {{"grpc-timeout", "soon"}}).status(), "3");

  const int32_t stream = client_.Open(kPeek, {{"grpc-timeout", "20m"}});
  client_.Exchange();
  client_.now += std::chrono::milliseconds(20);
  client_.Send(stream, Framed(Question()), true);
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "4");
}

TEST_F(GrpcHttp2, AStreamingCallPastItsDeadlineEndsWithTheNextTick) {
  const int32_t stream = client_.Open("/weir.v1.Limiter/Session", {{"grpc-timeout", "1S"}});
  client_.Exchange();
  rig_.protocol->Tick(client_.now + std::chrono::milliseconds(999));
  client_.Exchange();
  EXPECT_FALSE(client_[stream].ended);
  rig_.protocol->Tick(client_.now + std::chrono::seconds(1));
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "4");
}

TEST_F(GrpcHttp2, AUnaryCallThatDoesNotComeIsGivenUp) {
  const int32_t stream = client_.Open(kPeek);
  client_.Send(stream, Framed(Question()).substr(0, 3), false);
  client_.Exchange();
  EXPECT_FALSE(rig_.protocol->idle());
  rig_.protocol->Tick(client_.now + std::chrono::seconds(31));
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "4");
  EXPECT_TRUE(client_[stream].closed);
  EXPECT_TRUE(rig_.protocol->idle());
}

TEST_F(GrpcHttp2, AFrameThatDoesNotEndClosesTheConnection) {
  client_.Exchange();
  client_.Give(std::string("\0\0", 2));
  EXPECT_FALSE(rig_.protocol->idle());
  rig_.protocol->Tick(client_.now + std::chrono::seconds(29));
  EXPECT_FALSE(rig_.protocol->done());
  rig_.protocol->Tick(client_.now + std::chrono::seconds(31));
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, AConnectionThatIsAlwaysWithinSomeFrameGoesOn) {
  client_.Exchange();
  const std::string ping = Frame(6, 0, 0, std::string(8, 'p'));
  client_.Give(ping.substr(0, 5));
  for (int i = 0; i < 100; ++i) {
    client_.now += std::chrono::seconds(1);
    client_.Give(ping.substr(5) + ping.substr(0, 5));
    rig_.protocol->Tick(client_.now);
  }
  EXPECT_FALSE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, AConnectionThatSaysNothingIsClosed) {
  rig_.protocol->Tick(client_.now);
  rig_.protocol->Tick(client_.now + std::chrono::seconds(29));
  EXPECT_FALSE(rig_.protocol->done());
  rig_.protocol->Tick(client_.now + std::chrono::seconds(31));
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, CompressedMessagesAreNotUnderstood) {
  const int32_t stream = client_.Open(kPeek, {{"grpc-encoding", "gzip"}});
  std::string framed = Framed(Question());
  framed[0] = 1;
  client_.Send(stream, framed, true);
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "12");
  EXPECT_EQ(client_[stream].Header("grpc-accept-encoding"), "identity");
}

TEST_F(GrpcHttp2, AUnaryCallHasOneWholeMessage) {
  const auto answer = [&](const std::string& bytes) {
    const int32_t stream = client_.Open(kPeek);
    client_.Send(stream, bytes, true);
    client_.Exchange();
    return client_[stream].status();
  };
  EXPECT_EQ(answer(""), "12");
  EXPECT_EQ(answer(std::string(1, 0)), "13");
  EXPECT_EQ(answer(std::string("\0\0\0\0", 4)), "13");
  EXPECT_EQ(answer(std::string("\0\0\0\0\2x", 6)), "13");
  EXPECT_EQ(answer(std::string("\2\0\0\0\0", 5)), "13");
  EXPECT_EQ(answer(Framed(Question()) + Framed(Question())), "12");
  EXPECT_EQ(answer(Framed(Question())), "0");
  const int32_t stream = client_.Open(kPeek, {}, true);
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "12");
}

TEST_F(GrpcHttp2, AMessageThatIsTooLongIsRefusedByItsHead) {
  const int32_t stream = client_.Open(kPeek);
  client_.Send(stream, std::string("\0\x7f\xff\xff\xff", 5), false);
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "8");
  EXPECT_TRUE(client_[stream].closed);
  EXPECT_EQ(client_[stream].error, 0u);
  EXPECT_TRUE(rig_.protocol->idle());
}

TEST_F(GrpcHttp2, AMessageOfAlmostAMegabyteIsRead) {
  v1::LimitRequest request;
  request.set_namespace_("n");
  request.set_resource("r");
  request.set_subject(std::string(1'000'000, 's'));
  EXPECT_EQ(client_.Call(kPeek, request.SerializeAsString()).status(), "3");
}

TEST_F(GrpcHttp2, AllCallsTogetherHoldNoMoreThanTheConnectionMay) {
  std::vector<int32_t> streams;
  for (int i = 0; i < 6; ++i) {
    streams.push_back(client_.Open(kPeek));
    client_.Send(streams.back(), Framed(std::string(1'000'000, 'x')).substr(0, 900'000), false);
    client_.Exchange();
  }
  int refused = 0;
  for (const int32_t stream : streams) refused += client_[stream].status() == "8";
  EXPECT_EQ(refused, 2);
}

TEST_F(GrpcHttp2, HeadersThatAreTooLongAreRefused) {
  const std::string value(4000, 'v');
  const Headers long_headers = {
      {"a", value}, {"b", value}, {"c", value}, {"d", value}, {"e", value}};
  EXPECT_EQ(client_.Call(kPeek, Question(), long_headers).status(), "8");
  Headers far_too_long;
  for (int i = 0; i < 17; ++i) far_too_long.emplace_back("h" + std::to_string(i), value);
  EXPECT_NE(client_.Call(kPeek, Question(), far_too_long).error, 0u);
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
}

TEST_F(GrpcHttp2, ACallMayComeInPieces) {
  const int32_t first = client_.Open(kPeek);
  client_.Send(first, Framed(Question()), true);
  const std::string bytes = client_.TakeBytes();
  for (size_t split = 0; split <= bytes.size(); ++split) {
    GrpcRig rig(Rules(kRules));
    rig.client.Open(kPeek);  // so that the client expects an answer
    rig.client.TakeBytes();
    rig.client.Give(std::string_view(bytes).substr(0, split));
    if (split > 0 && split < bytes.size()) {
      EXPECT_FALSE(split < 24 && rig.protocol->idle());
    }
    rig.client.Give(std::string_view(bytes).substr(split));
    rig.client.Listen();
    EXPECT_EQ(rig.client[1].status(), "0") << split;
    EXPECT_EQ(rig.client[1].messages().size(), 1u);
    EXPECT_TRUE(rig.protocol->idle());
  }
}

TEST_F(GrpcHttp2, ACallMayComeByteByByte) {
  const int32_t stream = client_.Open(kPeek);
  client_.Send(stream, Framed(Question()), true);
  for (const char byte : client_.TakeBytes()) client_.Give({&byte, 1});
  client_.Listen();
  EXPECT_EQ(client_[stream].status(), "0");
}

TEST_F(GrpcHttp2, ManyStreamsAtOnce) {
  std::vector<int32_t> streams;
  for (int i = 0; i < 250; ++i) streams.push_back(client_.Open(kPeek));
  client_.Exchange();
  for (const int32_t stream : streams) client_.Send(stream, Framed(Question()), true);
  client_.Exchange();
  for (const int32_t stream : streams) EXPECT_EQ(client_[stream].status(), "0");
  EXPECT_TRUE(rig_.protocol->idle());
}

TEST_F(GrpcHttp2, MoreStreamsThanAllowedAreRefused) {
  std::vector<int32_t> streams;
  for (int i = 0; i < 260; ++i) streams.push_back(client_.Open(kPeek));
  client_.Exchange();
  int refused = 0;
  for (const int32_t stream : streams) {
    refused += client_[stream].error == NGHTTP2_REFUSED_STREAM;
  }
  EXPECT_EQ(refused, 4);
}

TEST_F(GrpcHttp2, AResetCallLeavesNothingBehind) {
  for (int i = 0; i < 100; ++i) {
    const int32_t stream = client_.Open(i % 2 == 0 ? kPeek : "/weir.v1.Limiter/Session");
    client_.Send(stream, Framed(Question()).substr(0, 7), false);
    client_.Exchange();
    client_.Reset(stream);
    client_.Exchange();
    EXPECT_TRUE(rig_.protocol->idle());
  }
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
}

TEST_F(GrpcHttp2, RapidResetsEndTheConnection) {
  for (int i = 0; i < 3000 && client_.goaways.empty(); ++i) {
    const int32_t stream = client_.Open(kPeek);
    std::string bytes = client_.TakeBytes();
    client_.Reset(stream);
    bytes += client_.TakeBytes();
    client_.Give(bytes);
    client_.Listen();
  }
  EXPECT_EQ(client_.goaways, (std::vector<uint32_t>{NGHTTP2_ENHANCE_YOUR_CALM}));
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, FloodsOfFramesThatBringNothingEndTheConnection) {
  const std::string ping = Frame(6, 0, 0, std::string(8, 'p'));
  const std::string settings = Frame(4, 0, 0, "");
  const std::string unknown = Frame(0xb, 0, 0, "x");
  const std::string priority = Frame(2, 0, 1, std::string("\0\0\0\0\0", 5));
  for (const std::string& frame : {ping, settings, unknown, priority}) {
    GrpcRig rig(Rules(kRules));
    rig.client.Exchange();
    for (int i = 0; i < 3000 && !rig.protocol->done(); ++i) rig.client.Give(frame);
    EXPECT_TRUE(rig.protocol->done()) << int{frame[3]};
    const std::string last = Frame(7, 0, 0, std::string("\0\0\0\0\0\0\0\xb", 8));
    ASSERT_GE(rig.link.out().size(), last.size());
    EXPECT_EQ(rig.link.out().substr(rig.link.out().size() - last.size()), last) << int{frame[3]};
  }
}

TEST_F(GrpcHttp2, PeersThatCallMayPingInProportion) {
  for (int i = 0; i < 5000; ++i) {
    nghttp2_submit_ping(client_.session(), NGHTTP2_FLAG_NONE, nullptr);
    ASSERT_EQ(client_.Call(kPeek, Question()).status(), "0");
  }
  EXPECT_FALSE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, WhatIsNotHttp2IsClosedWithoutAWord) {
  client_.Give("GET / HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_TRUE(rig_.protocol->done());
  EXPECT_EQ(rig_.link.out(), "");
  EXPECT_EQ(rig_.protocol->Receive("more", client_.now), 4u);
}

TEST_F(GrpcHttp2, ABrokenFrameEndsTheConnection) {
  GiveRaw(Frame(4, 0, 0, "12345"));  // settings come in sixes
  EXPECT_EQ(client_.goaways, (std::vector<uint32_t>{NGHTTP2_FRAME_SIZE_ERROR}));
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, ReadingStopsWhileAnswersWait) {
  client_.Exchange();
  rig_.link.out().assign(kMostUnsent + 1, 'x');
  EXPECT_EQ(rig_.protocol->Receive(Frame(6, 0, 0, std::string(8, 'p')), client_.now), 0u);
  rig_.link.out().clear();
  EXPECT_EQ(rig_.protocol->Receive(Frame(6, 0, 0, std::string(8, 'p')), client_.now), 17u);
  EXPECT_EQ(rig_.link.out().size(), 17u);
}

TEST_F(GrpcHttp2, APeerThatReadsNothingIsClosed) {
  // A window of nothing: answers pile up in the calls of a stream of reflection requests.
  const nghttp2_settings_entry no_window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(client_.session(), NGHTTP2_FLAG_NONE, &no_window, 1);
  const int32_t stream = client_.Open("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
  const std::string file = "envoy/service/ratelimit/v3/rls.proto";
  const std::string ask = Framed("\x1a" + std::string(1, static_cast<char>(file.size())) + file);
  for (int i = 0; i < 3000 && !rig_.protocol->done(); ++i) {
    client_.Send(stream, ask, false);
    client_.Exchange();
  }
  EXPECT_TRUE(rig_.protocol->done());
  EXPECT_EQ(client_.goaways, (std::vector<uint32_t>{NGHTTP2_ENHANCE_YOUR_CALM}));
}

TEST_F(GrpcHttp2, AnAnswerThatNobodyReadsIsDropped) {
  const nghttp2_settings_entry no_window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
  nghttp2_submit_settings(client_.session(), NGHTTP2_FLAG_NONE, &no_window, 1);
  const int32_t stream = client_.Open(kPeek);
  client_.Send(stream, Framed(Question()), true);
  client_.Exchange();
  EXPECT_FALSE(rig_.protocol->idle());
  EXPECT_FALSE(client_[stream].ended);
  rig_.protocol->Tick(client_.now + std::chrono::seconds(31));
  client_.Exchange();
  EXPECT_EQ(client_[stream].error, static_cast<uint32_t>(NGHTTP2_CANCEL));
  EXPECT_TRUE(rig_.protocol->idle());
}

TEST_F(GrpcHttp2, DrainingFinishesWhatWasBegun) {
  const int32_t unary = client_.Open(kPeek);
  const int32_t session = client_.Open("/weir.v1.Limiter/Session");
  client_.Exchange();
  rig_.protocol->Drain();
  EXPECT_FALSE(rig_.protocol->idle());
  client_.Exchange();
  ASSERT_EQ(client_.goaway_last.size(), 2u);
  EXPECT_EQ(client_.goaway_last[0], INT32_MAX);
  EXPECT_EQ(client_.goaway_last[1], session);
  EXPECT_EQ(client_[session].status(), "14");
  EXPECT_FALSE(rig_.protocol->done());
  client_.Send(unary, Framed(Question()), true);
  client_.Exchange();
  EXPECT_EQ(client_[unary].status(), "0");
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, DrainingDoesNotWaitForEverForAPong) {
  client_.Exchange();
  rig_.protocol->Drain();
  rig_.protocol->Tick(client_.now + std::chrono::milliseconds(500));
  EXPECT_FALSE(rig_.protocol->done());
  rig_.protocol->Tick(client_.now + std::chrono::milliseconds(1500));
  EXPECT_TRUE(rig_.protocol->done());
}

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
        reply.append("|").append(context.metadata.Find("x-key").value_or("none"));
        reply.append("|").append(context.metadata.Find("te").value_or("none"));
        EXPECT_EQ(context.now, kGrpcStart);
        return {};
      });
  EXPECT_EQ(client_.Call("/t.T/Echo", "hi", {{"x-key", "v"}, {"x-other", "w"}}).messages(),
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
    void OnEnd(Instant) override { ends += 1; }
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
}  // namespace weir::testing::grpc_http2_test
