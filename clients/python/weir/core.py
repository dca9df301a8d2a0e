"""Every operation of the client, as Flows (flow.py): which server is asked, how often, and what is
answered when none can.

A question goes to the first address that answers; each gets its share of `timeout`, so that the
whole never takes longer. A server's error about the question itself is raised, any other makes the
next address be asked. When none is left the client is degraded: it grants the minimum at once.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from typing import Any, Callable, Generic, Optional, Tuple, TypeVar, Union

from . import backoff
from .backoff import Random
from .counters import Counters
from .degraded import KillSwitch, SafeRate, Servers
from .errors import Failure, HoldLost, Unavailable, WeirError
from .flow import UNARY, Call, Flow, Reply, Sleep
from .holds import HoldState, local_transfer, read_local_transfer
from .messages import (DEGRADED, KILL_SWITCH, SERVER, Decision, LimitRequest, ReleaseRequest,
                       Reservation, ReserveRequest, SeizeRequest, Settled, SettleRequest,
                       TransferRequest)
from .session import Session

H = TypeVar("H", bound=HoldState)
A = TypeVar("A")

Subject = Tuple[str, str, str]  # namespace, resource, subject
Clock = Callable[[], float]
_Attempt = Tuple[Reservation, Optional[Session], str]


class Core(Generic[H]):
    def __init__(self, servers: Servers, counters: Counters, make_hold: Callable[..., H],
                 clock: Clock, random: Random, timeout: float, fail_open: bool,
                 safe_rate: Optional[SafeRate], kill_switch: KillSwitch,
                 on_lost: Optional[Callable[[H], None]]) -> None:
        self.servers = servers
        self.counters = counters
        self.clock = clock
        self._make_hold = make_hold
        self._random = random
        self._timeout = timeout
        self._fail_open = fail_open
        self._safe_rate = safe_rate
        self._kill_switch = kill_switch
        self._on_lost = on_lost

    # Rates.

    def request(self, question: LimitRequest, max_wait: float = 0.0,
                peek: bool = False) -> Flow[Decision]:
        self.counters.add("requests")
        attempt = lambda left: self._decide(question, peek)  # noqa: E731
        decision, waited, attempts = yield from self._patiently(attempt, _is_final, max_wait)
        self.counters.add("allowed" if decision.allowed else "refused")
        return replace(decision, waited=waited, attempts=attempts)

    def _decide(self, question: LimitRequest, peek: bool) -> Flow[Decision]:
        try:
            reply = yield from self._ask("peek" if peek else "request", question)
            decision: Decision = reply.message
        except Unavailable:
            if not self._fail_open:
                raise
            decision = self._degraded_decision(question, peek)
        if decision.allowed or not self._kill_switch:
            return decision
        self.counters.add("kill_switch_grants")
        return replace(decision, allowed=True, granted=_least(question.cost, question.min_cost),
                       retry_after_ms=0, source=KILL_SWITCH)

    def settle(self, ticket: Union[str, Decision], cost: int) -> Flow[Settled]:
        address = ticket.address if isinstance(ticket, Decision) else ""
        name = ticket.ticket if isinstance(ticket, Decision) else ticket
        if isinstance(ticket, Decision) and not name and ticket.source != SERVER:
            return Settled(charged=cost, source=ticket.source)
        try:
            reply = yield from self._ask("settle", SettleRequest(ticket=name, cost=cost),
                                         preferred=address)
        except Unavailable:
            if not self._fail_open:
                raise
            return Settled(charged=cost, source=DEGRADED)
        settled: Settled = reply.message
        return settled

    # Copies.

    def reserve(self, question: ReserveRequest, max_wait: float = 0.0,
                in_line: bool = False) -> Flow[H]:
        self.counters.add("reservations")
        attempt = lambda left: self._try_reserve(question, left if in_line else 0.0)  # noqa: E731

        def final(found: _Attempt) -> bool:
            return in_line or found[0].allowed or found[0].outcome == "done"

        found, waited, attempts = yield from self._patiently(attempt, final, max_wait)
        reservation, session, source = found
        self.counters.add("allowed" if reservation.allowed else "refused")
        of = (question.namespace, question.resource, question.subject)
        return self._make_hold(self, of, reservation, session, waited, attempts, source)

    def _try_reserve(self, question: ReserveRequest, line: float) -> Flow[_Attempt]:
        line = max(0.0, line)
        try:
            reply = yield from self._ask("reserve", replace(question, wait_ms=_millis(line)),
                                         patience=line)
            reservation: Reservation = reply.message
            session, source = reply.session, SERVER
        except Unavailable:
            if not self._fail_open:
                raise
            reservation, session, source = self._degraded_reservation(question), None, DEGRADED
        refused = not reservation.allowed and reservation.outcome != "done"
        if refused and self._kill_switch:
            self.counters.add("kill_switch_grants")
            granted = _least(question.copies, question.min_copies)
            reservation = replace(reservation, allowed=True, outcome="granted", granted=granted)
            session, source = None, KILL_SWITCH
        return reservation, session, source

    def release(self, hold: HoldState, copies: Optional[int] = None) -> Flow[int]:
        taken = hold.take(copies)
        if taken > 0 and hold.session is not None:
            question = ReleaseRequest(hold=hold.id, copies=taken)
            yield from self._ask_session(hold.session, "release", question)
        return hold.copies

    def give_back(self, hold: HoldState, copies: Optional[int] = None) -> Flow[None]:
        """Releases, whatever has happened: what a lost session held is released already."""
        if hold.lost:
            return
        try:
            yield from self.release(hold, copies)
        except WeirError:
            self.counters.add("releases_failed")

    def transfer(self, hold: HoldState, copies: Optional[int], ttl: float) -> Flow[str]:
        taken = hold.take(copies)
        if hold.session is None:
            return local_transfer(hold, taken)
        question = TransferRequest(hold=hold.id, copies=taken, ttl_ms=_millis(ttl))
        message = yield from self._ask_session(hold.session, "transfer", question)
        transfer: str = message.transfer
        return transfer

    def seize(self, transfer: str, copies: int) -> Flow[H]:
        self.counters.add("reservations")
        start = self.clock()
        local = read_local_transfer(transfer)
        of, granted = local if local is not None else (("", "", ""), copies)
        session: Optional[Session] = None
        hold, groups, source = "", (), DEGRADED
        if local is None:
            try:
                reply = yield from self._ask("seize", SeizeRequest(transfer=transfer))
                seized = reply.message
                of = (seized.namespace, seized.resource, seized.subject)
                granted, hold, groups = seized.copies, seized.hold, seized.groups
                session, source = reply.session, SERVER
            except Unavailable:
                if not self._fail_open:
                    raise
                self.counters.add("degraded_grants")
        self.counters.add("allowed")
        reservation = Reservation(allowed=True, outcome="granted", granted=granted, hold=hold,
                                  groups=groups)
        return self._make_hold(self, of, reservation, session, self.clock() - start, 1, source)

    def hold_was_lost(self, hold: Any) -> None:
        self.counters.add("holds_lost")
        if self._on_lost is not None:
            self._on_lost(hold)

    # Asking.

    def _patiently(self, attempt: Callable[[float], Flow[A]], final: Callable[[A], bool],
                   max_wait: float) -> Flow[Tuple[A, float, int]]:
        """Attempts until an answer is final or the budget is spent; how long and how often."""
        start = self.clock()
        for refusals in count():
            answer = yield from attempt(max_wait - (self.clock() - start))
            waited = self.clock() - start
            seconds = None
            if not final(answer):
                seconds = backoff.pause(refusals, max_wait - waited, self._random)
            if seconds is None:
                return answer, waited, refusals + 1
            self.counters.add("retries")
            yield Sleep(seconds)
        raise AssertionError("count() ends")

    def _ask(self, operation: str, message: Any, preferred: str = "",
             patience: float = 0.0) -> Flow[Reply]:
        """The answer of the first server that has one. Unavailable if none has."""
        deadline = self.clock() + self._timeout
        last = Failure(14, "no address has answered lately")
        servers = self.servers.to_ask(self.clock(), preferred)
        for position, server in enumerate(servers):
            left = deadline - self.clock()
            if left <= 0 or not self.servers.begin(server, self.clock()):
                continue
            share = left / (len(servers) - position)
            try:
                if patience > 0:  # a long wait is for a server that is there
                    yield from self._hear(server.address, share)
                reply: Reply = yield Call(server.address, operation, message, share + patience)
            except Failure as failure:
                last = failure
                if failure.answered or failure.of_client:
                    self.servers.succeeded(server)
                else:
                    self.servers.failed(server, self.clock())
                if failure.of_client:
                    self.counters.add("client_errors")
                    raise WeirError(failure.code, failure.message) from failure
                self.counters.add("server_errors")
                continue
            except BaseException:
                self.servers.abandoned(server)
                raise
            self.servers.succeeded(server)
            if position > 0:
                self.counters.add("failovers")
            if operation in ("request", "peek"):
                return Reply(replace(reply.message, address=server.address))
            return reply
        raise Unavailable(last.code, last.message) from last

    def _hear(self, address: str, timeout: float) -> Flow[None]:
        try:
            yield Call(address, "", None, timeout)
        except Failure as failure:
            if not failure.of_client:  # an empty question is answered with bad_request
                raise

    def _ask_session(self, session: Session, operation: str, message: Any) -> Flow[Any]:
        assert operation not in UNARY
        try:
            reply = yield Call(session.address, operation, message, self._timeout, session)
        except Failure as failure:
            if not session.alive:
                raise HoldLost() from failure
            kind = WeirError if failure.of_client else Unavailable
            raise kind(failure.code, failure.message) from failure
        return reply.message

    # Deciding alone.

    def _degraded_decision(self, question: LimitRequest, peek: bool) -> Decision:
        granted = _least(question.cost, question.min_cost)
        wait = self._degraded((question.namespace, question.resource), granted, not peek)
        if wait == 0:
            return Decision(allowed=True, granted=granted, source=DEGRADED)
        retry = -1 if wait is None else _millis(wait)
        return Decision(retry_after_ms=retry, reset_after_ms=retry, source=DEGRADED)

    def _degraded_reservation(self, question: ReserveRequest) -> Reservation:
        granted = _least(question.copies, question.min_copies)
        if self._degraded((question.namespace, question.resource), granted, True) == 0:
            return Reservation(allowed=True, outcome="granted", granted=granted)
        return Reservation(outcome="refused")

    def _degraded(self, resource: Tuple[str, str], amount: int, keep: bool) -> Optional[float]:
        """Seconds until the safe rate has that much; 0: granted, None: never."""
        wait: Optional[float] = 0.0
        if self._safe_rate is not None:
            wait = self._safe_rate.take(resource, amount, self.clock(), keep)
        self.counters.add("degraded_grants" if wait == 0 else "degraded_refusals")
        return wait


def _is_final(decision: Decision) -> bool:
    return decision.allowed or decision.retry_after_ms < 0


def _least(amount: Optional[int], least: Optional[int]) -> int:
    if least is not None:
        return least
    return 1 if amount is None else amount


def _millis(seconds: float) -> int:
    return max(0, math.ceil(seconds * 1000))
