# SPDX-License-Identifier: Apache-2.0
"""The C API for ctypes, from the declarations in _types.h and _functions.h.

Reads the few forms of C that these files use: enumerations, structures, other typedefs and prototypes.
A pointer to a structure or a number is a typed pointer; one to anything else is an address.
"""
from __future__ import annotations

import ctypes
import pathlib
import re
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent

TYPES: dict[str, Any] = {
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "double": ctypes.c_double}
CONSTANTS: dict[str, int] = {}
ENUMS: dict[str, dict[str, int]] = {}
MEMBERS: dict[str, list[tuple[str, str]]] = {}  # of structures: names, and types as they are written
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {}

_DECLARATION = re.compile(
    r"enum (?P<enum>\w*) ?\{(?P<values>.*?)\} ?;"
    r"|typedef struct \w+ (?:\{(?P<members>.*?)\} )?(?P<struct>\w+) ?;"
    r"|typedef (?P<result>[\w* ]+?) ?\(\* ?(?P<pointer>\w+)\) ?\((?P<takes>.*?)\) ?;"
    r"|typedef (?P<base>\w+) (?P<alias>\w+) ?;"
    r"|(?P<returns>\w[\w* ]*?) ?(?P<function>\bwye_\w+) ?\((?P<parameters>.*?)\) ?;")
_PART = re.compile(r"(.*?) ?(\w+) ?(?:\[(\d+)\])?$")  # a member or parameter: type, name, count


def ctype(written: str, returned: bool = False) -> Any:
    """The type of ctypes for a type as C writes it, such as "const wye_string*"."""
    base, stars = re.match(r"([\w ]+?) ?((?:\* ?)*)$", written.replace("const ", "")).groups()
    pointers = stars.count("*")
    if pointers == 0:
        return None if base == "void" else TYPES[base]
    if base == "char" and returned:
        return ctypes.c_char_p
    kind = TYPES.get(base)
    if pointers == 1:
        return ctypes.c_void_p if kind is None else ctypes.POINTER(kind)
    return ctypes.POINTER(ctypes.c_void_p if kind is None else ctypes.POINTER(kind))


def _types_of(parameters: str) -> list[Any]:
    return [] if parameters == "void" else [
        ctype(_PART.match(one).group(1)) for one in parameters.split(", ")]


def _structure(name: str, members: str) -> None:
    fields, MEMBERS[name] = [], []
    for member in filter(None, (one.strip() for one in members.split(";"))):
        written, called, count = _PART.match(member).groups()
        kind = ctype(written)
        fields.append((called, kind if count is None else kind * int(count)))
        MEMBERS[name].append((called, written if count is None else f"{written}[{count}]"))
    TYPES[name] = type(name, (ctypes.Structure,), {"_fields_": fields})


def _read(text: str) -> None:
    text = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.S)).strip()
    at = 0
    while at < len(text):
        found = _DECLARATION.match(text, at)
        if found is None:
            raise ImportError(f"wye: a declaration is none of the known forms: {text[at:at + 60]}")
        at = found.end()
        at += text[at:at + 1] == " "
        one = found.groupdict()
        if one["values"] is not None:
            values = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", one["values"])}
            CONSTANTS.update(values)
            ENUMS[one["enum"]] = values
        elif one["struct"]:
            if one["members"] is not None:
                _structure(one["struct"], one["members"])
        elif one["pointer"]:
            TYPES[one["pointer"]] = ctypes.CFUNCTYPE(ctype(one["result"]), *_types_of(one["takes"]))
        elif one["alias"]:
            TYPES[one["alias"]] = TYPES[one["base"]]
        else:
            PROTOTYPES[one["function"]] = (ctype(one["returns"], True), _types_of(one["parameters"]))


for _name in ("_types.h", "_functions.h"):
    _read((HERE / _name).read_text(encoding="utf-8"))


class Library:
    """An opened library: the functions and the constants of the C API as attributes."""

    def __init__(self, path: str) -> None:
        self._dll = ctypes.CDLL(path)
        self.__dict__.update(CONSTANTS)

    def __getattr__(self, name: str) -> Any:
        if name not in PROTOTYPES:
            raise AttributeError(name)
        function = getattr(self._dll, name)
        function.restype, function.argtypes = PROTOTYPES[name]
        setattr(self, name, function)
        return function


def new(kind: str, /, **members: Any) -> Any:
    """A zeroed structure with its size set."""
    made = TYPES[kind](**members)
    made.header.size = ctypes.sizeof(made)
    return made


def cell(kind: str, value: Any = None) -> Any:
    """Room for one value, which a call writes: cell[0]. The kind "address" is any pointer."""
    made = ((ctypes.c_void_p if kind == "address" else TYPES[kind]) * 1)()
    if value is not None:
        made[0] = value
    return made


def array(kind: str, values: Any) -> Any:
    """An array of values, with room for at least one. A number makes an array of as many zeros."""
    if isinstance(values, int):
        return (TYPES[kind] * max(values, 1))()
    return (TYPES[kind] * max(len(values), 1))(*values)


def address_of(data: bytes) -> int | None:
    """The address of the bytes of `data`, which the caller must keep alive."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value


def copied(address: int | None, size: int) -> bytes:
    """A copy of `size` bytes at an address."""
    return ctypes.string_at(address, size) if size else b""
