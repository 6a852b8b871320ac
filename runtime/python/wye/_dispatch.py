# SPDX-License-Identifier: Apache-2.0
"""Dispatches: arguments in, outputs out."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

import numpy as np

from ._arguments import U32, flag, handle, instance, integer, integers, is_a, seconds, text, word
from ._arrays import check_type, element, empty, host_array, octets, raw_bytes, shaped
from ._buffer import Buffer, BufferRange
from ._core import Core
from ._error import invalid
from ._future import Future, Pending
from ._library import ffi, library, new
from ._program import BufferParam, Program
from ._report import Report, read_report

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True)
class Options:
    """How a dispatch runs. An option that the device does not support is refused by name."""

    grid: Sequence[int] | None = None
    """The number of workgroups, one to three numbers, for programs that leave it open."""
    elements: int | None = None
    """The number of elements, for programs that leave it open."""
    workgroup: Sequence[int] | None = None
    """The workgroup size, if it is not the program's own; needs a program that is `adjustable`."""
    timeout: float | None = None
    """Seconds until run() raises TIMEOUT. Not for submit; Future.result has a time limit."""
    iterations: int = 1
    """The number of launches on the same buffers that are one dispatch."""
    max_output_bytes: int | None = None
    """Refuses a dispatch with larger outputs."""
    ulp_budget: int = 0
    """With 0, the same bytes on every device. With N, native functions with errors up to N ulp."""
    variants: bool = False
    """Runs the first native variant of the program that fits the device."""
    cooperative: bool = False
    """All workgroups run at once. A program with grid barriers may be split instead: see Report."""
    timed: bool = False
    """Asks the driver for Report.device_ns."""
    borrow: bool = False
    """For submit: uses arrays in place until the end."""
    at_once: bool = False
    """For submit: raises DEVICE_BUSY instead of waiting for room."""
    label: str = ""
    """A name for the log."""
    profile: str = ""
    """A name for a use of the program. Each name has its own compiled programs."""

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "timeout": seconds("timeout", self.timeout),
            "iterations": integer("iterations", self.iterations, 1, U32),
            "ulp_budget": integer("ulp_budget", self.ulp_budget, 0, U32)}
        for name, low in (("grid", 0), ("workgroup", 1)):
            if getattr(self, name) is not None:
                checked[name] = integers(name, getattr(self, name), low, U32, 1, 3)
        for name, low in (("elements", 0), ("max_output_bytes", 1)):
            if getattr(self, name) is not None:
                checked[name] = integer(name, getattr(self, name), low)
        for name in ("variants", "cooperative", "timed", "borrow", "at_once"):
            checked[name] = flag(name, getattr(self, name))
        for name in ("label", "profile"):
            text(name, getattr(self, name))
        for name, value in checked.items():
            object.__setattr__(self, name, value)


_USUAL = Options()


@dataclasses.dataclass(frozen=True)
class InOut:
    """For a buffer that a program reads and writes: the arrays to read from and to write to."""

    source: Any
    """The input: an array, or anything with `__dlpack__` or the buffer protocol."""
    target: Any = None
    """The array for the output. None means the source, in place."""


@dataclasses.dataclass(frozen=True)
class Discard:
    """For an output that is not read back."""

    nbytes: int = 0
    """Its size, if neither the program nor the other arguments determine it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "nbytes", integer("nbytes", self.nbytes))


class Outputs(Mapping[str, "NDArray[Any]"]):
    """The outputs of a dispatch by their names: `outputs["r"]`, or `outputs.r`.

    New arrays show memory of the library without a copy. The memory lives as long as they do, and
    may be written.
    """

    report: Report
    """Times and sizes of the dispatch."""

    def __init__(self, arrays: dict[str, NDArray[Any]], report: Report) -> None:
        """Not for applications: Device.run and Future.result make Outputs."""
        self._arrays = arrays
        self.report = report

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["_arrays"][name]
        except KeyError:
            raise AttributeError(f"there is no output `{name}`") from None

    def __repr__(self) -> str:
        return f"<wye.Outputs {', '.join(self._arrays)}>"


class Bound:
    """A wye_dispatch_desc and everything that it points to."""

    def __init__(self, core: Core, device: int, program: Program, options: Options,
                 arguments: dict[str, Any]) -> None:
        self.keep: list[Any] = []
        self.buffers: list[Buffer] = []
        self.desc = new("wye_dispatch_desc")
        self.desc.program = handle("program", program, Program, core)
        self.desc.device = device
        self.outputs: list[tuple[BufferParam, int, Any]] = []  # index, and the caller's array
        self._set_options(options)
        self._set_params(program, arguments)
        self._core = core
        self._items: list[Any] = []
        for buffer in program.buffers:
            if buffer.name in arguments:
                self._add(buffer, arguments.pop(buffer.name))
            elif buffer.gives_output and not buffer.takes_input:
                self._host(buffer, None, None)
            else:
                raise invalid(f"buffer `{buffer.name}` of program `{program.name}` is not given",
                              f"Fix: pass {buffer.name}=...", buffer.name)
        if arguments:
            name = next(iter(arguments))
            known = ", ".join([one.name for one in program.params]
                              + [one.name for one in program.buffers])
            raise invalid(f"program `{program.name}` has no parameter or buffer `{name}`",
                          f"Fix: it has {known}", name)
        self._array = ffi.new("wye_argument[]", self._items)
        self.desc.arguments, self.desc.argument_count = self._array, len(self._items)

    def _set_options(self, options: Options) -> None:
        lib, desc, flags = library(), self.desc, 0
        if options.grid is not None:
            desc.grid = (*options.grid, 1, 1)[:3]
            flags |= lib.WYE_DISPATCH_GRID
        if options.elements is not None:
            desc.elements = options.elements
            flags |= lib.WYE_DISPATCH_ELEMENTS
        if options.workgroup is not None:
            desc.workgroup = (*options.workgroup, 1, 1)[:3]
        for wanted, bit in ((options.variants, lib.WYE_DISPATCH_VARIANTS),
                            (options.cooperative, lib.WYE_DISPATCH_COOPERATIVE),
                            (options.timed, lib.WYE_DISPATCH_TIMED),
                            (options.borrow, lib.WYE_DISPATCH_BORROW),
                            (options.at_once, lib.WYE_DISPATCH_AT_ONCE)):
            flags |= bit if wanted else 0
        desc.flags = flags
        desc.timeout_ns = 0 if options.timeout is None else max(1, int(options.timeout * 1e9))
        desc.fixpoint_iterations = options.iterations
        desc.max_output_bytes = options.max_output_bytes or 0
        desc.ulp_budget = options.ulp_budget
        for member in ("label", "profile"):
            name = text(member, getattr(options, member))
            self.keep.append(name)
            setattr(desc, member, name.value)

    def _set_params(self, program: Program, arguments: dict[str, Any]) -> None:
        words = []
        for param in program.params:
            if param.name not in arguments:
                raise invalid(f"parameter `{param.name}` of program `{program.name}` is not given",
                              f"Fix: pass {param.name}=...", param.name)
            words.append(word(f"parameter `{param.name}`", param.name, param.type,
                              arguments.pop(param.name)))
        params = ffi.new("uint64_t[]", words)
        self.keep.append(params)
        self.desc.params, self.desc.param_count = params, len(words)

    def _add(self, buffer: BufferParam, value: Any) -> None:
        if is_a(value, (Buffer, BufferRange)):
            part = value if is_a(value, BufferRange) else value.range(0, value.nbytes)
            self._resident(buffer, part)
        elif is_a(value, Discard):
            self._items.append({"kind": library().WYE_ARGUMENT_DISCARD, "binding": buffer.binding,
                                "size": value.nbytes})
        elif is_a(value, InOut):
            if not (buffer.takes_input and buffer.gives_output):
                raise invalid(f"`{buffer.name}` is not both read and written: it is {buffer.role}",
                              "Fix: pass one array", buffer.name)
            source = self._memory(buffer, value.source, False)
            target = self._memory(buffer, value.source if value.target is None else value.target,
                                  True)
            self._host(buffer, source, target)
        elif buffer.takes_input:
            self._host(buffer, self._memory(buffer, value, False), None)
        else:
            self._host(buffer, None, self._memory(buffer, value, True))

    def _resident(self, buffer: BufferParam, part: BufferRange) -> None:
        dtype = part.buffer.dtype
        if dtype != np.uint8 and dtype != element(buffer.type)[0]:
            raise invalid(
                f"`{buffer.name}` is a buffer of {dtype}, but the program declares {buffer.type}",
                "Fix: make the buffer with the declared type, or with uint8", buffer.name)
        self.buffers.append(part.buffer)
        self._items.append({
            "kind": library().WYE_ARGUMENT_RESIDENT, "binding": buffer.binding,
            "buffer": handle(buffer.name, part.buffer, Buffer, self._core),
            # A size of 0 stands for the whole rest, which is empty at the buffer's end.
            "offset": part.offset if part.nbytes else part.buffer.nbytes, "size": part.nbytes})

    def _memory(self, buffer: BufferParam, value: Any, write: bool) -> tuple[Any, NDArray[Any]]:
        # The caller's array, and its bytes.
        array = host_array(buffer.name, value, write=write)
        if raw_bytes(value):
            return array, octets(array)
        return array, check_type(buffer.name, array, buffer.type)

    def _host(self, buffer: BufferParam, source: Any, target: Any) -> None:
        item: dict[str, Any] = {"kind": library().WYE_ARGUMENT_HOST, "binding": buffer.binding}
        if source is not None:
            data = ffi.from_buffer(source[1])
            self.keep.append(data)
            item["input"] = (data, source[1].nbytes)
        if target is not None:
            data = ffi.from_buffer(target[1], require_writable=True)
            self.keep.append(data)
            item["output"], item["output_size"] = data, target[1].nbytes
        if buffer.gives_output:
            self.outputs.append((buffer, len(self._items), None if target is None else target[0]))
        self._items.append(item)

    def owns_outputs(self) -> bool:
        """Whether the library makes all outputs."""
        return all(array is None for _, _, array in self.outputs)

    def allocate(self) -> None:
        """Gives each output that has no array a new one of its exact size."""
        if all(array is not None for _, _, array in self.outputs):
            return
        sizes, groups = ffi.new("uint64_t[]", max(len(self._items), 1)), ffi.new("uint32_t[3]")
        flags = self.desc.flags
        self.desc.flags &= ~(library().WYE_DISPATCH_BORROW | library().WYE_DISPATCH_AT_ONCE)
        self._core.call("wye_dispatch_sizes", self.desc, sizes, groups)
        self.desc.flags = flags
        for at, (buffer, index, array) in enumerate(self.outputs):
            if array is not None:
                continue
            memory = empty(sizes[index], np.uint8)
            data = ffi.from_buffer(memory, require_writable=True)
            self.keep.append(data)
            self._array[index].output, self._array[index].output_size = data, sizes[index]
            self.outputs[at] = (buffer, index, shaped(memory, buffer.type))


def run(core: Core, device: int, program: Program, options: Options | None,
        arguments: dict[str, Any]) -> Outputs:
    """Device.run; with the device 0 Context.run."""
    options = _USUAL if options is None else instance("options", options, Options)
    bound = Bound(core, device, program, options, arguments)
    report = new("wye_report")
    if bound.outputs and bound.owns_outputs():
        out = ffi.new("wye_pending*")
        core.call("wye_dispatch_owned", bound.desc, report, out)
        pending = Pending(core, out[0], None)
        arrays = {buffer.name: pending.output(buffer) for buffer, _, _ in bound.outputs}
    else:
        bound.allocate()
        core.call("wye_dispatch", bound.desc, report)
        arrays = {buffer.name: array for buffer, _, array in bound.outputs}
    return Outputs(arrays, read_report(core, report))


def submit(core: Core, device: int, program: Program, options: Options | None,
           arguments: dict[str, Any]) -> Future:
    """Device.submit; with the device 0 Context.submit."""
    options = _USUAL if options is None else instance("options", options, Options)
    if options.timeout is not None:
        raise invalid("`timeout` is given, but submit() does not wait",
                      "Fix: use the time limit of Future.result", "timeout")
    bound = Bound(core, device, program, options, arguments)
    if options.borrow:
        bound.allocate()
    elif not bound.owns_outputs():
        name = next(buffer.name for buffer, _, array in bound.outputs if array is not None)
        raise invalid(f"`{name}` is an array, but a dispatch that is not waited for owns its outputs",
                      f"Fix: leave {name} out, or pass wye.Options(borrow=True) and leave the "
                      "arrays alone until the end", name)
    out = ffi.new("wye_pending*")
    core.retry()
    core.call("wye_dispatch_submit", bound.desc, out)
    # Buffers and borrowed arrays stay alive until the end.
    pending = Pending(core, out[0], bound if options.borrow else bound.buffers)
    owned = None if options.borrow else [buffer for buffer, _, _ in bound.outputs]
    arrays = {buffer.name: array for buffer, _, array in bound.outputs}

    def collect(raw: Any) -> Outputs:
        taken = arrays if owned is None else {one.name: pending.output(one) for one in owned}
        return Outputs(taken, read_report(core, raw))
    return Future(pending, collect)
