# SPDX-License-Identifier: Apache-2.0
"""Buffers that stay on a device, and DLPack."""
import gc
import unittest

import numpy as np

import programs
import wye
from wye import Code


class Buffers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = wye.Context()
        cls.devices = [cls.context.device(one) for one in programs.selectors()]
        cls.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=cls.context)

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def refused(self, code, function, *arguments, **named):
        with self.assertRaises(wye.Error) as caught:
            function(*arguments, **named)
        self.assertEqual(caught.exception.code, code, str(caught.exception))

    def test_a_chain_moves_no_host_bytes(self):
        x = np.arange(300, dtype=np.float32)
        for device in self.devices:
            with self.subTest(device.selector), device.upload(x) as a, \
                    device.buffer(300, np.float32) as b:
                outputs = device.run(self.saxpy, a=2.0, x=a, y=a, r=b)
                self.assertEqual(len(outputs), 0)
                self.assertEqual(outputs.report.bytes_uploaded + outputs.report.bytes_downloaded, 0)
                np.testing.assert_array_equal(b.download(), 3 * x)

    def test_transfers(self):
        x = np.arange(24, dtype=np.int16).reshape(4, 6)
        for device in self.devices:
            with self.subTest(device.selector):
                buffer = device.upload(x, label="x")
                self.assertEqual((buffer.shape, buffer.dtype, buffer.nbytes), ((4, 6), np.int16, 48))
                np.testing.assert_array_equal(buffer.download(), x)
                part = np.zeros(6, np.int16)
                self.assertIs(buffer.download(part, offset=12), part)
                np.testing.assert_array_equal(part, x[1])
                buffer.upload(part, offset=0)
                other = device.buffer((4, 6), np.int16)
                other.fill(-7)
                buffer.copy_to(other, nbytes=24)
                np.testing.assert_array_equal(
                    other.download(), np.concatenate([[x[1], x[1]], np.full((2, 6), -7)]))
                self.refused(Code.INVALID_ARGUMENT, buffer.upload, np.zeros(25, np.int16))
                self.refused(Code.INVALID_ARGUMENT, buffer.upload, x.T)
                self.refused(Code.INVALID_ARGUMENT, buffer.upload, x.astype(np.int32)[:2])
                self.refused(Code.INVALID_ARGUMENT, buffer.download, np.zeros(6, np.float16))
                self.refused(Code.INVALID_ARGUMENT, buffer.copy_to, other, offset=40, nbytes=9)

    def test_ranges(self):
        device = self.devices[0]
        both = device.upload(np.arange(8, dtype=np.float32))
        r = device.run(self.saxpy, a=10.0, x=both.range(0, 16), y=both.range(16, 16)).r
        self.assertEqual(r.tolist(), [4, 15, 26, 37])
        for device in self.devices:
            with self.subTest(device.selector):
                both = device.upload(np.arange(8, dtype=np.float32))
                for offset in (0, 16, 32):
                    none = device.run(self.saxpy, a=1.0, x=both.range(offset, 0), y=both.range(offset, 0)).r
                    self.assertEqual(none.shape, (0,))

    def test_copies_between_devices_are_asked_for(self):
        first, last = self.devices[0], self.devices[-1]
        source, target = first.upload(np.arange(9.0)), last.buffer(9, np.float64)
        if first != last:
            self.refused(Code.WRONG_OWNER, source.copy_to, target)
        source.copy_to(target, across=True)
        np.testing.assert_array_equal(target.download(), np.arange(9.0))

    def test_dlpack_round_trip(self):
        device = self.devices[0]
        buffer = device.buffer((3, 5), np.float32, usage="shared")
        self.assertEqual(buffer.__dlpack_device__(), (1, 0))
        x = np.arange(15, dtype=np.float32)
        device.run(self.saxpy, a=1.0, x=x, y=x, r=buffer)
        seen = np.from_dlpack(buffer)
        np.testing.assert_array_equal(seen, 2 * x.reshape(3, 5))
        mapped = buffer.map()
        self.assertEqual(mapped.__array_interface__["data"], (seen.__array_interface__["data"][0], False))
        mapped[:] = 7
        buffer.sync("to_device")
        np.testing.assert_array_equal(seen, np.full((3, 5), 7))
        np.testing.assert_array_equal(device.run(self.saxpy, a=1.0, x=buffer, y=seen).r, np.full(15, 14))
        self.refused(Code.BUFFER_IN_USE, buffer.free)
        del mapped, seen
        gc.collect()
        buffer.free()

    def test_shapes_types_and_usages(self):
        device = self.devices[0]
        self.refused(Code.INVALID_ARGUMENT, device.buffer, 4, object)
        self.refused(Code.INVALID_ARGUMENT, device.buffer, -4)
        self.refused(Code.INVALID_ARGUMENT, device.buffer, 4, usage="fast")
        self.refused(Code.INVALID_ARGUMENT, device.buffer(4).fill, "x")
        self.assertEqual(device.buffer(np.int64(3), np.int16).shape, (3,))
        self.assertEqual(device.buffer((), np.float64).nbytes, 8)
        self.assertEqual(device.buffer((0, 3), np.float64).download().shape, (0, 3))


if __name__ == "__main__":
    unittest.main()
