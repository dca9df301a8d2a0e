"""Backoff, budgets, degraded mode, the kill switch and failover, with a clock that never waits."""

import asyncio
import unittest

import weir
from fakes import AWAY, AsyncFakeTransport, Clock, CopyServer, FakeTransport
from weir import aio, backoff
from weir.errors import Failure
from weir.messages import Decision, Reservation, Settled

REFUSED = Decision(retry_after_ms=1000, limit="burst")
ALLOWED = Decision(allowed=True, granted=1)


def make(answer, addresses="a:1", **options):
    clock = Clock()
    transport = FakeTransport(answer)
    options.setdefault("kill_switch", weir.KillSwitch())
    client = weir.Client(addresses, transport=transport, clock=clock, sleep=clock.sleep,
                         random=options.pop("random", lambda: 0.5), **options)
    return client, transport, clock


def ask(client, **options):
    return client.request("shop", "search", "ann", **options)


class Backoff(unittest.TestCase):
    def test_jitter_is_within_a_quarter(self):
        self.assertEqual(backoff.jitter(8, lambda: 0.0), 6)
        self.assertEqual(backoff.jitter(8, lambda: 0.5), 8)
        self.assertLess(backoff.jitter(8, lambda: 0.999999), 10)

    def test_a_refusal_is_an_answer_and_is_not_asked_again_by_default(self):
        client, transport, clock = make(lambda call: REFUSED)
        decision = ask(client)
        self.assertFalse(decision.allowed)
        self.assertEqual((len(transport.calls), clock.sleeps), (1, []))
        with self.assertRaises(weir.Refused) as caught:
            decision.raise_for_refusal()
        self.assertEqual(caught.exception.code, "refused")

    def test_sleeps_double_and_the_last_one_is_what_is_left(self):
        client, transport, clock = make(lambda call: REFUSED)
        decision = ask(client, max_wait=10)
        self.assertEqual(clock.sleeps, [1, 2, 4, 3])
        self.assertEqual((decision.waited, decision.attempts), (10, 5))
        self.assertEqual(client.counters["retries"], 4)

    def test_a_grant_ends_the_waiting_and_tells_how_long_it_was(self):
        client, _, clock = make(lambda call: ALLOWED if clock.now >= 1003 else REFUSED)
        decision = ask(client, max_wait=60)
        self.assertTrue(decision.allowed)
        self.assertEqual((decision.waited, decision.attempts), (3, 3))

    def test_what_can_never_be_granted_is_not_asked_again(self):
        client, transport, _ = make(lambda call: Decision(retry_after_ms=-1))
        self.assertIsNone(ask(client, max_wait=60).retry_after)
        self.assertEqual(len(transport.calls), 1)

    def test_time_that_calls_take_counts(self):
        def slow(call):
            clock.now += 0.4
            return REFUSED
        client, _, clock = make(slow)
        decision = ask(client, max_wait=2)
        self.assertAlmostEqual(decision.waited, 2.4)
        self.assertAlmostEqual(sum(clock.sleeps), 1.2)

    def test_two_resources_share_one_budget(self):
        server = CopyServer(seats=2, calls=0)
        client, _, clock = make(lambda call: Reservation(outcome="refused")
                                if call.operation == "reserve" and clock.now < 1001
                                else server(call))
        with client.reserve("shop", "seats", "ann", 2, max_wait=4) as hold:
            self.assertEqual((hold.allowed, hold.waited), (True, 1))
            decision = client.request("shop", "calls", "ann", max_wait=4 - hold.waited)
            self.assertFalse(decision.allowed)
            self.assertEqual(hold.waited + decision.waited, 4)
        self.assertEqual(server.free["seats"], 2)

    def test_asyncio_waits_alike(self):
        clock = Clock()
        client = aio.Client("a:1", transport=AsyncFakeTransport(lambda call: REFUSED), clock=clock,
                            sleep=clock.sleep_async, random=lambda: 0.5)
        decision = asyncio.run(client.request("shop", "search", "ann", max_wait=10))
        self.assertEqual((clock.sleeps, decision.waited), ([1, 2, 4, 3], 10))


class Degraded(unittest.TestCase):
    def test_grants_the_minimum_at_once(self):
        client, _, clock = make(lambda call: AWAY)
        decision = ask(client, cost=10, min_cost=3, max_wait=60)
        self.assertEqual((decision.allowed, decision.granted, decision.source),
                         (True, 3, weir.DEGRADED))
        self.assertEqual(ask(client, cost=4).granted, 4)
        self.assertEqual((clock.sleeps, client.degraded), ([], True))
        self.assertEqual(client.counters["degraded_grants"], 2)
        self.assertEqual(client.counters["degraded_entered"], 1)

    def test_nobody_waits_for_an_address_that_is_away(self):
        client, transport, clock = make(lambda call: AWAY, probe_after=1)
        for _ in range(5):
            ask(client)
        self.assertEqual(len(transport.calls), 1)

    def test_probes_ever_less_often_and_returns_by_itself(self):
        back = []
        client, transport, clock = make(lambda call: ALLOWED if back else AWAY, probe_after=1,
                                        probe_after_most=4)
        times = []
        for _ in range(200):
            before = len(transport.calls)
            ask(client)
            if len(transport.calls) > before:
                times.append(clock.now - 1000)
            clock.now += 0.1
        self.assertEqual([round(time) for time in times], [0, 1, 3, 7, 11, 15, 19])
        back.append(True)
        clock.now += 4
        self.assertEqual(ask(client).source, weir.SERVER)
        self.assertFalse(client.degraded)
        self.assertEqual(client.counters["recoveries"], 1)
        self.assertEqual(client.counters["probes"], 7)

    def test_only_one_question_probes(self):
        def answer(call):
            if probing:
                inner.append(ask(client).source)
                return ALLOWED
            return AWAY
        probing, inner = [], []
        client, transport, clock = make(answer, probe_after=1)
        ask(client)
        clock.now += 2
        probing.append(True)
        self.assertEqual(ask(client).source, weir.SERVER)
        self.assertEqual(inner, [weir.DEGRADED])

    def test_the_safe_rate_bounds_it_by_resource(self):
        client, _, clock = make(lambda call: AWAY, safe_rate=weir.SafeRate(2, burst=3))
        self.assertEqual([ask(client).allowed for _ in range(4)], [True, True, True, False])
        refused = ask(client)
        self.assertEqual((refused.retry_after_ms, refused.source), (500, weir.DEGRADED))
        self.assertTrue(client.request("shop", "other", "ann").allowed)
        clock.now += 0.5
        self.assertTrue(client.peek("shop", "search", "ann").allowed)
        self.assertTrue(ask(client).allowed)
        self.assertFalse(ask(client).allowed)
        self.assertIsNone(ask(client, cost=4).retry_after)
        self.assertGreater(client.counters["degraded_refusals"], 0)

    def test_waiting_goes_on_under_the_safe_rate(self):
        client, _, clock = make(lambda call: AWAY, safe_rate=weir.SafeRate(1, burst=1))
        self.assertTrue(ask(client).allowed)
        decision = ask(client, max_wait=5)
        self.assertEqual((decision.allowed, decision.waited), (True, 1))

    def test_an_error_of_the_server_degrades_one_of_the_caller_is_raised(self):
        client, _, _ = make(lambda call: Failure(14, "unavailable: the store is away"))
        self.assertEqual(ask(client).source, weir.DEGRADED)
        self.assertFalse(client.degraded)  # it answers, and others of its limits may be well
        client, _, _ = make(lambda call: Failure(5, "unknown_resource: no such"))
        with self.assertRaises(weir.WeirError) as caught:
            ask(client)
        self.assertEqual(caught.exception.code, "unknown_resource")
        self.assertFalse(client.degraded)

    def test_failing_closed_raises(self):
        client, _, _ = make(lambda call: AWAY, fail_open=False)
        for operation in (lambda: ask(client), lambda: client.reserve("shop", "seats", "ann"),
                          lambda: client.settle("t", 1), lambda: client.seize("t")):
            with self.assertRaises(weir.Unavailable) as caught:
                operation()
            self.assertEqual(caught.exception.code, "unavailable")

    def test_tickets_and_copies_of_degraded_mode_work_to_the_end(self):
        client, transport, _ = make(lambda call: AWAY)
        self.assertEqual(client.settle(ask(client, settle=True), 7), Settled(7, 0, weir.DEGRADED))
        with client.reserve("shop", "seats", "ann", 5, 3) as hold:
            self.assertEqual((hold.copies, hold.source), (3, weir.DEGRADED))
            transfer = hold.transfer(1, ttl=30)
            self.assertEqual(hold.release(1), 1)
        other, _, _ = make(lambda call: AssertionError("no server knows it"))
        with other.seize(transfer) as seized:
            self.assertEqual((seized.resource, seized.subject, seized.copies), ("seats", "ann", 1))
        with self.assertRaises(weir.WeirError):
            other.seize("local:nonsense")

    def test_the_deadline_holds_for_all_addresses_together(self):
        def hang(call):
            clock.now += call.timeout
            return Failure(4, "Deadline Exceeded")
        client, transport, clock = make(hang, ["a:1", "b:1", "c:1"], timeout=0.6)
        self.assertAlmostEqual(ask(client).waited, 0.6)
        self.assertEqual([round(call.timeout, 6) for call in transport.calls], [0.2, 0.2, 0.2])


class Killed(unittest.TestCase):
    def test_refusals_become_grants_of_the_minimum_and_servers_are_still_asked(self):
        switch = weir.KillSwitch()
        client, transport, _ = make(lambda call: Reservation(outcome="refused")
                                    if call.operation == "reserve" else REFUSED,
                                    kill_switch=switch)
        self.assertFalse(ask(client).allowed)
        switch.on = True
        decision = ask(client, cost=5, min_cost=2, max_wait=9)
        self.assertEqual((decision.allowed, decision.granted, decision.source, decision.waited),
                         (True, 2, weir.KILL_SWITCH, 0))
        with client.reserve("shop", "seats", "ann", 3) as hold:
            self.assertEqual((hold.copies, hold.source), (3, weir.KILL_SWITCH))
        self.assertEqual(len(transport.calls), 3)  # nothing is released that was not granted
        self.assertEqual(client.counters["kill_switch_grants"], 2)
        switch.on = False
        self.assertFalse(ask(client).allowed)

    def test_one_switch_for_the_process(self):
        client, _, _ = make(lambda call: REFUSED, kill_switch=weir.kill_switch)
        self.addCleanup(setattr, weir.kill_switch, "on", False)
        weir.kill_switch.on = True
        self.assertTrue(ask(client).allowed)


class Failover(unittest.TestCase):
    def test_the_next_address_answers_and_the_first_is_preferred_once_it_is_back(self):
        away = {"a:1"}
        client, transport, clock = make(lambda call: AWAY if call.address in away else ALLOWED,
                                        ["a:1", "b:1"], probe_after=1)
        self.assertEqual([ask(client).address for _ in range(3)], ["b:1"] * 3)
        self.assertEqual([call.address for call in transport.calls], ["a:1", "b:1", "b:1", "b:1"])
        self.assertFalse(client.degraded)
        away.clear()
        clock.now += 1.1
        self.assertEqual(ask(client).address, "a:1")
        self.assertEqual(client.counters["failovers"], 1)

    def test_a_ticket_is_settled_where_it_was_given(self):
        away = {"a:1"}

        def answer(call):
            if call.address in away:
                return AWAY
            return Settled(call.message.cost) if call.operation == "settle" else Decision(
                allowed=True, granted=1, ticket="t")
        client, transport, clock = make(answer, ["a:1", "b:1"])
        decision = ask(client, settle=True)
        away.clear()
        clock.now += 10
        client.settle(decision, 2)
        self.assertEqual(transport.calls[-1].address, "b:1")

    def test_an_error_of_the_caller_is_not_asked_elsewhere(self):
        client, transport, _ = make(lambda call: Failure(3, "bad_request: cost"), ["a:1", "b:1"])
        with self.assertRaises(weir.WeirError):
            ask(client)
        self.assertEqual(len(transport.calls), 1)
        self.assertEqual(client.counters["client_errors"], 1)


if __name__ == "__main__":
    unittest.main()
