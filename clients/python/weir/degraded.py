"""Life without a server (4.3 of the paper on Charon): what is away, what is granted meanwhile.

Servers knows which addresses answer. One that failed is left alone for a while, which doubles with
every failure; then a single question is let through as a probe, and when it is answered the address
is back. While none is left, nobody waits for the network: the client grants the minimum at once,
bounded by a SafeRate if there is one.

KillSwitch turns refusals into grants, to take limits out of the way without taking them out of use.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from .backoff import Random, doubled, jitter
from .counters import Counters


@dataclass
class Server:
    address: str
    failures: int = 0  # in a row; 0: it answers
    away_until: float = 0.0
    probing: bool = False


class Servers:
    def __init__(self, addresses: Sequence[str], counters: Counters, random: Random,
                 probe_after: float, probe_after_most: float) -> None:
        if not addresses:
            raise ValueError("no address")
        self._counters = counters
        self._random = random
        self._probe_after = probe_after
        self._probe_after_most = probe_after_most
        self._lock = threading.Lock()  # guards what the servers hold
        self._servers = [Server(address) for address in addresses]

    def __len__(self) -> int:
        return len(self._servers)

    @property
    def degraded(self) -> bool:
        with self._lock:
            return all(server.failures > 0 for server in self._servers)

    def to_ask(self, now: float, preferred: str = "") -> List[Server]:
        """Those that answer or may be probed, in order, the preferred one first."""
        with self._lock:
            found = [server for server in self._servers if _may_be_asked(server, now)]
        return sorted(found, key=lambda server: server.address != preferred)

    def begin(self, server: Server, now: float) -> bool:
        """False if somebody else is probing it already."""
        with self._lock:
            if not _may_be_asked(server, now):
                return False
            if server.failures > 0:
                server.probing = True
                self._counters.add("probes")
            return True

    def succeeded(self, server: Server) -> None:
        with self._lock:
            if server.failures > 0:
                self._counters.add("recoveries")
            server.failures, server.probing = 0, False

    def failed(self, server: Server, now: float) -> None:
        with self._lock:
            away = min(doubled(self._probe_after, server.failures), self._probe_after_most)
            server.failures += 1
            server.probing = False
            server.away_until = now + jitter(away, self._random)
            if server.failures == 1 and all(other.failures > 0 for other in self._servers):
                self._counters.add("degraded_entered")

    def abandoned(self, server: Server) -> None:
        """Nothing was learned."""
        with self._lock:
            server.probing = False


def _may_be_asked(server: Server, now: float) -> bool:
    return server.failures == 0 or (not server.probing and now >= server.away_until)


class SafeRate:
    """A token bucket for each resource: `rate` grants a second, `burst` of them at once."""

    def __init__(self, rate: float, burst: Optional[float] = None, resources: int = 1024) -> None:
        if rate < 0 or (burst is not None and burst < 0):
            raise ValueError("a safe rate and its burst are not negative")
        self.rate = rate
        self.burst = max(1.0, rate) if burst is None else burst
        self._most = resources
        self._lock = threading.Lock()  # guards:
        self._buckets: OrderedDict[Tuple[str, str], Tuple[float, float]] = OrderedDict()

    def take(self, resource: Tuple[str, str], amount: int, now: float,
             keep: bool = True) -> Optional[float]:
        """Seconds until there is enough, 0 if it was taken, None for never. keep: False to peek."""
        with self._lock:
            tokens, since = self._buckets.pop(resource, (self.burst, now))
            tokens = min(self.burst, tokens + max(0.0, now - since) * self.rate)
            enough = tokens >= amount
            self._buckets[resource] = (tokens - amount if enough and keep else tokens, now)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        if enough:
            return 0.0
        if amount > self.burst or self.rate == 0:
            return None
        return (amount - tokens) / self.rate


class KillSwitch:
    """While it is on, every refusal becomes a grant of the minimum. Servers are asked as before."""

    def __init__(self, on: bool = False) -> None:
        self.on = on

    def __bool__(self) -> bool:
        return self.on


# Of all clients in this process that are given no other.
kill_switch = KillSwitch()
