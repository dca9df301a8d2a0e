// Nodes over real sockets on this machine.
#include "cluster/net/cluster_thread.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "replication/debt_replica.h"

namespace weir::cluster::cluster_thread_test {
namespace {

using namespace std::chrono_literals;

constexpr ReplicatedBucket kLimit{.capacity = 1000, .limit = 1, .per = std::chrono::hours(1)};

// A replica that one thread uses at a time.
class LockedReplica final : public Correspondent {
 public:
  LockedReplica(Origin self, Instant now) : replica_(self, {}, now) {}

  template <typename Use>
  auto Locked(Use use) {
    const std::lock_guard lock(mutex_);
    return use(replica_);
  }

  void SetPeers(std::vector<uint32_t> peers) override {
    Locked([&](DebtReplica& replica) { replica.SetPeers(peers); });
  }
  std::vector<Envelope> Tick(Instant now) override {
    return Locked([&](DebtReplica& replica) { return replica.Tick(now); });
  }
  Instant NextTick() const override {
    const std::lock_guard lock(mutex_);
    return replica_.NextTick();
  }
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override {
    return Locked([&](DebtReplica& replica) { return replica.Receive(bytes, now, good); });
  }
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override {
    return Locked([&](DebtReplica& replica) { return replica.Everything(to, cursor, most, now); });
  }

 private:
  mutable std::mutex mutex_;
  DebtReplica replica_;
};

// Both on free ports, which are told through a file.
class TwoNodes : public ::testing::Test {
 protected:
  struct Machine {
    std::unique_ptr<LockedReplica> replica;
    std::unique_ptr<ClusterThread> thread;
  };

  void SetUp() override {
    path_ = testing::TempDir() + "weir_cluster_peers_" + std::to_string(getpid());
    WritePeers("");
    Open(a_, "a", 1, "127.0.0.1:0");
    Open(b_, "b", 1, "127.0.0.1:0");
    WritePeers("a=" + a_.thread->address() + "\nb=" + b_.thread->address() + "\n");
  }
  void TearDown() override {
    for (Machine* machine : {&a_, &b_}) {
      if (machine->thread != nullptr) machine->thread->Stop();
    }
    std::filesystem::remove(path_);
  }

  void Open(Machine& machine, const std::string& id, uint32_t incarnation,
            const std::string& address, Instant silent_until = {}) {
    ClusterThread::Options options{
        address,
        *PeerSource::Parse("file:" + path_, id),
        *ClusterKey::FromText("a secret that all nodes of a cluster share"),
        {}};
    options.silent_until = silent_until;
    options.node.id = id;
    options.node.incarnation = incarnation;
    options.node.birthmark = 100 + incarnation;
    options.node.first_sequence = 1000 * incarnation;
    auto opened = ClusterThread::Open(std::move(options), clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    machine.thread = std::move(*opened);
    machine.replica =
        std::make_unique<LockedReplica>(Origin{NodeNumber(id), incarnation}, clock_.Now());
  }
  void WritePeers(const std::string& text) const {
    std::ofstream(path_ + ".new") << text;
    std::filesystem::rename(path_ + ".new", path_);
  }
  // False after ten seconds.
  bool Eventually(const std::function<bool()>& holds) {
    for (const Instant until = clock_.Now() + 10s; clock_.Now() < until;) {
      if (holds()) return true;
      std::this_thread::yield();
    }
    return false;
  }
  static bool SeesAPeer(Machine& machine) {
    const NodeStatus status = machine.thread->Status();
    return status.peers.size() == 1 && status.peers[0].alive;
  }

  SystemClock clock_;
  std::string path_;
  Machine a_, b_;
};

TEST_F(TwoNodes, ThreadsTalkAndCopyALargeStateOverAStream) {
  a_.thread->Start(*a_.replica);
  b_.thread->Start(*b_.replica);
  ASSERT_TRUE(Eventually([&] { return SeesAPeer(a_) && SeesAPeer(b_); }));
  EXPECT_TRUE(Eventually([&] { return a_.thread->ready() && b_.thread->ready(); }));
  constexpr uint64_t kKeys = 5000;
  for (uint64_t i = 0; i < kKeys; ++i) {
    a_.replica->Locked([&](DebtReplica& replica) {
      replica.Take({i, i}, kLimit, 600, clock_.Now());  // urgent: more than its share of the room
    });
  }
  a_.thread->Wake();
  const auto knows = [&](Machine& machine, uint64_t i) {
    return machine.replica->Locked([&](DebtReplica& replica) {
      return replica.Remaining({i, i}, kLimit, clock_.Now()) == 400;
    });
  };
  EXPECT_TRUE(Eventually([&] { return knows(b_, kKeys - 1); }));

  const std::string address = b_.thread->address();
  b_.thread->Stop();
  b_.thread = nullptr;
  Open(b_, "b", 2, address);
  b_.thread->Start(*b_.replica);
  ASSERT_TRUE(Eventually([&] { return b_.thread->ready(); }));
  EXPECT_TRUE(knows(b_, 0));
  EXPECT_TRUE(knows(b_, kKeys - 1));
  const NodeStatus status = b_.thread->Status();
  EXPECT_EQ(status.copies.received, 1u);
  EXPECT_GT(status.copies.bytes_in, 100'000u);
  ASSERT_TRUE(Eventually([&] { return a_.thread->Status().peers[0].incarnation == 2; }));
}

// More than may wait at all: they take no place from a member, and are closed.
TEST_F(TwoNodes, ThreadsCopyAStateWhileSilentStrangersHoldThePort) {
  a_.thread->Start(*a_.replica);
  b_.thread->Start(*b_.replica);
  ASSERT_TRUE(Eventually([&] { return a_.thread->ready() && b_.thread->ready(); }));
  constexpr uint64_t kKeys = 3000;
  for (uint64_t i = 0; i < kKeys; ++i) {
    a_.replica->Locked([&](DebtReplica& replica) {
      replica.Take({i, i}, kLimit, 600, clock_.Now());
    });
  }
  const std::string address = b_.thread->address();
  b_.thread->Stop();
  b_.thread = nullptr;

  SocketAddress place;
  ASSERT_TRUE(SocketAddress::Parse(a_.thread->address(), AF_INET, place));
  std::vector<FileDescriptor> strangers;
  for (size_t i = 0; i < StateStreams::kMostWaiting + 40; ++i) {
    strangers.push_back(ClusterSockets::Connect(place));
    ASSERT_TRUE(strangers.back());
  }
  Open(b_, "b", 2, address);
  b_.thread->Start(*b_.replica);
  ASSERT_TRUE(Eventually([&] { return b_.thread->ready(); }));
  EXPECT_EQ(b_.thread->Status().copies.received, 1u);
  EXPECT_GT(b_.thread->Status().copies.bytes_in, 60'000u);
  const auto is_closed = [](const FileDescriptor& stranger) {
    char byte = 0;
    return recv(stranger.get(), &byte, 1, MSG_DONTWAIT) == 0;
  };
  EXPECT_TRUE(Eventually([&] {
    return std::all_of(strangers.begin(), strangers.end(), is_closed);
  })) << "each had a second";
}

TEST_F(TwoNodes, AThreadSaysNothingBeforeItsTimeAndTalksThen) {
  const std::string address = b_.thread->address();
  b_.thread = nullptr;
  const Instant until = clock_.Now() + 300ms;
  Open(b_, "b", 2, address, until);
  b_.thread->Start(*b_.replica);
  a_.thread->Start(*a_.replica);
  ASSERT_TRUE(Eventually([&] { return SeesAPeer(a_); }));
  EXPECT_GE(clock_.Now(), until);
  ASSERT_TRUE(Eventually([&] { return SeesAPeer(b_) && b_.thread->ready(); }));
}

TEST_F(TwoNodes, AThreadThatIsSilentCanBeStopped) {
  const std::string address = b_.thread->address();
  b_.thread = nullptr;
  Open(b_, "b", 2, address, clock_.Now() + 1h);
  b_.thread->Start(*b_.replica);
  b_.thread->Stop();
  EXPECT_FALSE(b_.thread->ready());
}

TEST_F(TwoNodes, AnAddressInUseIsAnError) {
  ClusterThread::Options options{
      a_.thread->address(), {}, *ClusterKey::FromText(std::string(32, 'x')), {}};
  const auto opened = ClusterThread::Open(std::move(options), clock_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("cannot listen on"), std::string::npos);
}

}  // namespace
}  // namespace weir::cluster::cluster_thread_test
