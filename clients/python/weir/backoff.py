"""Waiting for a grant: asking again, ever less often, within a budget (3.2 of the paper on Charon).

After the i-th refusal, counted from 0, the client sleeps min(max_wait - elapsed, jitter(2^i))
seconds and asks again; elapsed is the true time since the first question. Once nothing of the budget
is left the last refusal is the answer. jitter(v) is uniform in [v - v/4, v + v/4).
"""

from __future__ import annotations

from typing import Callable, Optional

Random = Callable[[], float]  # uniform in [0, 1)

_MOST_DOUBLINGS = 62


def jitter(value: float, random: Random) -> float:
    return value * (0.75 + 0.5 * random())


def doubled(first: float, times: int) -> float:
    return first * 2.0 ** min(times, _MOST_DOUBLINGS)


def pause(refusals_before: int, left: float, random: Random) -> Optional[float]:
    """How long to sleep; None: give up."""
    if left <= 0:
        return None
    return min(left, jitter(doubled(1.0, refusals_before), random))
