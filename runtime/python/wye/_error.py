# SPDX-License-Identifier: Apache-2.0
"""Errors of the C API as exceptions: the class Error, and a subclass for each kind of error."""
from __future__ import annotations

import difflib
import enum
from typing import Any, Iterable


class Code(enum.IntEnum):
    """The kind of failure of an Error: a status code of the C API."""

    INTERNAL = 1
    OUT_OF_MEMORY = 2
    INVALID_ARGUMENT = 3
    INVALID_PROGRAM = 4
    INVALID_TEXT = 5
    INVALID_WIRE = 6
    LIMIT_EXCEEDED = 7
    UNSUPPORTED = 8
    UNIMPLEMENTED = 9
    UNKNOWN_KEY = 10
    NOT_FOUND = 11
    DUPLICATE = 12
    WRONG_OWNER = 13
    STALE_HANDLE = 14
    WRONG_KIND = 15
    BUFFER_IN_USE = 16
    NO_DEVICE = 17
    DEVICE_MEMORY = 18
    DEVICE_LOST = 19
    DEVICE_BUSY = 20
    DRIVER = 21
    COMPILE_FAILED = 22
    TRAPPED = 23
    TIMEOUT = 24
    CANCELLED = 25
    MISSING_DEPENDENCY = 26
    ABI_MISMATCH = 27
    UNSUPPORTED_EXTENSION = 28
    BAD_MANIFEST = 29
    BAD_PLUGIN = 30
    PLUGIN_FAULT = 31
    NOT_TRUSTED = 32
    PROBE_CRASHED = 33
    PROBE_TIMEOUT = 34
    SHUTTING_DOWN = 35
    IO = 36
    NOT_READY = 37
    DISABLED = 38

    @classmethod
    def _missing_(cls, value: object) -> Code | None:
        # A newer library may have codes that this version does not know.
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member

    def __reduce_ex__(self, _: Any) -> Any:
        return Code, (int(self),)  # by its number, since not every code has a name


def printable(text: str) -> str:
    """A text on one line, whose unprintable characters are escaped as the library escapes them."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(c: str) -> str:
    if c in "\n\t\r":
        return repr(c)[1:-1]
    # A surrogate escape stands for one byte of a path that is not UTF-8; all else is a character.
    how = "surrogateescape" if "\udc80" <= c <= "\udcff" else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in c.encode(errors=how))


_MADE_IN_PYTHON = 1 << 9  # the flag of classes that are defined in Python (Py_TPFLAGS_HEAPTYPE)


class Error(Exception):
    """The failure of a call. `str(error)` has the whole text: message, remedy, and causes.

    An error that led to this one is its `__cause__`. Each error is of the subclass for its code, which
    also inherits fitting exceptions of Python: an ArgumentError is a ValueError and a TypeError.
    """

    code: Code
    """The kind of failure."""
    message: str
    """One sentence that names the subject and the offending value."""
    remedy: str
    """What to do about it; begins with "Fix: "."""
    subject: str
    """The path, device, buffer or argument that it concerns; may be empty."""
    native_domain: str
    """The origin of `native_code`, such as "opencl" or "errno"; empty if there is none."""
    native_code: int
    """The error number of the driver or the system; 0 if there is none."""

    def __new__(cls, code: int, *_: Any, **__: Any) -> Error:
        """Error(code, ...) makes an object of the class for the code; a subclass makes one of its own class."""
        chosen = _CLASSES.get(code, Error) if cls is Error else cls
        base: Any = chosen
        while base.__flags__ & _MADE_IN_PYTHON:
            base = base.__base__
        return base.__new__(chosen)

    def __init__(self, code: Code, message: str, remedy: str, subject: str = "", *,
                 native_domain: str = "", native_code: int = 0, text: str = "") -> None:
        super().__init__(code, message, remedy, subject)
        self.args = (code, message, remedy, subject)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.subject = subject
        self.native_domain = native_domain
        self.native_code = native_code
        self._text = text or f"{printable(message)}\n{printable(remedy)}"

    def __str__(self) -> str:
        return self._text

    def _again(self) -> Error:
        """A new error like this one, without a traceback. Not for applications."""
        new = type(self)(self.code, self.message, self.remedy, self.subject, text=self._text,
                         native_domain=self.native_domain, native_code=self.native_code)
        new.__cause__ = self.__cause__
        return new


class ArgumentError(Error, ValueError, TypeError):
    """An argument that is not valid: of another type, outside a range, or of another context."""


class ProgramError(Error, ValueError):
    """A program that cannot be read, is not valid, or does not compile."""


class NotFoundError(Error, KeyError, AttributeError):
    """A name for which nothing is found."""


class UnsupportedError(Error, NotImplementedError):
    """A request that the device, or this version, cannot fulfil."""


class StateError(Error, RuntimeError):
    """An object that was freed, is in use, or has not ended."""


class DeviceError(Error, RuntimeError):
    """A device that is not there, was lost, is busy, or whose driver or program failed."""


class OutOfMemoryError(Error, MemoryError):
    """No memory is left, on the host or on a device."""


class TimedOutError(Error, TimeoutError):
    """A time limit that passed before the end."""


class FileError(Error, OSError):
    """A file that cannot be read."""


class ExchangeError(Error, BufferError):
    """Memory that cannot be passed to another library."""


_CLASSES: dict[int, type[Error]] = {code: kind for kind, codes in (
    (ArgumentError, (Code.INVALID_ARGUMENT, Code.LIMIT_EXCEEDED, Code.DUPLICATE, Code.WRONG_OWNER,
                     Code.WRONG_KIND)),
    (ProgramError, (Code.INVALID_PROGRAM, Code.INVALID_TEXT, Code.INVALID_WIRE, Code.COMPILE_FAILED)),
    (NotFoundError, (Code.UNKNOWN_KEY, Code.NOT_FOUND)),
    (UnsupportedError, (Code.UNSUPPORTED, Code.UNIMPLEMENTED)),
    (StateError, (Code.STALE_HANDLE, Code.BUFFER_IN_USE, Code.SHUTTING_DOWN, Code.NOT_READY)),
    (DeviceError, (Code.NO_DEVICE, Code.DEVICE_LOST, Code.DEVICE_BUSY, Code.DRIVER, Code.TRAPPED)),
    (OutOfMemoryError, (Code.OUT_OF_MEMORY, Code.DEVICE_MEMORY)),
    (TimedOutError, (Code.TIMEOUT,)),
    (FileError, (Code.IO,))) for code in codes}


def invalid(message: str, remedy: str, subject: str = "") -> Error:
    """An INVALID_ARGUMENT that this package finds itself."""
    return Error(Code.INVALID_ARGUMENT, message, remedy, subject)


def nearest(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, or an empty text."""
    by_case = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), by_case, 1)
    return by_case[found[0]] if found else ""
