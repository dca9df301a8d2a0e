#include "cluster/node.h"

namespace weir::cluster {

namespace {

using Kind = Message::Kind;

}  // namespace

void Node::Ask(const std::function<bool(std::string_view id)>& is_it, std::string question,
               Instant now, AnswerDone done) {
  using Outcome = Answer::Outcome;
  for (const auto& [number, peer] : members_.peers()) {
    if (!is_it(peer.id)) continue;
    if (!peer.alive) return done({Outcome::kDeadNode, peer.id});
    const auto told = [done, id = peer.id](std::optional<std::string_view> answer) {
      done(answer ? Answer{Outcome::kAnswered, *answer} : Answer{Outcome::kSilentNode, id});
    };
    if (!questions_.Ask(number, std::move(question), now, told)) {
      done({Outcome::kTooMany, peer.id});
    }
    return;
  }
  done({Outcome::kUnknownNode, ""});
}

void Node::TickQuestions(Instant now) {
  for (const Questions::ToSend& one : questions_.Tick(now)) {
    Peer* peer = members_.Find(one.node);
    if (peer == nullptr || !peer->alive) continue;  // it may be back in time
    std::string plain;
    AppendNumbered(Kind::kQuestion, one.number, one.text, plain);
    Send(*peer, plain);
  }
}

void Node::AnswerQuestion(const Message& message, Peer& peer, Instant now) {
  const std::string answer = questions_.Answer(peer.life(), message.stamp, now, [&] {
    return options_.answer ? options_.answer(message.body, now) : std::string();
  });
  std::string plain;
  AppendNumbered(Kind::kAnswer, message.stamp, answer, plain);
  Send(peer, plain);
}

}  // namespace weir::cluster
