"""The same number of copies of several resources, or of none (3.3 of the paper on Charon).

The first resource is asked for `max` copies, each further one for as many as its forerunners gave;
what they have too many of is given back on the way. All share one budget of waiting. A rate that was
requested cannot be given back: hence at most one resource is a Rate, and it comes last.
"""

from __future__ import annotations

from types import TracebackType
from typing import (Any, Callable, Generic, List, NamedTuple, Optional, Sequence, Type, TypeVar,
                    Union)

from .core import Core
from .errors import Refused
from .flow import Flow
from .holds import AsyncHold, Hold, HoldState
from .messages import Decision, LimitRequest, ReserveRequest

H = TypeVar("H", bound=HoldState)


class Copies(NamedTuple):
    """A resource that is held."""

    namespace: str
    resource: str
    subject: str


class Rate(NamedTuple):
    """A resource that is used up."""

    namespace: str
    resource: str
    subject: str


Wanted = Union[Copies, Rate]


class AcquiredState(Generic[H]):
    """`copies` of every resource, or 0 and the answer that refused."""

    def __init__(self, core: Core[H], copies: int, waited: float, holds: Sequence[H],
                 decision: Optional[Decision], refusal: Union[H, Decision, None]) -> None:
        self._core = core
        self.copies = copies
        self.waited = waited
        self.holds = tuple(holds)
        self.decision = decision
        self.refusal = refusal

    @property
    def allowed(self) -> bool:
        return self.refusal is None

    @property
    def lost(self) -> bool:
        return any(hold.lost for hold in self.holds)

    def raise_for_refusal(self) -> None:
        if self.refusal is not None:
            self.refusal.raise_for_refusal()
            raise Refused(self.refusal, "refused")


class Acquired(AcquiredState[Hold]):
    run: Callable[[Flow[Any]], Any]  # set by the client

    def release(self) -> None:
        self.run(_give_back(self._core, self.holds))

    def __enter__(self) -> Acquired:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.release()


class AsyncAcquired(AcquiredState[AsyncHold]):
    run: Callable[[Flow[Any]], Any]

    async def release(self) -> None:
        await self.run(_give_back(self._core, self.holds))

    async def __aenter__(self) -> AsyncAcquired:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.release()


def check(wanted: Sequence[Wanted], least: int, most: int) -> None:
    if not wanted:
        raise ValueError("acquire_all needs a resource")
    if not 1 <= least <= most:
        raise ValueError(f"min is {least} and max is {most}: 1 <= min <= max is right")
    if any(isinstance(resource, Rate) for resource in wanted[:-1]):
        raise ValueError("at most one resource is a Rate, and that one is the last")


def acquire_all(core: Core[H], wanted: Sequence[Wanted], least: int, most: int, max_wait: float,
                make: Callable[..., Any]) -> Flow[Any]:
    start = core.clock()
    holds: List[H] = []
    decision: Optional[Decision] = None
    copies = most
    try:
        for resource in wanted:
            left = max(0.0, max_wait - (core.clock() - start))
            answer: Union[H, Decision]
            if isinstance(resource, Rate):
                limited = LimitRequest(*resource, cost=copies, min_cost=least)
                answer = decision = yield from core.request(limited, left)
            else:
                held = ReserveRequest(*resource, copies=copies, min_copies=least)
                answer = hold = yield from core.reserve(held, left)
                holds.append(hold)
            if not answer.allowed:
                yield from _give_back(core, holds)
                return make(core, 0, core.clock() - start, holds, decision, answer)
            copies = answer.granted
            for hold in holds:
                if hold.copies > copies:
                    yield from core.give_back(hold, hold.copies - copies)
    except GeneratorExit:
        raise
    except BaseException:
        yield from _give_back(core, holds)
        raise
    return make(core, copies, core.clock() - start, holds, decision, None)


def _give_back(core: Core[Any], holds: Sequence[HoldState]) -> Flow[None]:
    for hold in holds:
        yield from core.give_back(hold)
