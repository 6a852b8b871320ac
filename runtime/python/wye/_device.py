# SPDX-License-Identifier: Apache-2.0
"""Opened devices."""
from __future__ import annotations

from typing import Any, Sequence

from ._arguments import integer, text
from ._arrays import DTYPES, converted, dtype_of, host_array, is_list, kind_of
from ._buffer import Buffer, adopt
from ._c import cell, new
from ._context import members_of, read_counters
from ._core import Core
from ._dispatch import Options, Outputs, run, submit
from ._elements import same
from ._error import invalid
from ._future import Future
from ._graph import Graph
from ._library import library, text_of
from ._memory import RegisteredMemory
from ._pipeline import Pipeline
from ._program import Program
from ._queue import Queue


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

    def __init__(self, core: Core, handle: int = 0) -> None:
        """Not for applications: use Context.device."""
        if not isinstance(core, Core):
            raise invalid("wye.Device is made by a context",
                          'Fix: use wye.default_context().device("auto")', "Device")
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
          or Buffer.range, which stay on the device. A CUDA device takes tensors in its memory;
        - an input also takes a list of numbers, which are converted to the declared type, or a
          number, which stands for as many as the program declares;
        - an output that is left out is returned as a new array. A writable array receives the
          output, and is returned. A Discard drops the output;
        - an input that the program also writes is returned as a new array, or in the array that
          InOut names.

        Arrays must be contiguous and have the declared element type, since they are not converted.
        An output that has the length of an input has its shape. Buffers are not returned. `options` are those of the dispatch.
        """
        return run(self._core, self, program, options, arguments)

    def submit(self, program: Program, options: Options | None = None, /,
               **arguments: Any) -> Future[Outputs]:
        """Like run, but does not wait: the returned Future has the outputs.

        Inputs are copied before it returns, and outputs cannot be written into arrays. With
        Options(borrow=True), inputs and outputs are used in place until the end, and the caller
        must not change or read them before. Buffers are in use until the end.
        """
        return submit(self._core, self, program, options, arguments)

    def buffer(self, shape: int | Sequence[int], dtype: Any = "uint8", *, usage: str = "device",
               label: str = "") -> Buffer:
        """Makes a Buffer with unspecified contents.

        `usage` is "device" for programs, and "upload", "readback" or "shared" if the host accesses
        the memory in place (Buffer.map). `label` names it in errors and logs.
        """
        return Buffer(self, shape, dtype, usage, label)

    def upload(self, source: Any, dtype: Any = None, *, usage: str = "device",
               label: str = "") -> Buffer:
        """Makes a Buffer with the type, shape and contents of an array.

        A list of numbers needs a `dtype`, to which they are converted.
        """
        if is_list(source) and dtype is not None:
            kind = kind_of(dtype_of("dtype", dtype))
            if kind is None:
                raise invalid(f"`dtype` is {dtype!r}, to which a list cannot be converted",
                              f"Fix: use one of {', '.join(DTYPES)}", "dtype")
            host = converted("source", source, kind)
        elif is_list(source):
            raise invalid(f"`source` is a {type(source).__name__}, and `dtype` is missing",
                          'Fix: pass dtype="f32" or another type, or an array', "source")
        else:
            host = host_array("source", source)
            if dtype is not None and not same(host.dtype, dtype_of("dtype", dtype)):
                raise invalid(f"`dtype` is {dtype!r}, but `source` has elements of type {host.dtype}",
                              "Fix: leave `dtype` out, or convert the array", "dtype")
        made = Buffer(self, host.shape, host.dtype, usage, label)
        made._upload(host)
        return made

    def adopt(self, tensor: Any, *, label: str = "") -> Buffer:
        """Makes a Buffer of the memory of a tensor on this CUDA device, such as one of torch or CuPy.

        Nothing is copied, and the Buffer keeps the tensor. Work that was given to the device for the
        tensor ends first. While Wye uses the Buffer, other libraries must not use the tensor.
        """
        return adopt(self, "tensor", tensor, label)

    def register(self, array: Any) -> RegisteredMemory:
        """Registers the memory of a writable array, which the device then copies from and to directly.

        Registering takes as long as several copies of the array, so it is meant for large arrays that are
        used many times. Address and size must be multiples of the fact `host_memory_alignment`, as those of
        `numpy.frombuffer(mmap.mmap(-1, nbytes), dtype)` are. Raises UNSUPPORTED if the device has no
        such fact.
        """
        return RegisteredMemory(self, array)

    def pipeline(self, program: Program, options: Options | None = None) -> Pipeline:
        """Compiles a program for this device with the options `workgroup`, `ulp_budget`, `variants`,
        `cooperative`, `profile` and `timeout`."""
        return Pipeline._create(self, program, options)

    def submit_pipeline(self, program: Program, options: Options | None = None) -> Future[Pipeline]:
        """Like `pipeline`, but does not wait for the compile: the Future's result is the Pipeline."""
        return Pipeline._submit(self, program, options)

    def graph(self, *, label: str = "") -> Graph:
        """Makes a Graph without steps."""
        return Graph(self, label)

    def queue(self, kind: str = "any", *, priority: int = 0, own: bool = False,
              label: str = "") -> Queue:
        """Makes a Queue. The kind ("any", "compute", "transfer") and the priority are hints.

        With `own` it raises LIMIT_EXCEEDED rather than share a queue of the driver.
        """
        return Queue(self, kind, priority, own, label)

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

    def memory(self) -> dict[str, int]:
        """The memory that it holds for its context, in bytes: `buffers`; `scratch` and `staging` memory for
        the arrays of dispatches, of which `scratch_idle` and `staging_idle` are not in use; `registered`
        memory. Also `limit`, `context_limit` and `total`, where 0 means none or unknown; the number of
        `programs`; and `trims`, the number of times that memory was trimmed."""
        out = new("wye_memory_use")
        self._core.call("wye_device_memory", self._handle, out)
        return members_of(out)

    def trim(self) -> int:
        """Frees the memory that is kept for later use and not in use now. Returns the bytes freed.

        Work in flight keeps its own. The library does so by itself when memory is short.
        """
        out = cell("uint64_t")
        self._core.retry()
        self._core.call("wye_device_trim", self._handle, out)
        return int(out[0])

    def limit_memory(self, nbytes: int) -> None:
        """Limits the device memory that it holds for buffers and for arrays of dispatches; 0: no limit.

        An allocation beyond the limit raises OutOfMemoryError, which says how much each device holds. The
        setting "memory.device_limit" is the limit at the start.
        """
        self._core.call("wye_memory_limit", self._handle, integer("nbytes", nbytes))
