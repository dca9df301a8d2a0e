"""What both transports know of gRPC."""

from __future__ import annotations

from typing import Any, Dict

import grpc

from .errors import Failure
from .messages import Decision, Settled

SERVICE = "/weir.v1.Limiter/"
SESSION = SERVICE + "Session"

METHODS: Dict[str, str] = {"request": "Request", "peek": "Peek", "settle": "Settle"}
ANSWERS: Dict[str, type] = {"request": Decision, "peek": Decision, "settle": Settled}

# gRPC waits up to two minutes before it connects again; how often an address is tried is for
# degraded.py to say. A connection of its own, since a session is bound to it.
OPTIONS = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.min_reconnect_backoff_ms", 100),
           ("grpc.max_reconnect_backoff_ms", 500), ("grpc.keepalive_time_ms", 10_000),
           ("grpc.keepalive_timeout_ms", 5_000), ("grpc.use_local_subchannel_pool", 1)]


def to_failure(error: Any) -> Failure:
    """Of a grpc.RpcError, whose code() and details() its subclasses have."""
    code = error.code() or grpc.StatusCode.UNKNOWN
    return Failure(code.value[0], error.details() or "")
