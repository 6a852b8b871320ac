# SPDX-License-Identifier: Apache-2.0
"""Buffers that stay on a device, and DLPack."""
import gc
import mmap
import unittest
import weakref
from unittest import mock

import numpy as np

import programs
import wye
import wye._library
from wye import Code, _dlpack


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

    def test_transfers_that_are_not_waited_for(self):
        x = np.arange(60_000, dtype=np.float32)
        for device in self.devices:
            with self.subTest(device.selector), device.queue() as queue:
                a, b = device.buffer(x.shape, "f32"), device.buffer(x.shape, "f32")
                source = x.copy()
                up = a.submit_upload(source)
                source[:] = 0  # the upload has a copy
                copied = a.submit_copy_to(b, offset=4 * 30_000, target_offset=0, nbytes=4 * 30_000, queue=queue)
                down = b.submit_download(timed=True)
                self.assertEqual(up.result().report.bytes_uploaded, x.nbytes)
                self.assertEqual(copied.result().report.bytes_copied, 4 * 30_000)
                outputs = down.result()
                self.assertEqual((list(outputs), outputs.report.bytes_downloaded), (["out"], x.nbytes))
                np.testing.assert_array_equal(outputs.out[:30_000], x[30_000:])
                self.assertEqual(outputs.out.dtype, np.float32)
                filled = b.submit_fill(2.5)
                part = np.zeros(10, np.float32)
                into = b.submit_download(part, offset=40)
                self.assertIs(into.result().out, part)
                self.assertEqual(set(part), {2.5})
                self.assertTrue(filled.done())
                lent = np.full(10, 7, np.float32)
                a.submit_upload(lent, offset=8, borrow=True).result()
                a.submit_upload([1, 2], offset=0).result()
                self.assertEqual(a.download()[:13].tolist(), [1, 2, *[7] * 10, 12])
                self.refused(Code.INVALID_ARGUMENT, a.submit_upload, x, offset=4)
                self.refused(Code.INVALID_ARGUMENT, a.submit_upload, x.astype(np.int32))
                self.refused(Code.INVALID_ARGUMENT, a.submit_download, offset=4)
                self.refused(Code.INVALID_ARGUMENT, a.submit_download, np.zeros(60_001, np.float32))
                self.refused(Code.INVALID_ARGUMENT, a.submit_copy_to, b, offset=x.nbytes + 1)
                self.refused(Code.INVALID_ARGUMENT, a.submit_fill, "x")
                # The bytes of a Future outlive its buffer and its context.
                kept = a.submit_download().result().out
                del a, b, up, copied, down, filled, into
                gc.collect()
                self.assertEqual(kept[59_999], 59_999)

    def test_registered_memory(self):
        for device in self.devices:
            with self.subTest(device.selector):
                memory = np.frombuffer(mmap.mmap(-1, 1 << 20), np.float32)
                try:
                    registered = device.register(memory)
                except wye.UnsupportedError as error:
                    self.assertIn("host_memory_alignment", error.message)
                    continue
                self.assertIs(registered.array, memory)
                before = device.counters()["bytes_registered"]
                self.assertEqual(device.memory()["registered"], 1 << 20)
                memory[:] = 3
                buffer = device.upload(memory)
                result = device.run(self.saxpy, a=2.0, x=memory, y=1).r
                self.assertEqual(set(result), {7})
                memory[:] = 0
                buffer.download(memory)
                self.assertEqual(set(memory), {3})
                self.assertGreaterEqual(device.counters()["bytes_registered"] - before, 3 << 20)
                self.refused(Code.DUPLICATE, device.register, memory)
                registered.free()
                registered.free()
                self.assertEqual(device.memory()["registered"], 0)
                with device.register(memory):
                    self.assertEqual(device.memory()["registered"], 1 << 20)
                device.register(memory)  # nothing refers to the result
                gc.collect()
                self.assertEqual(device.memory()["registered"], 0)
                self.refused(Code.INVALID_ARGUMENT, device.register, memory[:0])
                fixed = np.frombuffer(bytes(4096), np.float32)
                self.refused(Code.INVALID_ARGUMENT, device.register, fixed)
        # A context keeps the registered memory even after its close, so the array must live as long as the context.
        context = wye.Context(plugins=False)
        memory = np.frombuffer(mmap.mmap(-1, 4096), np.uint8)
        registered = context.device("cpu").register(memory)
        context.close()
        del registered, memory, context
        gc.collect()

    def test_memory_is_limited_told_and_trimmed(self):
        x = np.arange(100_000, dtype=np.float32)
        with wye.Context(config={"memory.device_limit": "2MiB"}) as context:
            saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=context)
            for selector in programs.selectors():
                with self.subTest(selector):
                    device = context.device(selector)
                    self.assertEqual(device.memory()["buffers"], 0)
                    buffer = device.upload(x, label="weights")
                    np.testing.assert_array_equal(device.run(saxpy, a=2.0, x=x, y=x).r, 3 * x)
                    held = device.memory()
                    self.assertEqual((held["limit"], held["buffers"]), (2 << 20, buffer.nbytes))
                    self.assertGreaterEqual(held["scratch_idle"], 3 * x.nbytes)
                    self.assertGreaterEqual(device.trim(), held["scratch_idle"])
                    self.assertEqual(device.memory()["scratch"], 0)
                    with self.assertRaises(wye.OutOfMemoryError) as caught:
                        device.buffer(2 << 20)
                    self.assertIn("`weights` 400000", caught.exception.message)
                    self.assertIn("memory.device_limit", caught.exception.remedy)
                    device.limit_memory(0)
                    device.buffer(2 << 20).free()
                    context.limit_memory(1000)
                    self.refused(Code.DEVICE_MEMORY, device.buffer, 2000)
                    context.limit_memory(0)
                    buffer.free()
                    for wrong in (-1, 2**64, 1.5, None):
                        self.refused(Code.INVALID_ARGUMENT, device.limit_memory, wrong)

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
        np.testing.assert_array_equal(device.run(self.saxpy, a=1.0, x=buffer, y=seen).r, np.full((3, 5), 14))
        self.refused(Code.BUFFER_IN_USE, buffer.free)
        del mapped, seen
        gc.collect()
        buffer.free()

    def test_an_empty_buffer_is_mapped_and_passed_on_as_others_are(self):
        for shape in ((0,), (0, 3), (3, 0)):
            buffer = self.devices[0].buffer(shape, np.float32, usage="shared")
            mapped = buffer.map()
            buffer.sync("to_host")
            seen = np.from_dlpack(buffer)
            for array in (mapped, seen):
                self.assertEqual((array.shape, array.dtype), (shape, np.float32))
            self.refused(Code.BUFFER_IN_USE, buffer.free)
            del mapped, seen, array
            gc.collect()
            buffer.free()

    def test_a_device_that_shows_no_buffer_has_one_remedy(self):
        class Refusing:  # as PoCL, which maps none of these usages
            def __init__(self, lib):
                self.lib = lib

            def __getattr__(self, name):
                if name != "wye_buffer_map":
                    return getattr(self.lib, name)
                return lambda *_: int(Code.UNSUPPORTED)
        device, refusing = self.devices[0], Refusing(wye._library.library())
        for usage in ("device", "shared"):
            buffer = device.buffer(4, "f32", usage=usage)
            with mock.patch("wye._core.library", return_value=refusing):
                for call, kind in ((buffer.map, wye.UnsupportedError), (lambda: np.from_dlpack(buffer), BufferError)):
                    with self.assertRaises(kind) as caught:
                        call()
                    self.assertEqual(str(caught.exception).count("Fix: "), 1)
                    self.assertIn("use download() and upload()", caught.exception.remedy)
                    self.assertIsInstance(caught.exception, wye.Error)
                    self.assertIsNone(caught.exception.__cause__)
        for device in self.devices[1:]:
            with self.subTest(device.selector):
                try:
                    seen = np.from_dlpack(device.upload(np.arange(4.0), usage="shared"))
                    self.assertEqual(seen.tolist(), [0, 1, 2, 3])
                except wye.ExchangeError as error:
                    self.assertEqual((error.code, str(error).count("Fix: ")), (Code.UNSUPPORTED, 1))

    def test_tensors_on_a_device_are_taken_by_a_cuda_device_only(self):
        class Tensor:
            def __dlpack_device__(self):
                return (2, 0)

            def __dlpack__(self, **_):
                raise AssertionError("asked for a capsule")
        self.refused(Code.INVALID_ARGUMENT, self.devices[0].adopt, Tensor())
        self.refused(Code.INVALID_ARGUMENT, self.devices[0].adopt, np.ones(4))

    def test_the_capsules_of_the_package(self):
        # Several capsules are taken, and one is not. The owner lives as long as the last capsule, and no longer.
        owner, memory = wye.Discard(), np.arange(6, dtype=np.int16)
        lives = weakref.ref(owner)

        class Given:
            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self, **_):
                return capsules.pop()
        address = memory.__array_interface__["data"][0]
        make = lambda: _dlpack.give(owner, address, (1, 0), (2, 3), memory.dtype)
        capsules = [make()]
        seen = np.from_dlpack(Given())
        self.assertEqual((seen.tolist(), seen.dtype), ([[0, 1, 2], [3, 4, 5]], np.int16))
        self.assertEqual(seen.__array_interface__["data"][0], address)
        capsules = [make()]
        taken = _dlpack.Taken(Given())
        self.assertEqual((taken.shape, taken.address, taken.nbytes, str(taken.dtype), taken.contiguous()),
                         ((2, 3), address, 12, "int16", True))
        never = make()
        del owner, seen
        gc.collect()
        self.assertIsNotNone(lives())
        del taken, never
        gc.collect()
        self.assertIsNone(lives())
        self.assertEqual(_dlpack._given, {})
        capsules = [memory.reshape(2, 3).T.__dlpack__()]
        self.assertFalse(_dlpack.Taken(Given()).contiguous())

    def test_what_dlpack_cannot_have(self):
        shared = self.devices[0].buffer(4, "f32", usage="shared")
        text = self.devices[0].buffer(4, "S3", usage="shared")
        for call in (lambda: shared.__dlpack__(copy=True), lambda: shared.__dlpack__(dl_device=(2, 0)), text.__dlpack__):
            with self.assertRaises(BufferError) as caught:
                call()
            self.assertIn("Fix: ", str(caught.exception))
        for wrong in (5, 0, (), (1,), (1, 0, 0), "ab", object(), (None, 0), (float("inf"), 0), (1.5, 0)):
            with self.assertRaises(BufferError) as caught:
                shared.__dlpack__(dl_device=wrong)
            self.assertIsInstance(caught.exception, wye.Error)
            self.assertIn("`dl_device` is ", str(caught.exception))
        self.assertIsNotNone(shared.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0), copy=False))
        seen = np.from_dlpack(self.devices[0].buffer(4, "c8", usage="shared"))
        self.assertEqual((seen.dtype, seen.shape), (np.complex64, (4,)))

    def test_names_of_types_and_lists(self):
        device = self.devices[0]
        for name, dtype in (("f32", np.float32), ("f16", np.float16), ("bf16", np.uint16), ("u32", np.uint32),
                            ("float64", np.float64), ("i64", np.int64), (np.int8, np.int8)):
            self.assertEqual(device.buffer(2, name).dtype, dtype)
        for name in ("i8", "u8"):
            with self.assertRaises(wye.ArgumentError) as caught:
                device.buffer(2, name)
            self.assertIn("int8" if name == "i8" else "uint8", caught.exception.remedy)
        made = device.upload([[1, 2.5], [3, 4]], "f32")
        self.assertEqual((made.shape, made.download().tolist()), ((2, 2), [[1, 2.5], [3, 4]]))
        made.upload([9, 8.5], offset=8)
        self.assertEqual(made.download().tolist(), [[1, 2.5], [9, 8.5]])
        with self.assertRaises(wye.ArgumentError) as caught:
            device.upload([1, 2])
        self.assertIn("dtype", caught.exception.remedy)
        for values, named in (([1, 2.0], "source[1]"), ([[1], [2**40]], "source[1, 0]"), ([True], "source[0]")):
            with self.assertRaises(wye.ArgumentError) as caught:
                device.upload(values, "i32")
            self.assertIn(f"`{named}`", caught.exception.message)
        self.refused(Code.INVALID_ARGUMENT, device.upload, np.ones(2), "f32")

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
