// A whole state on its way over a stream: envelopes in sealed pieces, in order.
//
// A stream answers one question and has a key of its own, derived from the lives of both nodes and the
// question's sequence; pieces are numbered from 0. So no piece fits anywhere but in its place, and
// there is nothing to remember against repetition. The last piece says that it is.
//
// A piece is one slice of the state (replication/copy.h), written when the one before is on its way: so
// neither a lock is held nor memory taken for more than a piece at a time, however large the state is.
#pragma once

#include <optional>
#include <string>

#include "cluster/aead.h"
#include "mail/correspondent.h"

namespace weir::cluster {

inline constexpr size_t kMostPieceBytes = size_t{64} << 10;  // sealed

struct StateQuestion {
  Origin asker;
  Origin answerer;
  uint64_t sequence = 0;
};

// What the answerer sends.
class StateStream {
 public:
  // The correspondent's state, counted in `bytes_out`; both outlive this.
  StateStream(const ClusterKey& key, const StateQuestion& question, Correspondent& correspondent,
              uint64_t& bytes_out);

  // None after the last.
  std::optional<std::string> Next(Instant now);

 private:
  Aead aead_;
  const uint32_t asker_;
  Correspondent& correspondent_;
  uint64_t& bytes_out_;
  CopyCursor cursor_;
  uint64_t pieces_ = 0;  // so far
  bool done_ = false;
};

// What the asker gets.
class StateReader {
 public:
  StateReader(const ClusterKey& key, const StateQuestion& question);

  // The piece's messages, or none if it is not the next piece.
  std::optional<std::string> Open(std::string_view piece);

 private:
  Aead aead_;
  uint64_t pieces_ = 0;
};

}  // namespace weir::cluster
