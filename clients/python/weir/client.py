"""The client for threads. All methods may be called from any number of them at once."""

from __future__ import annotations

import concurrent.futures
import queue
import threading
import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Type, TypeVar, Union

import grpc

from . import acquire
from .acquire import Acquired, Wanted
from .base import Base, limit_request, reserve_request
from .channel import ANSWERS, METHODS, OPTIONS, SERVICE, SESSION, to_failure
from .errors import DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, Failure
from .flow import UNARY, Call, Effect, Flow, Reply, Sleep, run
from .holds import Hold
from .messages import Decision, SessionResponse, Settled
from .session import Session, content
from .wire import WireError, decode, encode

T = TypeVar("T")


class Client(Base[Hold]):
    __doc__ = Base.__doc__
    _hold_type = Hold

    def request(self, namespace: str, resource: str, subject: str, cost: int = 1,
                min_cost: Optional[int] = None, *, settle: bool = False,
                max_wait: float = 0.0) -> Decision:
        """Takes `cost`, or as much as there is from `min_cost` on, or nothing.

        Refused, it asks again for up to max_wait seconds. settle: the true cost is told later.
        """
        question = limit_request(namespace, resource, subject, cost, min_cost, settle)
        return self._run(self._core.request(question, max_wait))

    def peek(self, namespace: str, resource: str, subject: str, cost: int = 1,
             min_cost: Optional[int] = None) -> Decision:
        """What request() would answer; takes nothing."""
        question = limit_request(namespace, resource, subject, cost, min_cost)
        return self._run(self._core.request(question, peek=True))

    def settle(self, ticket: Union[str, Decision], cost: int) -> Settled:
        """The true cost of a request that was made with settle=True.

        With several addresses give the decision rather than its ticket: it knows its server.
        """
        return self._run(self._core.settle(ticket, cost))

    def reserve(self, namespace: str, resource: str, subject: str, copies: int = 1,
                min_copies: Optional[int] = None, *, max_wait: float = 0.0, in_line: bool = False,
                max_queue: Optional[int] = None, share: bool = False) -> Hold:
        """Holds copies until the end of the `with` block. in_line: waits in the server's queue, in
        order of arrival, instead of asking again."""
        question = reserve_request(namespace, resource, subject, copies, min_copies, max_queue,
                                   share)
        return self._run(self._core.reserve(question, max_wait, in_line))

    def release(self, hold: Hold, copies: Optional[int] = None) -> int:
        return hold.release(copies)

    def transfer(self, hold: Hold, copies: Optional[int] = None, *, ttl: float) -> str:
        return hold.transfer(copies, ttl=ttl)

    def seize(self, transfer: str, *, copies: int = 1) -> Hold:
        """Holds what another process has transferred; `copies`: if no server can tell how many."""
        return self._run(self._core.seize(transfer, copies))

    def acquire_all(self, wanted: Sequence[Wanted], min: int = 1, max: int = 1,
                    max_wait: float = 0.0) -> Acquired:
        """The same number of copies of each, from min to max; see acquire.py."""
        acquire.check(wanted, min, max)
        acquired: Acquired = self._run(
            acquire.acquire_all(self._core, wanted, min, max, max_wait, Acquired))
        acquired.run = self._run
        return acquired

    def close(self) -> None:
        """Ends the sessions, and with them what is held."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _run(self, flow: Flow[T]) -> T:
        return run(flow, self._perform)

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Sleep):
            return self._sleep(effect.seconds)
        return self._transport.call(effect)

    def _default_sleep(self) -> Callable[[float], Any]:
        return time.sleep

    def _default_transport(self, credentials: Optional[grpc.ChannelCredentials]) -> Any:
        return GrpcTransport(credentials)


class GrpcTransport:
    """A channel and at most one session for each address."""

    def __init__(self, credentials: Optional[grpc.ChannelCredentials]) -> None:
        self._credentials = credentials
        self._lock = threading.Lock()  # guards:
        self._channels: Dict[str, grpc.Channel] = {}
        self._sessions: Dict[str, ThreadSession] = {}
        self._closed = False

    def call(self, call: Call) -> Reply:
        if call.operation in UNARY:
            return Reply(self._call_unary(call))
        session = call.session or self._session(call.address)
        assert isinstance(session, ThreadSession)
        return Reply(session.call(call), session)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            sessions, self._sessions = list(self._sessions.values()), {}
            channels, self._channels = list(self._channels.values()), {}
        for session in sessions:
            session.close()
        for channel in channels:
            channel.close()

    def _call_unary(self, call: Call) -> Any:
        data = encode(call.message)
        method = self._channel(call.address).unary_unary(SERVICE + METHODS[call.operation])
        try:
            return decode(ANSWERS[call.operation], method(data, timeout=call.timeout))
        except grpc.RpcError as error:
            raise to_failure(error) from error
        except WireError as error:
            raise Failure(INTERNAL, str(error)) from error

    def _channel(self, address: str) -> grpc.Channel:
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            if address not in self._channels:
                self._channels[address] = (
                    grpc.insecure_channel(address, OPTIONS) if self._credentials is None
                    else grpc.secure_channel(address, self._credentials, OPTIONS))
            return self._channels[address]

    def _session(self, address: str) -> ThreadSession:
        channel = self._channel(address)
        with self._lock:
            session = self._sessions.get(address)
            if session is None or not session.alive:
                session = self._sessions[address] = ThreadSession(address, channel)
            return session


class ThreadSession(Session):
    """A stream, with a thread that reads it."""

    def __init__(self, address: str, channel: grpc.Channel) -> None:
        super().__init__(address, concurrent.futures.Future)
        self._to_send: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._stream = channel.stream_stream(SESSION)(self._questions())
        self._reader = threading.Thread(target=self._read, name=f"weir {address}", daemon=True)
        self._reader.start()

    def call(self, call: Call) -> Any:
        number, data, future = self.ask(call.operation, call.message)
        self._to_send.put(data)
        try:
            return content(future.result(call.timeout))
        except concurrent.futures.TimeoutError:
            if not self.give_up(number):
                return content(future.result())
            raise Failure(DEADLINE_EXCEEDED, "no answer in time") from None
        except Failure:
            raise
        except BaseException:  # KeyboardInterrupt
            if not self.give_up(number):
                self._send(self.undo(_answer(future)))
            raise

    def close(self) -> None:
        self.forget_holds()
        self._to_send.put(None)
        self._reader.join(timeout=1.0)
        self._stream.cancel()
        self._reader.join(timeout=1.0)

    def _send(self, data: Optional[bytes]) -> None:
        if data is not None:
            self._to_send.put(data)

    def _questions(self) -> Iterator[bytes]:
        while True:
            data = self._to_send.get()
            if data is None:
                return
            yield data

    def _read(self) -> None:
        failure = Failure(UNAVAILABLE, "the server has ended the session")
        try:
            for data in self._stream:
                self._send(self.receive(data))
        except grpc.RpcError as error:
            failure = to_failure(error)
        except WireError as error:
            self._stream.cancel()
            failure = Failure(INTERNAL, str(error))
        self.end(failure)
        self._to_send.put(None)


def _answer(future: Any) -> Optional[SessionResponse]:
    if not future.done() or future.exception() is not None:
        return None
    answer: SessionResponse = future.result()
    return answer
