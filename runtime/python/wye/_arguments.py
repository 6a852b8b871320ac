# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of callers, and converts them for the C API.

Each function raises an INVALID_ARGUMENT that names the argument and its value. Nothing is rounded,
wrapped around or taken for another type: a bool is no number, and a number is no bool.
"""
from __future__ import annotations

import math
import numbers
import operator
import os
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._elements import ARRAYS, BOOLS, COMPLEX
from ._error import Code, Error, invalid
from ._library import Text

if TYPE_CHECKING:
    from ._core import Core

U32, U64 = 2**32 - 1, 2**64 - 1
_LONGEST = 4e9  # seconds: more are no limit in practice, and would not fit into the C API
_CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
          "f16": "e", "bf16": "f", "f32": "f", "f64": "d"}  # format characters of the module struct
_MOST_BF16 = 3.3895313892515355e38
_EXACT = {"f16": 2**11, "bf16": 2**8, "f32": 2**24, "f64": 2**53}  # whole numbers up to these are exact


def shown(value: Any) -> str:
    """A value as messages show it: not longer than a line, and printable, whatever it is."""
    try:
        own = repr(value)
    except Exception:
        own = f"a {type(value).__name__}"
    return own if len(own) <= 80 else own[:77] + "..."


def is_a(value: Any, kinds: Any) -> bool:
    """isinstance() that runs no code of the value: a dead weakref.proxy raises an exception in isinstance()."""
    return issubclass(type(value), kinds)


def wrong(name: str, value: Any, what: str, remedy: str) -> Error:
    """The error for an argument that is not what it should be."""
    return invalid(f"`{name}` is {shown(value)}, {what}", remedy, name)


def text(name: str, value: Any) -> Text:
    """A str."""
    if not is_a(value, str):
        raise wrong(name, value, "which is no str", "Fix: pass a str")
    try:
        return Text(str.encode(value))
    except UnicodeEncodeError:
        raise wrong(name, value, "which is no Unicode text: it has half of a surrogate pair",
                    "Fix: pass text that can be encoded as UTF-8") from None


def path(name: str, value: Any) -> str:
    """A path of a file."""
    try:
        given = os.fspath(value)
        if is_a(given, str) and b"\0" not in os.fsencode(given):
            return given
    except Exception:
        pass
    raise wrong(name, value, "which is no path of a file", "Fix: pass a str or a pathlib.Path")


def choice(name: str, value: Any, known: Sequence[str]) -> int:
    """The index of one of several words."""
    if not is_a(value, str) or value not in known:
        raise wrong(name, value, f"but there is no such {name}", f"Fix: use one of {tuple(known)}")
    return known.index(value)


def flag(name: str, value: Any) -> bool:
    """A bool."""
    if not is_a(value, BOOLS):
        raise wrong(name, value, "which is no bool", "Fix: pass True or False")
    return bool(value)


def _whole(value: Any) -> int | None:
    # The value as an int; None if it is no whole number.
    try:
        return None if is_a(value, BOOLS) else int(operator.index(value))
    except Exception:
        return None


def integer(name: str, value: Any, low: int = 0, high: int = U64) -> int:
    """A whole number of a range."""
    number = _whole(value)
    if number is None or not low <= number <= high:
        raise wrong(name, value, f"which is no whole number from {low} to {high}",
                    f"Fix: pass an int from {low} to {high}")
    return number


def integers(name: str, value: Any, low: int, high: int, least: int, most: int) -> tuple[int, ...]:
    """One whole number of a range, or a sequence of them."""
    values: tuple[Any, ...] | None = None
    if _whole(value) is not None:
        values = (value,)
    elif (is_a(value, (Sequence, *ARRAYS))
          and not is_a(value, (str, bytes, bytearray, memoryview))):
        try:
            values = tuple(value)
        except Exception:
            pass
    found = [number for number in map(_whole, values or ())
             if number is not None and low <= number <= high]
    if values is None or len(found) != len(values) or not least <= len(found) <= most:
        raise wrong(name, value,
                    f"which is no sequence of {least} to {most} whole numbers from {low} to {high}",
                    "Fix: pass an int or a tuple of ints")
    return tuple(found)


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """A dict or another mapping."""
    if not is_a(value, Mapping):
        raise wrong(name, value, "which is no dict", "Fix: pass a dict")
    return value


def members(name: str, value: Any) -> list[Any]:
    """The members of a list, or of anything else that can be iterated over."""
    if not is_a(value, (str, bytes, bytearray, memoryview, Mapping)):
        try:
            return list(value)
        except Exception:
            pass
    raise wrong(name, value, "which is no list", "Fix: pass a list, even of one")


def seconds(name: str, value: Any) -> float | None:
    """A time limit. None stands for no limit."""
    if value is None:
        return None
    limit = float("nan")
    try:
        if is_a(value, numbers.Real) and not is_a(value, BOOLS):
            limit = float(value)
    except Exception:
        pass
    if not limit >= 0:
        raise wrong(name, value, "which is no time in seconds",
                    "Fix: pass a number of at least 0, or None for no limit")
    return min(limit, _LONGEST)


def nanoseconds(limit: float | None) -> int:
    """A time limit as the library takes it: 0 stands for no limit."""
    return 0 if limit is None else max(1, int(limit * 1e9))


def word(what: str, name: str, kind: str, value: Any) -> int:
    """A number as the bits of a type such as "i32". Messages call the number `what`."""
    try:
        if is_a(value, (*BOOLS, *COMPLEX)) or tuple(getattr(value, "shape", ())):
            raise TypeError("no number")
        number = _whole(value)
        if kind not in _EXACT:
            number = operator.index(value)
        else:
            data = struct.pack("<" + _CODES[kind], value)
    except Exception as error:
        raise invalid(f"{what} is {shown(value)}, which is no {kind}",
                      f"Fix: pass a number that {kind} can hold", name) from error
    if kind in _EXACT:
        bits = _rounded(kind, data)
        if kind == "bf16" and _MOST_BF16 < abs(value) < math.inf:
            raise invalid(f"{what} is {shown(value)}, outside the range of {kind}",
                          f"Fix: pass a number from {-_MOST_BF16} to {_MOST_BF16}", name)
        if number is not None and abs(number) > _EXACT[kind] and _number(kind, bits) != number:
            raise invalid(f"{what} is {shown(value)}, which {kind} cannot hold exactly",
                          "Fix: pass float(...) of it to have it rounded, or declare another type", name)
        return int.from_bytes(bits, "little")
    size = int(kind[1:])
    low, high = (-(1 << (size - 1)), 1 << (size - 1)) if kind[0] == "i" else (0, 1 << size)
    if not low <= number < high:
        raise invalid(f"{what} is {shown(value)}, outside the range of {kind}",
                      f"Fix: pass a number from {low} to {high - 1}", name)
    return number & ((1 << size) - 1)


def _rounded(kind: str, data: bytes) -> bytes:
    # Converts numbers of bf16, which are packed as f32, to the upper halves of f32, rounded to the nearest, ties to even.
    if kind != "bf16":
        return data
    out = bytearray()
    for at in range(0, len(data), 4):
        bits = int.from_bytes(data[at:at + 4], "little")
        nan = bits & 0x7fffffff > 0x7f800000
        out += ((bits >> 16 | 0x40 if nan else bits + 0x7fff + (bits >> 16 & 1) >> 16) & 0xffff).to_bytes(2, "little")
    return bytes(out)


def _number(kind: str, bits: bytes) -> float:
    return struct.unpack("<" + _CODES[kind], b"\0\0" * (kind == "bf16") + bits)[0]


def lossless(kind: str, values: Sequence[Any]) -> bytes | None:
    """Converts many numbers to bytes of a type in one step. Returns None if one of them may not fit."""
    kinds = set(map(type, values))
    if not kinds <= ({int, float} if kind in _EXACT else {int}):
        return None
    if int in kinds and kind in _EXACT:
        if max(abs(one) for one in values if type(one) is int) > _EXACT[kind]:
            return None
    if kind == "bf16" and any(abs(one) > _MOST_BF16 for one in values):
        return None
    try:
        return _rounded(kind, struct.pack(f"<{len(values)}{_CODES[kind]}", *values))
    except (struct.error, OverflowError):
        return None


def instance(name: str, value: Any, kind: type) -> Any:
    """An object of a class of this package."""
    if not is_a(value, kind):
        raise wrong(name, value, f"which is no wye.{kind.__name__}",
                    f"Fix: pass a wye.{kind.__name__}")
    return value


def handle(name: str, value: Any, kind: type, core: Core) -> int:
    """The handle of an object of a class, which must belong to the context of a call."""
    instance(name, value, kind)
    if value._core is not core:
        raise Error(Code.WRONG_OWNER, f"`{name}`, {shown(value)}, belongs to another context",
                    "Fix: make programs, devices and buffers with one context", name)
    return int(value._handle)
