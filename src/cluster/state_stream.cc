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
                         Correspondent& correspondent, uint64_t& bytes_out)
    : aead_(KeyOf(key, question), Aead::Use::kSeal),
      asker_(question.asker.node),
      correspondent_(correspondent),
      bytes_out_(bytes_out) {}

std::optional<std::string> StateStream::Next(Instant now) {
  if (done_) return std::nullopt;
  constexpr size_t kRoom = kMostPieceBytes - kTagBytes - kAroundEnvelopeBytes;
  std::string plain;
  while (plain.empty()) {  // there may be nothing to tell of many keys
    const Slice slice = correspondent_.Everything(
        asker_, cursor_, {.bytes = kRoom, .around = kAroundEnvelopeBytes}, now);
    for (const Envelope& envelope : slice.envelopes) {
      AppendEnvelope(envelope.bytes, plain);
      bytes_out_ += envelope.bytes.size();
    }
    done_ = slice.last;
    if (done_) AppendBare(Message::Kind::kWhole, plain);
  }
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
