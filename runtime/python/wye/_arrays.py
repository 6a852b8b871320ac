# SPDX-License-Identifier: Apache-2.0
"""Converts host memory of the caller for the C API. Nothing here copies an array."""
from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arguments import flag, integers, is_a, word, wrong
from ._error import Code, Error, invalid

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
    if is_a(value, np.ndarray):
        array = value
    else:
        try:
            packed = not is_a(value, np.generic) and hasattr(value, "__dlpack__")
            array = _from_dlpack(name, value) if packed else np.asarray(memoryview(value))
        except Error:
            raise
        except Exception as error:
            raise invalid(
                f"`{name}` is a {type(value).__name__}, which is no memory that can be passed on",
                f"Fix: pass an array, as numpy.asarray({name}, dtype=...), or a wye.Buffer",
                name) from error
    if array.dtype.hasobject or array.dtype.itemsize == 0:
        raise invalid(f"`{name}` has elements of type {array.dtype}, which are no bytes",
                      "Fix: pass an array of a numeric type", name)
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
    try:
        device = int(value.__dlpack_device__()[0])
        if device in _HOST_DEVICES:
            return np.from_dlpack(value)
    except Exception as error:
        raise invalid(f"`{name}` cannot be taken through DLPack: {error}",
                      "Fix: pass a numpy array of its values", name) from error
    raise invalid(f"`{name}` is in the memory of a device (DLPack device type {device})",
                  "Fix: copy it to host memory first", name)


def octets(array: NDArray[Any]) -> NDArray[Any]:
    """The bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8)


def empty(shape: Any, dtype: Any) -> NDArray[Any]:
    """A new array."""
    try:
        return np.empty(shape, dtype)
    except MemoryError as error:
        raise Error(Code.OUT_OF_MEMORY, f"there is no memory for an array: {error}",
                    "Fix: free memory, or ask for less at once") from error


def raw_bytes(value: Any) -> bool:
    """Whether a value consists of untyped bytes, which fit every element type."""
    return (is_a(value, (bytes, bytearray))
            or is_a(value, memoryview) and value.format in ("B", "b", "c"))


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
    return octets(array)


def dtype_of(name: str, value: Any) -> np.dtype[Any]:
    """The numpy type for the elements of a Buffer."""
    try:
        dtype = None if value is None else np.dtype(value)
    except Exception:
        dtype = None
    if (dtype is None or dtype.hasobject or dtype.itemsize == 0 or not dtype.isnative
            or dtype.subdtype is not None):
        raise wrong(name, value, "which is no type for elements of a buffer",
                    "Fix: use a numeric type in the machine's byte order")
    return dtype


def shape_of(value: Any, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """The shape of a Buffer, which a numpy array can have."""
    shape = integers("shape", value, 0, 2**63 - 1, 0, 32)
    if math.prod(max(one, 1) for one in shape) * dtype.itemsize >= 2**63:
        raise wrong("shape", value, f"which is too much for elements of type {dtype}",
                    "Fix: use smaller lengths")
    return shape


def pattern(value: Any, dtype: np.dtype[Any]) -> int:
    """A number as the bits of an element of a Buffer."""
    if dtype.kind == "b":
        return int(flag("value", value))
    if dtype.name == "bfloat16":
        nearest = np.array(word("`value`", "value", "f32", value), np.uint32).view(np.float32)
        return int.from_bytes(nearest.astype(dtype).tobytes(), "little")
    if dtype.kind in "iuf" and dtype.itemsize in (1, 2, 4, 8):
        return word("`value`", "value", f"{dtype.kind}{8 * dtype.itemsize}", value)
    raise invalid(f"a buffer of {dtype} cannot be filled",
                  "Fix: use numbers of 1, 2, 4 or 8 bytes as elements", "dtype")


if sys.byteorder != "little":
    raise ImportError("Wye runs on little-endian machines")
