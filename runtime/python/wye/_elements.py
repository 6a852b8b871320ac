# SPDX-License-Identifier: Apache-2.0
"""Element types and arrays: those of numpy where it is installed, else the plain ones of Python.

Without numpy an array is a memoryview, and its element type a Plain.
"""
from __future__ import annotations

import ctypes
import functools
import math
from typing import Any, NamedTuple, Sequence

from ._error import Code, Error

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

Array = Any  # numpy.ndarray, or memoryview
DType = Any  # numpy.dtype, or Plain


class Plain(NamedTuple):
    """An element type where numpy is not installed. memoryview has no halves: they are uint16 there."""

    name: str
    kind: str
    itemsize: int
    char: str
    hasobject = False
    isnative = True
    subdtype = None

    def __str__(self) -> str:
        return self.name


# For each element type of programs its name in numpy and, for use without numpy, its format in
# memoryview. Neither has bf16, so its bits are uint16.
_TYPES = {
    "i8": ("int8", "b"), "u8": ("uint8", "B"), "i16": ("int16", "h"), "u16": ("uint16", "H"),
    "i32": ("int32", "i"), "u32": ("uint32", "I"), "i64": ("int64", "q"), "u64": ("uint64", "Q"),
    "f16": ("float16", "H"), "bf16": ("uint16", "H"), "f32": ("float32", "f"), "f64": ("float64", "d")}


def _type(name: str, char: str) -> DType:
    if numpy is not None:
        return numpy.dtype(name)
    return Plain(name, name[0], int(name.lstrip("uintfloa")) // 8, char)


DTYPES: dict[str, DType] = {declared: _type(*one) for declared, one in _TYPES.items()}
UINT8 = DTYPES["u8"]
_AMBIGUOUS = ("i8", "u8")  # 8 bits in a program, 8 bytes in numpy
_PLAIN = {"bool": Plain("bool", "b", 1, "?"), **{str(one): one for one in DTYPES.values()}}

BOOLS: tuple[type, ...] = (bool,)
SCALARS: tuple[type, ...] = (int, float)  # the types of single numbers
COMPLEX: tuple[type, ...] = (complex,)
ARRAYS: tuple[type, ...] = ()
if numpy is not None:
    BOOLS, SCALARS, COMPLEX = (bool, numpy.bool_), (int, float, numpy.generic), (complex, numpy.complexfloating)
    ARRAYS = (numpy.ndarray,)


def named(value: Any) -> DType | None:
    """The element type that a name, or a type of numpy, stands for; None if there is none."""
    if isinstance(value, str):
        if value in _AMBIGUOUS:
            return None
        if value in DTYPES:
            return DTYPES[value]
    if numpy is not None:
        return numpy.dtype(value)
    return value if isinstance(value, Plain) else _PLAIN.get(value)


@functools.lru_cache(maxsize=None)
def element(declared: str) -> tuple[DType, int]:
    """The component type and the number of components of a declared type such as "f32x4"."""
    scalar, _, lanes = declared.partition("x")
    return DTYPES[scalar], int(lanes or 1)


def same(own: DType, wanted: DType) -> bool:
    """Whether elements of one type are those of another. Without numpy, halves and uint16 look alike."""
    return own == wanted or numpy is None and own.char == wanted.char


class _Memory:
    # Tells numpy the address of memory for an array over it. The array keeps this object, and so
    # the owner, alive.
    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any, address: int, nbytes: int) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (nbytes,),
                                    "data": (address, False)}


def at_address(owner: Any, address: int, nbytes: int) -> Array:
    """A writable array of bytes at an address, which keeps the memory's owner alive."""
    if not nbytes:  # an empty part of _NOTHING, since `address` may be 0
        return at_address(owner, ctypes.addressof(_NOTHING), 1)[:0]
    if numpy is not None:
        return numpy.asarray(_Memory(owner, address, nbytes))
    memory = (ctypes.c_ubyte * nbytes).from_address(address)
    memory.owner = owner  # type: ignore[attr-defined]
    return memoryview(memory).cast("B")


_NOTHING = ctypes.c_ubyte()


def new_bytes(nbytes: int) -> Array:
    """A new array of bytes."""
    try:
        return memoryview(bytearray(nbytes)) if numpy is None else numpy.empty(nbytes, numpy.uint8)
    except (MemoryError, OverflowError, ValueError) as error:  # the last two for impossible sizes
        raise Error(Code.OUT_OF_MEMORY, f"there is no memory for an array of {nbytes} bytes: {error}",
                    "Fix: free memory, or ask for less at once") from error


def typed(octets: Array, dtype: DType, shape: Sequence[int]) -> Array:
    """An array of bytes, seen as an array of another type and shape."""
    if numpy is not None:
        return octets.view(dtype).reshape(shape)
    if not math.prod(shape):
        return octets.cast(dtype.char)  # a memoryview refuses a shape with a 0
    return octets.cast(dtype.char, shape)


def bytes_of(array: Array) -> Array:
    """The bytes of a contiguous array."""
    if numpy is not None and isinstance(array, numpy.ndarray):
        return array.reshape(-1).view(numpy.uint8)
    return array.cast("B") if array.nbytes else memoryview(b"")


class _View(ctypes.Structure):
    # Py_buffer
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_void_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


class Pinned:
    """Keeps the memory of a contiguous array where it is, at `address`."""

    __slots__ = ("_view", "address")

    def __init__(self, array: Array) -> None:
        self._view: Any = None
        if numpy is not None and isinstance(array, numpy.ndarray):
            self._view, self.address = array, array.__array_interface__["data"][0]
            return
        view = _View()
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(view), 0)
        self._view, self.address = view, view.buf or 0

    def __del__(self, release: Any = ctypes.pythonapi.PyBuffer_Release, kind: type = _View) -> None:
        if type(self._view) is kind:
            release(ctypes.byref(self._view))
