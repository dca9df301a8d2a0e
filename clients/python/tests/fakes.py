"""A server, a clock and chance that do as they are told."""

from typing import Any, Callable, Dict, List, Union

from weir.errors import Failure
from weir.flow import UNARY, Call, Reply
from weir.messages import (Decision, Released, Reservation, Seized, Settled, SessionResponse,
                           Transferred)
from weir.session import Session

AWAY = Failure(14, "connection refused")


class Clock:
    """Sleeping moves it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: List[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


class FakeTransport:
    """Answers each call by `answer(call)`: a message, or an exception to raise."""

    def __init__(self, answer: Callable[[Call], Any]) -> None:
        self.answer = answer
        self.calls: List[Call] = []
        self.sessions: Dict[str, Session] = {}

    def call(self, call: Call) -> Reply:
        self.calls.append(call)
        found = self.answer(call)
        if isinstance(found, BaseException):
            raise found
        if call.operation in UNARY:
            return Reply(found)
        session = call.session or self.sessions.get(call.address)
        if session is None or not session.alive:
            session = self.sessions[call.address] = Session(call.address, lambda: None)
        return Reply(found, session)

    def close(self) -> None:
        pass

    def asked(self, operation: str) -> List[Call]:
        return [call for call in self.calls if call.operation == operation]


class AsyncFakeTransport(FakeTransport):
    async def call(self, call: Call) -> Reply:  # type: ignore[override]
        return super().call(call)


class CopyServer:
    """Copies of resources, and rates that give up to `rate` at once."""

    def __init__(self, **free: int) -> None:
        self.free = free
        self.held: Dict[str, List[Any]] = {}
        self.made = 0

    def __call__(self, call: Call) -> Any:
        return getattr(self, call.operation)(call.message)

    def request(self, question: Any) -> Decision:
        granted = min(question.cost, self.free[question.resource])
        if granted < (question.min_cost or question.cost):
            return Decision(retry_after_ms=1000, limit="rate")
        self.free[question.resource] -= granted
        return Decision(allowed=True, granted=granted)

    def settle(self, question: Any) -> Settled:
        return Settled(charged=question.cost)

    def reserve(self, question: Any) -> Reservation:
        granted = min(question.copies, self.free[question.resource])
        if granted < (question.min_copies or question.copies):
            return Reservation(outcome="refused")
        self.free[question.resource] -= granted
        return Reservation(allowed=True, outcome="granted", granted=granted,
                           hold=self.hold(question.resource, granted))

    def hold(self, resource: str, copies: int) -> str:
        self.made += 1
        self.held[f"h{self.made}"] = [resource, copies]
        return f"h{self.made}"

    def release(self, question: Any) -> Union[Released, Failure]:
        resource, copies = self.held[question.hold]
        if question.copies > copies:
            return Failure(5, "not_held: more than there are")
        self.held[question.hold][1] -= question.copies
        self.free[resource] += question.copies
        return Released(copies=copies - question.copies)

    def transfer(self, question: Any) -> Transferred:
        resource, _ = self.held[question.hold]
        self.held[question.hold][1] -= question.copies
        return Transferred(transfer=self.hold(resource, question.copies))

    def seize(self, question: Any) -> Seized:
        resource, copies = self.held[question.transfer]
        return Seized(hold=question.transfer, namespace="shop", resource=resource, subject="ann",
                      copies=copies)


def answer_to(number: int, **answer: Any) -> SessionResponse:
    return SessionResponse(id=number, **answer)
