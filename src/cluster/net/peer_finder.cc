#include "cluster/net/peer_finder.h"

#include <pthread.h>

namespace weir::cluster {
namespace {

using Kind = PeerSource::Kind;

constexpr auto kPause = std::chrono::milliseconds(500);
// Pauses. Soon enough for a node that starts to be told before it serves without the others.
constexpr int kLookEvery = 60, kLookSoon = 2;

}  // namespace

PeerFinder::PeerFinder(PeerSource source, std::string self, const SocketAddress& own, Found found,
                       Note note)
    : self_(std::move(self)),
      found_(std::move(found)),
      note_(std::move(note)),
      source_(std::move(source)),
      lookup_(self_, own) {}

void PeerFinder::Start() {
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "weir-peers");
}

void PeerFinder::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void PeerFinder::Run() {
  int pauses = 0;
  while (true) {
    const std::string before = file_text_;
    if (source_.kind == Kind::kFile) ReadFile();
    if (pauses <= 0 || file_text_ != before) pauses = Look() ? kLookEvery : kLookSoon;
    pauses -= 1;
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kPause, [&] { return stopping_; })) return;
  }
}

void PeerFinder::ReadFile() {
  const std::string stays = ": the peers stay as they were";
  const std::optional<std::string> text = ReadTextFile(source_.path);
  if (!text) return file_trouble_.Set(source_.path + " cannot be read" + stays);
  if (*text == file_text_) return file_trouble_.Set("");
  Result<std::vector<NamedPeer>> named = PeerSource::ParseLines(*text, self_);
  if (!named) return file_trouble_.Set(source_.path + ": " + named.error().message + stays);
  file_trouble_.Set("");
  file_text_ = *text;
  source_.named = std::move(*named);
}

// Whether everybody was found.
bool PeerFinder::Look() {
  std::string trouble;
  std::optional<std::vector<Member>> members = lookup_.Look(source_, trouble);
  constexpr char kWhatToDo[] =
      ": is it right in --peers, and does the resolver of this machine know it? It is looked up "
      "again";
  name_trouble_.Set(trouble.empty() ? "" : trouble + kWhatToDo);
  if (members && members != members_) {
    members_ = members;
    found_(std::move(*members));
  }
  return trouble.empty();
}

}  // namespace weir::cluster
