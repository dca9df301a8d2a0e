// A whole state on its way over a stream: envelopes in sealed pieces, in order.
//
// A stream answers one question and has a key of its own, derived from the lives of both nodes and the
// question's sequence; pieces are numbered from 0. So no piece fits anywhere but in its place, and
// there is nothing to remember against repetition. The last piece says that it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/aead.h"
#include "replication/envelope.h"

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
  StateStream(const ClusterKey& key, const StateQuestion& question, std::vector<Envelope> state);

  // None after the last.
  std::optional<std::string> Next();

 private:
  Aead aead_;
  std::vector<Envelope> state_;
  size_t told_ = 0;      // of state_
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
