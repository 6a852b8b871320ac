# SPDX-License-Identifier: Apache-2.0
"""Transfers that are not waited for."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._arguments import flag, handle
from ._c import cell, new
from ._dispatch import Outputs
from ._elements import typed
from ._future import Future, Pending
from ._library import library
from ._queue import Queue
from ._report import read_report

if TYPE_CHECKING:
    from ._buffer import Buffer


def submit(kind: str, buffer: Buffer, queue: Queue | None, timed: bool, borrow: bool, keep: Any,
           **members: Any) -> Future:
    """Submits a transfer, whose Outputs have the report only. `keep` lives until the end."""
    core = buffer._core
    pending = _submitted(kind, buffer, queue, timed, borrow, keep, members)
    return Future(pending, lambda raw: Outputs({}, read_report(core, raw)))


def submit_download(buffer: Buffer, queue: Queue | None, timed: bool, target: Any,
                    **members: Any) -> Future:
    """Submits a download, whose Outputs have the array `out`: that of the Host `target`, or a new one."""
    core = buffer._core
    if target is not None:
        members["target"] = target.address
    pending = _submitted("DOWNLOAD", buffer, queue, timed, target is not None, target, members)

    def collect(raw: Any) -> Outputs:
        array = typed(pending.memory(0), buffer.dtype, buffer.shape) if target is None else target.array
        return Outputs({"out": array}, read_report(core, raw))
    return Future(pending, collect)


def _submitted(kind: str, buffer: Buffer, queue: Queue | None, timed: bool, borrow: bool, keep: Any,
               members: dict[str, Any]) -> Pending:
    lib, core = library(), buffer._core
    desc = new("wye_transfer_desc", kind=getattr(lib, f"WYE_TRANSFER_{kind}"), buffer=buffer._handle,
               **members)
    desc.flags = ((lib.WYE_DISPATCH_TIMED if flag("timed", timed) else 0)
                  | (lib.WYE_DISPATCH_BORROW if borrow else 0))
    if queue is not None:
        desc.queue = handle("queue", queue, Queue, core)
    out = cell("wye_pending")
    core.retry()
    core.call("wye_buffer_transfer_submit", desc, out)
    return Pending(core, out[0], (buffer, keep))
