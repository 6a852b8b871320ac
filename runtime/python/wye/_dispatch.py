# SPDX-License-Identifier: Apache-2.0
"""Dispatches: arguments in, outputs out."""
from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from . import _dlpack
from ._arguments import (U32, flag, handle, instance, integer, integers, is_a, nanoseconds, seconds, text,
                         word)
from ._arrays import Host, converted, element_shape, empty, filled, is_list, shaped, typed_memory
from ._buffer import Buffer, BufferRange, adopt
from ._c import array, cell, new
from ._elements import UINT8, Array, element
from ._error import Code, Error, invalid, nearest
from ._future import Future, Pending
from ._library import library
from ._program import BufferParam, Program
from ._queue import Queue
from ._report import Report, read_report

if TYPE_CHECKING:
    from ._core import Core
    from ._device import Device


@dataclasses.dataclass(frozen=True)
class Options:
    """How a dispatch runs. An option that the device does not support is refused by name."""

    grid: Sequence[int] | Buffer | BufferRange | tuple[Buffer, int] | None = None
    """The number of workgroups, one to three numbers, for programs that leave it open. A Buffer, a
    part of one, or (Buffer, offset in bytes): earlier work has written the three numbers there, as
    uint32, and the device reads them when the dispatch begins. Report.groups is then (0, 0, 0)."""
    elements: int | None = None
    """The number of elements, for programs that leave it open."""
    workgroup: Sequence[int] | None = None
    """The workgroup size, if it is not the program's own; needs a program that is `adjustable`."""
    timeout: float | None = None
    """Seconds after which run(), or the result of submit(), raises TIMEOUT. May stop the work."""
    iterations: int = 1
    """The number of launches in this one dispatch, all on the same buffers."""
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
    queue: Queue | None = None
    """The queue of the device to run on. None: the library spreads work over queues of its own."""

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "timeout": seconds("timeout", self.timeout),
            "iterations": integer("iterations", self.iterations, 1, U32),
            "ulp_budget": integer("ulp_budget", self.ulp_budget, 0, U32)}
        if self.grid is not None:
            checked["grid"] = _grid(self.grid)
        if self.workgroup is not None:
            checked["workgroup"] = integers("workgroup", self.workgroup, 1, U32, 1, 3)
        for name, low in (("elements", 0), ("max_output_bytes", 1)):
            if getattr(self, name) is not None:
                checked[name] = integer(name, getattr(self, name), low)
        for name in ("variants", "cooperative", "timed", "borrow", "at_once"):
            checked[name] = flag(name, getattr(self, name))
        for name in ("label", "profile"):
            text(name, getattr(self, name))
        if self.queue is not None:
            instance("queue", self.queue, Queue)
        for name, value in checked.items():
            object.__setattr__(self, name, value)


def _grid(value: Any) -> tuple[Any, ...]:
    # Up to three numbers, or a Buffer and an offset.
    if is_a(value, Buffer):
        return (value, 0)
    if is_a(value, BufferRange):
        return (value.buffer, value.offset)
    if is_a(value, (tuple, list)) and len(value) == 2 and is_a(value[0], Buffer):
        return (value[0], integer("grid", value[1]))
    return integers("grid", value, 0, U32, 1, 3)


def _checked(made: Any) -> Any:
    @functools.wraps(made)
    def check(self: Options, *values: Any, **given: Any) -> None:
        known = [one.name for one in dataclasses.fields(Options)]
        unknown = next((name for name in given if name not in known), None)
        if unknown is not None:
            meant = nearest(unknown, known)
            raise invalid(f"there is no option `{unknown}`", f"Fix: did you mean `{meant}`?" if meant else
                          f"Fix: use one of {', '.join(known)}", unknown)
        made(self, *values, **given)
    return check


setattr(Options, "__init__", _checked(Options.__init__))
_USUAL = Options()
_OPTIONS = frozenset(one.name for one in dataclasses.fields(Options))


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


class Outputs(Mapping[str, Array]):
    """The outputs of a dispatch by their names: `outputs["r"]`, or `outputs.r`.

    New arrays show memory of the library without a copy. The memory lives as long as they do, and
    may be written.
    """

    report: Report
    """Times and sizes of the dispatch."""

    def __init__(self, arrays: dict[str, Array], report: Report) -> None:
        """Not for applications: Device.run and Future.result make Outputs."""
        self._arrays = arrays
        self.report = report

    def __getitem__(self, name: str) -> Array:
        if name in self._arrays:
            return self._arrays[name]
        raise _no_output(name, self._arrays)

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __repr__(self) -> str:
        return f"<wye.Outputs {', '.join(self._arrays)}>"


def _no_output(name: str, known: Mapping[str, Array]) -> Error:
    meant = nearest(str(name), known)
    remedy = f"Fix: did you mean `{meant}`?" if meant else f"Fix: there are {', '.join(known) or 'none'}"
    return Error(Code.UNKNOWN_KEY, f"there is no output `{name}`", remedy, str(name))


def _as_option(name: str) -> str:
    # The remedy for an option among the arguments of a program; empty for other names.
    return f"Fix: pass wye.Options({name}=...) before the arguments" if name in _OPTIONS else ""


def check_type(declared: BufferParam, buffer: Buffer) -> None:
    """Refuses a Buffer of another element type than the program declares."""
    if buffer.dtype not in (UINT8, element(declared.type)[0]):
        raise invalid(
            f"`{declared.name}` is a buffer of {buffer.dtype}, but the program declares {declared.type}",
            f"Fix: make the buffer of {element(declared.type)[0]}, or declare another type",
            declared.name)


class Request:
    """A wye_dispatch_desc without arguments, and what it points to."""

    def __init__(self, core: Core, device: Device | None, program: Program, options: Options,
                 params: Mapping[str, Any], pipeline: int) -> None:
        self.keep: list[Any] = []
        self.buffers: list[Buffer] = []
        self.desc = new("wye_dispatch_desc")
        self._core, self._device, self._program = core, device, program
        wanted = handle("program", program, Program, core)
        if pipeline:
            self.desc.pipeline = pipeline
        else:
            self.desc.program = wanted
            self.desc.device = 0 if device is None else device._handle
        self._check_names(program, params)
        self._set_options(options)
        self._set_params(program, params)

    def _check_names(self, program: Program, arguments: Mapping[str, Any]) -> None:
        """Refuses names that the program does not have."""
        known = {one.name for one in program.params}
        unknown = next((name for name in arguments if name not in known), None)
        if unknown is not None:
            raise invalid(f"program `{program.name}` has no parameter `{unknown}`",
                          _as_option(unknown) or f"Fix: it has {', '.join(sorted(known)) or 'none'}",
                          unknown)

    def _set_options(self, options: Options) -> None:
        lib, desc, flags = library(), self.desc, 0
        grid: Any = options.grid
        if grid is not None and is_a(grid[0], Buffer):
            desc.grid_buffer, desc.grid_offset = handle("grid", grid[0], Buffer, self._core), grid[1]
            self.buffers.append(grid[0])
            flags |= lib.WYE_DISPATCH_INDIRECT
        elif grid is not None:
            desc.grid = (*grid, 1, 1)[:3]
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
        desc.timeout_ns = nanoseconds(options.timeout)
        desc.fixpoint_iterations = options.iterations
        desc.max_output_bytes = options.max_output_bytes or 0
        desc.ulp_budget = options.ulp_budget
        if options.queue is not None:
            desc.queue = handle("queue", options.queue, Queue, self._core)
        for member in ("label", "profile"):
            if getattr(options, member):
                name = text(member, getattr(options, member))
                self.keep.append(name)
                setattr(desc, member, name.value)

    def _set_params(self, program: Program, arguments: Mapping[str, Any]) -> None:
        words = []
        for param in program.params:
            if param.name not in arguments:
                raise invalid(f"parameter `{param.name}` of program `{program.name}` is not given",
                              f"Fix: pass {param.name}=...", param.name)
            words.append(word(f"parameter `{param.name}`", param.name, param.type,
                              arguments[param.name]))
        params = array("uint64_t", words)
        self.words = words
        self.desc.params, self.desc.param_count = params, len(words)


class Bound(Request):
    """A wye_dispatch_desc and everything that it points to."""

    def __init__(self, core: Core, device: Device | None, program: Program, options: Options,
                 arguments: dict[str, Any], pipeline: int = 0) -> None:
        super().__init__(core, device, program, options, arguments, pipeline)
        self.outputs: list[tuple[BufferParam, int, Any]] = []  # index in _items, and the caller's array
        self._shapes: dict[str, tuple[int, ...] | None] = {}  # of the elements of inputs
        self._numbers: list[tuple[BufferParam, int, Any]] = []  # index in _items, and the number that fills the buffer
        items: list[dict[str, Any]] = []
        self._items = items
        for buffer in program.buffers:
            if buffer.name in arguments:
                self._add(buffer, arguments[buffer.name])
            elif buffer.gives_output and not buffer.takes_input:
                self._host(buffer, None, None)
            else:
                raise invalid(f"buffer `{buffer.name}` of program `{program.name}` is not given",
                              f"Fix: pass {buffer.name}=...", buffer.name)
        self._array = array("wye_argument", len(items))
        for at, item in enumerate(items):
            for member, value in item.items():
                setattr(self._array[at], member, value)
        self.desc.arguments, self.desc.argument_count = self._array, len(items)
        if self._numbers:
            self._fill()

    def _check_names(self, program: Program, arguments: Mapping[str, Any]) -> None:
        unknown = next((name for name in arguments if name not in program._names), None)
        if unknown is None:
            return
        takes = [f"{one.name}: {one.type}" for one in program.params]
        takes += [f"{one.name}: {one.type}[]" for one in program.buffers if one.takes_input]
        gives = [f"{one.name}: {one.type}[]" for one in program.buffers if not one.takes_input]
        meant = nearest(unknown, [name for name in program._names if name not in arguments])
        raise invalid(f"program `{program.name}` has no parameter or buffer `{unknown}`: it takes "
                      f"{', '.join(takes) or 'nothing'}, and gives {', '.join(gives) or 'nothing more'}",
                      _as_option(unknown) or
                      (f"Fix: did you mean `{meant}`? Pass {meant}=..." if meant else
                       "Fix: pass those that it takes"), unknown)

    def _add(self, buffer: BufferParam, value: Any) -> None:
        if is_a(value, (Buffer, BufferRange)):
            part = value if is_a(value, BufferRange) else value._whole()
            self._resident(buffer, part)
        elif is_a(value, Discard):
            self._items.append({"kind": library().WYE_ARGUMENT_DISCARD, "binding": buffer.binding,
                                "size": value.nbytes})
        elif is_a(value, InOut):
            if not (buffer.takes_input and buffer.gives_output):
                raise invalid(f"`{buffer.name}` is not both read and written: it is {buffer.role}",
                              "Fix: pass one array", buffer.name)
            source = typed_memory(buffer.name, value.source, buffer.type)
            target = typed_memory(buffer.name, value.source if value.target is None else value.target,
                                  buffer.type, write=True)
            self._host(buffer, source, target)
        elif self._on_this_device(buffer, value):
            self._resident(buffer, self._adopted(buffer.name, value)._whole())
        elif buffer.takes_input:
            if buffer.sized and is_list(value) and not is_a(value, (list, tuple)):
                self._numbers.append((buffer, len(self._items), value))
                self._host(buffer, converted(buffer.name, value, buffer.type.partition("x")[0]), None)
            else:
                self._host(buffer, typed_memory(buffer.name, value, buffer.type), None)
        else:
            self._host(buffer, None, typed_memory(buffer.name, value, buffer.type, write=True))

    def _on_this_device(self, buffer: BufferParam, value: Any) -> bool:
        return (self._device is not None and self._device.plugin == "cuda" and
                _dlpack.on_cuda(buffer.name, value))

    def _adopted(self, name: str, tensor: Any) -> Buffer:
        # Takes the Buffer of an earlier argument with the same memory: two Buffers must not share memory.
        made = adopt(self._device, name, tensor)
        begin = made._adopted.address
        for one in self.buffers:
            if one._adopted is None:
                continue
            other = one._adopted.address
            if (other, one.nbytes) == (begin, made.nbytes):
                return one
            if other < begin + made.nbytes and begin < other + one.nbytes:
                raise invalid(f"`{name}` has part of the memory of another tensor of this dispatch",
                              "Fix: pass the same tensor, or one of another memory", name)
        return made

    def _resident(self, buffer: BufferParam, part: BufferRange) -> None:
        dtype = part.buffer.dtype
        check_type(buffer, part.buffer)
        self.buffers.append(part.buffer)
        if part.nbytes == part.buffer.nbytes:
            self._shapes[buffer.name] = element_shape(part.buffer.shape, dtype, buffer.type)
        self._items.append({
            "kind": library().WYE_ARGUMENT_RESIDENT, "binding": buffer.binding,
            "buffer": handle(buffer.name, part.buffer, Buffer, self._core),
            # For the library, a size of 0 means the rest of the buffer. An empty part is therefore passed as
            # the rest at the buffer's end, which is empty.
            "offset": part.offset if part.nbytes else part.buffer.nbytes, "size": part.nbytes})

    def _host(self, buffer: BufferParam, source: Host | None, target: Host | None) -> None:
        item: dict[str, Any] = {"kind": library().WYE_ARGUMENT_HOST, "binding": buffer.binding}
        if source is not None:
            self.keep.append(source)
            item["input"] = source.bytes
            if not source.raw:
                self._shapes[buffer.name] = element_shape(source.shape, source.dtype, buffer.type)
        if target is not None:
            self.keep.append(target)
            item["output"], item["output_size"] = target.address, target.nbytes
        if buffer.gives_output:
            self.outputs.append((buffer, len(self._items), None if target is None else target.array))
        self._items.append(item)

    def _sizes(self) -> Any:
        sizes, groups = array("uint64_t", len(self._items)), array("uint32_t", 3)
        flags = self.desc.flags
        self.desc.flags &= ~(library().WYE_DISPATCH_BORROW | library().WYE_DISPATCH_AT_ONCE)
        try:
            self._core.call("wye_dispatch_sizes", self.desc, sizes, groups)
        finally:
            self.desc.flags = flags
        return sizes

    def _fill(self) -> None:
        # Fills each buffer for which a single number was given, over its whole size.
        computed = []
        for one in self._numbers:
            size = self._program._sizes.get(one[0].name)
            if size is None:
                self._array[one[1]].input = (None, 0)
                computed.append(one)
            else:
                self._repeat(*one, size)
        sizes = self._sizes() if computed else None
        for one in computed:
            self._repeat(*one, sizes[one[1]])

    def _repeat(self, buffer: BufferParam, index: int, value: Any, size: int) -> None:
        host = filled(buffer.name, value, buffer.type.partition("x")[0], size)
        self.keep.append(host)
        self._array[index].input = host.bytes
        self._shapes[buffer.name] = None

    def shape(self, buffer: BufferParam) -> tuple[int, ...] | None:
        """The shape for an output: that of the input whose length it has; None if there is none."""
        if all(shape is None or len(shape) == 1 for shape in self._shapes.values()):
            return None
        name = buffer.name if buffer.takes_input else self._program._like(buffer.name)
        return self._shapes.get(name)

    def owns_outputs(self) -> bool:
        """Whether the library makes all outputs."""
        return all(array is None for _, _, array in self.outputs)

    def allocate(self) -> None:
        """Gives each output that has no array a new one of its exact size."""
        if all(array is not None for _, _, array in self.outputs):
            return
        sizes = self._sizes()
        for at, (buffer, index, array_given) in enumerate(self.outputs):
            if array_given is not None:
                continue
            memory = empty((sizes[index],), UINT8)
            host = Host(memory, UINT8)
            self.keep.append(host)
            self._array[index].output, self._array[index].output_size = host.address, sizes[index]
            self.outputs[at] = (buffer, index, shaped(memory, buffer.type, self.shape(buffer)))


def take_outputs(bound: Bound, pending: Pending) -> dict[str, Array]:
    """The arrays of the outputs that a dispatch owns, once it has ended."""
    return {buffer.name: pending.output(buffer, bound.shape(buffer)) for buffer, _, _ in bound.outputs}


def run(core: Core, device: Device | None, program: Program, options: Options | None,
        arguments: dict[str, Any], pipeline: int = 0) -> Outputs:
    """Device.run; without a device Context.run."""
    options = _USUAL if options is None else instance("options", options, Options)
    bound = Bound(core, device, program, options, arguments, pipeline)
    report = new("wye_report")
    if bound.outputs and bound.owns_outputs():
        out = cell("wye_pending")
        core.call("wye_dispatch_owned", bound.desc, report, out)
        arrays = take_outputs(bound, Pending(core, out[0], None))
    else:
        bound.allocate()
        core.call("wye_dispatch", bound.desc, report)
        arrays = {buffer.name: array for buffer, _, array in bound.outputs}
    return Outputs(arrays, read_report(core, report))


def submit(core: Core, device: Device | None, program: Program, options: Options | None,
           arguments: dict[str, Any], pipeline: int = 0) -> Future[Outputs]:
    """Device.submit; without a device Context.submit."""
    options = _USUAL if options is None else instance("options", options, Options)
    bound = Bound(core, device, program, options, arguments, pipeline)
    if options.borrow:
        bound.allocate()
    elif not bound.owns_outputs():
        name = next(buffer.name for buffer, _, array in bound.outputs if array is not None)
        raise invalid(f"`{name}` is an array, but a dispatch that is not waited for owns its outputs",
                      f"Fix: leave {name} out, or pass wye.Options(borrow=True) and leave the "
                      "arrays alone until the end", name)
    arrays = {buffer.name: array for buffer, _, array in bound.outputs}
    shapes = None
    if not options.borrow:
        shapes = [(buffer, bound.shape(buffer)) for buffer, _, _ in bound.outputs]
    out = cell("wye_pending")
    core.retry()
    core.call("wye_dispatch_submit", bound.desc, out)
    # Buffers and borrowed arrays stay alive until the end.
    pending = Pending(core, out[0], bound if options.borrow else bound.buffers)

    def collect(raw: Any) -> Outputs:
        taken = arrays if shapes is None else {one.name: pending.output(one, shape) for one, shape in shapes}
        return Outputs(taken, read_report(core, raw))
    return Future(pending, collect)
