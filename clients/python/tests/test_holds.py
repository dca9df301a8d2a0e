"""Holds, sessions and acquire_all."""

import asyncio
import concurrent.futures
import unittest

import weir
from fakes import AWAY, AsyncFakeTransport, Clock, CopyServer, FakeTransport, answer_to
from weir import aio
from weir.errors import Failure
from weir.messages import Reservation, SessionRequest
from weir.session import Session
from weir.wire import decode, encode


def make(server, **options):
    clock = Clock()
    transport = FakeTransport(server)
    client = weir.Client("a:1", transport=transport, clock=clock, sleep=clock.sleep,
                         random=lambda: 0.5, kill_switch=weir.KillSwitch(), **options)
    return client, transport, clock


class Holds(unittest.TestCase):
    def test_leaving_scope_releases_what_is_left_once(self):
        server = CopyServer(seats=15)
        client, transport, _ = make(server)
        with self.assertRaises(KeyError):
            with client.reserve("shop", "seats", "ann", 15) as hold:
                self.assertEqual(hold.release(4), 11)
                transfer = hold.transfer(6, ttl=30)
                self.assertEqual((hold.copies, server.free["seats"]), (5, 4))
                raise KeyError
        self.assertEqual(server.free["seats"], 9)
        hold.release()
        self.assertEqual(len(transport.asked("release")), 2)
        self.assertEqual(transport.asked("transfer")[0].message.ttl_ms, 30000)
        with client.seize(transfer) as seized:
            self.assertEqual((seized.copies, seized.resource), (6, "seats"))
        self.assertEqual(server.free["seats"], 15)

    def test_more_than_is_left_is_not_released(self):
        client, _, _ = make(CopyServer(seats=3))
        with client.reserve("shop", "seats", "ann", 3) as hold:
            for copies in (4, -1):
                with self.assertRaises(weir.WeirError) as caught:
                    hold.release(copies)
                self.assertEqual(caught.exception.code, "not_held")
            self.assertEqual(hold.copies, 3)

    def test_a_refused_hold_has_nothing_to_release(self):
        client, transport, _ = make(CopyServer(seats=0))
        with client.reserve("shop", "seats", "ann") as hold:
            self.assertFalse(hold.allowed)
            with self.assertRaises(weir.Refused):
                hold.raise_for_refusal()
        self.assertEqual(transport.asked("release"), [])

    def test_the_holds_of_a_lost_session_are_told_to_be_gone(self):
        lost = []
        client, transport, _ = make(CopyServer(seats=3), on_lost=lost.append)
        with client.reserve("shop", "seats", "ann", 2) as hold:
            transport.sessions["a:1"].end(AWAY)
            self.assertEqual((hold.lost, hold.copies, lost), (True, 0, [hold]))
            with self.assertRaises(weir.HoldLost):
                hold.release(1)
            with self.assertRaises(weir.HoldLost):
                hold.transfer(ttl=1)
        self.assertEqual(transport.asked("release"), [])
        self.assertEqual(client.counters["holds_lost"], 1)

    def test_a_release_that_fails_on_leaving_scope_is_counted(self):
        server = CopyServer(seats=3)
        client, _, _ = make(lambda call: AWAY if call.operation == "release" else server(call))
        with client.reserve("shop", "seats", "ann"):
            pass
        self.assertEqual(client.counters["releases_failed"], 1)

    def test_in_line_the_server_keeps_the_order_and_the_time(self):
        def answer(call):
            if not call.operation:
                return Failure(3, "bad_request: no operation that is known")
            clock.now += 5
            return Reservation(outcome="timeout")
        client, transport, clock = make(answer)
        hold = client.reserve("shop", "seats", "ann", max_wait=5, in_line=True, max_queue=3)
        self.assertEqual((hold.outcome, hold.waited, hold.attempts), ("timeout", 5, 1))
        question = transport.asked("reserve")[0]
        self.assertEqual((question.message.wait_ms, question.message.max_queue), (5000, 3))
        self.assertEqual((question.timeout, clock.sleeps), (5.5, []))

    def test_work_that_another_has_done_is_neither_asked_for_again_nor_overruled(self):
        client, transport, _ = make(lambda call: Reservation(outcome="done"))
        client.kill_switch.on = True
        hold = client.reserve("shop", "page", "ann", share=True, max_wait=9)
        self.assertEqual((hold.allowed, hold.outcome, len(transport.calls)), (False, "done", 1))


class Sessions(unittest.TestCase):
    def setUp(self):
        self.session = Session("a:1", concurrent.futures.Future)

    def receive(self, number, **answer):
        return self.session.receive(encode(answer_to(number, **answer)))

    def test_answers_may_overtake_one_another(self):
        (one, _, first), (two, _, second) = (self.session.ask("", None) for _ in range(2))
        self.receive(two, reservation=Reservation(hold="second"))
        self.receive(one, reservation=Reservation(hold="first"))
        self.assertEqual((first.result().reservation.hold, second.result().reservation.hold),
                         ("first", "second"))

    def test_a_grant_that_comes_too_late_is_released(self):
        number, _, _ = self.session.ask("", None)
        self.assertTrue(self.session.give_up(number))
        sent = self.receive(number, reservation=Reservation(allowed=True, hold="h9", granted=2))
        self.assertEqual(decode(SessionRequest, sent).release.hold, "h9")
        self.assertIsNone(self.receive(number, reservation=Reservation(hold="h9")))

    def test_the_end_fails_what_is_pending_and_what_is_asked_later(self):
        _, _, future = self.session.ask("", None)
        self.session.end(AWAY)
        self.assertIs(future.exception(), AWAY)
        with self.assertRaises(Failure):
            self.session.ask("", None)


def copies(*names):
    return [weir.Copies("shop", name, "ann") for name in names]


class AcquireAll(unittest.TestCase):
    def test_the_same_number_of_each_and_surplus_goes_back_on_the_way(self):
        server = CopyServer(a=10, b=6, c=8, r=4)
        client, _, _ = make(server)
        wanted = copies("a", "b", "c") + [weir.Rate("shop", "r", "ann")]
        with client.acquire_all(wanted, min=2, max=9) as acquired:
            self.assertTrue(acquired.allowed)
            self.assertEqual(acquired.copies, 4)
            self.assertEqual([hold.copies for hold in acquired.holds], [4, 4, 4])
            self.assertEqual(server.free, {"a": 6, "b": 2, "c": 4, "r": 0})
        self.assertEqual(server.free, {"a": 10, "b": 6, "c": 8, "r": 0})

    def test_a_refusal_gives_everything_back(self):
        server = CopyServer(a=10, b=1, r=9)
        client, transport, _ = make(server)
        wanted = copies("a", "b") + [weir.Rate("shop", "r", "ann")]
        with client.acquire_all(wanted, min=2, max=9) as acquired:
            self.assertEqual((acquired.allowed, acquired.copies), (False, 0))
            self.assertEqual(acquired.refusal.resource, "b")
            self.assertEqual(server.free, {"a": 10, "b": 1, "r": 9})
            with self.assertRaises(weir.Refused):
                acquired.raise_for_refusal()
        self.assertEqual(transport.asked("request"), [])

    def test_all_share_one_budget(self):
        server = CopyServer(a=1, b=0)
        client, _, clock = make(lambda call: Reservation(outcome="refused")
                                if clock.now < 1003 else server(call))
        acquired = client.acquire_all(copies("a", "b"), max_wait=5)
        self.assertEqual((acquired.allowed, acquired.waited), (False, 5))
        self.assertEqual(clock.sleeps, [1, 2, 1, 1])

    def test_an_error_or_an_interruption_gives_everything_back(self):
        for error in (Failure(5, "unknown_resource: b"), KeyboardInterrupt()):
            server = CopyServer(a=3)
            client, _, _ = make(lambda call: error if call.operation == "reserve"
                                and call.message.resource == "b" else server(call))
            with self.assertRaises((weir.WeirError, KeyboardInterrupt)):
                client.acquire_all(copies("a", "b"))
            self.assertEqual(server.free["a"], 3)

    def test_what_could_not_be_given_back_comes_last_and_alone(self):
        client, _, _ = make(CopyServer())
        rate = weir.Rate("shop", "r", "ann")
        for wanted in ([], [rate, *copies("a")], [*copies("a"), rate, rate]):
            with self.assertRaises(ValueError):
                client.acquire_all(wanted)
        for least, most in ((0, 1), (3, 2)):
            with self.assertRaises(ValueError):
                client.acquire_all(copies("a"), least, most)

    def test_asyncio_too_and_cancelling_gives_back(self):
        server = CopyServer(a=2, b=0)

        async def main():
            client = aio.Client("a:1", transport=AsyncFakeTransport(server))
            async with client.acquire_all(copies("a"), 1, 5) as acquired:
                self.assertEqual((acquired.copies, server.free["a"]), (2, 0))
            self.assertEqual(server.free["a"], 2)

            async def wait_for_ever():
                await client.acquire_all(copies("a", "b"), max_wait=1000)
            task = asyncio.ensure_future(wait_for_ever())
            while server.free["a"] == 2:
                await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(server.free["a"], 2)
        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
