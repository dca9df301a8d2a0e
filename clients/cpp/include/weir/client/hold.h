// Copies that are held. Leaving scope releases what is left of them.
//
// A hold ends by Release, by Transfer, by its destructor, or by the end of its connection, which is
// when the server takes everything back: then it is lost. A hold that no server knows of (the client
// was degraded, or a kill switch was on) behaves the same, and any client can seize its transfers,
// for they carry all there is to know.
//
// Any thread may call; a Hold that is moved or destroyed is nobody else's at that moment.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "weir/client/answers.h"

namespace weir::client {

class HoldState;

class Hold {
 public:
  Hold(Hold&& other) noexcept = default;
  Hold& operator=(Hold&& other) noexcept;
  ~Hold();

  bool allowed() const;     // refused: there are no copies
  uint64_t copies() const;  // what is left
  uint64_t granted() const;
  bool lost() const;  // others may have the copies by now
  Duration waited() const;
  int attempts() const;
  Source source() const;
  uint64_t remaining() const;  // that the subject could still have reserved
  const Reservation& reservation() const;
  const std::string& namespace_name() const;
  const std::string& resource() const;
  const std::string& subject() const;

  // Gives copies back, by default all; answers how many are left.
  uint64_t Release(std::optional<uint64_t> copies = {});
  // Stages copies, by default all, for Client::Seize() by another process.
  std::string Transfer(std::optional<uint64_t> copies, Duration time_to_live);
  const Hold& ThrowIfRefused() const;

 private:
  friend class Client;
  friend class Acquirer;
  explicit Hold(std::shared_ptr<HoldState> state);

  std::shared_ptr<HoldState> state_;
};

}  // namespace weir::client
