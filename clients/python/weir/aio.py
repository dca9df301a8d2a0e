"""The client for asyncio. It belongs to the event loop that first uses it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import (Any, Awaitable, Callable, Dict, Generator, Generic, Optional, Sequence, Type,
                    TypeVar, Union)

import grpc
import grpc.aio

from . import acquire
from .acquire import AsyncAcquired, Wanted
from .base import Base, limit_request, reserve_request
from .channel import ANSWERS, METHODS, OPTIONS, SERVICE, SESSION, to_failure
from .errors import DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, Failure
from .flow import UNARY, Call, Effect, Flow, Reply, Sleep, run_async
from .holds import AsyncHold
from .messages import Decision, Settled
from .session import Session, content
from .wire import WireError, decode, encode

T = TypeVar("T")
S = TypeVar("S", bound=Union[AsyncHold, AsyncAcquired])


class Scope(Generic[S]):
    """To be awaited, or entered with `async with`, which awaits it."""

    def __init__(self, pending: Callable[[], Awaitable[S]]) -> None:
        self._pending = pending
        self._entered: Optional[S] = None

    def __await__(self) -> Generator[Any, None, S]:
        return self._pending().__await__()

    async def __aenter__(self) -> S:
        entered = await self._pending()
        self._entered = entered
        return entered

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        assert self._entered is not None
        await self._entered.__aexit__(kind, error, trace)


class Client(Base[AsyncHold]):
    __doc__ = Base.__doc__
    _hold_type = AsyncHold

    async def request(self, namespace: str, resource: str, subject: str, cost: int = 1,
                      min_cost: Optional[int] = None, *, settle: bool = False,
                      max_wait: float = 0.0) -> Decision:
        question = limit_request(namespace, resource, subject, cost, min_cost, settle)
        return await self._run(self._core.request(question, max_wait))

    async def peek(self, namespace: str, resource: str, subject: str, cost: int = 1,
                   min_cost: Optional[int] = None) -> Decision:
        question = limit_request(namespace, resource, subject, cost, min_cost)
        return await self._run(self._core.request(question, peek=True))

    async def settle(self, ticket: Union[str, Decision], cost: int) -> Settled:
        return await self._run(self._core.settle(ticket, cost))

    def reserve(self, namespace: str, resource: str, subject: str, copies: int = 1,
                min_copies: Optional[int] = None, *, max_wait: float = 0.0, in_line: bool = False,
                max_queue: Optional[int] = None, share: bool = False) -> Scope[AsyncHold]:
        question = reserve_request(namespace, resource, subject, copies, min_copies, max_queue,
                                   share)
        return Scope(lambda: self._run(self._core.reserve(question, max_wait, in_line)))

    async def release(self, hold: AsyncHold, copies: Optional[int] = None) -> int:
        return await hold.release(copies)

    async def transfer(self, hold: AsyncHold, copies: Optional[int] = None, *, ttl: float) -> str:
        return await hold.transfer(copies, ttl=ttl)

    def seize(self, transfer: str, *, copies: int = 1) -> Scope[AsyncHold]:
        return Scope(lambda: self._run(self._core.seize(transfer, copies)))

    def acquire_all(self, wanted: Sequence[Wanted], min: int = 1, max: int = 1,
                    max_wait: float = 0.0) -> Scope[AsyncAcquired]:
        acquire.check(wanted, min, max)

        async def acquired() -> AsyncAcquired:
            found: AsyncAcquired = await self._run(
                acquire.acquire_all(self._core, wanted, min, max, max_wait, AsyncAcquired))
            found.run = self._run
            return found

        return Scope(acquired)

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def _run(self, flow: Flow[T]) -> T:
        return await run_async(flow, self._perform)

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Sleep):
            return await self._sleep(effect.seconds)
        return await self._transport.call(effect)

    def _default_sleep(self) -> Callable[[float], Any]:
        return asyncio.sleep

    def _default_transport(self, credentials: Optional[grpc.ChannelCredentials]) -> Any:
        return GrpcTransport(credentials)


class GrpcTransport:
    """A channel and at most one session for each address."""

    def __init__(self, credentials: Optional[grpc.ChannelCredentials]) -> None:
        self._credentials = credentials
        self._channels: Dict[str, grpc.aio.Channel] = {}
        self._sessions: Dict[str, TaskSession] = {}
        self._closed = False

    async def call(self, call: Call) -> Reply:
        if call.operation in UNARY:
            return Reply(await self._call_unary(call))
        session = call.session or self._session(call.address)
        assert isinstance(session, TaskSession)
        return Reply(await session.call(call), session)

    async def close(self) -> None:
        self._closed = True
        for session in self._sessions.values():
            await session.close()
        for channel in self._channels.values():
            await channel.close()
        self._sessions, self._channels = {}, {}

    async def _call_unary(self, call: Call) -> Any:
        data = encode(call.message)
        method = self._channel(call.address).unary_unary(SERVICE + METHODS[call.operation])
        try:
            return decode(ANSWERS[call.operation], await method(data, timeout=call.timeout))
        except grpc.RpcError as error:
            raise to_failure(error) from error
        except WireError as error:
            raise Failure(INTERNAL, str(error)) from error

    def _channel(self, address: str) -> grpc.aio.Channel:
        if self._closed:
            raise RuntimeError("the client is closed")
        if address not in self._channels:
            self._channels[address] = (
                grpc.aio.insecure_channel(address, OPTIONS) if self._credentials is None
                else grpc.aio.secure_channel(address, self._credentials, OPTIONS))
        return self._channels[address]

    def _session(self, address: str) -> TaskSession:
        session = self._sessions.get(address)
        if session is None or not session.alive:
            session = self._sessions[address] = TaskSession(address, self._channel(address))
        return session


class TaskSession(Session):
    """A stream, with a task that reads it and one that writes."""

    def __init__(self, address: str, channel: grpc.aio.Channel) -> None:
        super().__init__(address, asyncio.get_running_loop().create_future)
        self._to_send: asyncio.Queue[Optional[bytes]] = asyncio.Queue()
        self._stream = channel.stream_stream(SESSION)()
        self._reader = asyncio.ensure_future(self._read())
        self._writer = asyncio.ensure_future(self._write())

    async def call(self, call: Call) -> Any:
        number, data, future = self.ask(call.operation, call.message)
        self._to_send.put_nowait(data)
        try:
            await asyncio.wait({future}, timeout=call.timeout)
        except asyncio.CancelledError:
            if not self.give_up(number) and future.exception() is None:
                self._send(self.undo(future.result()))
            raise
        if not future.done() and self.give_up(number):
            raise Failure(DEADLINE_EXCEEDED, "no answer in time")
        return content(future.result())

    async def close(self) -> None:
        self.forget_holds()
        self._to_send.put_nowait(None)
        await asyncio.wait({self._reader}, timeout=1.0)
        self._stream.cancel()
        await asyncio.wait({self._reader, self._writer}, timeout=1.0)

    def _send(self, data: Optional[bytes]) -> None:
        if data is not None:
            self._to_send.put_nowait(data)

    async def _write(self) -> None:
        try:
            while True:
                data = await self._to_send.get()
                if data is None:
                    await self._stream.done_writing()
                    return
                await self._stream.write(data)
        except (grpc.RpcError, asyncio.InvalidStateError, asyncio.CancelledError):
            pass  # the reader learns why

    async def _read(self) -> None:
        failure = Failure(UNAVAILABLE, "the server has ended the session")
        try:
            while True:
                data = await self._stream.read()
                if data is grpc.aio.EOF:
                    break
                self._send(self.receive(data))
        except grpc.RpcError as error:
            failure = to_failure(error)
        except asyncio.CancelledError:  # as grpc.aio tells of a call that was cancelled
            pass
        except WireError as error:
            self._stream.cancel()
            failure = Failure(INTERNAL, str(error))
        self.end(failure)
        self._to_send.put_nowait(None)
