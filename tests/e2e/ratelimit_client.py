#!/usr/bin/python3
"""Asks two fresh servers the same questions, one over gRPC and one by POST /json.

    ratelimit_client.py readme|example GRPC_HOST:PORT HTTP_HOST:PORT

readme: what the README of envoyproxy/ratelimit promises, with the rules of ratelimit/ beside this
file. example: with those of examples/ratelimit. A question: domain, hits, descriptors, and the codes
and remainders that are right; None: no limit applies.
"""

import http.client
import json
import sys

import grpc
from google.protobuf import json_format

from grpc_client import ENVOY, Api, equal

OK, OVER = "OK", "OVER_LIMIT"
ALL = 2**32 - 1


def path(text):
    """A descriptor from its text: kind=newsletter|recipient=ann"""
    return {"entries": [dict(zip(("key", "value"), entry.split("=", 1)))
                        for entry in text.split("|")]}


README = [
    # A value of its own, a counter of its own, at a depth of its own.
    ("mail", 1, ["kind=newsletter|recipient=ann"], [(OK, 1)]),
    ("mail", 1, ["kind=newsletter|recipient=ann"], [(OK, 0)]),
    ("mail", 1, ["kind=newsletter|recipient=ann"], [(OVER, 0)]),
    ("mail", 1, ["kind=newsletter|recipient=bob"], [(OK, 1)]),
    ("mail", 1, ["recipient=ann"], [(OK, 3)]),
    ("mail", 1, ["kind=newsletter"], [(OK, None)]),
    ("mail", 1, ["kind=newsletter|recipient=ann|hour=9"], [(OK, None)]),
    ("mail", 1, ["kind=reminder|recipient=ann"], [(OK, None)]),
    # Several at once: one that is over refuses them all, and the other is not charged.
    ("mail", 1, ["kind=newsletter|recipient=ann", "recipient=ann"], [(OVER, 0), (OK, None)]),
    ("mail", 3, ["recipient=ann"], [(OK, 0)]),
    ("mail", 1, ["recipient=ann"], [(OVER, 0)]),
    # The most exact match.
    ("doors", 2, ["address=192.0.2.7"], [(OK, 1)]),
    ("doors", 2, ["address=192.0.2.7"], [(OVER, None)]),
    ("doors", 1, ["address=192.0.2.66"], [(OVER, 0)]),
    ("doors", 9, ["address=192.0.2.1"], [(OK, ALL)]),
    ("doors", 5, ["guest=shadow"], [(OK, None)]),
    ("doors", 5, ["guest=shadow"], [(OK, None)]),
    ("doors", 2, ["path=/files/a"], [(OK, 0)]),
    ("doors", 1, ["path=/files/a"], [(OVER, 0)]),
    ("doors", 2, ["path=/files/b"], [(OK, 0)]),
    ("doors", 2, ["path=/other"], [(OK, None)]),
    # replaces: the named limit is neither asked nor charged.
    ("swap", 2, ["plan=basic|user=ann", "plan=extra|user=ann"], [(OK, None), (OK, 1)]),
    ("swap", 1, ["plan=basic|user=ann"], [(OK, 0)]),
    ("swap", 1, ["plan=basic|user=ann"], [(OVER, 0)]),
    ("nowhere", 1, ["a=b"], [(OK, None)]),
]

# Windows of a minute may end between two questions: none here needs what another has left.
EXAMPLE = [
    ("edge", 1, ["remote_address=192.0.2.1"], [(OK, 59)]),
    ("edge", 61, ["remote_address=192.0.2.2"], [(OVER, None)]),
    ("edge", 100, ["remote_address=10.0.0.1"], [(OK, ALL)]),
    ("edge", 11, ["method=POST|path=/checkout"], [(OVER, None)]),
    ("edge", 11, ["method=POST|path=/other"], [(OK, 39)]),
    ("edge", 1001, ["method=POST|path=/api/items"], [(OVER, None)]),
    ("edge", 9, ["remote_address=192.0.2.3", "method=POST|path=/checkout"], [(OK, None), (OK, 1)]),
    ("edge", 5001, ["user_agent=a bot of sorts"], [(OK, None)]),
    ("edge", 20, ["api_key=k"], [(OK, 0)]),
    ("edge", 21, ["api_key=other"], [(OVER, None)]),
]


def without_times(answer):
    """All that does not depend on when it was asked."""
    for status in answer.get("statuses", []):
        status.pop("durationUntilReset", None)
    for header in answer.get("responseHeadersToAdd", []):
        if header["key"].endswith("-Reset"):
            header.pop("value", None)
    return answer


def over_grpc(api, question):
    message = json_format.ParseDict(question, api.message(ENVOY + ".RateLimitRequest"))
    ask = api.method(ENVOY + ".RateLimitService", "ShouldRateLimit")
    return json_format.MessageToDict(ask(message, timeout=5))


def over_json(connection, question):
    connection.request("POST", "/json", json.dumps(question),
                       {"Content-Type": "application/json"})
    response = connection.getresponse()
    body = response.read()
    if response.getheader("Content-Type") == "application/json":
        return response.status, json.loads(body)
    return response.status, body.decode()


def check(api, connection, domain, hits, descriptors, expected):
    what = f"{domain} {descriptors} x{hits}"
    question = {"domain": domain, "hitsAddend": hits,
                "descriptors": [path(text) for text in descriptors]}
    answer = without_times(over_grpc(api, question))
    over = any(code == OVER for code, _ in expected)
    equal(answer["overallCode"], OVER if over else OK, what)
    equal([status["code"] for status in answer["statuses"]], [code for code, _ in expected], what)
    for status, (_, remaining) in zip(answer["statuses"], expected):
        if remaining is not None:
            equal(status.get("limitRemaining", 0), remaining, "what is left of " + what)
    status, same = over_json(connection, question)
    equal(status, 429 if over else 200, "the status of " + what)
    equal(without_times(same), answer, "the JSON of " + what)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    questions = {"readme": README, "example": EXAMPLE}[sys.argv[1]]
    connection = http.client.HTTPConnection(sys.argv[3], timeout=5)
    with grpc.insecure_channel(sys.argv[2]) as channel:
        grpc.channel_ready_future(channel).result(timeout=10)
        api = Api(channel)
        for question in questions:
            check(api, connection, *question)
        equal(over_json(connection, {"domain": "mail"}), (400, "there is no descriptor"),
              "a question without descriptors")
        print("ok", len(questions))


if __name__ == "__main__":
    main()
