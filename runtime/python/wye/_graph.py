# SPDX-License-Identifier: Apache-2.0
"""Graphs: dispatches and transfers that are recorded once and executed many times."""
from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ._arguments import (flag, handle, instance, integer, is_a, mapping, members, nanoseconds, seconds,
                         text, word)
from ._arrays import Host, host_array, pattern
from ._buffer import Buffer
from ._c import array, cell, new
from ._context import members_of
from ._core import Core
from ._dispatch import Bound, Options, Outputs
from ._error import Code, Error, invalid
from ._future import Future, Pending
from ._library import library
from ._pipeline import Pipeline
from ._program import Program
from ._queue import Queue
from ._report import Report, read_report

if TYPE_CHECKING:
    from ._device import Device


class Graph:
    """Steps on buffers of one device, recorded once and executed many times; made by Device.graph.

    dispatch(), upload(), download(), copy() and fill() add steps. record(), or the first run() or
    submit(), checks and compiles them; then no step can be added. Freed by free(), at the end of its
    `with` block, or when nothing refers to it. Any threads may use a recorded one at once.
    """

    device: Device
    """The device that it runs on."""

    def __init__(self, device: Device, label: str) -> None:
        """Not for applications: use Device.graph."""
        self.device = device
        self._core: Core = device._core
        self._label = text("label", label)
        self._steps: list[Any] = []  # a Bound, or a transfer with the memory that it uses
        self._pipelines: list[Pipeline] = []  # kept alive until the graph is recorded
        self._programs: list[Program] = []  # of the dispatches
        self._words: list[list[int]] = []  # the parameters of each dispatch
        self._buffers: list[Buffer] = []
        self._lock = threading.RLock()
        self._handle = 0
        self._free: Any = None

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Frees it. Executions in flight end as usual."""
        if self._free is not None:
            self._core.free(self._free, "wye_graph_free", self._handle)

    def __repr__(self) -> str:
        return f"<wye.Graph of {len(self._steps)} steps on {self.device.selector}>"

    def _open(self) -> None:
        if self._handle:
            raise Error(Code.INVALID_ARGUMENT, "a step is added to a graph that is recorded",
                        "Fix: add it before record(), run() and submit(), or make another graph", "graph")

    def dispatch(self, program: Program | Pipeline, options: Options | None = None, /,
                 **arguments: Any) -> None:
        """Adds a dispatch. Its arguments are numbers and Buffers; outputs too are Buffers."""
        with self._lock:
            self._open()
            given = Options() if options is None else instance("options", options, Options)
            through = program._handle if is_a(program, Pipeline) else 0
            if through:
                handle("program", program, Pipeline, self._core)
                self._pipelines.append(program)
                program = program.program
            bound = Bound(self._core, self.device, program, given, arguments, through)
            self._steps.append(bound)
            self._programs.append(program)
            self._words.append(list(bound.words))
            self._buffers += bound.buffers

    def _transfer(self, kind: str, name: str, buffer: Buffer, host: Host | None = None,
                  **members: Any) -> None:
        with self._lock:
            self._open()
            desc = new("wye_transfer_desc", kind=getattr(library(), f"WYE_TRANSFER_{kind}"),
                       buffer=handle(name, buffer, Buffer, self._core), **members)
            self._steps.append((desc, host))
            self._buffers.append(buffer)

    def upload(self, buffer: Buffer, source: Any, *, offset: int = 0) -> None:
        """Adds a copy of an array to a buffer. Each execution reads the array as it is then."""
        instance("buffer", buffer, Buffer)
        host = buffer._same_type("source", host_array("source", source))
        self._transfer("UPLOAD", "buffer", buffer, host, offset=integer("offset", offset),
                       size=host.nbytes, source=host.address)

    def download(self, buffer: Buffer, target: Any, *, offset: int = 0) -> None:
        """Adds a copy of a buffer to a writable array, which each execution writes."""
        instance("buffer", buffer, Buffer)
        host = buffer._same_type("target", host_array("target", target, write=True))
        self._transfer("DOWNLOAD", "buffer", buffer, host, offset=integer("offset", offset),
                       size=host.nbytes, target=host.address)

    def copy(self, source: Buffer, target: Buffer, *, offset: int = 0, target_offset: int = 0,
             nbytes: int | None = None) -> None:
        """Adds a copy between buffers, with the arguments of Buffer.copy_to."""
        begin = integer("offset", offset, 0, instance("source", source, Buffer).nbytes)
        size = source.nbytes - begin if nbytes is None else integer("nbytes", nbytes)
        self._transfer("COPY", "target", target, offset=integer("target_offset", target_offset), size=size,
                       source_buffer=handle("source", source, Buffer, self._core), source_offset=begin)
        self._buffers.append(source)

    def fill(self, buffer: Buffer, value: Any = 0) -> None:
        """Adds a fill, which sets all elements of a buffer to one number."""
        dtype = instance("buffer", buffer, Buffer).dtype
        self._transfer("FILL", "buffer", buffer, size=buffer.nbytes, pattern=pattern(value, dtype),
                       pattern_size=dtype.itemsize)

    def record(self) -> None:
        """Checks and compiles all steps, and runs none. Errors name the index of the step."""
        with self._lock:
            if self._handle:
                return
            steps = array("wye_graph_step", len(self._steps))
            for at, step in enumerate(self._steps):
                if is_a(step, Bound):
                    steps[at].dispatch = ctypes.pointer(step.desc)
                else:
                    steps[at].transfer = ctypes.pointer(step[0])
            desc = new("wye_graph_desc", device=self.device._handle, step_count=len(self._steps),
                       label=self._label.value)
            desc.steps = steps
            out = cell("wye_graph")
            self._core.retry()
            self._core.call("wye_graph_create", desc, out)
            self._free = self._core.adopt(self, "wye_graph_free", out[0])
            self._handle = out[0]

    def run(self, params: Any = None, *, timed: bool = False, queue: Queue | None = None,
            timeout: float | None = None) -> Report:
        """Runs all steps and waits, at most `timeout` seconds, after which it raises TIMEOUT.

        `params` has new values of parameters, which stay: a dict for all dispatches that have them, or
        a list with a dict for each dispatch in order. `timed` asks for Report.device_ns.
        """
        desc = self._run_desc(params, timed, queue, timeout)
        report = new("wye_report")
        self._core.call("wye_graph_run", self._handle, desc, report)
        return read_report(self._core, report)

    def submit(self, params: Any = None, *, timed: bool = False, queue: Queue | None = None,
               timeout: float | None = None) -> Future[Outputs]:
        """Like `run`, but does not wait. The Future's Outputs have the report only."""
        desc = self._run_desc(params, timed, queue, timeout)
        out = cell("wye_pending")
        self._core.call("wye_graph_submit", self._handle, desc, out)
        return Future(Pending(self._core, out[0], self), lambda raw: Outputs({}, read_report(self._core, raw)))

    def _run_desc(self, params: Any, timed: bool, queue: Queue | None, timeout: float | None) -> Any:
        limit = nanoseconds(seconds("timeout", timeout))
        self.record()
        desc = new("wye_graph_run_desc")
        desc.flags = library().WYE_DISPATCH_TIMED if flag("timed", timed) else 0
        desc.timeout_ns = limit
        if queue is not None:
            desc.queue = handle("queue", queue, Queue, self._core)
        if params is not None:
            with self._lock:
                self._words = self._changed(params)
                words = [one for of_dispatch in self._words for one in of_dispatch]
            desc.params, desc.param_count = array("uint64_t", words), len(words)
        return desc

    def _changed(self, params: Any) -> list[list[int]]:
        words = [list(one) for one in self._words]
        if is_a(params, Mapping):
            known = {one.name for program in self._programs for one in program.params}
            _all_known(params, known, "the graph")
            listed: Sequence[Mapping[str, Any]] = [params] * len(words)
        else:
            listed = [mapping("params", one) for one in members("params", params)]
            if len(listed) != len(words):
                raise invalid(f"`params` has {len(listed)} dicts, but the graph {len(words)} dispatches",
                              "Fix: pass one dict for each, which may be empty", "params")
            for at, (given, program) in enumerate(zip(listed, self._programs)):
                _all_known(given, {one.name for one in program.params}, f"dispatch {at}")
        for of_dispatch, given, program in zip(words, listed, self._programs):
            for at, param in enumerate(program.params):
                if param.name in given:
                    of_dispatch[at] = word(f"parameter `{param.name}` of `params`", "params", param.type,
                                           given[param.name])
        return words

    def rebind(self, buffers: Mapping[Buffer, Buffer]) -> None:
        """Replaces buffers, all together, for the executions that follow: {recorded: new, ...}.

        Raises DEVICE_BUSY while an execution is in flight.
        """
        pairs = list(mapping("buffers", buffers).items())
        for old, new_one in pairs:
            handle("buffers", old, Buffer, self._core)
            handle("buffers", new_one, Buffer, self._core)
        self.record()
        changes = array("wye_graph_rebinding", [(old._handle, new_one._handle) for old, new_one in pairs])
        with self._lock:
            self._core.call("wye_graph_rebind", self._handle, changes, len(pairs))
            self._buffers = [buffers.get(one, one) for one in self._buffers]

    def info(self) -> dict[str, Any]:
        """How many dispatches, transfers and operations it has, and whether it is native."""
        self.record()
        out = new("wye_graph_info")
        self._core.call("wye_graph_describe", self._handle, out)
        return members_of(out)


def _all_known(given: Mapping[Any, Any], known: set[str], where: str) -> None:
    for name in given:
        if name not in known:
            raise invalid(f"`params` has {name!r}, which is no parameter of {where}",
                          f"Fix: it has {', '.join(sorted(known)) or 'none'}", "params")
