#!/usr/bin/python3
"""Checks a running server's Redis port with redis-py.

    redis_client.py PORT

The server runs with a resource shop/search of 10 requests a day, and nobody has asked it anything
before.
"""

import sys
import threading

import redis

BURST = 10
ASKERS = 16
EACH = 25


def equal(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, not {expected!r}")


def as_map(answer):
    return dict(zip(answer[::2], answer[1::2]))


def error_of(client, *words):
    try:
        client.execute_command(*words)
    except redis.exceptions.ResponseError as error:
        return str(error)
    raise AssertionError(f"{words} was no error")


def check_commands(client):
    equal(client.ping(), True, "PING")
    equal(client.echo("hello"), "hello", "ECHO")
    equal(client.execute_command("CL.THROTTLE", "key", 4, 5, 86400), [0, 5, 4, -1, 17280],
          "CL.THROTTLE")
    answer = as_map(client.execute_command("WEIR.REQUEST", "shop", "search", "ann", "COST", 4))
    equal((answer["allowed"], answer["granted"], answer["remaining"], answer["limit"]),
          (1, 4, 6, "burst"), "WEIR.REQUEST")
    refused = as_map(client.execute_command("WEIR.REQUEST", "shop", "search", "ann", "COST", 7))
    equal((refused["allowed"], refused["retry_after_ms"] > 0), (0, True), "a refusal")


def check_pipeline(client):
    pipeline = client.pipeline(transaction=False)
    for _ in range(3 * BURST):
        pipeline.execute_command("WEIR.REQUEST", "shop", "search", "pipeline")
    allowed = [as_map(answer)["allowed"] for answer in pipeline.execute()]
    equal(allowed, [1] * BURST + [0] * (2 * BURST), "the answers of a pipeline")


def check_errors(client):
    equal(error_of(client, "WEIR.REQUEST", "shop").startswith("BAD_REQUEST "), True, "few words")
    equal(error_of(client, "WEIR.REQUEST", "shop", "nothing", "ann").startswith(
        "UNKNOWN_RESOURCE "), True, "an unknown resource")
    equal(error_of(client, "NO.SUCH", "thing") != "", True, "an unknown command")
    pipeline = client.pipeline(transaction=False)
    for words in (["PING"], ["WEIR.REQUEST", "nowhere", "search", "ann"], ["PING"]):
        pipeline.execute_command(*words)
    good, bad, again = pipeline.execute(raise_on_error=False)
    equal((good, again), (True, True), "what stands around an error")
    equal(isinstance(bad, redis.exceptions.ResponseError), True, "an error in a pipeline")


def check_crowd(client):
    """Each asker has a connection of its own; together they get what the limit has."""
    allowed = []

    def ask():
        for _ in range(EACH):
            answer = client.execute_command("WEIR.REQUEST", "shop", "search", "crowd")
            allowed.append(as_map(answer)["allowed"])

    askers = [threading.Thread(target=ask) for _ in range(ASKERS)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    equal((len(allowed), sum(allowed)), (ASKERS * EACH, BURST), "what a crowd was granted")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    client = redis.Redis(port=int(sys.argv[1]), decode_responses=True, socket_timeout=10)
    for check in (check_commands, check_pipeline, check_errors, check_crowd):
        check(client)
        print("ok", check.__name__.removeprefix("check_"))


if __name__ == "__main__":
    main()
