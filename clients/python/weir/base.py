"""What the two clients share: their options and what they tell of themselves."""

from __future__ import annotations

import random as _random
import time
from typing import Any, Callable, Generic, Optional, Sequence, Type, TypeVar, Union

import grpc

from .backoff import Random
from .core import Clock, Core
from .counters import Counters
from .degraded import KillSwitch, SafeRate, Servers, kill_switch as process_kill_switch
from .holds import HoldState
from .messages import LimitRequest, ReserveRequest

H = TypeVar("H", bound=HoldState)

Addresses = Union[str, Sequence[str]]


class Base(Generic[H]):
    """addresses     HOST:PORT of gRPC fronts, the preferred one first
    timeout          seconds within which a question is answered, by a server or without one
    fail_open        False: raise Unavailable instead of granting when no server answers
    safe_rate        bounds the grants of degraded mode
    kill_switch      the process-wide weir.kill_switch by default
    credentials      for TLS: grpc.ssl_channel_credentials(...)
    probe_after      seconds until an address that failed is tried again; doubles up to
    probe_after_most
    on_lost          called with every hold whose session has ended
    clock, sleep, random, transport: for tests
    """

    _hold_type: Type[H]

    def __init__(self, addresses: Addresses, *, timeout: float = 0.5, fail_open: bool = True,
                 safe_rate: Optional[SafeRate] = None, kill_switch: Optional[KillSwitch] = None,
                 credentials: Optional[grpc.ChannelCredentials] = None, probe_after: float = 0.1,
                 probe_after_most: float = 5.0, on_lost: Optional[Callable[[H], None]] = None,
                 clock: Clock = time.monotonic, sleep: Optional[Callable[[float], Any]] = None,
                 random: Random = _random.random, transport: Any = None) -> None:
        names = [addresses] if isinstance(addresses, str) else list(addresses)
        self.counters = Counters()
        self.kill_switch = process_kill_switch if kill_switch is None else kill_switch
        self._servers = Servers(names, self.counters, random, probe_after, probe_after_most)
        self._core: Core[H] = Core(self._servers, self.counters, self._make_hold, clock, random,
                                   timeout, fail_open, safe_rate, self.kill_switch, on_lost)
        self._sleep = sleep or self._default_sleep()
        self._transport = transport or self._default_transport(credentials)

    @property
    def degraded(self) -> bool:
        """No address answers."""
        return self._servers.degraded

    def _make_hold(self, *arguments: Any) -> H:
        hold = self._hold_type(*arguments)
        hold.run = self._run  # type: ignore[attr-defined]
        return hold

    def _run(self, flow: Any) -> Any:
        raise NotImplementedError

    def _default_sleep(self) -> Callable[[float], Any]:
        raise NotImplementedError

    def _default_transport(self, credentials: Optional[grpc.ChannelCredentials]) -> Any:
        raise NotImplementedError


def limit_request(namespace: str, resource: str, subject: str, cost: int,
                  min_cost: Optional[int], settle: bool = False) -> LimitRequest:
    return LimitRequest(namespace, resource, subject, cost, min_cost, settle)


def reserve_request(namespace: str, resource: str, subject: str, copies: int,
                    min_copies: Optional[int], max_queue: Optional[int],
                    share: bool) -> ReserveRequest:
    return ReserveRequest(namespace, resource, subject, copies, min_copies, 0, max_queue, share)
