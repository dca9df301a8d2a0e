"""What the client wants done, apart from how: one text for threads and for asyncio.

An operation of the client is a generator, a Flow. It yields a Call or a Sleep, is sent the outcome
(or has the exception thrown in), and returns its result. client.py carries Flows out with threads,
aio.py with asyncio, tests with neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Generator, Optional, TypeVar, Union

from .session import Session

T = TypeVar("T")

UNARY = frozenset({"request", "peek", "settle"})  # the others need a session


@dataclass(frozen=True)
class Call:
    address: str
    operation: str  # a field of SessionRequest; "": an empty question, to hear if anybody is there
    message: Any
    timeout: float
    session: Optional[Session] = None  # that one, or any session with the address


@dataclass(frozen=True)
class Reply:
    message: Any
    session: Optional[Session] = None


@dataclass(frozen=True)
class Sleep:
    seconds: float


Effect = Union[Call, Sleep]
Flow = Generator[Effect, Any, T]


def run(flow: Flow[T], perform: Callable[[Effect], Any]) -> T:
    try:
        effect = next(flow)
        while True:
            try:
                outcome = perform(effect)
            except BaseException as error:  # the flow decides; KeyboardInterrupt, too
                effect = flow.throw(error)
            else:
                effect = flow.send(outcome)
    except StopIteration as end:
        result: T = end.value
        return result


async def run_async(flow: Flow[T], perform: Callable[[Effect], Awaitable[Any]]) -> T:
    try:
        effect = next(flow)
        while True:
            try:
                outcome = await perform(effect)
            except BaseException as error:  # CancelledError, too: what was acquired is given back
                effect = flow.throw(error)
            else:
                effect = flow.send(outcome)
    except StopIteration as end:
        result: T = end.value
        return result
