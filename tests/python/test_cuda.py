# SPDX-License-Identifier: Apache-2.0
"""Tensors in the memory of a CUDA device, on the fake driver of tests/fakes. The host can read the fake device's memory. The fake
driver runs no kernels and implements no default stream; cuda_dlpack.py checks these on a machine with a GPU."""
import os
import subprocess
import sys
import unittest

import programs

CODE = """
import ctypes, gc, sys
import wye
import wye._core, wye._library
from wye import _buffer, _dlpack

waits = []
_dlpack.wait_for_default_stream = waits.append
device = wye.default_context().device("cuda")
driver = ctypes.CDLL("libcuda.so.1")
context = _buffer.native_value(device._core, "wye_device_native", device._handle, "CUcontext")
memory = ctypes.c_void_p()
assert driver.cuCtxPushCurrent_v2(ctypes.c_void_p(context)) == 0
assert driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(96)) == 0
values = (ctypes.c_float * 24).from_address(memory.value)


class Theirs:
    def __init__(self, shape, offset=0, strides=None, number=0):
        self.shape, self.offset, self.strides, self.number, self.streams = shape, offset, strides, number, []

    def __dlpack_device__(self):
        return (2, self.number)

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        capsule = _dlpack.give(self, memory.value, (2, 0), self.shape, _dlpack.DTYPES["f32"])
        tensor = _dlpack._Managed.from_address(_dlpack._get_pointer(capsule, b"dltensor")).tensor
        tensor.byte_offset = self.offset
        if self.strides:
            tensor.strides = self.strides
        return capsule


def refused(call, words):
    try:
        call()
    except wye.ArgumentError as error:
        assert words in error.message and error.remedy.startswith("Fix: "), error
    else:
        assert False, words


values[:] = range(24)
theirs = Theirs((4, 5), 16)
adopted = device.adopt(theirs, label="theirs")
assert (adopted.shape, str(adopted.dtype), adopted.usage) == ((4, 5), "float32", "device")
assert (theirs.streams, waits) == ([1], [context])
assert adopted.download().tolist() == [[4 + 5 * row + at for at in range(5)] for row in range(4)]
adopted.fill(8)
assert list(values) == [0, 1, 2, 3] + [8] * 20
assert adopted.__dlpack_device__() == (2, 0) and len(_dlpack._given) == 1
del adopted
gc.collect()
assert not _dlpack._given

refused(lambda: device.adopt(Theirs((4, 5), number=1)), "is on DLPack device (2, 1)")
refused(lambda: device.adopt(Theirs((4, 4), 4)), "16")
refused(lambda: device.adopt(Theirs((4, 5), 0, (ctypes.c_int64 * 2)(1, 4))), "is not contiguous")
saxpy = wye.Program.from_file(sys.argv[1])
refused(lambda: device.run(saxpy, a=1, x=Theirs((8,)), y=Theirs((8,), 16)), "part of the memory of another tensor")
refused(lambda: device.run(saxpy, a=1, x=Theirs((8,)), y=Theirs((8,)), r=Theirs((8,))), "overlapping memory")
refused(lambda: wye.default_context().device("cpu").run(saxpy, a=1, x=Theirs((8,)), y=1), "in the memory of a device")
gc.collect()
assert not _dlpack._given

# Memory of a tensor is kept until the buffer is freed, which pending work may delay.
core, lives = device._core, Theirs((4, 5), 16)
adopted = device.adopt(lives)
class Busy:
    def __getattr__(self, name):
        return (lambda *_: int(wye.Code.BUFFER_IN_USE)) if name == "wye_buffer_free" else getattr(wye._library.library(), name)
wye._core.library = Busy
del adopted
gc.collect()
assert len(_dlpack._given) == 1 and len(core._refused) == 1
wye._core.library = wye._library.library
core.retry()
gc.collect()
assert not _dlpack._given and not core._refused

before = device.counters()["buffer_bytes"]
made = device.upload([[1, 2], [3, 4]], "f32")
class Ours:
    __dlpack__, __dlpack_device__ = made.__dlpack__, made.__dlpack_device__
taken = _dlpack.Taken(Ours(), stream=1)
tensor = taken._managed.tensor
assert (taken.shape, taken.strides, tensor.device_type, tensor.device_id) == ((2, 2), None, 2, 0)
assert list((ctypes.c_float * 4).from_address(taken.address)) == [1, 2, 3, 4]
del Ours, made
gc.collect()
assert device.counters()["buffer_bytes"] == before + 16  # the tensor keeps it
del taken
gc.collect()
assert device.counters()["buffer_bytes"] == before
print("done")
"""

if "WYE_TEST_FAKE_CUDA" in os.environ:
    class Tensors(unittest.TestCase):
        def test_they_are_taken_and_given_without_a_copy(self):
            folders = f"{os.environ['WYE_TEST_FAKE_CUDA']}:{os.environ['LD_LIBRARY_PATH']}"
            environment = {**os.environ, "LD_LIBRARY_PATH": folders, "WYE_PROBE": "off",
                           "WYE_PLUGIN_PATH": os.environ["WYE_TEST_CUDA_PLUGIN"]}
            done = subprocess.run([sys.executable, "-B", "-c", CODE, str(programs.EXAMPLES / "saxpy.wye")], capture_output=True,
                                  text=True, timeout=600, check=False, env=environment)
            self.assertEqual((done.stdout, done.stderr, done.returncode), ("done\n", "", 0))


if __name__ == "__main__":
    unittest.main()
