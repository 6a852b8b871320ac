# SPDX-License-Identifier: Apache-2.0
"""Asynchronous dispatches."""
from __future__ import annotations

import atexit
import itertools
import os
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, Callable, Generator, Sequence

from ._arrays import shaped
from ._core import Core, in_callback, view
from ._error import Code, Error, invalid
from ._library import ffi, new
from ._program import BufferParam

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._dispatch import Outputs

_SLICE = 0.1  # seconds between looks at signals, so that Ctrl-C ends a wait
_LONGEST = 2**63 - 1


class Pending:
    """Owns a wye_pending. Its outputs live as long as arrays show them."""

    def __init__(self, core: Core, handle: int, keep: Any) -> None:
        self.core, self.handle, self.keep = core, handle, keep
        self._free = core.adopt(self, "wye_pending_free", handle)

    def output(self, buffer: BufferParam) -> NDArray[Any]:
        """The array of an output that it owns. Valid after the end."""
        out = ffi.new("wye_bytes*")
        with self.core.exporting(self, self._free):
            self.core.call("wye_pending_output", self.handle, buffer.binding, out)
        return shaped(view(self, out.data, out.size), buffer.type)


# Callbacks that the library has not made yet, by the number that the library was given.
_waiting: dict[int, tuple[Pending, Callable[[], object]]] = {}
_numbers = itertools.count(1)


@ffi.callback("void(void*, wye_status)")
def _ended(user: Any, _status: int) -> None:
    # All references of the call are dropped before it counts as over: the last ones may end the
    # context, which must not happen on this thread.
    in_callback.value = True
    try:
        _waiting.pop(int(ffi.cast("uintptr_t", user)))[1]()
    except BaseException:
        traceback.print_exc()
    finally:
        in_callback.value = False


@atexit.register
def _drain() -> None:
    # No callback may come while the interpreter ends.
    for pending, _ in list(_waiting.values()):
        try:
            pending.core.call("wye_pending_wait", pending.handle, _LONGEST, ffi.NULL)
        except Error:
            pass
    while any(not pending.core.closed for pending, _ in list(_waiting.values())):
        time.sleep(0.001)


# The callbacks of the parent's dispatches are not made in the child of a fork.
os.register_at_fork(after_in_child=_waiting.clear)


class Future:
    """A dispatch in flight, or one that has ended; made by Device.submit.

    `await future` returns what result() returns. Any threads may use it at once. If nothing refers
    to it, the work continues unobserved; if the work borrows arrays, dropping the Future waits
    for its end.
    """

    def __init__(self, pending: Pending, collect: Callable[[Any], Outputs]) -> None:
        """Not for applications: use Device.submit."""
        self._pending = pending
        self._collect = collect
        self._lock = threading.Lock()
        self._outputs: Outputs | None = None

    def done(self) -> bool:
        """Whether it has ended, with or without success. Does not wait."""
        ended = ffi.new("uint32_t*")
        self._pending.core.call("wye_pending_poll", self._pending.handle, ended)
        return ended[0] != 0

    def result(self, timeout: float | None = None) -> Outputs:
        """Waits for the end, at most `timeout` seconds, and returns the outputs.

        Raises TIMEOUT if it has not ended, in which case it continues, else the dispatch's own
        error. Further calls return the same arrays.
        """
        report = new("wye_report")
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE if deadline is None else min(_SLICE, deadline - time.monotonic())
            try:
                self._pending.core.call("wye_pending_wait", self._pending.handle,
                                        max(0, int(left * 1e9)), report)
                break
            except Error as error:
                if error.code != Code.TIMEOUT or left < _SLICE:
                    raise
        with self._lock:
            if self._outputs is None:
                self._outputs = self._collect(report)
                self._pending.keep = None
            return self._outputs

    def cancel(self) -> None:
        """Cancels it. result() raises CANCELLED, unless it ended before. A GPU does not stop."""
        self._pending.core.call("wye_pending_cancel", self._pending.handle)

    def add_done_callback(self, function: Callable[[Future], object]) -> None:
        """Calls `function(future)`, which should be short, on a thread of the library after the end.

        Exceptions of the function are printed to standard error.
        """
        number = next(_numbers)
        _waiting[number] = (self._pending, lambda: function(self))
        try:
            self._pending.core.call("wye_pending_notify", self._pending.handle, _ended,
                                    ffi.cast("void*", number))
        except BaseException:
            _waiting.pop(number, None)
            raise

    def __await__(self) -> Generator[Any, None, Outputs]:
        import asyncio  # which takes a while, and not everyone needs it
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()

        def wake() -> None:
            if not waiter.done():
                waiter.set_result(None)

        def ended(_: Future) -> None:
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:
                pass  # the loop was closed meanwhile
        self.add_done_callback(ended)
        try:
            yield from waiter
        except asyncio.CancelledError:
            self.cancel()
            raise
        return self.result()


def wait_any(futures: Sequence[Future], timeout: float | None = None) -> int:
    """Waits until one of several futures of one context has ended, and returns its index.

    Raises TIMEOUT if none has within `timeout` seconds.
    """
    if not futures:
        raise invalid("there is no future to wait for", "Fix: pass at least one", "futures")
    core = futures[0]._pending.core
    if any(one._pending.core is not core for one in futures):
        raise Error(Code.WRONG_OWNER, "the futures belong to several contexts",
                    "Fix: wait for those of one context", "futures")
    handles = ffi.new("wye_pending[]", [one._pending.handle for one in futures])
    index = ffi.new("uint64_t*")
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        left = _SLICE if deadline is None else min(_SLICE, deadline - time.monotonic())
        try:
            core.call("wye_pending_wait_any", handles, len(futures), max(0, int(left * 1e9)), index)
            return index[0]
        except Error as error:
            if error.code != Code.TIMEOUT or left < _SLICE:
                raise
