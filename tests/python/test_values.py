# SPDX-License-Identifier: Apache-2.0
"""Lists and numbers as inputs, shapes of outputs, and programs that are called."""
import struct
import unittest

import numpy as np

import programs
import wye

CAST = "wye 1; program copy; workgroup 64; input x: {0}[]; output r: {0}[len(x)]; grid elements len(x); " \
       "main {{ let i = global_id.x; if i < len(r) {{ r[i] = x[i]; }} }}"
# Lengths of several kinds: those of inputs, a number, and a computed one.
LENGTHS = """
wye 1; program lengths; workgroup 64;
input x: f32[]; input y: f32[len(x)]; input four: u32[4]; input_output z: u32[];
output like_x: f32[len(x)]; output also_y: f32[len(x)]; output like_z: u32[len(z)]; output six: u32[6]; output twice: f32[len(x) * 2];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(x) { like_x[i] = x[i]; also_y[i] = y[i]; twice[i] = x[i]; }
    if i < len(z) { z[i] = z[i] + 1u; like_z[i] = four[i & 3u]; }
}
"""


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = wye.Context()
        cls.devices = [cls.context.device(one) for one in programs.selectors()]
        cls.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=cls.context)
        cls.saxpy4 = wye.Program.from_file(programs.EXAMPLES / "saxpy4.wye", context=cls.context)
        cls.lengths = wye.Program.from_text(LENGTHS, context=cls.context)

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def through(self, kind, values):
        program = wye.Program.from_text(CAST.format(kind), context=self.context)
        return self.devices[0].run(program, x=values).r

    def test_lists_are_converted_to_the_declared_type(self):
        for kind, values in (("i8", [-128, 127]), ("u8", [0, 255]), ("i16", [-2**15, 5]), ("u16", [65535]), ("i32", [-2**31, 7]),
                             ("u32", [2**32 - 1]), ("i64", [-2**63]), ("u64", [2**64 - 1]), ("f16", [0.1, 2048, -65504.0]),
                             ("f32", [0.1, 2**24, float("inf"), 1e-45]), ("f64", [0.1, 2**53, -0.0])):
            with self.subTest(kind):
                got = self.through(kind, values)
                np.testing.assert_array_equal(got, np.array(values, got.dtype))
                self.assertEqual(got.tolist(), self.through(kind, tuple(map(got.dtype.type, values))).tolist())
        self.assertTrue(np.isnan(self.through("f32", [float("nan")])[0]))

    def test_bf16_is_rounded_to_the_nearest(self):
        # A value halfway between two bf16 becomes the one whose last bit is 0. struct makes an f32 of its bits.
        for value, bits in ((1.0, 0x3f80), (1 + 2**-8, 0x3f80), (1 + 3 * 2**-8, 0x3f82), (1 + 2**-8 + 2**-20, 0x3f81),
                            (-3.3895313892515355e38, 0xff7f), (float("inf"), 0x7f80), (256, 0x4380)):
            self.assertEqual(int(self.through("bf16", [value])[0]), bits)
        nan = int(self.through("bf16", [struct.unpack("<f", b"\x01\0\x80\x7f")[0]])[0])
        self.assertTrue(nan & 0x7f80 == 0x7f80 and nan & 0x7f)

    def test_what_would_lose_data_is_refused_by_name(self):
        for kind, values, named in (
                ("i32", [1, 1.5], "x[1]"), ("i32", [2.0], "x[0]"), ("u32", [[0, 1], [2, -1]], "x[1, 1]"), ("i8", [128], "x[0]"),
                ("f32", [0.5, 1e39], "x[1]"), ("f32", [2**24 + 1], "x[0]"), ("f64", [2**53 + 1], "x[0]"), ("f16", [2049], "x[0]"),
                ("f16", [1e6], "x[0]"), ("bf16", [257], "x[0]"), ("bf16", [3.4e38], "x[0]"), ("f32", [1, True], "x[1]"),
                ("f32", [1j], "x[0]"), ("f32", ["1"], "x[0]"), ("f32", [None], "x[0]"), ("u64", [2**64], "x[0]"), ("f32", 1e39, "x")):
            with self.subTest(kind=kind, values=values), self.assertRaises(wye.ArgumentError) as caught:
                self.through(kind, values)
            self.assertIn(f"`{named}` is ", caught.exception.message)
        for ragged in ([[1, 2], [3]], [1, [2]], [[1], 2]):
            with self.assertRaises(wye.ArgumentError) as caught:
                self.through("f32", ragged)
            self.assertRegex(caught.exception.message, r"^`x(\[1\])?` ")

    def test_a_number_stands_for_as_many_as_the_program_declares(self):
        x = np.arange(20, dtype=np.float32).reshape(4, 5)
        for device in self.devices:
            with self.subTest(device.selector):
                np.testing.assert_array_equal(device.run(self.saxpy, a=2, x=x, y=0.5).r, 2 * x + np.float32(0.5))
                np.testing.assert_array_equal(device.run(self.saxpy, a=2, x=device.upload(x), y=np.float32(3)).r, 2 * x + 3)
                got = device.run(self.lengths, x=x, y=7, four=9, z=[5])
                self.assertEqual((got.also_y.shape, set(got.also_y.flat), got.like_z.tolist(), got.z.tolist()),
                                 ((4, 5), {7.0}, [9], [6]))
                self.assertEqual(device.submit(self.saxpy, a=1.0, x=x, y=1).result().r[3, 4], 20)
        one = self.devices[0].run(self.saxpy, a=2.0, x=3.0, y=1.0).r
        self.assertEqual((one.shape, float(one)), ((), 7.0))

    def test_outputs_have_the_shape_of_the_input_whose_length_they_have(self):
        x, z = np.ones((4, 5), np.float32), np.ones((2, 1, 5), np.uint32)
        for device in self.devices:
            with self.subTest(device.selector):
                got = device.run(self.lengths, x=x, y=x.ravel(), four=[1, 2, 3, 4], z=z)
                self.assertEqual({name: one.shape for name, one in got.items()}, {
                    "z": (2, 1, 5), "like_x": (4, 5), "also_y": (4, 5), "like_z": (2, 1, 5), "six": (6,), "twice": (40,)})
                np.testing.assert_array_equal(got.z, z + 1)
                four = np.ones((2, 3, 4), np.float32)
                self.assertEqual(device.run(self.saxpy4, a=1.0, x=four, y=four).r.shape, (2, 3, 4))
                self.assertEqual(device.run(self.saxpy4, a=1.0, x=four.ravel(), y=four).r.shape, (6, 4))
                self.assertEqual(device.run(self.saxpy, a=1.0, x=device.upload(x), y=x).r.shape, (4, 5))
                self.assertEqual(device.run(self.saxpy, a=1.0, x=x.tobytes(), y=x).r.shape, (20,))
                self.assertEqual(device.run(self.saxpy, a=1.0, x=x[:0], y=x[:0]).r.shape, (0, 5))
                borrowed = device.submit(self.saxpy, wye.Options(borrow=True), a=1.0, x=x, y=x).result()
                self.assertEqual(borrowed.r.shape, (4, 5))

    def test_a_program_is_called(self):
        x = np.arange(6, dtype=np.float32)
        np.testing.assert_array_equal(self.saxpy(a=2.0, x=x, y=x).r, 3 * x)
        self.assertEqual(self.saxpy(wye.Options(iterations=2), a=2.0, x=[1], y=[1]).r.tolist(), [3])
        self.assertEqual(wye.Program.from_file(programs.EXAMPLES / "saxpy.wye")(a=1.0, x=[1], y=[1]).r.tolist(), [2])

    def test_what_notebooks_show(self):
        cpu, = self.context.devices("cpu:0")
        self.assertEqual((cpu["selector"], cpu["int64"], cpu.int64), ("cpu:0", True, cpu.facts["int64"]))
        self.assertEqual(dict(cpu)["max_workgroup_size"], cpu.max_workgroup_size)
        hostile = wye.DeviceInfo("x:0", "<script>", "x", False, "a & b", "Fix: <c>", {"odd": "<i>", "absent": None})
        for shown, wanted in ((cpu._repr_html_(), "max_workgroup_size"), (self.context.devices("cpu")._repr_html_(), "cpu:0"),
                              (hostile._repr_html_(), "&lt;script&gt;"), (wye.DeviceList([hostile])._repr_html_(), "a &amp; b"),
                              (self.saxpy(a=2.0, x=[1], y=[1]).report._repr_html_(), "wall_ns")):
            self.assertTrue(shown.startswith("<table>") and shown.endswith("</table>"))
            self.assertIn(wanted, shown)
            self.assertNotRegex(shown, "<script>|<i>|absent")


if __name__ == "__main__":
    unittest.main()
