# SPDX-License-Identifier: Apache-2.0
"""Finds and opens libwye.so, and calls it."""
from __future__ import annotations

import functools
import pathlib
import sysconfig
from typing import Any, Iterator

import cffi

from ._error import Code, Error

__version__ = "0.1.0"

SONAME = "libwye.so.0"
HERE = pathlib.Path(__file__).resolve().parent

ffi = cffi.FFI()
for _name in ("_types.h", "_functions.h"):
    ffi.cdef((HERE / _name).read_text(encoding="utf-8"))

NO_LIMIT = 2**64 - 1


def beside(package: pathlib.Path) -> Iterator[pathlib.Path]:
    """Where the library is if package and library were installed under one prefix.

    The package is in PREFIX/lib/pythonX.Y/site-packages or a folder like it, the library in
    PREFIX/lib, PREFIX/lib64 or PREFIX/lib/TRIPLET.
    """
    triplet = sysconfig.get_config_var("MULTIARCH")
    for folder in package.parents:
        if folder.name not in ("lib", "lib64"):
            continue
        if triplet:
            yield folder.parent / "lib" / triplet / SONAME
        for sibling in ("lib64", "lib"):
            yield folder.parent / sibling / SONAME


def open_library(package: pathlib.Path = HERE) -> Any:
    """Opens the library of the package's own prefix, else the one that the loader finds."""
    tried = []
    for path in beside(package):
        if path.exists():
            return check_version(_dlopen(str(path), []), str(path))
        tried.append(str(path))
    return check_version(_dlopen(SONAME, tried), SONAME)


def _dlopen(name: str, tried: list[str]) -> Any:
    try:
        return ffi.dlopen(name)
    except OSError as error:
        looked = f"; there is none at {', '.join(tried)}" if tried else ""
        raise Error(
            Code.MISSING_DEPENDENCY, f"{SONAME} cannot be opened: {error}{looked}",
            "Fix: install Wye under the prefix of this package, or where the dynamic loader looks: "
            "run ldconfig after the install, or put the folder into LD_LIBRARY_PATH",
            name) from None


def check_version(lib: Any, name: str) -> Any:
    """Refuses a library of another major and minor version, whose structures may differ."""
    found = ffi.string(lib.wye_version()).decode()
    if found.split(".")[:2] != __version__.split(".")[:2]:
        raise Error(
            Code.ABI_MISMATCH, f"{name} is Wye {found}, but this package is for {__version__}",
            "Fix: install the package and the library of one version", name)
    return lib


def _in_subinterpreter() -> bool:
    import ctypes  # whose calls keep the interpreter's lock
    try:
        own = ctypes.pythonapi.PyInterpreterState_Get
        main = ctypes.pythonapi.PyInterpreterState_Main
    except AttributeError:
        return False  # this Python has none
    own.restype = main.restype = ctypes.c_void_p
    return bool(own() != main())


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """The library, opened by the first call."""
    if _in_subinterpreter():
        # The threads of the library call Python, and would not find the right interpreter.
        raise Error(Code.UNSUPPORTED, "wye is used in a subinterpreter",
                    "Fix: use it in the main interpreter, or in another process", "interpreter")
    return open_library()


class Text:
    """A string for the C API. Its `value` is a wye_string that is valid while this object lives."""

    __slots__ = ("_bytes", "_data", "_struct", "value")

    def __init__(self, text: str | bytes) -> None:
        self._bytes = text.encode() if isinstance(text, str) else text
        self._data = ffi.from_buffer(self._bytes)
        self._struct = ffi.new("wye_string*", (self._data, len(self._bytes)))
        self.value = self._struct[0]


def text_of(value: Any) -> str:
    """A wye_string as str."""
    if value.size == 0:
        return ""
    return ffi.buffer(value.data, value.size)[:].decode(errors="replace")


def new(kind: str) -> Any:
    """A zeroed structure with its size set."""
    made = ffi.new(kind + "*")
    made.header.size = ffi.sizeof(kind)
    return made


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of the C API whose last parameter is the error sink; raises its error."""
    sink = ffi.new("wye_error**")
    status = function(*arguments, sink)
    if status != 0:
        raise take_error(status, sink[0])


def take_error(status: int, raw: Any) -> Error:
    """The exception for an error of the C API, which this frees."""
    lib = library()
    if raw == ffi.NULL:
        return Error(Code(status), ffi.string(lib.wye_status_text(status)).decode(),
                     "Fix: free memory and try again")
    try:
        chain = []
        one = raw
        while one != ffi.NULL:
            chain.append(Error(
                Code(lib.wye_error_status(one)), text_of(lib.wye_error_message(one)),
                text_of(lib.wye_error_fix(one)), text_of(lib.wye_error_subject(one)),
                native_domain=text_of(lib.wye_error_native_domain(one)),
                native_code=lib.wye_error_native_code(one), text=text_of(lib.wye_error_text(one))))
            one = lib.wye_error_cause(one)
    finally:
        lib.wye_error_free(raw)
    for effect, cause in zip(chain, chain[1:]):
        effect.__cause__ = cause
    return chain[0]


def take_blob(function: Any, *arguments: Any) -> bytes:
    """The bytes of the blob that a function of the C API returns."""
    lib = library()
    out = ffi.new("wye_blob**")
    call(function, *arguments, out)
    try:
        value = lib.wye_blob_bytes(out[0])
        return bytes(ffi.buffer(value.data, value.size)) if value.size else b""
    finally:
        lib.wye_blob_free(out[0])
