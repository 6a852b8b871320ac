#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks DLPack with the memory of a CUDA device, as producer and as consumer. Needs a CUDA device, and no library but the driver:
the script makes and reads tensors through ctypes. If torch or CuPy is installed, checks that library too.

usage: cuda_dlpack.py SAXPY.wye      with `wye` on PYTHONPATH, or installed

Prints a line for each check. Exit status: 0 all passed, 1 one failed, 3 there is no CUDA device to try it on.
"""
import array
import ctypes
import gc
import importlib.util
import sys

import wye

P = ctypes.c_void_p
cuda = None


def driver(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status != 0:
        raise OSError(f"{name} returned {status}")


class Tensor(ctypes.Structure):
    _fields_ = [("data", P), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, P)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", P), ("deleter", DELETER)]


api = ctypes.pythonapi
api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]
api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = P, [ctypes.py_object, ctypes.c_char_p]


class Theirs:
    """An f32 tensor of another library, on a device. The tensor's work runs on a stream of its own."""

    def __init__(self, values, shape, device=0, strides=None, offset=0):
        self.shape, self.device, self.strides, self.offset = shape, device, strides, offset
        self.values, self.taken, self.given_back, self.streams = values, 0, 0, []
        self.size = 4 * len(values) + offset
        self.pointer, self.stream, self.event = P(), P(), P()
        driver("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(max(self.size, 16)))
        driver("cuStreamCreate", ctypes.byref(self.stream), 1)  # the stream does not wait for the default stream
        driver("cuEventCreate", ctypes.byref(self.event), 2)
        self.write(values)

    def write(self, values):
        data = array.array("f", values)
        address, count = data.buffer_info()
        driver("cuMemcpyHtoD_v2", P(self.pointer.value + self.offset), P(address), ctypes.c_size_t(4 * count))

    def read(self):
        data = array.array("f", bytes(self.size - self.offset))
        driver("cuMemcpyDtoH_v2", P(data.buffer_info()[0]), P(self.pointer.value + self.offset), ctypes.c_size_t(4 * len(data)))
        return list(data)

    def free(self):
        driver("cuMemFree_v2", self.pointer)

    def __dlpack_device__(self):
        return (2, self.device)

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        driver("cuEventRecord", self.event, self.stream)
        driver("cuStreamWaitEvent", P(stream), self.event, 0)
        lengths = (ctypes.c_int64 * len(self.shape))(*self.shape)
        strides = None if self.strides is None else (ctypes.c_int64 * len(self.shape))(*self.strides)

        def give_back(_):
            self.given_back += 1
        kept = DELETER(give_back)
        made = Managed(Tensor(self.pointer.value, 2, self.device, len(self.shape), 2, 32, 1, lengths, strides, self.offset), None, kept)
        self.__dict__.setdefault("kept", []).append((made, kept, lengths, strides))
        self.taken += 1
        return api.PyCapsule_New(ctypes.addressof(made), b"dltensor", None)


def refused(call, words):
    try:
        call()
    except wye.ArgumentError as error:
        assert words in str(error) and "Fix: " in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


def tensors_in(device, saxpy, ordinal):
    x, y, r = (Theirs([float(i + at) for i in range(20)], (4, 5), ordinal) for at in (0, 100, 0))
    outputs = device.run(saxpy, a=2.0, x=x, y=y, r=r)
    assert len(outputs) == 0 and r.read() == [3.0 * i + 100 for i in range(20)], r.read()
    assert outputs.report.bytes_uploaded + outputs.report.bytes_downloaded == 0, outputs.report
    gc.collect()
    assert x.taken == x.given_back == 1 and x.streams == [1], (x.taken, x.given_back, x.streams)


def outputs_on_the_host(device, saxpy, ordinal):
    x = Theirs([float(i) for i in range(20)], (4, 5), ordinal)
    out = device.run(saxpy, a=2.0, x=x, y=0.5).r
    assert tuple(out.shape) == (4, 5) and out.tolist()[3] == [30.5, 32.5, 34.5, 36.5, 38.5], out
    assert device.submit(saxpy, a=1.0, x=x, y=x).result().r.tolist()[0] == [0.0, 2.0, 4.0, 6.0, 8.0]  # binds one tensor twice


def work_that_is_not_done_yet(device, saxpy, ordinal):
    count = 1 << 26
    x, r = Theirs([0.0] * 4, (count,), ordinal), Theirs([0.0] * 4, (count,), ordinal)
    for one in (x, r):
        one.free()
        one.size = 4 * count
        driver("cuMemAlloc_v2", ctypes.byref(one.pointer), ctypes.c_size_t(one.size))
    for value in (1.0, 2.0, 3.0) * 30:  # takes a while; the result is the last value
        bits = int.from_bytes(ctypes.c_float(value), "little")
        driver("cuMemsetD32Async", x.pointer, bits, ctypes.c_size_t(count), x.stream)
    assert cuda.cuStreamQuery(x.stream) == 600, "the stream has ended already, so nothing is shown"
    device.run(saxpy, a=1.0, x=x, y=x, r=r)
    data = array.array("f", bytes(16))
    for at in (0, count - 4):
        driver("cuMemcpyDtoH_v2", P(data.buffer_info()[0]), P(r.pointer.value + 4 * at), ctypes.c_size_t(16))
        assert list(data) == [6.0] * 4, list(data)
    x.free()
    r.free()


def what_is_refused(device, saxpy, ordinal):
    good = Theirs([1.0] * 20, (4, 5), ordinal)
    refused(lambda: device.run(saxpy, a=1.0, x=Theirs([1.0] * 20, (5, 4), ordinal, (1, 5)), y=good), "not contiguous")
    refused(lambda: device.run(saxpy, a=1.0, x=Theirs([1.0] * 20, (4, 5), ordinal + 77), y=good), "which is no memory of")
    refused(lambda: device.run(saxpy, a=1.0, x=Theirs([1.0] * 20, (4, 5), ordinal, None, 4), y=good), "16")
    inner = Theirs([1.0] * 20, (16,), ordinal)
    outer, inner.pointer, inner.offset = inner.pointer, good.pointer, 16
    refused(lambda: device.run(saxpy, a=1.0, x=good, y=inner), "part of the memory of another tensor")
    inner.pointer = outer
    cpu = wye.default_context().device("cpu")
    refused(lambda: cpu.run(saxpy, a=1.0, x=good, y=good), "memory of a device")
    assert device.run(saxpy, a=1.0, x=good, y=good).r.tolist()[0][0] == 2.0


def adopted_buffers(device, saxpy, ordinal):
    x = Theirs([float(i) for i in range(20)], (4, 5), ordinal)
    before = device.counters()["buffer_bytes"]
    buffer = device.adopt(x, label="theirs")
    assert (buffer.shape, str(buffer.dtype), buffer.nbytes) == ((4, 5), "float32", 80), buffer
    assert device.counters()["buffer_bytes"] == before
    x.write([7.0] * 20)
    assert set(sum(buffer.download().tolist(), [])) == {7.0}
    buffer.upload([[1.0] * 5] * 4)
    assert set(x.read()) == {1.0}
    r = device.buffer((4, 5), "f32")
    with device.graph() as graph:
        graph.dispatch(saxpy, a=2.0, x=buffer, y=buffer, r=r)
        graph.run()
    assert set(sum(r.download().tolist(), [])) == {3.0}
    assert x.given_back == 0
    del buffer, graph
    gc.collect()
    assert x.given_back == 1, x.given_back


def buffers_out(device, saxpy, ordinal):
    buffer = device.upload([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], "f32")
    assert buffer.__dlpack_device__() == (2, ordinal), buffer.__dlpack_device__()
    pending = device.submit(saxpy, a=9.0, x=[1.0] * 8, y=0.0, r=buffer)
    capsule = buffer.__dlpack__(stream=1)  # stream 1 waits for the pending work
    pointer = api.PyCapsule_GetPointer(capsule, b"dltensor")
    api.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")
    managed = Managed.from_address(pointer)
    tensor = managed.tensor
    assert (tensor.device_type, tensor.device_id, tensor.ndim, tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == \
        (2, ordinal, 2, 2, 32, 1, 0) and tensor.shape[0:2] == [2, 4] and not tensor.strides
    data = array.array("f", bytes(32))

    def read():
        driver("cuMemcpyDtoH_v2", P(data.buffer_info()[0]), P(tensor.data), ctypes.c_size_t(32))
        return list(data)
    assert read() == [9.0] * 8, list(data)
    driver("cuMemsetD32_v2", P(tensor.data), 0x40000000, ctypes.c_size_t(8))
    driver("cuCtxSynchronize")
    assert set(sum(buffer.download().tolist(), [])) == {2.0}
    pending.result()
    held = device.counters()["buffer_bytes"]
    del buffer, pending
    gc.collect()
    assert read() == [2.0] * 8 and device.counters()["buffer_bytes"] == held
    managed.deleter(pointer)
    gc.collect()
    assert device.counters()["buffer_bytes"] == held - 32
    del capsule
    unused = device.buffer(8, "f32")
    unused.__dlpack__()  # a capsule that nobody takes
    del unused
    gc.collect()
    assert device.counters()["buffer_bytes"] == held - 32
    try:
        device.buffer(4, "f32").map()
    except wye.UnsupportedError as error:
        assert str(error).count("Fix: ") == 1, error


def torch(device, saxpy, ordinal):
    import torch as library
    x = library.arange(20, dtype=library.float32, device=f"cuda:{ordinal}").reshape(4, 5)
    r = library.empty_like(x)
    device.run(saxpy, a=2.0, x=x, y=x, r=r)
    assert library.equal(r, 3 * x)
    buffer = device.upload([1.0, 2.0, 3.0], "f32")
    seen = library.from_dlpack(buffer)
    assert seen.is_cuda and seen.tolist() == [1.0, 2.0, 3.0]
    seen += 1
    library.cuda.synchronize()
    assert buffer.download().tolist() == [2.0, 3.0, 4.0]


def cupy(device, saxpy, ordinal):
    import cupy as library
    with library.cuda.Device(ordinal):
        x = library.arange(20, dtype=library.float32).reshape(4, 5)
        r = library.empty_like(x)
        device.run(saxpy, a=2.0, x=x, y=x, r=r)
        assert (r == 3 * x).all()
        buffer = device.upload([1.0, 2.0, 3.0], "f32")
        seen = library.from_dlpack(buffer)
        assert seen.get().tolist() == [1.0, 2.0, 3.0]


def main():
    global cuda
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        device = wye.default_context().device("cuda")
        cuda = ctypes.CDLL("libcuda.so.1")
    except (wye.Error, OSError) as error:
        print(f"there is no CUDA device to try it on: {error}")
        return 3
    saxpy = wye.Program.from_file(sys.argv[1])
    from wye._buffer import native_value
    number = native_value(device._core, "wye_device_native", device._handle, "CUdevice")
    context = P()
    driver("cuInit", 0)
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), number)
    driver("cuCtxSetCurrent", context)
    failed = 0
    for check in (tensors_in, outputs_on_the_host, work_that_is_not_done_yet, what_is_refused, adopted_buffers, buffers_out, torch, cupy):
        name = check.__name__
        if check in (torch, cupy) and importlib.util.find_spec(name) is None:
            print(f"not tried: {name} is not installed")
            continue
        try:
            check(device, saxpy, number)
            print(f"passed: {name}")
        except Exception as error:
            failed += 1
            print(f"FAILED: {name}: {type(error).__name__}: {error}")
    print(f"on {device.selector} {device.name}: {failed} failed")
    return 1 if failed else 0


sys.exit(main())
