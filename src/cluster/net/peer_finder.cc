#include "cluster/net/peer_finder.h"

#include <pthread.h>

#include <algorithm>

namespace weir::cluster {
namespace {

using Kind = PeerSource::Kind;

constexpr auto kPause = std::chrono::milliseconds(500);
constexpr int kLookEvery = 60, kLookSoon = 4;  // pauses

}  // namespace

PeerFinder::PeerFinder(PeerSource source, std::string self, const SocketAddress& own, Found found,
                       Note note)
    : self_(std::move(self)),
      own_(own),
      found_(std::move(found)),
      note_(std::move(note)),
      source_(std::move(source)) {}

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
    if (pauses <= 0 || file_text_ != before) {
      Look();
      pauses = missing_ ? kLookSoon : kLookEvery;
    }
    pauses -= 1;
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kPause, [&] { return stopping_; })) return;
  }
}

void PeerFinder::ReadFile() {
  const std::optional<std::string> text = ReadTextFile(source_.path);
  if (!text) return Complain(source_.path + " cannot be read: the peers stay as they were");
  if (*text == file_text_) return;
  Result<std::vector<NamedPeer>> named = PeerSource::ParseLines(*text, self_);
  if (!named) {
    return Complain(source_.path + ": " + named.error().message + ": the peers stay as they were");
  }
  trouble_.clear();
  file_text_ = *text;
  source_.named = std::move(*named);
}

void PeerFinder::Look() {
  missing_ = false;
  std::vector<Member> members = source_.kind == Kind::kDns ? LookUpDns() : LookUpNamed();
  if (told_ && members == members_) return;
  told_ = true;
  members_ = members;
  found_(std::move(members));
}

std::vector<Member> PeerFinder::LookUpNamed() {
  std::vector<Member> members;
  for (const NamedPeer& peer : source_.named) {
    if (peer.id == self_) continue;
    const std::string name = peer.place.host + ":" + peer.place.port;
    const std::vector<std::string> found = LookUp(peer.place, own_.family());
    std::string& known = known_[name];
    if (found.empty()) {
      missing_ = true;
      Complain("\"" + peer.place.host + "\" (" + peer.id + ") cannot be found");
    } else if (std::find(found.begin(), found.end(), known) == found.end()) {
      known = found.front();
    }
    members.push_back({peer.id, known});
  }
  return members;
}

std::vector<Member> PeerFinder::LookUpDns() {
  HostPort name = source_.name;
  if (name.port.empty()) name.port = std::to_string(own_.port());
  const std::vector<std::string> found = LookUp(name, own_.family());
  if (found.empty()) {
    missing_ = true;
    Complain("\"" + name.host + "\" cannot be found");
    return members_;
  }
  trouble_.clear();
  const std::vector<std::string> own = OwnAddresses(own_.port());
  std::vector<Member> members;
  for (const std::string& address : found) {
    if (std::find(own.begin(), own.end(), address) == own.end()) members.push_back({"", address});
  }
  return members;
}

void PeerFinder::Complain(const std::string& trouble) {
  if (std::exchange(trouble_, trouble) != trouble) note_(trouble);
}

}  // namespace weir::cluster
