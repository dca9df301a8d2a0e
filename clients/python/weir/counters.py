"""What the client has done since it was made, to be shown wherever the application shows its own."""

from __future__ import annotations

import threading
from typing import Dict

NAMES = (
    "requests",  # request and peek
    "reservations",  # reserve and seize
    "allowed",  # grants of any source
    "refused",
    "retries",  # questions that were asked again after a refusal
    "server_errors",  # calls that failed, or were answered with an error that is not the caller's
    "client_errors",  # questions that were wrong
    "failovers",  # questions that another address than the first one tried has answered
    "probes",  # questions to an address that was away
    "recoveries",  # addresses that answered again
    "degraded_entered",  # times that no address was left
    "degraded_grants",
    "degraded_refusals",  # by the local safe rate
    "kill_switch_grants",  # refusals that were overruled
    "holds_lost",  # holds whose session has ended
    "releases_failed",  # on leaving scope; the server releases them with the session
)


class Counters:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values = dict.fromkeys(NAMES, 0)

    def add(self, name: str, amount: int = 1) -> None:
        with self._lock:
            self._values[name] += amount

    def __getitem__(self, name: str) -> int:
        with self._lock:
            return self._values[name]

    def snapshot(self) -> Dict[str, int]:
        with self._lock:
            return dict(self._values)
