#include <algorithm>

#include "cluster/node.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;

constexpr int kMostTries = 5;  // with a peer that has returned
constexpr int kMostInvitations = 10;

}  // namespace

void Node::TickCopy(Instant now) {
  if (!ready_) {
    const bool late = deadline_ <= now;
    if (late && !copied_ && !(listed_ && members_.alone())) {
      Note("nobody has told what was used so far: serving without");
    }
    ready_ = late || (copied_ && named()) || (listed_ && members_.alone());
  }
  if (!invited_.empty() && invite_at_ <= now) Invite(now);
  if (copying_.reader != nullptr) return;  // the transport tells its end
  if (copying_.from != 0 && After(copying_.asked, options_.ask_again) > now) return;
  if (copying_.from != 0 && copying_.tries >= kMostTries) GiveUpCopy();
  if (copy_at_ > now) return;
  if (const uint32_t next = NextToAsk(now); next != 0) {
    Ask(next, now);
  } else if (copied_) {
    copying_ = {};  // whoever was asked is gone, and there is nobody else to ask
  }
}

Instant Node::NextCopy() const {
  Instant next = ready_ ? kEndOfTime : deadline_;
  if (!ready_ && listed_ && ((copied_ && named()) || members_.alone())) return Instant::min();
  if (!invited_.empty()) next = std::min(next, invite_at_);
  if (copying_.reader != nullptr) return next;
  if (copying_.from != 0) {
    return std::min(next, std::max(copy_at_, After(copying_.asked, options_.ask_again)));
  }
  const bool wanted = (!copied_ && first_heard_ != kEndOfTime) || !returned_.empty();
  return wanted ? std::min(next, copy_at_) : next;
}

// What happened while it was dead here, nobody told it; and it need not have noticed.
void Node::Invite(Instant now) {
  invite_at_ = After(now, options_.ask_again);
  std::string plain;
  AppendBare(Kind::kAskMe, plain);
  for (auto one = invited_.begin(); one != invited_.end();) {
    Peer* peer = members_.Find(one->first);
    const bool lives = peer != nullptr && peer->alive;
    if (lives && ++one->second <= kMostInvitations) {
      Send(*peer, plain);
      ++one;
    } else {
      one = invited_.erase(one);
    }
  }
}

// 0: nobody, for now.
uint32_t Node::NextToAsk(Instant now) {
  const std::vector<uint32_t> alive = members_.Alive();
  const auto lives = [&](uint32_t number) {
    return std::find(alive.begin(), alive.end(), number) != alive.end();
  };
  if (copied_) {
    std::erase_if(returned_, [&](uint32_t number) { return !lives(number); });
    return returned_.empty() ? 0 : *returned_.begin();
  }
  copy_at_ = After(now, options_.ask_again);
  if (alive.empty()) return 0;
  const Instant gathered = After(first_heard_, options_.gather);
  if (!members_.complete() && gathered > now) {
    copy_at_ = gathered;
    return 0;
  }
  const auto begin = std::upper_bound(alive.begin(), alive.end(), copying_.from);
  for (size_t i = 0; i < alive.size(); ++i) {  // the one after whom was asked last, and round
    const size_t at = (static_cast<size_t>(begin - alive.begin()) + i) % alive.size();
    if (!empty_.contains(alive[at])) return alive[at];
  }
  // Everybody who lives is as new as this one: if there is nobody else, so is the cluster.
  if (members_.complete() || ready_) Copied(now);
  empty_.clear();
  return 0;
}

void Node::Ask(uint32_t number, Instant now) {
  Peer& peer = *members_.Find(number);
  copying_.tries = copying_.from == number ? copying_.tries + 1 : 1;
  copying_.from = number;
  copying_.asked = now;
  copies_.asked += 1;
  std::string plain;
  AppendAsk(kMostPlainBytes - kAroundEnvelopeBytes, plain);
  Send(peer, plain);
}

void Node::AnswerAsk(Peer& peer, Origin asker, const std::string& address, Instant now) {
  std::string plain;
  if (!ready_) {
    AppendBare(Kind::kNothing, plain);
    return SendTo(asker, address, peer, plain);
  }
  // One slice tells whether more would be too much: all is never written to learn that.
  constexpr size_t kRoom = kMostPlainBytes - kAroundEnvelopeBytes;
  CopyCursor cursor;
  const Slice first = correspondent_.Everything(
      peer.number, cursor, {.bytes = kRoom, .around = kAroundEnvelopeBytes}, now);
  if (!first.last) {
    AppendBare(Kind::kLarge, plain);
    return SendTo(asker, address, peer, plain);
  }
  for (const Envelope& envelope : first.envelopes) AppendEnvelope(envelope.bytes, plain);
  AppendBare(Kind::kWhole, plain);
  invited_.erase(peer.number);
  copies_.given += 1;
  copies_.bytes_out += plain.size();
  SendTo(asker, address, peer, plain);
}

// Behind the envelopes that came with it.
void Node::HandleCopy(const Message& message, Peer& peer, Instant now) {
  if (copying_.from != peer.number || copying_.reader != nullptr) return;
  if (message.kind == Kind::kWhole) return Copied(now);
  if (message.kind == Kind::kNothing) {
    if (copied_) return Copied(now);
    empty_.insert(peer.number);
    copying_.tries = 0;
    copying_.from = 0;
    copy_at_ = now;
    return;
  }
  std::string plain;
  AppendAsk(0, plain);
  std::string question = sealer_.SealFor(peer.life(), plain);
  copying_.reader = std::make_unique<StateReader>(
      keys_.sealing(), StateQuestion{self_, peer.life(), sealer_.sequence()});
  transport_.Fetch(peer.address, std::move(question));
}

void Node::Copied(Instant now) {
  if (copying_.from != 0) copies_.received += 1;
  returned_.erase(copying_.from);
  copying_ = {};
  copied_ = true;
  copy_at_ = now;
}

void Node::GiveUpCopy() {
  copies_.failed += 1;
  returned_.erase(copying_.from);
  copying_ = {};
}

std::unique_ptr<StateStream> Node::AnswerStream(std::string_view question, Instant now,
                                                uint32_t* asker) {
  Opened opened;
  std::optional<Rejection> reason = Open(question, "", opened, now);
  if (!yielded_.empty()) return nullptr;
  if (!reason && opened.head.for_anybody) reason = Rejection::kMalformed;
  if (!reason && opened.head.sender.node == self_.node) reason = Rejection::kImpostor;
  // One whose name is being judged may know what was used: nothing changes here by that.
  const bool claims = opened.peer != nullptr && opened.peer->alive &&
                      opened.peer->claim != nullptr &&
                      opened.by == opened.peer->claim->opener.get();
  if (!reason && !opened.accepted && !claims) reason = Rejection::kOldLife;
  if (!reason && opened.accepted) reason = Believe(opened, "", now);
  if (!reason && opened.messages.front().kind != Kind::kAsk) reason = Rejection::kMalformed;
  if (reason) {
    Reject(*reason, opened.peer);
    return nullptr;
  }
  if (asker != nullptr) *asker = opened.peer->number;
  invited_.erase(opened.peer->number);
  copies_.given += 1;
  return std::make_unique<StateStream>(
      keys_.keys()[opened.key], StateQuestion{opened.head.sender, self_, opened.head.sequence},
      correspondent_, copies_.bytes_out);
}

Node::Piece Node::TakePiece(std::string_view piece, Instant now) {
  Peer* peer = members_.Find(copying_.from);
  if (copying_.reader == nullptr || peer == nullptr) return Piece::kBroken;
  const std::optional<std::string> plain = copying_.reader->Open(piece);
  const auto messages = plain ? ReadMessages(*plain) : std::nullopt;
  if (!messages) return Piece::kBroken;
  copies_.bytes_in += piece.size();
  for (const Message& message : *messages) {
    if (message.kind == Kind::kWhole) {
      Copied(now);
      return Piece::kLast;
    }
    const bool good = message.kind == Kind::kEnvelope &&
                      EnvelopeReader(message.body).head().sender == peer->life();
    if (!good) return Piece::kBroken;
    TakeEnvelope(message.body, peer, now);
  }
  return Piece::kMore;
}

void Node::FetchFailed(Instant now) {
  if (copying_.reader == nullptr) return;
  copying_.reader = nullptr;
  copies_.failed += 1;
  copy_at_ = After(now, options_.ask_again);
}

}  // namespace weir::cluster
