# SPDX-License-Identifier: Apache-2.0
"""DLPack, by which libraries pass arrays to each other without a copy."""
from __future__ import annotations

import ctypes
import math
from typing import Any

from ._elements import ARRAYS, DTYPES, Array, DType, at_address, numpy, typed
from ._error import Error, invalid

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # DLPack's device types
_KINDS = {"i": 0, "u": 1, "f": 2, "bfloat": 4, "c": 5, "b": 6}  # DLPack's codes for kinds of numbers
LEGACY_STREAM = 1


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # any thread may call it
_NAME, _USED = b"dltensor", b"used_dltensor"  # the name of a capsule before and after its tensor was taken
_api = ctypes.pythonapi
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", _api))
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", _api))
# For a capsule that is being destroyed: these take its address, since it must get no new reference.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api))
_get_dying = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api))


class Taken:
    """A tensor of another library, kept alive as long as this object."""

    def __init__(self, value: Any, **options: Any) -> None:
        capsule = value.__dlpack__(**options)
        self._pointer = _get_pointer(capsule, _NAME)
        self._managed = _Managed.from_address(self._pointer)
        _set_name(capsule, _USED)
        tensor = self._managed.tensor
        self.shape: tuple[int, ...] = tuple(tensor.shape[0:tensor.ndim]) if tensor.ndim else ()
        self.strides = tuple(tensor.strides[0:tensor.ndim]) if tensor.ndim and tensor.strides else None
        self.address: int = (tensor.data or 0) + tensor.byte_offset
        self.dtype = _dtype_of(tensor.code, tensor.bits, tensor.lanes)
        self.nbytes: int = math.prod(self.shape) * (tensor.bits * tensor.lanes // 8)

    def __del__(self) -> None:
        managed = getattr(self, "_managed", None)
        if managed is not None and managed.deleter:
            _Deleter(managed.deleter)(self._pointer)

    def contiguous(self) -> bool:
        """Whether its elements are one after another."""
        step = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides or ())):
            if length != 1 and stride != step:
                return 0 in self.shape
            step *= length
        return True


def _dtype_of(code: int, bits: int, lanes: int) -> DType | None:
    kinds = {number: kind for kind, number in _KINDS.items()}
    kind = {"bfloat": "bf"}.get(kinds.get(code, ""), kinds.get(code, ""))
    return DTYPES.get(f"{kind}{bits}") if lanes == 1 else None


def device_of(name: str, value: Any) -> tuple[int, int] | None:
    """The DLPack device of an object of another library; None if it has none."""
    if type(value) in ARRAYS or not hasattr(type(value), "__dlpack_device__"):
        return None
    try:
        kind, number = value.__dlpack_device__()
        return int(kind), int(number)
    except Exception as error:
        raise _refused(name, error) from error


def on_cuda(name: str, value: Any) -> bool:
    """Whether it is an object of another library in the memory of a CUDA device."""
    where = device_of(name, value)
    return where is not None and where[0] in (CUDA, CUDA_MANAGED)


def _refused(name: str, error: Exception) -> Error:
    return invalid(f"`{name}` cannot be taken through DLPack: {error}",
                   "Fix: pass an array of its values in host memory", name)


def host_array(name: str, value: Any) -> Array:
    """The array of an object with `__dlpack__` in host memory."""
    try:
        device = int(value.__dlpack_device__()[0])
        if device in (CPU, CUDA_HOST):
            return numpy.from_dlpack(value) if numpy is not None else _plain(name, Taken(value))
    except Error:
        raise
    except Exception as error:
        raise _refused(name, error) from error
    raise invalid(f"`{name}` is in the memory of a device (DLPack device type {device})",
                  "Fix: copy it to host memory first" if device not in (CUDA, CUDA_MANAGED) else
                  "Fix: pass it to a CUDA device of Wye, which uses it in place, or copy it to host "
                  "memory first", name)


def _plain(name: str, tensor: Taken) -> Array:
    if tensor.dtype is None or not tensor.contiguous():
        raise invalid(f"`{name}` is not contiguous, or has elements of a type that no program has",
                      "Fix: pass a contiguous tensor", name)
    return typed(at_address(tensor, tensor.address, tensor.nbytes), tensor.dtype, tensor.shape)


def take_cuda(name: str, value: Any) -> Taken:
    """A tensor in the memory of a CUDA device, after the work that was given to the device for it.
    The caller still has to wait for the default stream."""
    try:
        tensor = Taken(value, stream=LEGACY_STREAM)
    except Exception as error:
        raise _refused(name, error) from error
    if not tensor.contiguous():
        raise invalid(f"`{name}` is not contiguous: shape {tensor.shape}, strides {tensor.strides}",
                      "Fix: pass a contiguous copy of the tensor", name)
    return tensor


def wait_for_default_stream(context: int) -> None:
    """Waits until the default stream of a CUcontext has ended its work."""
    driver = ctypes.CDLL("libcuda.so.1")
    old = ctypes.c_void_p()
    status = driver.cuCtxPushCurrent_v2(ctypes.c_void_p(context))
    if status == 0:
        status = driver.cuStreamSynchronize(ctypes.c_void_p(LEGACY_STREAM))
        driver.cuCtxPopCurrent_v2(ctypes.byref(old))
    if status != 0:
        raise invalid(f"the CUDA driver cannot wait for the default stream: error {status}",
                      "Fix: see whether earlier CUDA work of this process failed")


# Tensors that were given away: the structures, and the owner of the memory.
_given: dict[int, tuple[Any, ...]] = {}


# _forget and _capsule_ends may run when the module is gone, so default arguments hold its globals.
def _forget(pointer: int, given: dict[int, tuple[Any, ...]] = _given) -> None:
    given.pop(pointer, None)


_DELETER = _Deleter(_forget)


def _capsule_ends(capsule: int, valid: Any = _is_valid, pointer: Any = _get_dying,
                  forget: Any = _forget, name: bytes = _NAME) -> None:
    if valid(capsule, name):  # nobody took the tensor
        forget(pointer(capsule, name))


_CAPSULE_ENDS = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_capsule_ends)
# These are never freed: a tensor may outlive the interpreter, and calls them when it is destroyed.
for _callback in (_DELETER, _CAPSULE_ENDS):
    _api.Py_IncRef(ctypes.py_object(_callback))


def give(owner: Any, address: int, device: tuple[int, int], shape: tuple[int, ...], dtype: DType) -> Any:
    """A capsule with memory of `owner`, which is kept alive as long as the capsule or its tensor is."""
    bits = 8 * dtype.itemsize
    code = _KINDS.get("bfloat" if dtype.name == "bfloat16" else dtype.kind)
    if code is None:
        raise invalid(f"DLPack has no elements of type {dtype}",
                      "Fix: use a buffer of numbers, as of uint8 for bytes", "dtype")
    lengths = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    managed = _Managed(_Tensor(address, *device, len(shape), code, bits, 1, lengths, None, 0), None,
                       ctypes.cast(_DELETER, ctypes.c_void_p))
    pointer = ctypes.addressof(managed)
    _given[pointer] = (managed, lengths, owner)
    return _new_capsule(pointer, _NAME, ctypes.cast(_CAPSULE_ENDS, ctypes.c_void_p))
