# SPDX-License-Identifier: Apache-2.0
"""Pipelines: programs compiled for one device with fixed options."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from . import _arguments
from ._arguments import handle, instance, members, nanoseconds, text
from ._buffer import Buffer
from ._c import array, cell, new
from ._context import members_of
from ._core import Core
from ._dispatch import Bound, Options, Outputs, Request, check_type, run, submit, take_outputs
from ._error import Error, invalid
from ._future import Future, Pending
from ._library import library, text_of
from ._program import BufferParam, Program
from ._report import Report, read_report

if TYPE_CHECKING:
    from ._device import Device


class Pipeline:
    """A program compiled for one device with fixed options; made by Device.pipeline.

    Results are those of Device.run with the same options. Freed by free(), at the end of its `with`
    block, or when nothing refers to it; work in flight continues. Any threads may use it at once.
    """

    device: Device
    """The device."""
    program: Program
    """The program."""

    def __init__(self, device: Device, program: Program, made: int) -> None:
        """Not for applications: use Device.pipeline."""
        self._core: Core = device._core
        self.device, self.program = device, program
        self._handle = made
        self._free = self._core.adopt(self, "wye_pipeline_free", self._handle)

    @staticmethod
    def _describe(device: Device, program: Program, options: Options | None) -> tuple[Any, Any]:
        # Returns the wye_pipeline_desc, and the profile's text, which the caller keeps alive.
        given = Options() if options is None else instance("options", options, Options)
        wanted = handle("program", program, Program, device._core)
        other = next((name for name, value in vars(given).items() if value != getattr(Options(), name)
                      and name not in ("workgroup", "ulp_budget", "variants", "cooperative", "profile",
                                       "timeout")),
                     None)
        if other is not None:
            raise invalid(f"`options` has `{other}`, which is no option of a compile",
                          f"Fix: give {other} to run(), submit() or batch() of the pipeline", "options")
        lib, profile = library(), text("profile", given.profile)
        desc = new("wye_pipeline_desc", program=wanted, device=device._handle,
                   ulp_budget=given.ulp_budget, profile=profile.value,
                   timeout_ns=nanoseconds(given.timeout))
        desc.flags = ((lib.WYE_DISPATCH_VARIANTS if given.variants else 0)
                      | (lib.WYE_DISPATCH_COOPERATIVE if given.cooperative else 0))
        if given.workgroup is not None:
            desc.workgroup = (*given.workgroup, 1, 1)[:3]
        return desc, profile

    @classmethod
    def _create(cls, device: Device, program: Program, options: Options | None) -> Pipeline:
        desc, _profile = cls._describe(device, program, options)
        out = cell("wye_pipeline")
        device._core.retry()
        device._core.call("wye_pipeline_create", desc, out)
        return cls(device, program, out[0])

    @classmethod
    def _submit(cls, device: Device, program: Program, options: Options | None) -> Future[Pipeline]:
        desc, _profile = cls._describe(device, program, options)
        core, out = device._core, cell("wye_pending")
        core.retry()
        core.call("wye_pipeline_create_submit", desc, out)
        pending = Pending(core, out[0], program)

        def collect(_: Any) -> Pipeline:
            made = cell("wye_pipeline")
            core.call("wye_pending_pipeline", pending.handle, made)
            return cls(device, program, made[0])
        return Future(pending, collect)

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Frees it. Work in flight continues."""
        self._core.free(self._free, "wye_pipeline_free", self._handle)

    def __repr__(self) -> str:
        return f"<wye.Pipeline {self.program.name!r} on {self.device.selector}>"

    def run(self, options: Options | None = None, /, **arguments: Any) -> Outputs:
        """Device.run through the pipeline. The options of its compile are not given again."""
        return run(self._core, self.device, self.program, options, arguments, self._handle)

    def submit(self, options: Options | None = None, /, **arguments: Any) -> Future[Outputs]:
        """Device.submit through the pipeline."""
        return submit(self._core, self.device, self.program, options, arguments, self._handle)

    def batch(self, items: Sequence[Mapping[str, Any]], options: Options | None = None) -> list[Outputs]:
        """Runs several dispatches in order, without waiting between them.

        Each item has the arguments of one dispatch. The batch stops at the first item that fails: the
        error names its index, and what earlier items wrote stays. Each of the returned Outputs has the
        report of the whole batch. `timeout` of the options is the time limit of the whole batch.
        """
        given = Options() if options is None else instance("options", options, Options)
        listed = [_arguments.mapping("items", one) for one in members("items", items)]
        bounds = [Bound(self._core, self.device, self.program, given, dict(one), self._handle) for one in listed]
        owned = all(bound.owns_outputs() for bound in bounds) and any(bound.outputs for bound in bounds)
        for bound in () if owned else bounds:
            bound.allocate()
        report, completed = new("wye_report"), cell("uint64_t")
        for bound in bounds:
            bound.desc.timeout_ns = 0
        descs = array("wye_dispatch_desc", [bound.desc for bound in bounds])
        desc = new("wye_batch_desc", pipeline=self._handle, item_count=len(bounds),
                   timeout_ns=nanoseconds(given.timeout))
        desc.items = descs
        if not owned:
            self._core.call("wye_pipeline_batch", desc, completed, report)
            arrays = [{buffer.name: one for buffer, _, one in bound.outputs} for bound in bounds]
            return [Outputs(one, read_report(self._core, report)) for one in arrays]
        owners = array("wye_pending", len(bounds))
        try:
            self._core.call("wye_pipeline_batch_owned", desc, owners, completed, report)
        except Error:
            for owner in filter(None, owners):
                Pending(self._core, owner, None)  # frees the handle
            raise
        pending = [Pending(self._core, owner, None) for owner in owners]
        return [Outputs(take_outputs(bound, one), read_report(self._core, report))
                for bound, one in zip(bounds, pending)]

    def rows(self, rows: Sequence[Mapping[str, Buffer]], options: Options | None = None, /,
             **params: Any) -> Report:
        """Like `batch`, for dispatches that differ only in their Buffers. Each row maps the name of
        every buffer to a whole Buffer. All rows have the same `params` and options."""
        given = Options() if options is None else instance("options", options, Options)
        listed = [_arguments.mapping("rows", one) for one in members("rows", rows)]
        request = Request(self._core, self.device, self.program, given, params, self._handle)
        buffers = self.program.buffers
        handles = [_of_row(at, row, one, self._core) for at, row in enumerate(listed) for one in buffers]
        for at, row in enumerate(listed):
            unknown = next((name for name in row if all(name != one.name for one in buffers)), None)
            if unknown is not None:
                raise invalid(f"`rows[{at}]` has `{unknown}`, which is no buffer of `{self.program.name}`",
                              f"Fix: pass {', '.join(one.name for one in buffers)}", "rows")
        desc = new("wye_rows_desc", pipeline=self._handle, row_count=len(listed), row_size=len(buffers))
        desc.dispatch, desc.buffers = ctypes.pointer(request.desc), array("wye_buffer", handles)
        report, completed = new("wye_report"), cell("uint64_t")
        self._core.call("wye_pipeline_rows", desc, completed, report)
        return read_report(self._core, report)

    def info(self) -> dict[str, Any]:
        """Its bindings, launches and cache hits, and what the driver says about its code."""
        out = new("wye_pipeline_description")
        self._core.call("wye_pipeline_describe", self._handle, out)
        return {"id": text_of(out.id), **members_of(out),
                "backend_layout_fingerprint": text_of(out.backend_layout_fingerprint)}


def _of_row(at: int, row: Mapping[str, Any], declared: BufferParam, core: Core) -> int:
    if declared.name not in row:
        raise invalid(f"`rows[{at}]` has no buffer `{declared.name}`", f"Fix: give each row {declared.name}=...",
                      "rows")
    found = handle(f"rows[{at}].{declared.name}", row[declared.name], Buffer, core)
    check_type(declared, row[declared.name])
    return found
