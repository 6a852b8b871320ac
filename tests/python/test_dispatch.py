# SPDX-License-Identifier: Apache-2.0
"""Dispatches, with numpy as the reference."""
import array
import unittest

import numpy as np

import programs
import wye


class OnEachDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = wye.Context()
        cls.devices = [cls.context.device(one) for one in programs.selectors()]
        cls.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=cls.context)
        cls.random = np.random.default_rng(1)

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def test_the_cpu_is_there(self):
        self.assertEqual(self.devices[0].plugin, "cpu")

    def test_without_a_device(self):
        x, y = self.random.random((2, 1001), np.float32)
        expected = np.float32(1.1) * x + y
        best = self.context.device("auto", self.saxpy)
        outputs = self.context.run(self.saxpy, a=1.1, x=x, y=y)
        np.testing.assert_array_equal(outputs.r, expected)
        report = outputs.report
        self.assertEqual((report.device, report.routed), (best.selector, "chosen"))
        self.assertEqual(report.choice.selector, best.selector)
        self.assertTrue(report.choice.reason.startswith("auto: "))
        self.assertNotIn(best.selector, report.choice.passed_over)
        again = self.context.submit(self.saxpy, a=1.1, x=x, y=y).result()
        np.testing.assert_array_equal(again.r, expected)
        self.assertEqual(again.report.choice, report.choice)
        with wye.Context(plugins=False) as context:  # only the dispatch opens a device
            program = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=context)
            alone = context.run(program, a=1.1, x=x, y=y).report
            self.assertEqual((alone.device, alone.choice.passed_over), ("cpu:0", {}))
        for device in self.devices:
            with self.subTest(device.selector):
                self.assertEqual(device.run(self.saxpy, a=1.1, x=x, y=y).report.routed, "named")
                report = self.context.run(self.saxpy, a=1.1, x=device.upload(x), y=y).report
                self.assertEqual((report.device, report.routed, report.choice),
                                 (device.selector, "owner", None))
        if len(self.devices) > 1:
            with self.assertRaises(wye.Error) as caught:
                self.context.run(self.saxpy, a=1.1, x=self.devices[0].upload(x),
                                 y=self.devices[1].upload(y))
            self.assertEqual(caught.exception.code, wye.Code.WRONG_OWNER)
            for device in self.devices[:2]:
                self.assertIn(device.selector, str(caught.exception))

    def test_saxpy(self):
        x, y = self.random.random((2, 1001), np.float32)
        for device in self.devices:
            with self.subTest(device.selector):
                outputs = device.run(self.saxpy, a=1.1, x=x, y=y)
                self.assertEqual(list(outputs), ["r"])
                self.assertEqual(outputs.r.dtype, np.float32)
                np.testing.assert_array_equal(outputs.r, np.float32(1.1) * x + y)
                self.assertEqual(outputs.report.bytes_downloaded, 4 * 1001)
                self.assertEqual(outputs.report.groups, (4, 1, 1))

    def test_reduction(self):
        program = wye.Program.from_file(programs.EXAMPLES / "reduction.wye", context=self.context)
        x = self.random.integers(0, 2**32, 40000, dtype=np.uint32)
        for device in self.devices:
            with self.subTest(device.selector):
                total = device.run(program, x=x)["total"]
                self.assertEqual(total.tolist(), [x.sum(dtype=np.uint32)])

    def test_each_element_type(self):
        program = wye.Program.from_text(programs.ELEMENTWISE, context=self.context)
        n = 100
        given = {
            "a": np.arange(n, dtype=np.int8), "b": np.arange(65500, 65500 + n).astype(np.uint16),
            "c": np.linspace(-3, 3, n, dtype=np.float16), "d": np.arange(n, dtype=np.int64) - 50,
            "e": self.random.random(n), "v": self.random.random((n, 4), np.float32)}
        for device in self.devices:
            with self.subTest(device.selector):
                if not (device.fact("int64") and device.fact("f64")):
                    self.fail(f"{device} lacks 64-bit types")
                got = device.run(program, k=-3, w=2**63 + 5, s=3.0, **given)
                np.testing.assert_array_equal(got.p, given["a"] * np.int8(-3))
                np.testing.assert_array_equal(got.q, given["b"] + np.uint16(7))
                np.testing.assert_array_equal(got.t, given["c"] + np.float16(1))
                np.testing.assert_array_equal(
                    got.u, given["d"].view(np.uint64) ^ np.uint64(2**63 + 5))
                np.testing.assert_array_equal(got.x, np.sqrt(given["e"]) / 3.0)
                np.testing.assert_array_equal(got.y, given["v"] * 2)
                self.assertEqual(got.y.shape, (n, 4))

    def test_outputs_into_arrays_of_the_caller(self):
        x, y, r = np.ones(8, np.float32), np.ones(8, np.float32), np.zeros((2, 4), np.float32)
        outputs = self.devices[0].run(self.saxpy, a=3.0, x=x, y=y, r=r)
        self.assertIs(outputs.r, r)
        np.testing.assert_array_equal(r, np.full((2, 4), 4, np.float32))

    def test_cooperative(self):
        program = wye.Program.from_text(programs.TURN, context=self.context)
        x = self.random.integers(0, 2**32, 1000, dtype=np.uint32)
        for device in self.devices:
            with self.subTest(device.selector):
                for cooperative in (False, True):
                    out = device.run(program, wye.Options(cooperative=cooperative), x=x)
                    np.testing.assert_array_equal(out.z, (x + np.uint32(1)) * np.uint32(3))
                    # Neither the CPU nor OpenCL runs all workgroups at once.
                    self.assertEqual(out.report.cooperative,
                                     "split: device" if cooperative else "none")

    def test_the_report_says_whether_the_launch_is_deterministic(self):
        program = wye.Program.from_text(
            "wye 1; program rows; workgroup 64; output r: u32[64]; main { r[global_id.x] = 1u; }",
            context=self.context)
        self.assertFalse(program.analysis()["deterministic"])
        self.assertIn("one invocation on the y and z axes", program.analysis()["deterministic_if"])
        for device in self.devices:
            for rows, verdict in ((1, "yes"), (2, "beyond")):
                out = device.run(program, wye.Options(grid=(1, rows, 1)))
                self.assertEqual(out.report.determinism, verdict)
                self.assertEqual(out.report.bytes_copied, 0)

    def test_a_grid_from_a_buffer(self):
        program = wye.Program.from_text(
            "wye 1; program mark; workgroup 1; input_output r: u32[8]; "
            "main { r[workgroup_id.x] = r[workgroup_id.x] + num_workgroups.x; }", context=self.context)
        for device in self.devices:
            with self.subTest(device.selector):
                words = device.upload(np.array([9, 3, 1, 1, 0], np.uint32))
                part = words.range(4, 12)
                try:
                    takes_grids = device.fact("indirect_dispatch")
                except wye.Error:  # the device does not report the fact
                    takes_grids = False
                if not takes_grids:
                    with self.assertRaises(wye.Error) as caught:
                        device.run(program, wye.Options(grid=part), r=np.zeros(8, np.uint32))
                    self.assertEqual(caught.exception.code, wye.Code.UNSUPPORTED)
                    self.assertIn("indirect_dispatch", str(caught.exception))
                    continue
                for grid in (part, (words, 4), [words, 4]):
                    out = device.run(program, wye.Options(grid=grid), r=np.zeros(8, np.uint32))
                    self.assertEqual(out.r.tolist(), [3, 3, 3, 0, 0, 0, 0, 0])
                    self.assertEqual(out.report.groups, (0, 0, 0))
                whole = device.upload(np.array([2, 1, 1], np.uint32))
                future = device.submit(program, wye.Options(grid=whole), r=np.zeros(8, np.uint32))
                del whole  # the work keeps the buffer
                self.assertEqual(future.result().r.tolist(), [2, 2, 0, 0, 0, 0, 0, 0])
                self.assertEqual(self.context.run(program, wye.Options(grid=part), r=np.zeros(8, np.uint32))
                                 .report.routed, "owner")
                words.upload(np.array([9, 2**32 - 1, 2**32 - 1, 1, 0], np.uint32))
                with self.assertRaises(wye.Error) as caught:
                    device.run(program, wye.Options(grid=part), r=np.zeros(8, np.uint32))
                self.assertEqual(caught.exception.code, wye.Code.LIMIT_EXCEEDED)
        with self.assertRaises(wye.Error) as caught:
            self.devices[0].run(program, wye.Options(grid=(words, 6)), r=np.zeros(8, np.uint32))
        self.assertIn("offset 6", str(caught.exception))
        for bad in ((words, -1), (words, "4"), (words, 4, 4), (words, True)):
            with self.assertRaises(wye.Error) as caught:
                wye.Options(grid=bad)
            self.assertEqual(caught.exception.code, wye.Code.INVALID_ARGUMENT)
        with wye.Context(plugins=False) as other:
            elsewhere = other.device("cpu").buffer(3, np.uint32)
            with self.assertRaises(wye.Error) as caught:
                self.devices[0].run(program, wye.Options(grid=elsewhere), r=np.zeros(8, np.uint32))
            self.assertEqual(caught.exception.code, wye.Code.WRONG_OWNER)

    def test_input_output_comes_back_or_goes_where_it_is_told(self):
        program = wye.Program.from_text(programs.INCREMENT, context=self.context)
        device, x, target = self.devices[0], np.arange(5, dtype=np.uint32), np.zeros(5, np.uint32)
        new = device.run(program, x=x).x
        self.assertEqual((x.tolist(), new.tolist()), ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]))
        device.run(program, x=wye.InOut(x, target))
        self.assertEqual((x.tolist(), target.tolist()), ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]))
        self.assertIs(device.run(program, x=wye.InOut(x)).x, x)
        self.assertEqual(x.tolist(), [1, 2, 3, 4, 5])
        twice = device.run(program, wye.Options(iterations=2), x=x).x
        self.assertEqual(twice.tolist(), [3, 4, 5, 6, 7])

    def test_some_outputs_given_and_discarded(self):
        program = wye.Program.from_text(programs.ELEMENTWISE, context=self.context)
        given = {name: np.ones((4, 4) if name == "v" else 4, dtype) for name, dtype in
                 zip("abcdev", (np.int8, np.uint16, np.float16, np.int64, np.float64, np.float32))}
        p = np.zeros(4, np.int8)
        got = self.devices[0].run(program, k=5, w=0, s=2.0, p=p, q=wye.Discard(), **given)
        self.assertEqual(sorted(got), ["p", "t", "u", "x", "y"])
        self.assertEqual((p.tolist(), got.x.tolist()), ([5] * 4, [0.5] * 4))

    def test_anything_with_a_buffer_or_dlpack(self):
        class Tensor:  # of another library: DLPack only
            def __init__(self, values):
                self.values = values

            def __dlpack__(self, **options):
                return self.values.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.values.__dlpack_device__()

        expected = [3.0, 5.0, 7.0]
        y = np.ones(3, np.float32)
        for x in (array.array("f", [1, 2, 3]), memoryview(array.array("f", [1, 2, 3])),
                  np.array([1, 2, 3], np.float32).tobytes(), Tensor(np.array([1, 2, 3], np.float32))):
            with self.subTest(type(x).__name__):
                self.assertEqual(self.devices[0].run(self.saxpy, a=2.0, x=x, y=y).r.tolist(), expected)
        target = array.array("f", [0, 0, 0])
        self.devices[0].run(self.saxpy, a=2.0, x=np.arange(1, 4, dtype=np.float32), y=y, r=target)
        self.assertEqual(target.tolist(), expected)

    def test_empty(self):
        none = np.empty(0, np.float32)
        self.assertEqual(self.devices[0].run(self.saxpy, a=2.0, x=none, y=none).r.shape, (0,))

    def test_outputs_can_be_written_and_passed_on(self):
        one = np.ones(16, np.float32)
        r = self.devices[0].run(self.saxpy, a=1.0, x=one, y=one).r
        r += 1
        again = self.devices[0].run(self.saxpy, a=2.0, x=r, y=np.from_dlpack(r)).r
        np.testing.assert_array_equal(again, np.full(16, 9, np.float32))


if __name__ == "__main__":
    unittest.main()
