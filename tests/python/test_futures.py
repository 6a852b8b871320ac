# SPDX-License-Identifier: Apache-2.0
"""Asynchronous dispatches."""
import asyncio
import threading
import time
import unittest

import numpy as np

import programs
import wye
from wye import Code


class Futures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = wye.Context()
        cls.devices = [cls.context.device(one) for one in programs.selectors()]
        cls.device = cls.context.device("cpu")
        cls.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=cls.context)
        cls.endless = wye.Program.from_text(programs.ENDLESS, context=cls.context)
        cls.x = np.arange(1000, dtype=np.float32)

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def code_of(self, function, *arguments, **named):
        with self.assertRaises(wye.Error) as caught:
            function(*arguments, **named)
        return caught.exception.code

    def test_result(self):
        for device in self.devices:
            with self.subTest(device.selector):
                x = self.x.copy()
                future = device.submit(self.saxpy, a=2.0, x=x, y=x)
                x[:] = 0  # the dispatch has a copy
                outputs = future.result()
                np.testing.assert_array_equal(outputs.r, 3 * self.x)
                self.assertTrue(future.done())
                self.assertIs(future.result(timeout=0), outputs)

    def test_await(self):
        async def one(device, a):
            return await device.submit(self.saxpy, a=a, x=self.x, y=self.x)

        async def several():
            return await asyncio.gather(*(one(device, float(a)) for device in self.devices
                                          for a in range(5)))
        for at, outputs in enumerate(asyncio.run(several())):
            np.testing.assert_array_equal(outputs.r, (at % 5 + 1) * self.x)

    def test_time_limit_and_cancel(self):
        future = self.device.submit(self.endless)
        self.assertFalse(future.done())
        self.assertEqual(self.code_of(future.result, timeout=0.01), Code.TIMEOUT)
        self.assertEqual(self.code_of(wye.wait_any, [future], timeout=0), Code.TIMEOUT)
        future.cancel()
        self.assertEqual(self.code_of(future.result), Code.CANCELLED)
        self.assertEqual(self.code_of(self.device.run, self.endless, wye.Options(timeout=0.02)),
                         Code.TIMEOUT)

    def test_time_limit_of_the_work(self):
        for wait in (lambda one: one.result(), lambda one: one.result(timeout=60),
                     lambda one: asyncio.run(self.awaited(one))):
            future = self.device.submit(self.endless, wye.Options(timeout=0.05))
            self.assertEqual(self.code_of(wait, future), Code.TIMEOUT)
            self.assertTrue(future.done())
            self.assertEqual(self.code_of(future.result, timeout=0), Code.TIMEOUT)
            self.device.flush()
        self.device.submit(self.saxpy, wye.Options(timeout=60), a=1.0, x=self.x, y=self.x).result()

    @staticmethod
    async def awaited(future):
        return await future

    def test_compiles(self):
        for device in self.devices:
            with self.subTest(device.selector):
                text = (programs.EXAMPLES / "saxpy.wye").read_text(encoding="utf-8") + "\n"
                program = wye.Program.from_text(text, context=self.context)
                report = program.submit_prepare(device, timeout=600).result()
                self.assertIsInstance(report, wye.Report)
                future = device.submit_pipeline(program, wye.Options(timeout=600))
                pipeline = future.result()
                self.assertIs(future.result(), pipeline)
                np.testing.assert_array_equal(pipeline.run(a=1.0, x=self.x, y=self.x).r, 2 * self.x)

    def test_a_cancelled_task_cancels_its_dispatch(self):
        async def main():
            future = self.device.submit(self.endless)

            async def wait():
                await future
            task = asyncio.create_task(wait())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return future
        self.assertEqual(self.code_of(asyncio.run(main()).result), Code.CANCELLED)

    def test_an_error_reaches_the_awaiting_coroutine(self):
        trap = wye.Program.from_text(programs.TRAP, context=self.context)

        async def main():
            await self.device.submit(trap)
        self.assertEqual(self.code_of(asyncio.run, main()), Code.TRAPPED)

    def test_callbacks(self):
        called, threads = threading.Event(), []

        def note(future):
            threads.append((future, threading.current_thread()))
            called.set()
        future = self.device.submit(self.saxpy, a=1.0, x=self.x, y=self.x)
        future.add_done_callback(note)
        self.assertTrue(called.wait(250))
        self.assertIs(threads[0][0], future)
        self.assertIsNot(threads[0][1], threading.current_thread())

    def test_callbacks_during_close_read_their_results(self):
        context, outcomes = wye.Context(plugins=False), {}
        device = context.device("cpu")
        saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=context)
        trap = wye.Program.from_text(programs.TRAP, context=context)
        core = context._core

        def read(future):
            while not (core.closed or getattr(core, "closing", False)):
                time.sleep(0.001)
            try:
                found = future.result().r.tolist()
            except wye.Error as error:
                found = error.code
            # Both calls must be refused: close() waits for this callback, and callbacks could add new ones without end.
            outcomes[future] = [found, self.code_of(context.close), self.code_of(future.add_done_callback, read)]
        x = np.ones(2, np.float32)
        futures = [device.submit(saxpy, a=1.0, x=x, y=x), device.submit(trap)]
        never = device.submit(saxpy, a=1.0, x=x, y=x)
        for one in futures:
            one.add_done_callback(read)
        context.close()
        refused = [Code.INVALID_ARGUMENT, Code.SHUTTING_DOWN]
        self.assertEqual([outcomes[one] for one in futures], [[[2, 2], *refused], [Code.TRAPPED, *refused]])
        # Outcomes that were delivered before the close remain. The other future fails.
        self.assertEqual(futures[0].result().r.tolist(), [2, 2])
        self.assertEqual([one.done() for one in futures], [True, True])
        self.assertEqual(self.code_of(futures[1].result), Code.TRAPPED)
        self.assertEqual(self.code_of(never.result), Code.SHUTTING_DOWN)

    def test_a_coroutine_goes_on_after_close(self):
        async def main():
            with wye.Context(plugins=False) as context:
                saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=context)
                future = context.device("cpu").submit(saxpy, a=1.0, x=self.x, y=self.x)

                async def wait():
                    return await future
                task = asyncio.create_task(wait())
                await asyncio.sleep(0)
            return await task
        np.testing.assert_array_equal(asyncio.run(main()).r, 2 * self.x)

    def test_wait_any(self):
        never = self.device.submit(self.endless)
        other = self.device.submit(self.endless)
        other.cancel()
        self.assertEqual(wye.wait_any([never, other]), 1)
        never.cancel()
        self.assertEqual(self.code_of(never.result), Code.CANCELLED)
        self.assertEqual(self.code_of(wye.wait_any, []), Code.INVALID_ARGUMENT)

    def test_borrowed_arrays(self):
        r = np.zeros_like(self.x)
        refused = self.code_of(self.device.submit, self.saxpy, a=1.0, x=self.x, y=self.x, r=r)
        self.assertEqual(refused, Code.INVALID_ARGUMENT)
        borrow = wye.Options(borrow=True)
        for device in self.devices:
            with self.subTest(device.selector):
                outputs = device.submit(self.saxpy, borrow, a=1.0, x=self.x, y=self.x, r=r).result()
                self.assertIs(outputs.r, r)
                np.testing.assert_array_equal(r, 2 * self.x)
                new = device.submit(self.saxpy, borrow, a=2.0, x=self.x, y=self.x).result().r
                np.testing.assert_array_equal(new, 3 * self.x)

    def test_two_threads(self):
        faults = []

        def work(a):
            try:
                for _ in range(20):
                    future = self.device.submit(self.saxpy, a=a, x=self.x, y=self.x)
                    direct = self.device.run(self.saxpy, a=-a, x=self.x, y=self.x).r
                    np.testing.assert_array_equal(direct, (1 - a) * self.x)
                    np.testing.assert_array_equal(future.result().r, (1 + a) * self.x)
            except BaseException as error:  # pylint: disable=broad-except
                faults.append(error)
        threads = [threading.Thread(target=work, args=(float(a),)) for a in (2, 3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(faults, [])

    def test_other_threads_run_while_one_waits(self):
        future = self.device.submit(self.endless)
        codes = []
        waiter = threading.Thread(target=lambda: codes.append(self.code_of(future.result)))
        waiter.start()
        future.cancel()
        waiter.join(250)
        self.assertEqual(codes, [Code.CANCELLED])


if __name__ == "__main__":
    unittest.main()
