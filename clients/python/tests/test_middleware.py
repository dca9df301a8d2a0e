"""WSGI and ASGI applications behind a limit."""

import asyncio
import json
import unittest
from wsgiref.util import setup_testing_defaults

import weir
from fakes import AWAY, AsyncFakeTransport, FakeTransport
from weir import aio, middleware
from weir.messages import Decision, LimitStatus

BURST = LimitStatus('b"1', 10, 1500, 3, 2001)
DAILY = LimitStatus("daily", 1000, 86400000, 900, 5)
NONE = LimitStatus("none", weir.UNLIMITED, 0, weir.UNLIMITED, 0)
ALLOWED = Decision(allowed=True, granted=1, remaining=3, limit='b"1', limits=(DAILY, BURST, NONE))
REFUSED = Decision(remaining=3, retry_after_ms=1001, limit='b"1', limits=(BURST, DAILY))
HEADERS = {"RateLimit-Policy": '"b\\"1";q=10;w=2,"daily";q=1000;w=86400',
           "RateLimit": '"b\\"1";r=3;t=3', "X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "3",
           "X-RateLimit-Reset": "3"}


class Headers(unittest.TestCase):
    def test_they_are_those_of_the_server(self):
        self.assertEqual(dict(middleware.decision_headers(ALLOWED)), HEADERS)
        self.assertEqual(dict(middleware.decision_headers(REFUSED)),
                         {**HEADERS, "Retry-After": "2"})

    def test_nothing_limits_nothing_is_said(self):
        self.assertEqual(middleware.decision_headers(Decision(allowed=True)), [])
        self.assertEqual(middleware.decision_headers(Decision(retry_after_ms=-1)), [])


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]


class Wsgi(unittest.TestCase):
    def get(self, answer, **options):
        transport = FakeTransport(lambda call: answer)
        client = weir.Client("a:1", transport=transport)
        environ = {"REMOTE_ADDR": "192.0.2.7"}
        setup_testing_defaults(environ)
        seen = []
        limited = middleware.wsgi(client, "shop", "search", **options)(app)
        body = b"".join(limited(environ, lambda status, headers: seen.extend((status, headers))))
        return seen[0], dict(seen[1]), body, transport.calls

    def test_an_allowed_request_is_answered_by_the_application_with_headers(self):
        status, headers, body, calls = self.get(ALLOWED)
        self.assertEqual((status, body), ("200 OK", b"hello"))
        self.assertEqual(headers, {"Content-Type": "text/plain", **HEADERS})
        self.assertEqual(calls[0].message.subject, "192.0.2.7")

    def test_a_refused_one_is_answered_429(self):
        status, headers, body, _ = self.get(REFUSED)
        self.assertEqual(status, "429 Too Many Requests")
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertEqual(headers["Content-Length"], str(len(body)))
        self.assertEqual(headers["Retry-After"], "2")
        problem = json.loads(body)
        self.assertEqual((problem["status"], problem["violated-policies"], problem["allowed"],
                          problem["retry_after_ms"]), (429, ['b"1'], False, 1001))

    def test_nobody_is_not_limited(self):
        status, headers, _, calls = self.get(REFUSED, subject=lambda environ: None)
        self.assertEqual((status, calls), ("200 OK", []))

    def test_without_a_server_everybody_is_served(self):
        self.assertEqual(self.get(AWAY)[0], "200 OK")


async def asgi_app(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        return await send({"type": "websocket.accept"})
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"hello"})


class Asgi(unittest.TestCase):
    def ask(self, answer, kind="http", **options):
        sent = []

        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            sent.append(message)

        client = aio.Client("a:1", transport=AsyncFakeTransport(lambda call: answer))
        limited = middleware.asgi(client, "shop", "search", **options)(asgi_app)
        asyncio.run(limited({"type": kind, "client": ("192.0.2.7", 9)}, receive, send))
        return sent

    def test_an_allowed_request_is_answered_by_the_application_with_headers(self):
        start, body = self.ask(ALLOWED)
        self.assertEqual((start["status"], body["body"]), (200, b"hello"))
        self.assertIn((b"ratelimit", HEADERS["RateLimit"].encode()), start["headers"])
        self.assertIn((b"content-type", b"text/plain"), start["headers"])

    def test_a_refused_one_is_answered_429(self):
        start, body = self.ask(REFUSED)
        self.assertEqual(start["status"], 429)
        self.assertIn((b"retry-after", b"2"), start["headers"])
        self.assertEqual(json.loads(body["body"])["limit"], 'b"1')

    def test_a_refused_websocket_is_closed_and_an_allowed_one_gets_headers(self):
        self.assertEqual(self.ask(REFUSED, "websocket"),
                         [{"type": "websocket.close", "code": 1013}])
        self.assertEqual(len(self.ask(ALLOWED, "websocket")[0]["headers"]), 5)

    def test_the_lifespan_is_not_limited(self):
        self.assertEqual(len(self.ask(REFUSED, "lifespan")), 2)


if __name__ == "__main__":
    unittest.main()
