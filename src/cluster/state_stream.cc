#include "cluster/state_stream.h"

#include "cluster/messages.h"

namespace weir::cluster {
namespace {

AeadBytes KeyOf(const ClusterKey& key, const StateQuestion& question) {
  std::string context;
  for (const uint64_t number : {uint64_t{question.asker.node}, uint64_t{question.asker.incarnation},
                                uint64_t{question.answerer.node},
                                uint64_t{question.answerer.incarnation}, question.sequence}) {
    for (int shift = 0; shift < 64; shift += 8) {
      context.push_back(static_cast<char>(number >> shift));
    }
  }
  return key.Derive("states", context);
}

}  // namespace

StateStream::StateStream(const ClusterKey& key, const StateQuestion& question,
                         std::vector<Envelope> state)
    : aead_(KeyOf(key, question), Aead::Use::kSeal), state_(std::move(state)) {}

std::optional<std::string> StateStream::Next() {
  if (done_) return std::nullopt;
  constexpr size_t kRoom = kMostPieceBytes - kTagBytes - kAroundEnvelopeBytes;
  std::string plain;
  for (; told_ < state_.size(); ++told_) {
    const std::string& bytes = state_[told_].bytes;
    if (plain.size() + bytes.size() + kAroundEnvelopeBytes > kRoom) break;
    AppendEnvelope(bytes, plain);
    state_[told_].bytes = {};  // as it goes
  }
  done_ = told_ == state_.size();
  if (done_) AppendBare(Message::Kind::kWhole, plain);
  std::string piece;
  aead_.Seal(pieces_++, "", plain, piece);
  return piece;
}

StateReader::StateReader(const ClusterKey& key, const StateQuestion& question)
    : aead_(KeyOf(key, question), Aead::Use::kOpen) {}

std::optional<std::string> StateReader::Open(std::string_view piece) {
  std::string plain;
  if (piece.size() > kMostPieceBytes || !aead_.Open(pieces_++, "", piece, plain)) {
    return std::nullopt;
  }
  return plain;
}

}  // namespace weir::cluster
