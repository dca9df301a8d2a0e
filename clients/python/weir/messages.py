"""The messages of weir.v1 (api/weir/v1/limiter.proto), and what the client adds to the answers.

Times are milliseconds; the properties without `_ms` are seconds. -1 stands for never, UNLIMITED for
no limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from . import wire
from .errors import Refused

UNLIMITED = 2**64 - 1

# Who answered: a server; nobody, so that the client decided; a server whose refusal was overruled.
SERVER, DEGRADED, KILL_SWITCH = "server", "degraded", "kill_switch"


@dataclass(frozen=True)
class LimitRequest:
    namespace: str = wire.string(1)
    resource: str = wire.string(2)
    subject: str = wire.string(3)
    cost: Optional[int] = wire.optional_uint64(4)
    min_cost: Optional[int] = wire.optional_uint64(5)
    settle: bool = wire.boolean(6)


@dataclass(frozen=True)
class LimitStatus:
    name: str = wire.string(1)
    limit: int = wire.uint64(2)
    per_ms: int = wire.int64(3)
    remaining: int = wire.uint64(4)
    reset_after_ms: int = wire.int64(5)
    shadow: bool = wire.boolean(6)
    would_refuse: bool = wire.boolean(7)


@dataclass(frozen=True)
class Decision:
    allowed: bool = wire.boolean(1)
    granted: int = wire.uint64(2)
    remaining: int = wire.uint64(3)
    retry_after_ms: int = wire.int64(4)
    reset_after_ms: int = wire.int64(5)
    limit: str = wire.string(6)
    ticket: str = wire.string(7)
    limits: Tuple[LimitStatus, ...] = wire.messages(8, LimitStatus)
    degraded: bool = wire.boolean(9)  # a store was away: a limit's on_failure decided

    tier: Optional[int] = wire.optional_uint64(16)
    tier_limit: Optional[int] = wire.optional_uint64(17)
    tier_hits: Optional[int] = wire.optional_uint64(18)
    burst: Optional[bool] = wire.optional_boolean(19)
    hard_limit: Optional[int] = wire.optional_uint64(20)
    hard_limited: Optional[bool] = wire.optional_boolean(21)
    hits_last_second: Optional[int] = wire.optional_uint64(22)
    global_limit: Optional[int] = wire.optional_uint64(23)
    global_limited: Optional[bool] = wire.optional_boolean(24)
    global_hits_last_second: Optional[int] = wire.optional_uint64(25)

    waited: float = 0.0  # seconds from the call to the answer
    attempts: int = 1
    source: str = SERVER
    address: str = ""  # of the server that answered

    @property
    def retry_after(self) -> Optional[float]:
        return None if self.retry_after_ms < 0 else self.retry_after_ms / 1000

    @property
    def reset_after(self) -> Optional[float]:
        return None if self.reset_after_ms < 0 else self.reset_after_ms / 1000

    def raise_for_refusal(self) -> Decision:
        if not self.allowed:
            when = "never" if self.retry_after is None else f"in {self.retry_after:g} s"
            raise Refused(self, f"by {self.limit or 'the local safe rate'}; retry {when}")
        return self


@dataclass(frozen=True)
class SettleRequest:
    ticket: str = wire.string(1)
    cost: int = wire.uint64(2)


@dataclass(frozen=True)
class Settled:
    # What stays charged: the true cost, or more where not all of the estimate could be given back.
    charged: int = wire.uint64(1)
    remaining: int = wire.uint64(2)

    source: str = SERVER


@dataclass(frozen=True)
class ReserveRequest:
    namespace: str = wire.string(1)
    resource: str = wire.string(2)
    subject: str = wire.string(3)
    copies: Optional[int] = wire.optional_uint64(4)
    min_copies: Optional[int] = wire.optional_uint64(5)
    wait_ms: int = wire.uint64(6)
    max_queue: Optional[int] = wire.optional_uint64(7)
    share: bool = wire.boolean(8)


@dataclass(frozen=True)
class GroupStatus:
    name: str = wire.string(1)
    limit: int = wire.uint64(2)
    held: int = wire.uint64(3)


@dataclass(frozen=True)
class Reservation:
    allowed: bool = wire.boolean(1)
    outcome: str = wire.enum(2, "unspecified", "granted", "refused", "queue_full", "timeout",
                             "done")
    granted: int = wire.uint64(3)
    hold: str = wire.string(4)
    held: int = wire.uint64(5)
    per_subject: int = wire.uint64(6)
    held_total: int = wire.uint64(7)
    total: int = wire.uint64(8)
    groups: Tuple[GroupStatus, ...] = wire.messages(9, GroupStatus)


@dataclass(frozen=True)
class ReleaseRequest:
    hold: str = wire.string(1)
    copies: Optional[int] = wire.optional_uint64(2)


@dataclass(frozen=True)
class Released:
    copies: int = wire.uint64(1)


@dataclass(frozen=True)
class TransferRequest:
    hold: str = wire.string(1)
    copies: Optional[int] = wire.optional_uint64(2)
    ttl_ms: int = wire.uint64(3)


@dataclass(frozen=True)
class Transferred:
    transfer: str = wire.string(1)


@dataclass(frozen=True)
class SeizeRequest:
    transfer: str = wire.string(1)


@dataclass(frozen=True)
class Seized:
    hold: str = wire.string(1)
    namespace: str = wire.string(2)
    resource: str = wire.string(3)
    subject: str = wire.string(4)
    copies: int = wire.uint64(5)
    groups: Tuple[GroupStatus, ...] = wire.messages(6, GroupStatus)


@dataclass(frozen=True)
class Error:
    status: int = wire.int32(1)
    code: str = wire.string(2)
    message: str = wire.string(3)


@dataclass(frozen=True)
class SessionRequest:
    id: int = wire.uint64(1)
    request: Optional[LimitRequest] = wire.message(2, LimitRequest)
    peek: Optional[LimitRequest] = wire.message(3, LimitRequest)
    settle: Optional[SettleRequest] = wire.message(4, SettleRequest)
    reserve: Optional[ReserveRequest] = wire.message(5, ReserveRequest)
    release: Optional[ReleaseRequest] = wire.message(6, ReleaseRequest)
    transfer: Optional[TransferRequest] = wire.message(7, TransferRequest)
    seize: Optional[SeizeRequest] = wire.message(8, SeizeRequest)


@dataclass(frozen=True)
class SessionResponse:
    id: int = wire.uint64(1)
    decision: Optional[Decision] = wire.message(2, Decision)
    settled: Optional[Settled] = wire.message(4, Settled)
    reservation: Optional[Reservation] = wire.message(5, Reservation)
    released: Optional[Released] = wire.message(6, Released)
    transferred: Optional[Transferred] = wire.message(7, Transferred)
    seized: Optional[Seized] = wire.message(8, Seized)
    error: Optional[Error] = wire.message(15, Error)
