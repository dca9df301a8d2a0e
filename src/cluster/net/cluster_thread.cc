#include "cluster/net/cluster_thread.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

namespace weir::cluster {
namespace {

constexpr int kMostAtOnce = 512;  // datagrams, before anything else has its turn
// Between two ticks: what is told within it shares a datagram.
constexpr Duration kBreath = std::chrono::microseconds(50);
constexpr Duration kLongestWait = std::chrono::milliseconds(500);
constexpr size_t kSockets = 3;  // beside those of streams

}  // namespace

Result<std::unique_ptr<ClusterThread>> ClusterThread::Open(Options options, Clock& clock) {
  Result<ClusterSockets> sockets = ClusterSockets::Open(options.address);
  if (!sockets) return sockets.error();
  return std::unique_ptr<ClusterThread>(
      new ClusterThread(std::move(options), clock, std::move(*sockets)));
}

ClusterThread::ClusterThread(Options options, Clock& clock, ClusterSockets sockets)
    : options_(std::move(options)),
      clock_(clock),
      sockets_(std::move(sockets)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void ClusterThread::Start(Correspondent& correspondent,
                          std::function<std::string(std::string_view, Instant)> answer) {
  Transport& transport = *this;
  NodeOptions options = options_.node;
  options.answer = std::move(answer);
  node_ = std::make_unique<Node>(std::move(options), options_.keys, correspondent, transport,
                                 std::max(clock_.Now(), options_.silent_until));
  finder_ = std::make_unique<PeerFinder>(
      options_.peers, options_.node.id, sockets_.address,
      [this](std::vector<Member> members) {
        {
          const std::lock_guard lock(left_mutex_);
          found_ = std::move(members);
        }
        Wake();
      },
      [this](const std::string& text) {
        if (options_.node.warn) options_.node.warn(text);
      });
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "weir-cluster");
  finder_->Start();
}

void ClusterThread::Stop() {
  if (!thread_.joinable()) return;
  finder_->Stop();
  stopping_.store(true);
  Wake();
  thread_.join();
}

void ClusterThread::Wake() {
  if (woken_.exchange(true, std::memory_order_acq_rel)) return;
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void ClusterThread::SetKeys(KeyRing keys) {
  {
    const std::lock_guard lock(left_mutex_);
    new_keys_ = std::move(keys);
  }
  Wake();
}

void ClusterThread::TakeKeys() {
  std::optional<KeyRing> keys;
  {
    const std::lock_guard lock(left_mutex_);
    keys.swap(new_keys_);
  }
  if (keys) node_->SetKeys(*keys);
}

void ClusterThread::Decided() {
  if (!decided_.exchange(true, std::memory_order_acq_rel)) decided_.notify_all();
}

void ClusterThread::ClearWake() {
  uint64_t count = 0;
  (void)!read(wake_.get(), &count, sizeof count);
  woken_.store(false, std::memory_order_release);
}

void ClusterThread::Ask(std::function<bool(std::string_view id)> is_it, std::string question,
                        Node::AnswerDone done) {
  {
    const std::lock_guard lock(left_mutex_);
    if (!ended_) {
      asked_.push_back({std::move(is_it), std::move(question), std::move(done)});
      return Wake();
    }
  }
  done({Node::Answer::Outcome::kSilentNode, ""});
}

NodeStatus ClusterThread::Status() {
  const std::lock_guard lock(mutex_);
  return node_->Status(clock_.Now());
}

void ClusterThread::Send(const std::string& address, std::string_view datagram) {
  SocketAddress to;
  if (!SocketAddress::Parse(address, sockets_.address.family(), to)) return;
  // If there is no room, it is lost like any other.
  (void)!sendto(sockets_.datagrams.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL, to.get(),
                to.length);
}

void ClusterThread::Fetch(const std::string& address, std::string question) {
  SocketAddress to;
  (void)SocketAddress::Parse(address, sockets_.address.family(), to);
  streams_.Fetch(to, question, clock_.Now());
}

// What comes meanwhile waits.
void ClusterThread::KeepSilent() {
  while (!stopping_.load() && clock_.Now() < options_.silent_until) {
    std::vector<pollfd> waiting = {{wake_.get(), POLLIN, 0}};
    WaitUntil(options_.silent_until, waiting);
    if (waiting[0].revents != 0) ClearWake();
  }
}

void ClusterThread::Run() {
  KeepSilent();
  std::vector<pollfd> waiting;
  Instant rested{};  // not before
  while (!stopping_.load() && node_->yielded().empty()) {
    waiting.assign({{sockets_.datagrams.get(), POLLIN, 0},
                    {sockets_.listener.get(), POLLIN, 0},
                    {wake_.get(), POLLIN, 0}});
    Instant next;
    {
      const std::lock_guard lock(mutex_);
      streams_.AddTo(waiting);
      next = std::max(rested, std::min(node_->NextTick(), streams_.NextDeadline()));
    }
    WaitUntil(next, waiting);
    const std::lock_guard lock(mutex_);
    Handle(waiting);
    const Instant now = clock_.Now();
    if (now < rested || node_->NextTick() > now) continue;
    node_->Tick(now);
    rested = After(now, kBreath);
    if (!node_->ready() || !node_->yielded().empty()) continue;
    ready_.store(true, std::memory_order_release);
    Decided();
  }
  {
    const std::lock_guard lock(left_mutex_);
    ended_ = true;
  }
  if (!node_->yielded().empty() && options_.yielded) options_.yielded(node_->yielded());
  const std::lock_guard lock(mutex_);
  TakeQuestions(clock_.Now());
  node_->Leave(clock_.Now());
  Decided();
}

void ClusterThread::WaitUntil(Instant next, std::vector<pollfd>& waiting) {
  const Duration wait = std::min(Wait(clock_.Now(), next), kLongestWait);
  const timespec time{wait.count() / 1'000'000'000, wait.count() % 1'000'000'000};
  if (ppoll(waiting.data(), waiting.size(), &time, nullptr) > 0) return;
  for (pollfd& one : waiting) one.revents = 0;
}

void ClusterThread::Handle(const std::vector<pollfd>& ready) {
  const Instant now = clock_.Now();
  if (ready[2].revents != 0) ClearWake();
  TakeKeys();
  TakeMembers(now);
  TakeQuestions(now);
  streams_.Run(ready.data() + kSockets, *node_, now);
  if (ready[1].revents != 0) streams_.Accept(sockets_.listener.get(), *node_, now);
  if (ready[0].revents != 0) Receive(now);
}

void ClusterThread::TakeQuestions(Instant now) {
  std::vector<Question> asked;
  {
    const std::lock_guard lock(left_mutex_);
    asked.swap(asked_);
  }
  for (Question& one : asked) {
    node_->Ask(one.is_it, std::move(one.text), now, std::move(one.done));
  }
}

void ClusterThread::TakeMembers(Instant now) {
  std::optional<std::vector<Member>> found;
  {
    const std::lock_guard lock(left_mutex_);
    found.swap(found_);
  }
  if (!found) return;
  const std::optional<Error> error = node_->SetMembers(*found, now);
  if (error && options_.node.warn) options_.node.warn(error->message);
}

void ClusterThread::Receive(Instant now) {
  std::array<char, kMostDatagramBytes + 1> buffer;  // one more tells what is too long
  for (int i = 0; i < kMostAtOnce; ++i) {
    SocketAddress from;
    from.length = sizeof from.storage;
    const ssize_t n = recvfrom(sockets_.datagrams.get(), buffer.data(), buffer.size(), 0,
                               from.get(), &from.length);
    if (n < 0) return;
    node_->Receive({buffer.data(), static_cast<size_t>(n)}, from.ToString(), now);
  }
}

}  // namespace weir::cluster
