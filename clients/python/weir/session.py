"""A Session stream without its I/O: questions out, answers in by id, and the holds that live on it.

Everything that a session holds is held until its stream ends. Hence the end tells every hold that it
is lost, and a reservation that is granted after its asker has given up is released at once, for
nobody else would.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Protocol, Set, Tuple

from .errors import UNAVAILABLE, Failure
from .messages import ReleaseRequest, SessionRequest, SessionResponse
from .wire import decode, encode


class Holder(Protocol):
    def lose(self) -> None: ...


class Session:
    def __init__(self, address: str, make_future: Callable[[], Any]) -> None:
        self.address = address
        self._make_future = make_future
        self._lock = threading.Lock()  # guards what follows
        self._alive = True
        self._last_id = 0
        self._pending: Dict[int, Any] = {}
        self._given_up: Set[int] = set()
        self._holds: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def alive(self) -> bool:
        with self._lock:
            return self._alive

    def ask(self, operation: str, message: Any) -> Tuple[int, bytes, Any]:
        """The question's id, what to send, and the future of its answer."""
        with self._lock:
            if not self._alive:
                raise Failure(UNAVAILABLE, "the session has ended")
            self._last_id += 1
            question = {operation: message} if operation else {}
            data = encode(SessionRequest(id=self._last_id, **question))
            future = self._pending[self._last_id] = self._make_future()
            return self._last_id, data, future

    def receive(self, data: bytes) -> Optional[bytes]:
        """An answer came. What is to be sent in turn, if anything."""
        response = decode(SessionResponse, data)
        with self._lock:
            future = self._pending.pop(response.id, None)
            unwanted = response.id in self._given_up
            self._given_up.discard(response.id)
        if future is not None and not future.done():
            _resolve(future, response)
            return None
        return self.undo(response) if unwanted or future is not None else None

    def give_up(self, number: int) -> bool:
        """The answer is not waited for any more. False if it is there already."""
        with self._lock:
            if self._pending.pop(number, None) is None:
                return False
            self._given_up.add(number)
            return True

    def undo(self, response: Optional[SessionResponse]) -> Optional[bytes]:
        """The release of what an unwanted answer has granted."""
        granted = response and (response.reservation or response.seized)
        if not granted or not granted.hold or not self.alive:
            return None
        with self._lock:
            self._last_id += 1
            return encode(SessionRequest(id=self._last_id,
                                         release=ReleaseRequest(hold=granted.hold)))

    def adopt(self, hold: Holder) -> None:
        with self._lock:
            self._holds.add(hold)
            alive = self._alive
        if not alive:
            hold.lose()

    def forget_holds(self) -> None:
        """Before the client itself ends the stream, which is no loss."""
        with self._lock:
            self._holds.clear()

    def end(self, failure: Failure) -> None:
        """The stream has ended, for whatever reason."""
        with self._lock:
            if not self._alive:
                return
            self._alive = False
            futures = list(self._pending.values())
            holds: List[Holder] = list(self._holds)
            self._pending.clear()
        for future in futures:
            if not future.done():
                future.set_exception(failure)
        for hold in holds:
            hold.lose()


def _resolve(future: Any, response: SessionResponse) -> None:
    if response.error is not None:
        error = response.error
        future.set_exception(Failure(error.status, error.message, error.code))
    else:
        future.set_result(response)


def content(response: SessionResponse) -> Any:
    """The one answer that is set."""
    for name in ("decision", "settled", "reservation", "released", "transferred", "seized"):
        message = getattr(response, name)
        if message is not None:
            return message
    raise Failure(UNAVAILABLE, "an answer of an unknown kind")
