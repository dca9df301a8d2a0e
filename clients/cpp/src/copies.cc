// The operations on copies.
#include <algorithm>
#include <utility>

#include "clients/cpp/src/backoff.h"
#include "clients/cpp/src/core.h"
#include "clients/cpp/src/local_transfer.h"

namespace weir::client {

std::shared_ptr<HoldState> Core::Make(HoldState::Facts facts) {
  tally_.Add(facts.reservation.allowed ? &Counters::allowed : &Counters::refused);
  if (!facts.reservation.allowed) facts.session = nullptr;
  auto hold = std::make_shared<HoldState>(shared_from_this(), std::move(facts));
  if (hold->facts().session) hold->facts().session->Adopt(hold);
  return hold;
}

std::shared_ptr<HoldState> Core::Reserve(const Target& target, const ReserveOptions& options) {
  tally_.Add(&Counters::reservations);
  auto [facts, waited, attempts] = Patiently(
      *clock_, tally_, options.max_wait,
      [&](Duration left) {
        return TryReserve(target, options, options.in_line ? left : Duration::zero());
      },
      [&](const HoldState::Facts& one) {
        return options.in_line || one.reservation.allowed ||
               one.reservation.outcome == Outcome::kDone;
      });
  facts.waited = waited;
  facts.attempts = attempts;
  return Make(std::move(facts));
}

HoldState::Facts Core::TryReserve(const Target& target, const ReserveOptions& options,
                                  Duration line) {
  const Duration patience = std::max(Duration::zero(), line);
  const uint64_t least = options.min_copies.value_or(options.copies);
  HoldState::Facts facts{.target = target};
  Reservation& reservation = facts.reservation;
  try {
    Heard heard = asker_.Ask(ReserveCommand(target, options, patience), {}, patience);
    reservation = ReadReservation(heard.value);
    facts.session = std::move(heard.session);
  } catch (const Unavailable&) {
    if (!fail_open_) throw;
    facts.source = Source::kDegraded;
    reservation.allowed = AskSafeRate(target, least, false) == Duration::zero();
  }
  const bool refused = !reservation.allowed && reservation.outcome != Outcome::kDone;
  if (refused && kill_switch_.on()) {
    tally_.Add(&Counters::kill_switch_grants);
    reservation.allowed = true;
    facts.session = nullptr;
    facts.source = Source::kKillSwitch;
  }
  if (reservation.allowed && facts.source != Source::kServer) {
    reservation.outcome = Outcome::kGranted;
    reservation.granted = least;
  }
  return facts;
}

std::shared_ptr<HoldState> Core::Seize(const std::string& transfer, uint64_t copies) {
  tally_.Add(&Counters::reservations);
  const Duration start = clock_->Now();
  HoldState::Facts facts{.reservation = {.allowed = true, .outcome = Outcome::kGranted},
                         .source = Source::kDegraded};
  if (std::optional<LocalTransfer> local = ReadLocalTransfer(transfer)) {
    facts.target = std::move(local->target);
    facts.reservation.granted = local->copies;
    return Make(std::move(facts));
  }
  try {
    Heard heard = asker_.Ask(SeizeCommand(transfer));
    Seized seized = ReadSeized(heard.value);
    facts.target = std::move(seized.target);
    facts.reservation = std::move(seized.reservation);
    facts.session = std::move(heard.session);
    facts.source = Source::kServer;
  } catch (const Unavailable&) {
    if (!fail_open_) throw;
    tally_.Add(&Counters::degraded_grants);
    facts.reservation.granted = copies;
  }
  facts.waited = clock_->Now() - start;
  return Make(std::move(facts));
}

uint64_t Core::Release(HoldState& hold, std::optional<uint64_t> copies) {
  const uint64_t taken = hold.Take(copies);
  const HoldState::Facts& facts = hold.facts();
  if (taken > 0 && facts.session) {
    AskOf(hold, ReleaseCommand(facts.reservation.hold, taken), taken);
  }
  return hold.copies();
}

void Core::GiveBack(HoldState& hold, std::optional<uint64_t> copies) noexcept {
  if (hold.lost()) return;
  try {
    Release(hold, copies);
  } catch (const std::exception&) {
    tally_.Add(&Counters::releases_failed);
  }
}

std::string Core::Transfer(HoldState& hold, std::optional<uint64_t> copies, Duration time_to_live) {
  const HoldState::Facts& facts = hold.facts();
  const uint64_t taken = hold.Take(copies);
  if (taken == 0) throw Error(Code::kNotHeld, "there are no copies to transfer");
  if (!facts.session) return WriteLocalTransfer({facts.target, taken});
  return ReadTransfer(
      AskOf(hold, TransferCommand(facts.reservation.hold, taken, time_to_live), taken));
}

// A server that turned the question down has done nothing. After silence nobody knows: then the
// copies count as gone, for they must not be released twice.
Value Core::AskOf(HoldState& hold, const Command& command, uint64_t taken) {
  try {
    return asker_.AskSession(hold.facts().session, command);
  } catch (const Error& error) {
    const Code code = error.code();
    if (code == Code::kBadRequest || code == Code::kOverloaded) hold.PutBack(taken);
    throw;
  }
}

}  // namespace weir::client
