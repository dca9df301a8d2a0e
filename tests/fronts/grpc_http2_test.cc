// gRPC on HTTP/2: what the protocol asks for, and what it does about those who do not keep to it.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

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
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::milliseconds(999)));
  client_.Exchange();
  EXPECT_FALSE(client_[stream].ended);
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::seconds(1)));
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "4");
}

TEST_F(GrpcHttp2, AUnaryCallThatDoesNotComeIsGivenUp) {
  const int32_t stream = client_.Open(kPeek);
  client_.Send(stream, Framed(Question()).substr(0, 3), false);
  client_.Exchange();
  EXPECT_FALSE(rig_.protocol->idle());
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::seconds(31)));
  client_.Exchange();
  EXPECT_EQ(client_[stream].status(), "4");
  EXPECT_TRUE(client_[stream].closed);
  EXPECT_TRUE(rig_.protocol->idle());
}

TEST_F(GrpcHttp2, AFrameThatDoesNotEndClosesTheConnection) {
  client_.Exchange();
  client_.Give(std::string("\0\0", 2));
  EXPECT_FALSE(rig_.protocol->idle());
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::seconds(29)));
  EXPECT_FALSE(rig_.protocol->done());
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::seconds(31)));
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, AConnectionThatIsAlwaysWithinSomeFrameGoesOn) {
  client_.Exchange();
  const std::string ping = Frame(6, 0, 0, std::string(8, 'p'));
  client_.Give(ping.substr(0, 5));
  for (int i = 0; i < 100; ++i) {
    client_.now += std::chrono::seconds(1);
    client_.Give(ping.substr(5) + ping.substr(0, 5));
    rig_.protocol->Tick(rig_.link.At(client_.now));
  }
  EXPECT_FALSE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, AConnectionThatSaysNothingIsClosed) {
  rig_.protocol->Tick(rig_.link.At(client_.now));
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::seconds(29)));
  EXPECT_FALSE(rig_.protocol->done());
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::seconds(31)));
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
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
  EXPECT_EQ(client_.Call(kPeek, request.SerializeAsString()).status(), "3");
}

TEST_F(GrpcHttp2, AStrangersLongMessageIsRefused) {
  EXPECT_EQ(client_.Call(kPeek, std::string(1'000'000, 's')).status(), "8");
}

TEST_F(GrpcHttp2, AllCallsTogetherHoldNoMoreThanTheConnectionMay) {
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
  std::vector<int32_t> streams;
  for (int i = 0; i < 6; ++i) {
    streams.push_back(client_.Open(kPeek));
    client_.Send(streams.back(), Framed(std::string(1'000'000, 'x')).substr(0, 900'000), false);
    client_.Exchange();
  }
  int refused = 0;
  for (const int32_t stream : streams) refused += client_[stream].status() == "8";
  EXPECT_EQ(refused, 2) << "there is room for four";
  for (const int32_t stream : streams) {
    if (client_[stream].status().empty()) {
      client_.Send(stream, std::string(100'005, 'x'), true);
      client_.Exchange();
      EXPECT_EQ(client_[stream].status(), "5") << "it was read, and asks for nothing";
    }
  }
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
}

TEST_F(GrpcHttp2, WhatWasRefusedForItsSizeLeavesNothingBehind) {
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
  const int32_t open = client_.Open(kPeek);  // so that it never is without a call
  client_.Exchange();
  const size_t before = rig_.protocol->bytes();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client_.Call(kPeek, std::string(2'000'000, 's')).status(), "8");
    EXPECT_EQ(client_.Call(kPeek, std::string(1'000'000, 's')).status(), "3");
    EXPECT_EQ(client_.Call(kPeek, Question(), {{"authorization", std::string(8000, 'a')}}).status(),
              "0");
  }
  EXPECT_LT(rig_.protocol->bytes(), before + 16'384);
  client_.Reset(open);
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
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");  // no stranger any more
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
  EXPECT_GE(refused, 160);
  EXPECT_LE(refused, 196) << "a stranger has room for 64";
}

TEST_F(GrpcHttp2, AStrangerMayHave64CallsUnderWay) {
  std::vector<int32_t> streams;
  for (int i = 0; i < 64; ++i) streams.push_back(client_.Open(kPeek, {{"user-agent", "a-client"}}));
  client_.Exchange();
  for (const int32_t stream : streams) client_.Send(stream, Framed(Question()), true);
  client_.Exchange();
  for (const int32_t stream : streams) EXPECT_EQ(client_[stream].status(), "0");
}

TEST_F(GrpcHttp2, AStrangersHeadersTakeLittleMemory) {
  const size_t empty = rig_.protocol->bytes();
  EXPECT_LT(empty, size_t{32} << 10);
  std::vector<int32_t> streams;
  for (int i = 0; i < 90; ++i) {
    streams.push_back(client_.Open(
        kPeek, {{"authorization", std::string(7000, 'a')}, {"x-other", std::string(7000, 'b')}}));
  }
  client_.Exchange();
  EXPECT_LT(rig_.protocol->bytes(), empty + kMostOfAStranger + (size_t{16} << 10));
  int refused = 0;
  for (const int32_t stream : streams) {
    refused += client_[stream].error == NGHTTP2_REFUSED_STREAM;
  }
  EXPECT_GT(refused, 70);
  EXPECT_FALSE(rig_.protocol->done()) << "the others go on";
  client_.Send(streams[0], Framed(Question()), true);
  client_.Exchange();
  EXPECT_EQ(client_[streams[0]].status(), "0");
}

TEST_F(GrpcHttp2, AnIdleConnectionKeepsNothingForCallsToCome) {
  EXPECT_EQ(client_.Call(kPeek, Question()).status(), "0");
  rig_.protocol->Tick(rig_.link.At(client_.now));
  const size_t idle = rig_.protocol->bytes();
  for (int i = 0; i < 200; ++i) client_.Open(kPeek);
  client_.Exchange();
  EXPECT_GT(rig_.protocol->bytes(), idle + (size_t{50} << 10));
  rig_.protocol->Tick(rig_.link.At(client_.now += std::chrono::seconds(31)));
  client_.Exchange();
  rig_.protocol->Tick(rig_.link.At(client_.now));
  EXPECT_TRUE(rig_.protocol->idle());
  EXPECT_LT(rig_.protocol->bytes(), idle + (size_t{16} << 10));
}

TEST_F(GrpcHttp2, ACallThatWaitedTooLongIsNotDecided) {
  rig_.link.SetWaited(std::chrono::milliseconds(21), true);
  const ClientCall& late = client_.Call("/weir.v1.Limiter/Request", Question());
  EXPECT_EQ(late.status(), "8");
  EXPECT_TRUE(late.message().starts_with("overloaded: ")) << late.message();
  EXPECT_EQ(rig_.link.refused(), 1u);
  EXPECT_EQ(client_.Call("/grpc.health.v1.Health/Check", "").status(), "0") << "decides nothing";
  rig_.link.SetWaited(std::chrono::milliseconds(19), false);
  EXPECT_EQ(
      client_.Call("/weir.v1.Limiter/Request", Question(), {{"grpc-timeout", "15m"}}).status(), "4")
      << "its own deadline counts from when it was there";
  EXPECT_EQ(rig_.link.refused(), 2u);
  EXPECT_EQ(
      client_.Call("/weir.v1.Limiter/Request", Question(), {{"grpc-timeout", "25m"}}).status(),
      "0");
}

TEST_F(GrpcHttp2, AMessageThatDoesNotEndEndsItsStream) {
  const int32_t idle = client_.Open("/weir.v1.Limiter/Session");
  const int32_t slow = client_.Open("/weir.v1.Limiter/Session");
  const int32_t settle = client_.Open("/weir.v1.Limiter/Settle");
  client_.Exchange();
  client_.now += std::chrono::seconds(20);
  client_.Send(slow, Framed(Question()).substr(0, 7), false);
  client_.Exchange();
  rig_.protocol->Tick(rig_.link.At(client_.now += std::chrono::seconds(20)));
  client_.Exchange();
  EXPECT_EQ(client_[settle].status(), "4") << "is as good as unary";
  EXPECT_EQ(client_[slow].status(), "");
  rig_.protocol->Tick(rig_.link.At(client_.now += std::chrono::seconds(11)));
  client_.Exchange();
  EXPECT_EQ(client_[slow].status(), "4");
  EXPECT_EQ(client_[idle].status(), "") << "a session may say nothing";
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
    rig.link.Trust();
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
  EXPECT_EQ(rig_.protocol->Receive("more", rig_.link.At(client_.now)), 4u);
}

TEST_F(GrpcHttp2, ABrokenFrameEndsTheConnection) {
  GiveRaw(Frame(4, 0, 0, "12345"));  // settings come in sixes
  EXPECT_EQ(client_.goaways, (std::vector<uint32_t>{NGHTTP2_FRAME_SIZE_ERROR}));
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcHttp2, ReadingStopsWhileAnswersWait) {
  client_.Exchange();
  rig_.link.out().assign(kMostUnsent + 1, 'x');
  EXPECT_EQ(rig_.protocol->Receive(Frame(6, 0, 0, std::string(8, 'p')), rig_.link.At(client_.now)),
            0u);
  rig_.link.out().clear();
  EXPECT_EQ(rig_.protocol->Receive(Frame(6, 0, 0, std::string(8, 'p')), rig_.link.At(client_.now)),
            17u);
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
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::seconds(31)));
  client_.Exchange();
  EXPECT_EQ(client_[stream].error, static_cast<uint32_t>(NGHTTP2_CANCEL));
  EXPECT_TRUE(rig_.protocol->idle());
}

}  // namespace
}  // namespace weir::testing::grpc_http2_test
