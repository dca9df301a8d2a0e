// A connection over a pair of sockets, with a clock that the test moves: what is late, and who.
#include "server/connections/connection.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "weir/clock.h"

namespace weir::connection_test {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
constexpr Duration kDeadline = std::chrono::seconds(10);

// Lines. "late" is answered when the test says so, as the HTTP front does it: first the answer is
// there, then a posted flush writes it. Others are answered at once, in capitals of their number.
class Lines : public Protocol {
 public:
  explicit Lines(Link& link) : link_(link) {}
  size_t Receive(std::string_view in, const Turn&) override {
    size_t used = 0;
    while (!waiting_ && !link_.full()) {
      const size_t end = in.find('\n', used);
      if (end == std::string_view::npos) break;
      if (in.substr(used, end - used) == "late") {
        waiting_ = true;
      } else {
        link_.out().append(in.substr(used, end + 1 - used));
      }
      used = end + 1;
    }
    partial_ = used < in.size();
    return used;
  }
  void Answer() {
    waiting_ = false;
    link_.out().append("answer\n");
    link_.Post([this](const Turn&) { link_.Flush(); });
  }
  void Drain(const Turn&) override {}
  void HalfClosed(const Turn&) override { half_closed += 1; }
  bool idle() const override { return !waiting_ && !partial_; }
  bool answering() const override { return waiting_; }
  bool done() const override { return false; }
  int half_closed = 0;

 private:
  Link& link_;
  bool waiting_ = false, partial_ = false;
};

struct LinesFront : Front {
  std::string_view name() const override { return "lines"; }
  std::string_view alpn() const override { return ""; }
  std::unique_ptr<Protocol> Accept(Link& link) override {
    auto lines = std::make_unique<Lines>(link);
    last = lines.get();
    return lines;
  }
  Lines* last = nullptr;
};

class Connections : public ::testing::Test, public Connection::Owner {
 protected:
  Connections() {
    std::array<int, 2> ends;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      std::abort();
    }
    peer_ = FileDescriptor(ends[0]);
    connection_ = std::make_unique<Connection>(loop_, Stream(FileDescriptor(ends[1]), nullptr),
                                               Address{}, front_, *this, counters_);
  }
  ~Connections() override {
    if (connection_ != nullptr) connection_->Close();
    loop_.Round(0);
  }
  void Remove(Connection&) override { loop_.DeleteLater(std::move(connection_)); }
  void Grew(int64_t bytes) override { bytes_ += bytes; }

  void Say(std::string_view text) {
    ASSERT_EQ(send(peer_.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    Rounds();
  }
  void Rounds() {
    for (int i = 0; i < 4; ++i) loop_.Round(0);
  }
  std::string Heard() {
    std::array<char, 65536> buffer;
    const ssize_t n = recv(peer_.get(), buffer.data(), buffer.size(), 0);
    return n <= 0 ? "" : std::string(buffer.data(), static_cast<size_t>(n));
  }
  void TickAt(Instant now) {
    clock_.Set(now);
    connection_->Tick(Turn(clock_), kDeadline);
  }
  bool open() const { return connection_ != nullptr; }

  ManualClock clock_{kStart};
  Loop loop_{clock_};
  LinesFront front_;
  PortCounters counters_;
  FileDescriptor peer_;
  int64_t bytes_ = 0;
  std::unique_ptr<Connection> connection_;
};

// Nothing was ever written to it, and the tick finds an answer that is to be written.
TEST_F(Connections, AnAnswerThatIsAboutToBeWrittenIsNotLate) {
  Say("late\n");
  front_.last->Answer();
  TickAt(kStart + std::chrono::milliseconds(250));
  ASSERT_TRUE(open());
  Rounds();
  EXPECT_EQ(Heard(), "answer\n");
}

TEST_F(Connections, AnAnswerAfterALongWaitIsNotLateEither) {
  Say("early\n");
  EXPECT_EQ(Heard(), "early\n");
  Say("late\n");
  TickAt(kStart + kDeadline / 2);
  TickAt(kStart + 20 * kDeadline);
  ASSERT_TRUE(open());
  front_.last->Answer();
  TickAt(kStart + 40 * kDeadline);
  ASSERT_TRUE(open());
  Rounds();
  EXPECT_EQ(Heard(), "answer\n");
}

TEST_F(Connections, APeerThatReadsSlowlyIsNotLateAndOneThatReadsNothingIs) {
  Say("hello\n");
  Heard();
  std::string lines;
  for (int i = 0; i < 12'000; ++i) lines += "a line that is answered with itself\n";
  size_t sent = 0;
  Instant now = kStart;
  // Reads a little every eight seconds: what it sent meanwhile waits for far longer.
  for (int i = 0; i < 40 && sent < lines.size(); ++i) {
    const ssize_t n = send(peer_.get(), lines.data() + sent, lines.size() - sent, 0);
    if (n > 0) sent += static_cast<size_t>(n);
    Rounds();
    Heard();
    Rounds();
    TickAt(now += std::chrono::seconds(8));
    ASSERT_TRUE(open()) << i;
  }
  TickAt(now + kDeadline + std::chrono::seconds(1));
  EXPECT_FALSE(open());
  EXPECT_EQ(counters_.timed_out.Get(), 1u);
}

TEST_F(Connections, ARequestThatDoesNotEndIsLate) {
  Say("half a li");
  TickAt(kStart + kDeadline);
  EXPECT_TRUE(open());
  TickAt(kStart + kDeadline + std::chrono::milliseconds(1));
  EXPECT_FALSE(open());
}

TEST_F(Connections, WhoClosesItsSendingSideIsAnsweredWhatItIsOwed) {
  Say("late\nmore\n");
  shutdown(peer_.get(), SHUT_WR);
  Rounds();
  ASSERT_TRUE(open());
  EXPECT_EQ(front_.last->half_closed, 1);
  TickAt(kStart + 3 * kDeadline);
  ASSERT_TRUE(open());
  front_.last->Answer();
  Rounds();
  EXPECT_EQ(Heard(), "answer\nmore\n");
  EXPECT_FALSE(open());
}

TEST_F(Connections, WhoIsOwedNothingIsClosedWithItsSendingSide) {
  Say("one\ntw");
  shutdown(peer_.get(), SHUT_WR);
  Rounds();
  EXPECT_EQ(Heard(), "one\n");
  EXPECT_FALSE(open());
}

// It is not read any further, and noticed all the same.
TEST_F(Connections, WhoClosesBehindMuchThatItSentIsNoticed) {
  Say("late\n");
  const std::string more(60'000, 'x');
  ASSERT_GT(send(peer_.get(), more.data(), more.size(), 0), 40'000);
  Rounds();
  EXPECT_EQ(front_.last->half_closed, 0);
  shutdown(peer_.get(), SHUT_WR);
  Rounds();
  ASSERT_TRUE(open());
  EXPECT_EQ(front_.last->half_closed, 1);
}

TEST_F(Connections, KeepsNoMemoryWhileItIsIdle) {
  const int64_t idle = bytes_;
  Say("a line\nand half of on");
  std::string much;
  for (int i = 0; i < 2000; ++i) much += "another line\n";
  Say(much);
  for (int i = 0; i < 10; ++i) {
    Rounds();
    Heard();
  }
  Say("\n");
  Rounds();
  TickAt(kStart + std::chrono::seconds(1));
  EXPECT_LE(bytes_, idle + 4096);
}

TEST_F(Connections, ATurnIsShort) {
  std::string much;
  for (int i = 0; i < 6000; ++i) much += "another line\n";  // 78 KB
  ASSERT_GT(send(peer_.get(), much.data(), much.size(), 0), 50'000);
  // A clock that stands still does not end a round: the read does.
  EXPECT_EQ(counters_.bytes_in.Get(), 0u);
  connection_->OnReady(1);  // EPOLLIN
  connection_->TakeTurn();
  EXPECT_EQ(counters_.bytes_in.Get(), Connection::kTurnBytes);
}

// The kernel has no room for it, or it is a file: the owner closes it, for nobody would ever hear of it.
TEST_F(Connections, OneThatCannotBeWatchedSaysSo) {
  EXPECT_TRUE(connection_->watched());
  connection_->Close();
  FileDescriptor file(memfd_create("a file", MFD_CLOEXEC));
  ASSERT_TRUE(file);
  EXPECT_FALSE(loop_.Watch(file.get(), 0, nullptr));
  connection_ = std::make_unique<Connection>(loop_, Stream(std::move(file), nullptr), Address{},
                                             front_, *this, counters_);
  EXPECT_FALSE(connection_->watched());
  connection_->Close();
  EXPECT_EQ(connection_, nullptr);
}

}  // namespace
}  // namespace weir::connection_test
