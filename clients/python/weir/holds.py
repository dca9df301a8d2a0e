"""Copies that are held: what is known of them, and how they end.

A hold ends by release, by transfer, by leaving its `with` block (which releases what is left of it),
or by the end of its session, which is when the server takes everything back: then it is `lost`. A
hold that no server knows of (the client was degraded, or a kill switch was on) behaves the same, and
its transfers can be seized by any client, for they carry all there is to know.
"""

from __future__ import annotations

import base64
import json
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple, Type, TypeVar

from .errors import HoldLost, Refused, WeirError
from .flow import Flow
from .messages import SERVER, Reservation
from .session import Session

if TYPE_CHECKING:
    from .core import Core

H = TypeVar("H", bound="HoldState")

_LOCAL = "local:"


class HoldState:
    """What a hold of either client knows; refused ones too, with `allowed` False and no copies."""

    def __init__(self, core: Core[Any], of: Tuple[str, str, str], reservation: Reservation,
                 session: Optional[Session], waited: float = 0.0, attempts: int = 1,
                 source: str = SERVER) -> None:
        self.namespace, self.resource, self.subject = of
        self.reservation = reservation
        self.allowed = reservation.allowed
        self.granted = reservation.granted
        self.outcome = reservation.outcome
        self.groups = reservation.groups
        self.id = reservation.hold
        self.waited = waited
        self.attempts = attempts
        self.source = source
        self.session = session
        self._core = core
        self._lock = threading.Lock()  # guards:
        self._copies = reservation.granted
        self._lost = False
        if session is not None and self.allowed:
            session.adopt(self)

    @property
    def copies(self) -> int:
        """What is left."""
        with self._lock:
            return self._copies

    @property
    def lost(self) -> bool:
        """The session has ended while copies were held: others may have them by now."""
        with self._lock:
            return self._lost

    def raise_for_refusal(self: H) -> H:
        if not self.allowed:
            raise Refused(self, f"{self.resource}: {self.outcome}")
        return self

    def take(self, copies: Optional[int]) -> int:
        """Takes copies out, to release or transfer them; None: all. Never more than once."""
        with self._lock:
            if self._lost:
                raise HoldLost()
            count = self._copies if copies is None else copies
            if count < 0 or count > self._copies:
                raise WeirError("not_held", f"{count} of the {self._copies} copies that are left")
            self._copies -= count
            return count

    def lose(self) -> None:
        """The session has ended."""
        with self._lock:
            if self._lost or self._copies == 0:
                return
            self._lost = True
            self._copies = 0
        self._core.hold_was_lost(self)

    def __repr__(self) -> str:
        state = "lost" if self.lost else f"{self.copies} of {self.granted}"
        return f"<hold of {self.namespace}/{self.resource} for {self.subject}: {state}>"


class Hold(HoldState):
    """A hold of weir.Client."""

    run: Callable[[Flow[Any]], Any]  # set by the client

    def release(self, copies: Optional[int] = None) -> int:
        """Gives copies back, by default all; answers how many are left."""
        left: int = self.run(self._core.release(self, copies))
        return left

    def transfer(self, copies: Optional[int] = None, *, ttl: float) -> str:
        """Stages copies for seize() by another process within `ttl` seconds."""
        transfer: str = self.run(self._core.transfer(self, copies, ttl))
        return transfer

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.run(self._core.give_back(self))


class AsyncHold(HoldState):
    """A hold of weir.aio.Client."""

    run: Callable[[Flow[Any]], Any]

    async def release(self, copies: Optional[int] = None) -> int:
        left: int = await self.run(self._core.release(self, copies))
        return left

    async def transfer(self, copies: Optional[int] = None, *, ttl: float) -> str:
        transfer: str = await self.run(self._core.transfer(self, copies, ttl))
        return transfer

    async def __aenter__(self) -> AsyncHold:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.run(self._core.give_back(self))


def local_transfer(hold: HoldState, copies: int) -> str:
    """The transfer of a hold that no server knows of."""
    text = json.dumps([hold.namespace, hold.resource, hold.subject, copies])
    return _LOCAL + base64.urlsafe_b64encode(text.encode()).decode()


def read_local_transfer(transfer: str) -> Optional[Tuple[Tuple[str, str, str], int]]:
    if not transfer.startswith(_LOCAL):
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(transfer[len(_LOCAL):]))
        namespace, resource, subject, copies = found
        return (str(namespace), str(resource), str(subject)), int(copies)
    except (TypeError, ValueError) as error:
        raise WeirError("unknown_transfer", transfer) from error
