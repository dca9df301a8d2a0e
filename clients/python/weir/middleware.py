"""Limits in front of a WSGI or an ASGI application.

    application = weir.middleware.wsgi(client, "shop", "search")(application)

or as a decorator. Every answer gets the headers that `weir serve` gives over HTTP; a refusal is 429
with application/problem+json, and the application is not called. `subject` names whom a request is
counted for, by default the address of its sender; None: it is not limited.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import (TYPE_CHECKING, Any, Awaitable, Callable, Dict, Iterable, List, MutableMapping,
                    Optional, Tuple, TypeVar)

from .messages import UNLIMITED, Decision, LimitStatus

if TYPE_CHECKING:
    from . import aio
    from .client import Client

Headers = List[Tuple[str, str]]
Environ = Dict[str, Any]
WsgiApp = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Message, Receive, Send], Awaitable[None]]
App = TypeVar("App")

_MOST_INTEGER = 999_999_999_999_999  # of a structured field (RFC 9651)
_TRY_AGAIN_LATER = 1013  # of WebSocket


def remote_address(environ: Environ) -> Optional[str]:
    return str(environ.get("REMOTE_ADDR", ""))


def client_host(scope: Message) -> Optional[str]:
    return str((scope.get("client") or ("",))[0])


def wsgi(client: Client, namespace: str, resource: str,
         subject: Callable[[Environ], Optional[str]] = remote_address, cost: int = 1,
         max_wait: float = 0.0) -> Callable[[WsgiApp], WsgiApp]:
    def decorate(app: WsgiApp) -> WsgiApp:
        def limited(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
            who = subject(environ)
            if who is None:
                return app(environ, start_response)
            decision = client.request(namespace, resource, who, cost, max_wait=max_wait)
            added = decision_headers(decision)
            if not decision.allowed:
                body = problem(decision)
                start_response("429 Too Many Requests", added + _body_headers(body))
                return [body]

            def start(status: str, headers: Headers, *error: Any) -> Any:
                return start_response(status, list(headers) + added, *error)

            return app(environ, start)
        return limited
    return decorate


def asgi(client: aio.Client, namespace: str, resource: str,
         subject: Callable[[Message], Optional[str]] = client_host, cost: int = 1,
         max_wait: float = 0.0) -> Callable[[AsgiApp], AsgiApp]:
    """A WebSocket that is refused is closed before it is accepted."""
    def decorate(app: AsgiApp) -> AsgiApp:
        async def limited(scope: Message, receive: Receive, send: Send) -> None:
            who = subject(scope) if scope["type"] in ("http", "websocket") else None
            if who is None:
                return await app(scope, receive, send)
            decision = await client.request(namespace, resource, who, cost, max_wait=max_wait)
            if decision.allowed:
                return await app(scope, receive, _with_headers(send, decision_headers(decision)))
            if scope["type"] == "websocket":
                await receive()
                return await send({"type": "websocket.close", "code": _TRY_AGAIN_LATER})
            body = problem(decision)
            headers = decision_headers(decision) + _body_headers(body)
            await send({"type": "http.response.start", "status": 429, "headers": _raw(headers)})
            await send({"type": "http.response.body", "body": body})
        return limited
    return decorate


def decision_headers(decision: Decision) -> Headers:
    """RateLimit-Policy and RateLimit (of the IETF's draft), X-RateLimit-*, Retry-After."""
    headers: Headers = []
    deciding = _deciding(decision)
    if deciding is not None:
        limits = [deciding] + [limit for limit in decision.limits
                               if limit is not deciding and limit.limit != UNLIMITED]
        left = _integer(deciding.remaining)
        headers.append(("RateLimit-Policy", ",".join(map(_policy, limits))))
        state = f"{_quoted(deciding.name)};r={left}"
        if deciding.reset_after_ms >= 0:
            state += f";t={_seconds(deciding.reset_after_ms)}"
        headers += [("RateLimit", state), ("X-RateLimit-Limit", _integer(deciding.limit)),
                    ("X-RateLimit-Remaining", left)]
        if deciding.reset_after_ms >= 0:
            headers.append(("X-RateLimit-Reset", _seconds(deciding.reset_after_ms)))
    if not decision.allowed and decision.retry_after_ms >= 0:
        headers.append(("Retry-After", _seconds(decision.retry_after_ms)))
    return headers


def problem(decision: Decision) -> bytes:
    """The body of a 429: what is wrong (RFC 9457), with the decision's fields."""
    fields = {name: value for name, value in asdict(decision).items()
              if value is not None and name not in ("address", "attempts", "ticket")}
    return json.dumps({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Request cannot be satisfied as assigned quota has been exceeded",
        "status": 429,
        "violated-policies": [decision.limit] if decision.limit else [],
        **fields}).encode()


def _deciding(decision: Decision) -> Optional[LimitStatus]:
    for limit in decision.limits:
        if (limit.limit != UNLIMITED and limit.name == decision.limit
                and limit.remaining == decision.remaining):
            return limit
    return None


def _policy(limit: LimitStatus) -> str:
    window = f";w={_seconds(limit.per_ms)}" if limit.per_ms > 0 else ""
    return f"{_quoted(limit.name)};q={_integer(limit.limit)}{window}"


def _quoted(text: str) -> str:
    visible = "".join(c if " " <= c <= "~" else "?" for c in text)
    return '"' + visible.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _integer(value: int) -> str:
    return str(min(value, _MOST_INTEGER))


def _seconds(millis: int) -> str:
    return _integer(-(-millis // 1000))  # never earlier than the truth


def _body_headers(body: bytes) -> Headers:
    return [("Content-Type", "application/problem+json"), ("Content-Length", str(len(body)))]


def _raw(headers: Headers) -> List[Tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _with_headers(send: Send, headers: Headers) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept"):
            message = {**message, "headers": list(message.get("headers", ())) + _raw(headers)}
        await send(message)
    return sending
