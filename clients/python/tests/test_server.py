"""Both clients against a real server."""

import asyncio
import threading
import time
import unittest

import weir
from server import BINARY, Server, free_address
from weir import aio

PATIENCE = 10  # seconds; nothing takes as long


def until(condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


@unittest.skipUnless(BINARY, "WEIR_BINARY names no server")
class WithServer(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.kill)
        self.client = self.connect()

    def connect(self, addresses=None, **options):
        options.setdefault("timeout", 5)
        client = weir.Client(addresses or self.server.address, **options)
        self.addCleanup(client.close)
        return client


class Rates(WithServer):
    def test_request_peek_and_settle(self):
        decision = self.client.request("shop", "search", "ann", 4)
        self.assertEqual((decision.allowed, decision.granted, decision.remaining, decision.limit),
                         (True, 4, 6, "burst"))
        self.assertEqual(self.client.peek("shop", "search", "ann").remaining, 6)
        decision = self.client.request("shop", "search", "ann", 5, settle=True)
        self.assertEqual(self.client.settle(decision, 2).charged, 2)
        self.assertEqual(self.client.request("shop", "search", "ann", 100, 1).granted, 4)
        refused = self.client.request("shop", "search", "ann")
        self.assertFalse(refused.allowed)
        self.assertGreater(refused.retry_after, 0)

    def test_errors_have_codes(self):
        for question, code in ((("none", "search", "ann"), "unknown_namespace"),
                               (("shop", "none", "ann"), "unknown_resource"),
                               (("shop", "seats", "ann"), "wrong_kind")):
            with self.assertRaises(weir.WeirError) as caught:
                self.client.request(*question)
            self.assertEqual(caught.exception.code, code)
        with self.assertRaises(weir.WeirError) as caught:
            self.client.settle("0" * 32, 1)
        self.assertEqual(caught.exception.code, "unknown_ticket")

    def test_waiting_ends_with_a_grant(self):
        self.client.request("shop", "quick", "ann")
        decision = self.client.request("shop", "quick", "ann", max_wait=5)
        self.assertTrue(decision.allowed)
        self.assertGreater(decision.attempts, 1)
        self.assertGreater(decision.waited, 0.5)

    def test_a_crowd_of_threads_gets_exactly_the_limit(self):
        granted = []

        def ask():
            granted.extend(self.client.request("shop", "search", "crowd").granted
                           for _ in range(50))
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(granted), sum(granted)), (400, 10))

    def test_asyncio(self):
        async def main():
            async with aio.Client(self.server.address, timeout=5) as client:
                decisions = await asyncio.gather(
                    *(client.request("shop", "search", "ann") for _ in range(100)))
                self.assertEqual(sum(decision.granted for decision in decisions), 10)
                decision = await client.request("shop", "search", "bob", 5, settle=True)
                self.assertEqual((await client.settle(decision, 1)).charged, 1)
                self.assertEqual((await client.peek("shop", "search", "bob")).remaining, 9)
                with self.assertRaises(weir.WeirError):
                    await client.request("shop", "none", "ann")
        asyncio.run(main())


class Failures(WithServer):
    def test_degraded_at_once_and_back_by_itself(self):
        client = self.connect(timeout=1)
        self.assertEqual(client.request("shop", "search", "ann").source, weir.SERVER)
        self.server.kill()
        start = time.monotonic()
        decision = client.request("shop", "search", "ann", 5, 2)
        self.assertLess(time.monotonic() - start, 1.5)
        self.assertEqual((decision.granted, decision.source), (2, weir.DEGRADED))
        self.assertTrue(client.degraded)
        again = Server(self.server.port)
        self.addCleanup(again.kill)
        self.assertTrue(until(
            lambda: client.request("shop", "search", "ann").source == weir.SERVER))
        self.assertFalse(client.degraded)

    def test_a_server_that_hangs_costs_no_more_than_the_deadline(self):
        client = self.connect(timeout=0.3)
        self.assertEqual(client.request("shop", "search", "ann").source, weir.SERVER)
        self.server.freeze()
        for ask in (lambda: client.request("shop", "search", "ann", max_wait=60),
                    lambda: client.reserve("shop", "seats", "ann", max_wait=60),
                    lambda: client.reserve("shop", "seats", "ann", max_wait=60, in_line=True)):
            time.sleep(0.5)  # until it is probed again
            answer = ask()
            self.assertEqual(answer.source, weir.DEGRADED)
            self.assertLess(answer.waited, 0.6)
        self.server.thaw()
        self.assertTrue(until(
            lambda: client.request("shop", "search", "ann").source == weir.SERVER))

    def test_failover_from_an_address_where_nobody_listens(self):
        client = self.connect([free_address(), self.server.address])
        decision = client.request("shop", "search", "ann")
        self.assertEqual((decision.source, decision.address), (weir.SERVER, self.server.address))
        self.assertEqual(client.counters["failovers"], 1)

    def test_asyncio_degrades_and_fails_over(self):
        async def main():
            async with aio.Client(free_address()) as client:
                self.assertEqual((await client.request("shop", "search", "x")).source,
                                 weir.DEGRADED)
                async with client.reserve("shop", "seats", "x", 2) as hold:
                    self.assertEqual((hold.copies, hold.source), (2, weir.DEGRADED))
            async with aio.Client([free_address(), self.server.address], timeout=5) as client:
                self.assertEqual((await client.request("shop", "search", "x")).source, weir.SERVER)
        asyncio.run(main())


class Copies(WithServer):
    def held(self, client=None):
        """Copies that ann holds, as another hold of hers is told."""
        with (client or self.client).reserve("shop", "seats", "ann", 1) as hold:
            return hold.reservation.held - 1 if hold.allowed else hold.reservation.held

    def test_scope_releases_what_is_left(self):
        with self.client.reserve("shop", "seats", "ann", 4) as hold:
            self.assertEqual((hold.copies, hold.reservation.per_subject), (4, 5))
            self.assertEqual(hold.release(1), 3)
            self.assertEqual(self.held(), 3)
            refused = self.client.reserve("shop", "seats", "ann", 5)
            self.assertEqual((refused.allowed, refused.outcome), (False, "refused"))
            self.assertEqual(self.client.reserve("shop", "seats", "ann", 5, 1).release(), 0)
        self.assertEqual(self.held(), 0)

    def test_another_client_seizes_what_was_transferred(self):
        other = self.connect()
        with self.client.reserve("shop", "seats", "ann", 5) as hold:
            transfer = hold.transfer(3, ttl=30)
            self.assertEqual(hold.copies, 2)
        with other.seize(transfer) as seized:
            self.assertEqual((seized.namespace, seized.resource, seized.subject, seized.copies),
                             ("shop", "seats", "ann", 3))
            self.assertEqual(seized.release(1), 2)
            self.assertEqual(self.held(), 2)
        self.assertEqual(self.held(), 0)
        with self.assertRaises(weir.WeirError) as caught:
            other.seize(transfer)
        self.assertEqual(caught.exception.code, "unknown_transfer")

    def test_closing_the_client_releases_what_it_holds(self):
        other = self.connect()
        other.reserve("shop", "seats", "ann", 5)
        self.assertEqual(self.held(), 5)
        other.close()
        self.assertTrue(until(lambda: self.held() == 0))
        self.assertEqual(other.counters["holds_lost"], 0)

    def test_in_line_a_release_is_waited_for(self):
        first = self.client.reserve("shop", "seats", "ann", 5)
        other = self.connect()
        found = []
        thread = threading.Thread(target=lambda: found.append(
            other.reserve("shop", "seats", "ann", 2, max_wait=PATIENCE, in_line=True)))
        thread.start()
        time.sleep(0.2)
        first.release()
        thread.join()
        self.assertEqual((found[0].copies, found[0].attempts), (2, 1))
        self.assertLess(found[0].waited, PATIENCE)
        late = self.client.reserve("shop", "seats", "ann", 5, max_wait=0.1, in_line=True)
        self.assertEqual((late.allowed, late.outcome), (False, "timeout"))

    def test_holds_are_lost_with_the_server(self):
        lost = threading.Event()
        client = self.connect(timeout=1, on_lost=lambda hold: lost.set())
        with client.reserve("shop", "seats", "ann", 2) as hold:
            self.server.kill()
            self.assertTrue(lost.wait(PATIENCE))
            self.assertTrue(hold.lost)
        self.assertEqual(client.reserve("shop", "seats", "ann").source, weir.DEGRADED)

    def test_acquire_all(self):
        wanted = [weir.Copies("shop", "seats", "ann"), weir.Copies("shop", "rooms", "ann"),
                  weir.Rate("shop", "search", "ann")]
        with self.client.acquire_all(wanted, min=1, max=4) as acquired:
            self.assertEqual((acquired.allowed, acquired.copies), (True, 3))
            self.assertEqual(self.held(), 3)
            self.assertEqual(self.client.peek("shop", "search", "ann").remaining, 7)
        self.assertEqual(self.held(), 0)

    def test_asyncio(self):
        async def main():
            async with aio.Client(self.server.address, timeout=5) as client:
                async with client.reserve("shop", "seats", "ann", 4) as hold:
                    transfer = await hold.transfer(2, ttl=30)
                    self.assertEqual(await hold.release(1), 1)
                    async with client.seize(transfer) as seized:
                        self.assertEqual(seized.copies, 2)
                        self.assertEqual(self.held(), 3)
                self.assertEqual(self.held(), 0)
                waiting = asyncio.ensure_future(self.wait_in_line(client))
                await asyncio.sleep(0.1)
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
                # The one in line was granted when the other ended; nobody waits for it any more.
                while self.held() > 0:
                    await asyncio.sleep(0.01)
                await client.reserve("shop", "seats", "ann", 5)
            self.assertTrue(until(lambda: self.held() == 0))
        asyncio.run(asyncio.wait_for(main(), PATIENCE))

    async def wait_in_line(self, client):
        async with client.reserve("shop", "seats", "ann", 5):
            await client.reserve("shop", "seats", "ann", 1, max_wait=PATIENCE, in_line=True)


if __name__ == "__main__":
    unittest.main()
