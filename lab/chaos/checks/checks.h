// The invariants, each with the observer that checks it.
//
//   rows       a node writes only its own rows, and by exactly what was asked of it; what others
//              know of a row is never more than its owner wrote, and its epoch is right to the
//              delay of the path; no name is used twice
//   bound      of every window: admitted <= B + rT + (k-1)(B + r(Tp+D)) + (N-k)(B + rD), and
//              (B + rD) for each life that ended; D, Tp + D and k are measured
//   knowledge  a node that knows admits no more than there is: the true debt stays within the
//              capacity and what the node was not told yet. It implies the bound where
//              news spread, and is far sharper
//   refusal    nothing is refused for which there was room, even without any refund (but by the
//              counter, which may lose refill while news travel; see quiet)
//   envelopes  at most 1200 bytes, under the sender's own name, numbered without repetition
//   ticks      no node asks to be ticked again and again without anything to do
//   memory     takes no more than in proportion to what there is to know
//   quiet      after quiet all know the same, exactly; then every bucket is full, admits its
//              capacity, and idle subjects are forgotten
//
// Of windows and logs, into which nothing flows, more can be said:
//
//   bound      each life admits at most the limit in one window, or in any `per` of a log
//   knowledge  a decision is exactly what follows from the rows that the node knows
//   counts     what is given back to a window is given back whole, while it is known
//   kept       nobody forgets before its time what counts, and everybody does after it
//   quiet      all know the same rows, until they may be forgotten
//
// Where what is remembered is shorter than news took (its stated assumption), knowledge and bound
// are not asked for.
#pragma once

#include <memory>
#include <vector>

#include "lab/chaos/checks/truth.h"

namespace weir::chaos {

// How near a run came to its bound; kept over many runs.
struct Margins {
  double bound_share = 0;    // the greatest debt, as a share of the bound
  double over_capacity = 0;  // the greatest debt beyond the capacity, in capacities
  Duration longest_lag{};
  uint64_t checked = 0, beyond_assumption = 0;  // admissions
};

std::unique_ptr<Observer> MakeRowsCheck(const Scenario& scenario);
std::unique_ptr<Observer> MakeBoundCheck(const Truth& truth, Margins& margins);
std::unique_ptr<Observer> MakeRefusalCheck(const Scenario& scenario);
std::unique_ptr<Observer> MakeCountsCheck(Margins& margins);
std::unique_ptr<Observer> MakeKeptCheck();
std::unique_ptr<Observer> MakeEnvelopeCheck();
std::unique_ptr<Observer> MakeTickCheck();
std::unique_ptr<Observer> MakeMemoryCheck();
std::unique_ptr<Observer> MakeQuietCheck(const Truth& truth);

std::vector<std::unique_ptr<Observer>> AllChecks(const Scenario& scenario, Margins& margins);

}  // namespace weir::chaos
