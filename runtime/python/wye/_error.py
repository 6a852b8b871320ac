# SPDX-License-Identifier: Apache-2.0
"""Errors of the C API as one exception class."""
from __future__ import annotations

import enum


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


def printable(text: str) -> str:
    """A text on one line. What is not printable is escaped, as the library escapes it."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(c: str) -> str:
    if c in "\n\t\r":
        return repr(c)[1:-1]
    # One byte of a path that is no text, or a character.
    how = "surrogateescape" if "\udc80" <= c <= "\udcff" else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in c.encode(errors=how))


class Error(Exception):
    """The failure of a call. `str(error)` has the whole text: message, remedy, and causes.

    An error that led to this one is its `__cause__`.
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

    def __init__(self, code: Code, message: str, remedy: str, subject: str = "", *,
                 native_domain: str = "", native_code: int = 0, text: str = "") -> None:
        super().__init__(code, message, remedy, subject)
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
        new = Error(self.code, self.message, self.remedy, self.subject, text=self._text,
                    native_domain=self.native_domain, native_code=self.native_code)
        new.__cause__ = self.__cause__
        return new


def invalid(message: str, remedy: str, subject: str = "") -> Error:
    """An INVALID_ARGUMENT that this package finds itself."""
    return Error(Code.INVALID_ARGUMENT, message, remedy, subject)
