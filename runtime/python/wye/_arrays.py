# SPDX-License-Identifier: Apache-2.0
"""Converts host memory and numbers of the caller for the C API. Nothing here copies an array."""
from __future__ import annotations

import operator
import struct
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ._error import invalid

if TYPE_CHECKING:
    from numpy.typing import NDArray

# numpy has no bf16, so its bits are uint16.
DTYPES: dict[str, np.dtype[Any]] = {
    "i8": np.dtype("i1"), "u8": np.dtype("u1"), "i16": np.dtype("i2"), "u16": np.dtype("u2"),
    "i32": np.dtype("i4"), "u32": np.dtype("u4"), "i64": np.dtype("i8"), "u64": np.dtype("u8"),
    "f16": np.dtype("f2"), "bf16": np.dtype("u2"), "f32": np.dtype("f4"), "f64": np.dtype("f8")}
_HOST_DEVICES = (1, 3)  # of DLPack: kDLCPU, kDLCUDAHost


def element(declared: str) -> tuple[np.dtype[Any], int]:
    """The component type and the number of components of a declared type such as "f32x4"."""
    scalar, _, lanes = declared.partition("x")
    return DTYPES[scalar], int(lanes or 1)


def shaped(flat: NDArray[Any], declared: str) -> NDArray[Any]:
    """Bytes as an array of a declared type. Each element of a vector type is one row."""
    dtype, lanes = element(declared)
    values = flat.view(dtype)
    return values if lanes == 1 else values.reshape(-1, lanes)


def host_array(name: str, value: Any, *, write: bool = False) -> NDArray[Any]:
    """The memory of an array, of an object with `__dlpack__`, or of any buffer, as an array.

    Raises an Error with a remedy if the memory would have to be copied, or cannot be written.
    """
    if isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
        array = _from_dlpack(name, value)
    else:
        try:
            array = np.asarray(memoryview(value))
        except (TypeError, ValueError, BufferError) as error:
            raise invalid(
                f"`{name}` is a {type(value).__name__}, which is no memory that can be passed on",
                f"Fix: pass an array, as numpy.asarray({name}, dtype=...), or a wye.Buffer",
                name) from error
    if not array.flags.c_contiguous:
        raise invalid(
            f"`{name}` is not contiguous: shape {array.shape}, strides {array.strides}",
            f"Fix: pass numpy.ascontiguousarray({name}), which copies it" if not write else
            "Fix: pass a contiguous array, and copy it to the other afterwards", name)
    if not array.dtype.isnative:
        raise invalid(
            f"`{name}` has the byte order of another machine: {array.dtype.str}",
            f'Fix: pass {name}.astype({name}.dtype.newbyteorder("=")), which copies it', name)
    if write and not array.flags.writeable:
        raise invalid(f"`{name}` is read-only, but the result is to be written into it",
                      "Fix: pass a writable array", name)
    return array


def _from_dlpack(name: str, value: Any) -> NDArray[Any]:
    device = int(value.__dlpack_device__()[0])
    if device not in _HOST_DEVICES:
        raise invalid(f"`{name}` is in the memory of a device (DLPack device type {device})",
                      "Fix: copy it to host memory first", name)
    try:
        return np.from_dlpack(value)
    except (BufferError, TypeError, ValueError, RuntimeError) as error:
        raise invalid(f"`{name}` cannot be taken through DLPack: {error}",
                      "Fix: pass a numpy array of its values", name) from error


def raw_bytes(value: Any) -> bool:
    """Whether a value consists of untyped bytes, which fit every element type."""
    return (isinstance(value, (bytes, bytearray))
            or isinstance(value, memoryview) and value.format in ("B", "b", "c"))


def check_type(name: str, array: NDArray[Any], declared: str) -> NDArray[Any]:
    """The array as bytes, if its elements are those of a declared type, or their components."""
    dtype, lanes = element(declared)
    own = array.dtype
    if own != dtype and not (own.name == "bfloat16" and declared.startswith("bf16")):
        raise invalid(
            f"`{name}` has elements of type {own}, but the program declares {declared} ({dtype})",
            f"Fix: pass {name}.astype(numpy.{dtype}), which copies it, or declare another type",
            name)
    if array.size % lanes != 0:
        raise invalid(f"`{name}` has {array.size} numbers, which are no whole {declared}",
                      f"Fix: pass {lanes} numbers for each element", name)
    return array.reshape(-1).view(np.uint8)


def param_word(name: str, kind: str, value: Any) -> int:
    """A number as the 64 bits of a parameter."""
    try:
        if kind == "f64":
            return int.from_bytes(struct.pack("<d", value), "little")
        if kind == "f32":
            return int.from_bytes(struct.pack("<f", value), "little")
        number, bits = operator.index(value), int(kind[1:])
    except (struct.error, TypeError, OverflowError) as error:
        raise invalid(f"parameter `{name}` is {value!r}, which is no {kind}",
                      f"Fix: pass a number that {kind} can hold", name) from error
    low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if kind[0] == "i" else (0, 1 << bits)
    if not low <= number < high:
        raise invalid(f"parameter `{name}` is {number}, outside the range of {kind}",
                      f"Fix: pass a number from {low} to {high - 1}", name)
    return number & ((1 << bits) - 1)


def dtype_of(value: Any) -> np.dtype[Any]:
    """The numpy type for the elements of a Buffer."""
    dtype = np.dtype(value)
    if dtype.hasobject or dtype.itemsize == 0 or not dtype.isnative:
        raise invalid(f"a buffer cannot hold elements of type {dtype}",
                      "Fix: use a numeric type in the machine's byte order", "dtype")
    return dtype


if sys.byteorder != "little":
    raise ImportError("Wye runs on little-endian machines")
