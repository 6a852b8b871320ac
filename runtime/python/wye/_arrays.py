# SPDX-License-Identifier: Apache-2.0
"""Host memory of the caller for the C API. Arrays are never copied; lists and numbers are converted."""
from __future__ import annotations

import math
import sys
from typing import Any

from . import _dlpack
from ._arguments import flag, integers, is_a, lossless, word, wrong
from ._elements import (ARRAYS, DTYPES, SCALARS, UINT8, Array, DType, Pinned, bytes_of, element,
                        named, new_bytes, numpy, same, typed)
from ._error import Error, invalid


class Host:
    """Memory of the host: the array that shows it, and where it is while this object lives."""

    __slots__ = ("_pin", "address", "array", "dtype", "nbytes", "raw", "shape")

    def __init__(self, array: Array, dtype: DType, raw: bool = False) -> None:
        self.array, self.dtype, self.raw = array, dtype, raw
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.nbytes: int = array.nbytes
        self._pin = Pinned(array)
        self.address: int = self._pin.address

    @property
    def bytes(self) -> tuple[int, int]:
        """Address and size, as the C API has them."""
        return self.address, self.nbytes


def is_list(value: Any) -> bool:
    """Whether a value is a list of numbers or a single one, which have to be converted."""
    return is_a(value, (list, tuple, *SCALARS)) and not is_a(value, bool)


def _dtype_of_view(view: memoryview) -> DType:
    # Used without numpy; numpy knows more types than these.
    kind = view.format.lstrip("@=<" if view.itemsize > 1 else "@=<>!")
    for dtype in DTYPES.values():
        signed = {"i": "bhilqn", "u": "BHILQNc", "f": "efd"}[dtype.kind]
        if kind in tuple(signed) and dtype.itemsize == view.itemsize:
            return dtype
    raise ValueError(f"elements of type {view.format!r}")


def host_array(name: str, value: Any, *, write: bool = False) -> Host:
    """The memory of an array, of an object with `__dlpack__`, or of any buffer.

    Raises an Error with a remedy if the memory would have to be copied, or cannot be written.
    """
    if is_a(value, ARRAYS):
        array = value
    else:
        try:
            packed = not is_a(value, SCALARS) and hasattr(value, "__dlpack__")
            array = _dlpack.host_array(name, value) if packed else memoryview(value)
            if numpy is not None:
                array = numpy.asarray(array)
        except Error:
            raise
        except Exception as error:
            raise invalid(
                f"`{name}` is a {type(value).__name__}, which is no memory that can be passed on",
                f"Fix: pass an array, as numpy.asarray({name}, dtype=...), or a wye.Buffer",
                name) from error
    try:
        dtype = array.dtype if numpy is not None else _dtype_of_view(array)
    except ValueError as error:
        raise invalid(f"`{name}` has {error}, which no program has", "Fix: pass numbers of the "
                      "machine's byte order", name) from None
    if dtype.hasobject or dtype.itemsize == 0:
        raise invalid(f"`{name}` has elements of type {dtype}, which are no bytes",
                      "Fix: pass an array of a numeric type", name)
    if not (array.flags.c_contiguous if numpy is not None else array.c_contiguous):
        raise invalid(
            f"`{name}` is not contiguous: shape {array.shape}, strides {array.strides}",
            f"Fix: pass numpy.ascontiguousarray({name}), which copies it" if not write else
            "Fix: pass a contiguous array, and copy it to the other afterwards", name)
    if not dtype.isnative:
        raise invalid(
            f"`{name}` has the byte order of another machine: {dtype.str}",
            f'Fix: pass {name}.astype({name}.dtype.newbyteorder("=")), which copies it', name)
    if write and not (array.flags.writeable if numpy is not None else not array.readonly):
        raise invalid(f"`{name}` is read-only, but the result is to be written into it",
                      "Fix: pass a writable array", name)
    return Host(array, dtype, _is_raw(value))


def _is_raw(value: Any) -> bool:
    # Untyped bytes fit every element type.
    return (is_a(value, (bytes, bytearray))
            or is_a(value, memoryview) and value.format in ("B", "b", "c"))


def typed_memory(name: str, value: Any, declared: str, *, write: bool = False) -> Host:
    """The memory of an array of a declared type, or of the numbers of a list converted to it."""
    if is_list(value) and not write:
        return converted(name, value, declared)
    host = host_array(name, value, write=write)
    dtype, lanes = element(declared)
    own = host.dtype
    if host.raw:
        return host
    if not same(own, dtype) and not (own.name == "bfloat16" and declared.startswith("bf16")):
        raise invalid(
            f"`{name}` has elements of type {own}, but the program declares {declared} ({dtype})",
            f"Fix: pass {name}.astype(numpy.{dtype}), which copies it, or declare another type",
            name)
    if host.nbytes // dtype.itemsize % lanes != 0:
        raise invalid(f"`{name}` has {host.nbytes // dtype.itemsize} numbers, which are no whole "
                      f"{declared}", f"Fix: pass {lanes} numbers for each element", name)
    return host


def _leaves(name: str, value: Any) -> tuple[tuple[int, ...], list[Any]]:
    # The shape of nested lists, and their numbers in order.
    shape: list[int] = []
    level = [value]
    while level and is_a(level[0], (list, tuple)) and len(shape) < 32:
        length = len(level[0])
        if any(not is_a(one, (list, tuple)) or len(one) != length for one in level):
            raise invalid(f"`{name}` has lists of several lengths at depth {len(shape)}",
                          "Fix: pass lists of one length, or one array", name)
        shape.append(length)
        level = [one for part in level for one in part]
    return tuple(shape), level


def converted(name: str, value: Any, declared: str) -> Host:
    """A number, or nested lists of numbers, as an array of a declared type. Nothing may be lost:
    whole numbers stay exact, and a fraction is rounded only to the floating-point type it goes to."""
    scalar, dtype = declared.partition("x")[0], element(declared)[0]
    shape, leaves = _leaves(name, value)
    data = lossless(scalar, leaves)
    if data is None:  # one of them does not fit, and is named
        size, parts = dtype.itemsize, []
        for at, one in enumerate(leaves):
            where = f"[{at}]" if len(shape) == 1 else f"[{_place(at, shape)}]" if shape else ""
            parts.append(word(f"`{name}{where}`", name, scalar, one).to_bytes(size, "little"))
        data = b"".join(parts)
    octets = new_bytes(len(data))
    octets[:] = numpy.frombuffer(data, numpy.uint8) if numpy is not None else data
    lanes = element(declared)[1]
    if len(leaves) % lanes != 0:
        raise invalid(f"`{name}` has {len(leaves)} numbers, which are no whole {declared}",
                      f"Fix: pass {lanes} numbers for each element", name)
    return Host(typed(octets, dtype, shape), dtype)


def _place(at: int, shape: tuple[int, ...]) -> str:
    places = []
    for length in reversed(shape):
        at, place = divmod(at, length)
        places.append(str(place))
    return ", ".join(reversed(places))


def filled(name: str, value: Any, declared: str, nbytes: int) -> Host:
    """One number, repeated to fill a buffer of `nbytes`."""
    one = bytes_of(converted(name, value, declared).array)
    octets = new_bytes(nbytes)
    octets[:] = numpy.tile(one, nbytes // one.nbytes) if numpy is not None else bytes(one) * (
        nbytes // one.nbytes)
    return Host(octets, UINT8)


def element_shape(shape: tuple[int, ...], dtype: DType, declared: str) -> tuple[int, ...] | None:
    """The shape of an array in elements of a declared type; None if the array has another type."""
    own, lanes = element(declared)
    if dtype.itemsize != own.itemsize:
        return None
    if lanes == 1:
        return shape
    return shape[:-1] if len(shape) > 1 and shape[-1] == lanes else None


def shaped(octets: Array, declared: str, shape: tuple[int, ...] | None = None) -> Array:
    """Bytes as an array of a declared type, in `shape` if the number of elements matches, else in one
    dimension. Each element of a vector type is one row."""
    dtype, lanes = element(declared)
    count = octets.nbytes // (dtype.itemsize * lanes)
    if shape is None or math.prod(shape) != count:
        shape = (count,)
    return typed(octets, dtype, shape if lanes == 1 else (*shape, lanes))


def empty(shape: Any, dtype: DType) -> Array:
    """A new array."""
    return typed(new_bytes(math.prod(shape) * dtype.itemsize), dtype, shape)


def dtype_of(name: str, value: Any) -> DType:
    """The type for the elements of a Buffer."""
    try:
        dtype = None if value is None else named(value)
    except Exception:
        dtype = None
    if is_a(value, str) and value in ("i8", "u8"):
        raise wrong(name, value, "which is 8 bits in a program and 8 bytes in numpy",
                    f'Fix: write "{DTYPES[value]}" or "{DTYPES[value[0] + "64"]}"')
    if (dtype is None or dtype.hasobject or dtype.itemsize == 0 or not dtype.isnative
            or dtype.subdtype is not None):
        raise wrong(name, value, "which is no type for elements of a buffer",
                    'Fix: use a numeric type in the machine\'s byte order, as "f32" or numpy.float32')
    return dtype


def shape_of(value: Any, dtype: DType) -> tuple[int, ...]:
    """The shape of a Buffer, checked against the limits of numpy arrays."""
    shape = integers("shape", value, 0, 2**63 - 1, 0, 32)
    if math.prod(max(one, 1) for one in shape) * dtype.itemsize >= 2**63:
        raise wrong("shape", value, f"which is too large for elements of type {dtype}",
                    "Fix: use smaller lengths")
    return shape


def kind_of(dtype: DType) -> str | None:
    """The language's name of an array's element type, such as "f32"; None if it has none."""
    if dtype.name == "bfloat16":
        return "bf16"
    kind = f"{dtype.kind}{8 * dtype.itemsize}"
    return kind if kind in DTYPES else None


def pattern(value: Any, dtype: DType) -> int:
    """A number as the bits of an element of a Buffer."""
    if dtype.kind == "b":
        return int(flag("value", value))
    kind = kind_of(dtype)
    if kind is None:
        raise invalid(f"a buffer of {dtype} cannot be filled",
                      "Fix: use numbers of 1, 2, 4 or 8 bytes as elements", "dtype")
    return word("`value`", "value", kind, value)


if sys.byteorder != "little":
    raise ImportError("Wye runs on little-endian machines")
