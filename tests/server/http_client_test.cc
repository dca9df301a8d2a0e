// The client of HTTP against a server that misbehaves as it is told.
#include "net/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "net/http_answer_reader.h"

namespace weir::http_client_test {
namespace {

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

// What becomes of one request.
struct Fate {
  std::string answer;     // empty: none
  bool close = false;     // the connection, afterwards
  std::string more = {};  // comes for ever, until the client has gone
  int pause_ms = 0;       // before each of it
};

// Answers one connection after the other, the n-th request by the n-th fate.
class FakeServer {
 public:
  explicit FakeServer(std::vector<Fate> fates) : fates_(std::move(fates)) {
    listener_ = FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 5), 0);
    socklen_t size = sizeof address;
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~FakeServer() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  HttpClientOptions Options() const {
    const std::string address = "127.0.0.1:" + std::to_string(port_);
    return {.url = *ServerUrl::Parse(address, UrlKind::kHttp),
            .token = "",
            .deadline = std::chrono::seconds(10),
            .tls = {}};
  }
  int closed() const { return closed_; }  // connections
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void Run() {
    while (true) {
      FileDescriptor peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      Serve(peer.get());
      peer.Close();
      closed_ += 1;
    }
  }

  void Serve(int peer) {
    std::string in;
    std::array<char, 4096> buffer;
    while (true) {
      const size_t head = in.find("\r\n\r\n");
      if (head == std::string::npos) {
        // Whoever stops the test closes the listener, and the client its end.
        std::array<pollfd, 2> waiting = {pollfd{peer, POLLIN, 0},
                                         pollfd{listener_.get(), POLLHUP, 0}};
        poll(waiting.data(), 2, -1);
        if ((waiting[1].revents & POLLHUP) != 0) return;
        const ssize_t n = recv(peer, buffer.data(), buffer.size(), 0);
        if (n <= 0) return;
        in.append(buffer.data(), static_cast<size_t>(n));
        continue;
      }
      const size_t at = in.find("Content-Length: ");
      const size_t length = std::stoul(in.substr(at + 16));
      if (in.size() < head + 4 + length) {
        const ssize_t n = recv(peer, buffer.data(), buffer.size(), 0);
        if (n <= 0) return;
        in.append(buffer.data(), static_cast<size_t>(n));
        continue;
      }
      const Fate fate = Next(in.substr(0, in.find('\r')));
      in.erase(0, head + 4 + length);
      (void)!send(peer, fate.answer.data(), fate.answer.size(), MSG_NOSIGNAL);
      if (fate.close || !fate.more.empty()) return SendMore(peer, fate);
    }
  }

  static void SendMore(int peer, const Fate& fate) {
    pollfd gone{peer, POLLRDHUP, 0};
    while (!fate.more.empty() && poll(&gone, 1, fate.pause_ms) == 0) {
      if (send(peer, fate.more.data(), fate.more.size(), MSG_NOSIGNAL) < 0) return;
    }
  }

  Fate Next(std::string request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    return requests_.size() <= fates_.size() ? fates_[requests_.size() - 1] : Fate{kOk};
  }

  const std::vector<Fate> fates_;
  FileDescriptor listener_;
  uint16_t port_ = 0;
  std::atomic<int> closed_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

TEST(HttpClient, DoesNotSendAPostAgainThatMayHaveBeenTaken) {
  FakeServer server({{kOk}, {"", true}});
  HttpClient client(server.Options());
  ASSERT_TRUE(client.Get("/a").ok());
  const Result<HttpAnswer> lost = client.Post("/b", "{}");
  ASSERT_FALSE(lost.ok());
  EXPECT_NE(lost.error().message.find("may have been carried out"), std::string::npos)
      << lost.error().message;
  EXPECT_EQ(server.requests(), (std::vector<std::string>{"GET /a HTTP/1.1", "POST /b HTTP/1.1"}));
  // And then goes on.
  EXPECT_TRUE(client.Post("/c", "{}").ok());
}

TEST(HttpClient, DoesNotSendAPostAgainWhoseAnswerWasCut) {
  FakeServer server({{kOk}, {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", true}});
  HttpClient client(server.Options());
  ASSERT_TRUE(client.Get("/a").ok());
  EXPECT_FALSE(client.Post("/b", "{}").ok());
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(HttpClient, SendsAGetAgainOverANewConnection) {
  FakeServer server({{kOk}, {"", true}});
  HttpClient client(server.Options());
  ASSERT_TRUE(client.Get("/a").ok());
  EXPECT_TRUE(client.Get("/b").ok());
  EXPECT_EQ(server.requests(),
            (std::vector<std::string>{"GET /a HTTP/1.1", "GET /b HTTP/1.1", "GET /b HTTP/1.1"}));
}

TEST(HttpClient, DoesNotSendAgainWhatWasSentOverANewConnection) {
  FakeServer server({{"", true}});
  HttpClient client(server.Options());
  EXPECT_FALSE(client.Get("/a").ok());
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpClient, NoticesBeforeAPostThatItsConnectionWasClosed) {
  FakeServer server({{kOk, true}, {kOk}});
  HttpClient client(server.Options());
  ASSERT_TRUE(client.Get("/a").ok());
  while (server.closed() == 0) std::this_thread::yield();
  EXPECT_TRUE(client.Post("/b", "{}").ok());
  EXPECT_EQ(server.requests(), (std::vector<std::string>{"GET /a HTTP/1.1", "POST /b HTTP/1.1"}));
}

TEST(HttpClient, TellsThatNobodyListens) {
  HttpClientOptions options = FakeServer({}).Options();  // which is gone at once
  HttpClient client(options);
  const Result<HttpAnswer> answer = client.Post("/a", "{}");
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message.find("--server ADDRESS"), std::string::npos)
      << answer.error().message;
}

// However it keeps the client busy.
TEST(HttpClient, GivesUpAnAnswerThatDoesNotEnd) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string interim;
  for (int i = 0; i < 1000; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  for (const Fate& fate :
       {Fate{"", false, interim}, Fate{"HTTP/1.1 200 ", false, "O", 5},
        Fate{head, false, "1\r\nx\r\n", 5}, Fate{"HTTP/1.1 200 OK\r\n\r\n", false, "x", 5}}) {
    FakeServer server({fate});
    HttpClientOptions options = server.Options();
    options.deadline = std::chrono::milliseconds(100);
    HttpClient client(options);
    const Result<HttpAnswer> answer = client.Get("/a");
    ASSERT_FALSE(answer.ok());
    EXPECT_NE(answer.error().message.find("it took too long"), std::string::npos)
        << answer.error().message;
  }
}

std::string Read(const std::vector<std::string>& pieces, bool end = false) {
  HttpAnswerReader reader;
  for (const std::string& piece : pieces) {
    if (!reader.Feed(piece)) return "bad";
  }
  if (end && !reader.End()) return "cut";
  return reader.done() ? std::to_string(reader.status()) + " " + reader.TakeBody() : "more";
}

TEST(HttpAnswerReader, ReadsWhatProxiesSend) {
  EXPECT_EQ(Read({"HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\n{}"}), "200 {}");
  EXPECT_EQ(Read({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n"}), "204 ");
  EXPECT_EQ(Read({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3;x=y\r\n{\"a\r\n",
                  "4\r\n\":1}\r\n0\r\nT: x\r\n\r\n"}),
            "200 {\"a\":1}");
  EXPECT_EQ(Read({"HTTP/1.0 502 Bad\r\nServer: x\r\n\r\n<html>"}, true), "502 <html>");
}

TEST(HttpAnswerReader, RefusesWhatIsNoAnswer) {
  EXPECT_EQ(Read({"-ERR unknown command\r\n\r\n"}), "bad");
  EXPECT_EQ(Read({"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"}), "bad");
  EXPECT_EQ(Read({"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"}), "bad");
  EXPECT_EQ(Read({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\n"}), "bad");
  EXPECT_EQ(Read({std::string(100'000, 'x')}), "bad");
  EXPECT_EQ(Read({"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}"}, true), "cut");
}

TEST(HttpAnswerReader, ReadsTheSameHoweverItIsCut) {
  const std::string all =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n";
  for (size_t at = 0; at <= all.size(); ++at) {
    EXPECT_EQ(Read({all.substr(0, at), all.substr(at)}), "200 abc0123456789") << at;
  }
}

}  // namespace
}  // namespace weir::http_client_test
