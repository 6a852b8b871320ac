# SPDX-License-Identifier: Apache-2.0
"""Programs: reads, checks and describes them."""
from __future__ import annotations

import errno
import json
import os
import pathlib
import re
import stat
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple

from . import _arguments, _dlpack
from ._arguments import handle, instance, nanoseconds, seconds
from ._arrays import Host, host_array
from ._c import TYPES, cell, new
from ._context import Context, choose, default_context, take_from
from ._core import Core, due, inside_callback
from ._error import Code, Error, invalid, printable
from ._library import Text, library, text_of

if TYPE_CHECKING:
    from ._device import Device
    from ._dispatch import Options, Outputs
    from ._future import Future
    from ._report import Report


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
    sized: bool
    """Whether the program says its length, by a number or by the lengths of other buffers."""


_MAGIC = b"WYEP\r\n\x1a\n"  # a program in its binary form begins with it
_MOST_READ = (64 << 20) + 1  # bytes: one more than the longest file that the library takes


class _Files:
    # The files of a program's `variant` clauses: the function that reads them, their bytes, kept
    # until the program has been read, and the exception that the function raised.
    def __init__(self, core: Core, read: Callable[[str], Any]) -> None:
        self.core, self.read = core, read
        self.kept: list[Any] = []
        self.fault: BaseException | None = None


_reading: dict[int, _Files] = {}  # by the number that the library was given


@TYPES["wye_resolve_fn"]
def _resolve(user: int, name: Any, out: Any) -> int:
    files = _reading[user]
    with inside_callback(id(files.core)):
        try:
            wanted = text_of(name)
            content = files.read(wanted)
            if content is None:
                return int(Code.NOT_FOUND)
            host = host_array(f"files[{wanted!r}]", content)
        except BaseException as error:
            files.fault = error
            return int(Code.INTERNAL)
        files.kept.append(host)
        out[0].data, out[0].size = host.bytes
        return 0


def _read_file(path: pathlib.Path, what: str, pipes: bool = False) -> bytes:
    shown = printable(str(path))
    try:
        # Opens a pipe without waiting for its writer, which may never come.
        with open(path, "rb", opener=lambda name, mode: os.open(name, mode | os.O_NONBLOCK)) as file:
            mode = os.fstat(file.fileno()).st_mode
            pipe = pipes and stat.S_ISFIFO(mode)
            if not pipe and not stat.S_ISREG(mode):
                raise invalid(f"{what} `{shown}` is no regular file",
                              "Fix: name a regular file with the same contents", shown)
            os.set_blocking(file.fileno(), True)
            content = file.read(_MOST_READ)
    except OSError as error:
        raise Error(Code.IO, f"{what} `{shown}` cannot be read: {error.strerror}",
                    "Fix: name a file that exists and that this process may read", shown,
                    native_domain="errno", native_code=error.errno or 0) from error
    if pipe and not content:
        raise invalid(f"{what} `{shown}` is a pipe into which nothing writes",
                      "Fix: start its writer first, or name a file", shown)
    return content


def _reader(folder: pathlib.Path) -> Callable[[str], bytes | None]:
    def read(name: str) -> bytes | None:
        parts = pathlib.PurePath(name)
        if parts.is_absolute() or ".." in parts.parts or "\0" in name:
            raise invalid(f"variant file `{name}` is not in the folder of the program",
                          "Fix: put it into that folder, and name it from there", name)
        try:
            return _read_file(folder / name, "variant file")
        except Error as error:
            if error.native_code == errno.ENOENT:
                return None
            raise
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

    def __init__(self, core: Core, source: Any = None) -> None:
        """Not for applications: use from_text, from_file or from_wire."""
        if not isinstance(core, Core):
            raise invalid("wye.Program cannot be called directly",
                          "Fix: use wye.Program.from_text, from_file or from_wire", "Program")
        out = cell("wye_program")
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
                        one.in_inputs != 0, one.in_outputs != 0,
                        one.count_kind != library().WYE_COUNT_RUNTIME)
            for one in info.buffers[0:info.buffer_count] if text_of(one.role) != "shared")
        self._names = {one.name for one in (*self.params, *self.buffers)}
        # The bytes of each buffer whose length is a number in the program.
        self._sizes = {text_of(one.name): one.count * one.element_bytes
                       for one in info.buffers[0:info.buffer_count]
                       if one.count_kind == library().WYE_COUNT_LITERAL}
        self._likes: dict[str, str] | None = None
        self._device: Device | None = None  # on which calls with tensors of CUDA run

    @classmethod
    def from_text(cls, text: str, *, name: str = "", files: Mapping[str, bytes] | None = None,
                  context: Context | None = None) -> Program:
        """Reads a program from its text form.

        `name` is a file name for messages. `files` has the contents of files that `variant`
        clauses name. Without a `context`, the default one is used. Raises INVALID_TEXT or
        INVALID_PROGRAM, whose message has each fault with its line, column and fix.
        """
        read = None if files is None else _arguments.mapping("files", files).get
        return cls._read(_arguments.text("text", text), _arguments.text("name", name), read,
                         context)

    @classmethod
    def _read(cls, content: Text, name: Text, read: Callable[[str], Any] | None,
              context: Context | None) -> Program:
        core = _core_of(context)
        source = new("wye_program_source")
        source.text, source.name = content.value, name.value
        if read is None:
            return cls(core, source)
        files = _Files(core, read)
        number = core.expect()
        _reading[number] = files
        source.resolve, source.resolve_user = _resolve, number
        try:
            return cls(core, source)
        except Error:
            if files.fault is not None:
                raise files.fault from None
            raise
        finally:
            del _reading[number]
            due.pop(number, None)

    @classmethod
    def from_wire(cls, wire: bytes, *, name: str = "", context: Context | None = None) -> Program:
        """Reads a program from its binary form. `name` and `context` are as in from_text."""
        return cls._unpack(host_array("wire", wire), _arguments.text("name", name), context)

    @classmethod
    def _unpack(cls, wire: Host, name: Text, context: Context | None) -> Program:
        source = new("wye_program_source")
        source.name, source.wire = name.value, wire.bytes
        return cls(_core_of(context), source)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, context: Context | None = None) -> Program:
        """Reads a file with a program in its text or binary form.

        A pipe is read to its end, if it has a writer; other special files are refused. Files that
        its `variant` clauses name are read from the file's folder, or folders in it. Raises IO if a
        file cannot be read.
        """
        where = pathlib.Path(_arguments.path("path", path))
        name, content = Text(os.fsencode(where)), _read_file(where, "program", pipes=True)
        if content.startswith(_MAGIC):
            return cls._unpack(host_array("path", content), name, context)
        return cls._read(Text(content), name, _reader(where.parent), context)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the program. Later calls with it raise STALE_HANDLE."""
        self._core.free(self._free, "wye_program_free", self._handle)

    def __repr__(self) -> str:
        return f"<wye.Program {self.name!r} {self.fingerprint}>"

    def __call__(self, options: Options | None = None, /, **arguments: Any) -> Outputs:
        """Context.run: on the owner of its Buffers, or else the best device for it.

        With tensors in the memory of a CUDA device, the first call chooses the device. After that
        device was lost, the next call chooses again.
        """
        from ._dispatch import run
        if not any(_dlpack.on_cuda(name, value) for name, value in arguments.items()):
            return run(self._core, None, self, options, arguments)
        device = self._device
        if device is None:
            device = self._device = choose(self._core, "", self)
        try:
            return device.run(self, options, **arguments)
        except Error as error:
            if error.code == Code.DEVICE_LOST:
                self._device = None
            raise

    def _like(self, name: str) -> str:
        # The buffer from which a buffer takes its length: "x" for `r: f32[len(x)]`; empty if none.
        if self._likes is None:
            text = take_from(self._core, "wye_program_lower", self._handle, Text("text").value, 0).decode()
            self._likes = dict(re.findall(r"^\w+ (\w+): \w+\[len\((\w+)\)\]", text, re.M))
        return self._likes.get(name, "")

    def analysis(self) -> dict[str, Any]:
        """What it needs of a device, whether its results are deterministic, and its sizes."""
        return json.loads(take_from(self._core, "wye_program_analysis", self._handle))

    def lower(self, format: str, device: Device | None = None) -> bytes:
        """The program in another form: "text", "wire", "opencl-c", "spirv-vulkan", "cuda-c", ...

        The facts of `device` decide between native and emulated operations.
        """
        from ._device import Device
        form = _arguments.text("format", format)
        on = 0 if device is None else handle("device", device, Device, self._core)
        return take_from(self._core, "wye_program_lower", self._handle, form.value, on)

    def prepare(self, device: Device) -> None:
        """Compiles it for a device now, instead of at its first dispatch."""
        from ._device import Device
        self._core.call("wye_program_prepare", self._handle,
                        handle("device", device, Device, self._core), None)

    def submit_prepare(self, device: Device, timeout: float | None = None) -> Future[Report]:
        """Like `prepare`, but does not wait: the Future ends with the compile, or after `timeout` seconds."""
        from ._device import Device
        from ._future import Future, Pending
        from ._report import read_report
        limit = nanoseconds(seconds("timeout", timeout))
        out = cell("wye_pending")
        self._core.call("wye_program_prepare_submit", self._handle,
                        handle("device", device, Device, self._core), limit, out)
        return Future(Pending(self._core, out[0], self), lambda raw: read_report(self._core, raw))


def _core_of(context: Context | None) -> Core:
    return (default_context() if context is None else instance("context", context, Context))._core
