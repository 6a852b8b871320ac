# SPDX-License-Identifier: Apache-2.0
"""Finds and opens libwye.so, and calls it."""
from __future__ import annotations

import ctypes
import functools
import pathlib
import sysconfig
from typing import Any, Iterator

from ._c import HERE, TYPES, Library, address_of, cell, copied
from ._error import Code, Error

__version__ = "0.1.0"

SONAME = "libwye.so.0"
NO_LIMIT = 2**64 - 1


def beside(package: pathlib.Path) -> Iterator[pathlib.Path]:
    """The paths where the library may be, if a wheel or a prefix has both the library and the package.

    In a wheel the library is in the folder `lib` of the package. Under a prefix the package is in
    PREFIX/lib/pythonX.Y/site-packages or a similar folder, and the library in PREFIX/lib, PREFIX/lib64
    or PREFIX/lib/TRIPLET.
    """
    yield package / "lib" / SONAME
    triplet = sysconfig.get_config_var("MULTIARCH")
    for folder in package.parents:
        if folder.name not in ("lib", "lib64"):
            continue
        if triplet:
            yield folder.parent / "lib" / triplet / SONAME
        for sibling in ("lib64", "lib"):
            yield folder.parent / sibling / SONAME


def open_library(package: pathlib.Path = HERE) -> Any:
    """Opens the library of the package, else of its prefix, else the one that the loader finds."""
    tried = []
    for path in beside(package):
        if path.exists():
            return check_version(_dlopen(str(path), []), str(path))
        tried.append(str(path))
    return check_version(_dlopen(SONAME, tried), SONAME)


def _dlopen(name: str, tried: list[str]) -> Any:
    try:
        return Library(name)
    except OSError as error:
        looked = f"; there is none at {', '.join(tried)}" if tried else ""
        raise Error(
            Code.MISSING_DEPENDENCY, f"{SONAME} cannot be opened: {error}{looked}",
            "Fix: install the wheel that carries the library; or Wye under the prefix of this package, or "
            "where the dynamic loader looks: run ldconfig after the install, or put the folder into "
            "LD_LIBRARY_PATH",
            name) from None


def check_version(lib: Any, name: str) -> Any:
    """Refuses a library of another major and minor version, whose structures may differ."""
    found = lib.wye_version().decode()
    if found.split(".")[:2] != __version__.split(".")[:2]:
        raise Error(
            Code.ABI_MISMATCH, f"{name} is Wye {found}, but this package is for {__version__}",
            "Fix: install the package and the library of one version", name)
    return lib


def _in_subinterpreter() -> bool:
    # Calls through pythonapi keep the interpreter's lock.
    try:
        own = ctypes.pythonapi.PyInterpreterState_Get
        main = ctypes.pythonapi.PyInterpreterState_Main
    except AttributeError:
        return False  # this Python has no such functions
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
    """A string for the C API, as the wye_string `value`. A structure that contains a copy of `value` is
    valid while this object lives."""

    __slots__ = ("_bytes", "value")

    def __init__(self, text: str | bytes) -> None:
        self._bytes = text.encode() if isinstance(text, str) else text
        self.value = TYPES["wye_string"](address_of(self._bytes), len(self._bytes))
        self.value.keep = self._bytes


def text_of(value: Any) -> str:
    """A wye_string as str."""
    return copied(value.data, value.size).decode(errors="replace")


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of the C API whose last parameter is the error sink; raises its error."""
    sink = cell("address")
    status = function(*arguments, sink)
    if status != 0:
        raise take_error(status, sink[0])


def take_error(status: int, raw: int | None) -> Error:
    """The exception for an error of the C API, which this frees."""
    lib = library()
    if raw is None:
        return Error(Code(status), lib.wye_status_text(status).decode(),
                     "Fix: free memory and try again")
    try:
        chain = []
        one = raw
        while one is not None:
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
    out = cell("address")
    call(function, *arguments, out)
    try:
        value = lib.wye_blob_bytes(out[0])
        return copied(value.data, value.size)
    finally:
        lib.wye_blob_free(out[0])
