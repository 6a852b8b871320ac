# SPDX-License-Identifier: Apache-2.0
"""Programs: reads, checks and describes them."""
from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple

from ._context import Context, default_context, take_from
from ._core import Core
from ._error import Code, Error
from ._library import Text, ffi, new, text_of

if TYPE_CHECKING:
    from ._device import Device


class Param(NamedTuple):
    """A parameter of a program."""

    name: str
    """Its name."""
    type: str
    """Its type: "i32", "u32", "i64", "u64", "f32" or "f64"."""


class BufferParam(NamedTuple):
    """A buffer that a program declares."""

    name: str
    """Its name."""
    role: str
    """What the program does with it: "input", "output", "input_output", ..."""
    type: str
    """The type of its elements: "f32", "u8x4", ..."""
    binding: int
    """Its binding number."""
    takes_input: bool
    """Whether a dispatch takes bytes for it."""
    gives_output: bool
    """Whether a dispatch returns its bytes."""


_MAGIC = b"WYEP\r\n\x1a\n"  # a program in its binary form begins with it


@ffi.callback("wye_status(void*, wye_string, wye_bytes*)", error=int(Code.INTERNAL))
def _resolve(user: Any, name: Any, out: Any) -> int:
    read, kept = ffi.from_handle(user)
    content = read(text_of(name))
    if content is None:
        return int(Code.NOT_FOUND)
    data = ffi.from_buffer(content)
    kept.append(data)
    out.data, out.size = data, len(content)
    return 0


def _reader(folder: pathlib.Path) -> Callable[[str], bytes | None]:
    def read(name: str) -> bytes | None:
        try:
            return (folder / name).read_bytes()
        except OSError:
            return None
    return read


class Program:
    """A program that was read and checked. Made by from_text, from_file and from_wire.

    Any threads may use it at once. It is freed by close(), at the end of its `with` block, or when
    nothing refers to it; work in flight continues.
    """

    name: str
    """The name that it declares."""
    fingerprint: str
    """The fingerprint of what it computes: 32 hexadecimal digits."""
    params: tuple[Param, ...]
    """Its parameters, in declared order."""
    buffers: tuple[BufferParam, ...]
    """The buffers that a dispatch binds, by ascending binding number."""

    def __init__(self, core: Core, source: Any) -> None:
        """Not for applications: use from_text, from_file or from_wire."""
        out = ffi.new("wye_program*")
        core.call("wye_program_create", source, out)
        self._core, self._handle = core, out[0]
        self._free = core.adopt(self, "wye_program_free", self._handle)
        info = new("wye_program_description")
        core.call("wye_program_describe", self._handle, info)
        self.name = text_of(info.name)
        self.fingerprint = text_of(info.fingerprint)
        self.params = tuple(Param(text_of(one.name), text_of(one.type))
                            for one in info.params[0:info.param_count])
        self.buffers = tuple(
            BufferParam(text_of(one.name), text_of(one.role), text_of(one.type), one.binding,
                        one.in_inputs != 0, one.in_outputs != 0)
            for one in info.buffers[0:info.buffer_count] if text_of(one.role) != "shared")

    @classmethod
    def from_text(cls, text: str, *, name: str = "", files: Mapping[str, bytes] | None = None,
                  context: Context | None = None) -> Program:
        """Reads a program from its text form.

        `name` is a file name for messages. `files` has the contents of files that `variant`
        clauses name. Without a `context`, the default one is used. Raises INVALID_TEXT or
        INVALID_PROGRAM, whose message has each fault with its line, column and fix.
        """
        return cls._read(text, name, None if files is None else files.get, context)

    @classmethod
    def _read(cls, text: str | bytes, name: str, read: Callable[[str], bytes | None] | None,
              context: Context | None) -> Program:
        content, label, handle = Text(text), Text(name), ffi.new_handle((read, []))
        source = new("wye_program_source")
        source.text, source.name = content.value, label.value
        if read is not None:
            source.resolve, source.resolve_user = _resolve, handle
        return cls((context or default_context())._core, source)

    @classmethod
    def from_wire(cls, wire: bytes, *, name: str = "", context: Context | None = None) -> Program:
        """Reads a program from its binary form. `name` and `context` are as in from_text."""
        label, data = Text(name), ffi.from_buffer(wire)
        source = new("wye_program_source")
        source.name, source.wire = label.value, (data, len(wire))
        return cls((context or default_context())._core, source)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, context: Context | None = None) -> Program:
        """Reads a file with a program in its text or binary form.

        Files that its `variant` clauses name are read from the file's folder. Raises IO if the
        file cannot be read.
        """
        path = pathlib.Path(path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise Error(Code.IO, f"{path} cannot be read: {error.strerror}",
                        "Fix: name a file that exists and that this process may read",
                        str(path), native_domain="errno",
                        native_code=error.errno or 0) from error
        if content.startswith(_MAGIC):
            return cls.from_wire(content, name=str(path), context=context)
        return cls._read(content, str(path), _reader(path.parent), context)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the program. Later calls with it raise STALE_HANDLE."""
        self._core.free(self._free, "wye_program_free", self._handle)

    def __repr__(self) -> str:
        return f"<wye.Program {self.name!r} {self.fingerprint}>"

    def analysis(self) -> dict[str, Any]:
        """What it needs of a device, whether its results are deterministic, and its sizes."""
        return json.loads(take_from(self._core, "wye_program_analysis", self._handle))

    def lower(self, format: str, device: Device | None = None) -> bytes:
        """The program in another form: "text", "wire", "opencl-c", "spirv-vulkan", "cuda-c", ...

        The facts of `device` decide between native and emulated operations.
        """
        text = Text(format)
        handle = device._handle_in(self._core) if device is not None else 0
        return take_from(self._core, "wye_program_lower", self._handle, text.value, handle)

    def prepare(self, device: Device) -> None:
        """Compiles it for a device now, instead of at its first dispatch."""
        self._core.call("wye_program_prepare", self._handle, device._handle_in(self._core),
                        ffi.NULL)

    def _handle_in(self, core: Core) -> int:
        return handle_in(self, core, f"program `{self.name}`")


def handle_in(one: Any, core: Core, what: str) -> int:
    """The handle of an object, which must belong to the context of a call."""
    if one._core is not core:
        raise Error(Code.WRONG_OWNER, f"{what} belongs to another context",
                    "Fix: make programs, devices and buffers with one context", what)
    return one._handle
