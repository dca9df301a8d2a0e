"""The client of Weir, which decides who may do what how often.

    with weir.Client("127.0.0.1:8081") as client:
        if client.request("shop", "search", "ann", max_wait=5).allowed:
            ...

weir.Client is for threads, weir.aio.Client for asyncio (import weir.aio), weir.middleware for WSGI
and ASGI applications.
"""

from .acquire import Acquired, Copies, Rate
from .client import Client
from .degraded import KillSwitch, SafeRate, kill_switch
from .errors import HoldLost, Refused, Unavailable, WeirError
from .holds import Hold
from .messages import (DEGRADED, KILL_SWITCH, SERVER, UNLIMITED, Decision, GroupStatus, LimitStatus,
                       Reservation, Settled)

__all__ = [
    "Acquired", "Client", "Copies", "DEGRADED", "Decision", "GroupStatus", "Hold", "HoldLost",
    "KILL_SWITCH", "KillSwitch", "LimitStatus", "Rate", "Refused", "Reservation", "SERVER",
    "SafeRate", "Settled", "UNLIMITED", "Unavailable", "WeirError", "kill_switch"]
