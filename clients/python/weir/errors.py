"""What goes wrong. A refusal does not: it is an answer, unless raise_for_refusal() is called."""

from __future__ import annotations

from typing import Any

# As gRPC numbers them. These are about the request itself: another server would say the same.
_STATUS_NAMES = {
    0: "ok", 1: "cancelled", 2: "unknown", 3: "bad_request", 4: "deadline_exceeded", 5: "not_found",
    6: "already_exists", 7: "forbidden", 8: "overloaded", 9: "failed_precondition",
    10: "conflict", 11: "out_of_range", 12: "unimplemented", 13: "internal", 14: "unavailable",
    15: "data_loss", 16: "unauthenticated"}
_CLIENT_STATUSES = frozenset({3, 5, 6, 7, 9, 10, 11, 16})
_CODES = frozenset({
    "bad_request", "unknown_namespace", "unknown_resource", "wrong_kind", "not_held",
    "unknown_transfer", "unknown_ticket", "unauthenticated", "forbidden", "overloaded",
    "unavailable", "read_only", "conflict"})

DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE = 4, 13, 14


class WeirError(Exception):
    """`code` is one of the server's: bad_request, unknown_resource, wrong_kind, not_held, ..."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message


class Unavailable(WeirError):
    """No server could be reached or answer, and the client does not fail open."""


class HoldLost(WeirError):
    """The connection that held the copies has ended, and the server has taken them back."""

    def __init__(self, message: str = "the session that held it has ended") -> None:
        super().__init__("not_held", message)


class Refused(WeirError):
    """raise_for_refusal() met one; `answer` has the details."""

    def __init__(self, answer: Any, message: str) -> None:
        super().__init__("refused", message)
        self.answer = answer


class Failure(Exception):
    """A call that a transport could not complete, with gRPC's status. Not seen by users."""

    def __init__(self, status: int, text: str = "", code: str = "") -> None:
        head, _, tail = text.partition(": ")
        if not code and head in _CODES:
            code, text = head, tail
        super().__init__(f"{_STATUS_NAMES.get(status, status)}: {text}")
        self.answered = bool(code)  # by a Weir server, rather than by the network
        self.code = code or _STATUS_NAMES.get(status, "unknown")
        self.message = text
        self.of_client = status in _CLIENT_STATUSES
