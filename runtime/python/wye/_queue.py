# SPDX-License-Identifier: Apache-2.0
"""Queues of a device."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ._arguments import choice, flag, instance, integer, text
from ._c import cell, new
from ._context import members_of
from ._core import Core
from ._library import library, text_of

if TYPE_CHECKING:
    from ._device import Device
    from ._dispatch import Options, Outputs
    from ._future import Future
    from ._program import Program

_KINDS = ("any", "compute", "transfer")


class Queue:
    """A queue of one device; made by Device.queue.

    Results are as if all calls ran one after another, whatever their queues: work that conflicts with
    earlier work runs after it. Work without a conflict may run at the same time on two queues. Freed
    by free(), at the end of its `with` block, or when nothing refers to it. Any threads may use it at
    once.
    """

    device: Device
    """The device that it belongs to."""

    def __init__(self, device: Device, kind: str, priority: int, own: bool, label: str) -> None:
        """Not for applications: use Device.queue."""
        self.device = device
        name = text("label", label)
        desc = new("wye_queue_create_desc", label=name.value, kind=choice("kind", kind, _KINDS),
                   priority=integer("priority", priority, -2**31, 2**31 - 1),
                   flags=library().WYE_QUEUE_OWN if flag("own", own) else 0)
        out = cell("wye_queue")
        self._core: Core = device._core
        self._core.retry()
        self._core.call("wye_queue_create", device._handle, desc, out)
        self._handle: int = out[0]
        self._free = self._core.adopt(self, "wye_queue_free", self._handle)

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Frees it. Work in flight goes on."""
        self._core.free(self._free, "wye_queue_free", self._handle)

    def __repr__(self) -> str:
        return f"<wye.Queue on {self.device.selector}>"

    def run(self, program: Program, options: Options | None = None, /, **arguments: Any) -> Outputs:
        """Device.run on this queue."""
        return self.device.run(program, self._options(options), **arguments)

    def submit(self, program: Program, options: Options | None = None, /, **arguments: Any) -> Future[Outputs]:
        """Device.submit on this queue."""
        return self.device.submit(program, self._options(options), **arguments)

    def _options(self, options: Options | None) -> Options:
        from ._dispatch import Options as Kind
        given = Kind() if options is None else instance("options", options, Kind)
        return dataclasses.replace(given, queue=self)

    def flush(self) -> None:
        """Waits until all work that was submitted to it has ended."""
        self._core.call("wye_queue_flush", self._handle)

    def info(self) -> dict[str, Any]:
        """Its requested and granted properties: kind, priority, whether it is shared."""
        out = new("wye_queue_description")
        self._core.call("wye_queue_describe", self._handle, out)
        kinds = {"label": text_of(out.label), "kind": _KINDS[out.kind],
                 "granted_kind": _KINDS[out.granted_kind], "shared": out.shared != 0}
        return {**members_of(out), **kinds}
