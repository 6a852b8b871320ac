# SPDX-License-Identifier: Apache-2.0
"""Opened devices."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._arguments import text
from ._arrays import host_array
from ._buffer import Buffer
from ._context import read_counters
from ._core import Core
from ._dispatch import Options, Outputs, run, submit
from ._future import Future
from ._library import ffi, library, new, text_of
from ._program import Program


class Device:
    """An opened device; made by Context.device. Its context closes it. Any threads may use it."""

    selector: str
    """The selector for Context.device."""
    name: str
    """Its name, as the driver gives it."""
    plugin: str
    """The id of its plugin: "cpu", "opencl", ..."""
    reason: str
    """Why it was chosen when it was first opened."""

    def __init__(self, core: Core, handle: int) -> None:
        """Not for applications: use Context.device."""
        self._core, self._handle = core, handle
        out = new("wye_device_description")
        core.call("wye_device_describe", handle, out)
        self.selector, self.name = text_of(out.selector), text_of(out.name)
        self.plugin, self.reason = text_of(out.plugin), text_of(out.reason)
        core.devices[handle] = self.selector

    def __repr__(self) -> str:
        return f"<wye.Device {self.selector} {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Device) and other._core is self._core
                and other._handle == self._handle)

    def __hash__(self) -> int:
        return hash((id(self._core), self._handle))

    def run(self, program: Program, options: Options | None = None, /, **arguments: Any) -> Outputs:
        """Runs a program, waits for its end and returns its outputs.

        Each argument is named as the program names it:

        - a parameter takes a number;
        - a buffer takes an array, anything with `__dlpack__` or the buffer protocol, or a Buffer
          or Buffer.range, which stay on the device;
        - an output that is left out is returned as a new array. A writable array receives the
          output, and is returned. A Discard drops the output;
        - an input that the program also writes is returned as a new array, or in the array that
          InOut names.

        Arrays must be contiguous and have the declared element type, since nothing is converted.
        Buffers are not returned. `options` are those of the dispatch.
        """
        return run(self._core, self._handle, program, options, arguments)

    def submit(self, program: Program, options: Options | None = None, /,
               **arguments: Any) -> Future:
        """Like run, but does not wait: the returned Future has the outputs.

        Inputs are copied before it returns, and outputs cannot be written into arrays. With
        Options(borrow=True), inputs and outputs are used in place until the end, and the caller
        must not change or read them before. Buffers are in use until the end.
        """
        return submit(self._core, self._handle, program, options, arguments)

    def buffer(self, shape: int | Sequence[int], dtype: Any = np.uint8, *, usage: str = "device",
               label: str = "") -> Buffer:
        """Makes a Buffer with unspecified contents.

        `usage` is "device" for programs, and "upload", "readback" or "shared" if the host accesses
        the memory in place (Buffer.map). `label` names it in errors and logs.
        """
        return Buffer(self, shape, dtype, usage, label)

    def upload(self, source: Any, *, usage: str = "device", label: str = "") -> Buffer:
        """Makes a Buffer with the type, shape and contents of an array."""
        array = host_array("source", source)
        made = Buffer(self, array.shape, array.dtype, usage, label)
        made.upload(array)
        return made

    def fact(self, name: str) -> Any:
        """One fact by its name, such as "int64" or "max_workgroup_size"; `wye info --json` prints all.

        Raises UNSUPPORTED if the device does not report it, and UNKNOWN_KEY if there is no such fact.
        """
        asked, out = text("name", name), new("wye_fact")
        self._core.call("wye_device_fact", self._handle, asked.value, out)
        lib = library()
        kind = out.type
        if kind == lib.WYE_FACT_BOOL:
            return out.u != 0
        if kind == lib.WYE_FACT_U64:
            return out.u
        if kind == lib.WYE_FACT_F64:
            return out.f
        if kind == lib.WYE_FACT_TEXT:
            return text_of(out.text)
        if kind == lib.WYE_FACT_U32X3:
            return tuple(out.xyz)
        if kind == lib.WYE_FACT_U64_LIST:
            return list(out.list[0:out.list_size])
        return None

    def flush(self) -> None:
        """Waits until no work runs on the device."""
        self._core.call("wye_device_flush", self._handle)

    def counters(self) -> dict[str, int]:
        """What it did for its context so far: dispatches, submits, bytes moved, memory, compiles."""
        return read_counters(self._core, "wye_device_counters", self._handle)
