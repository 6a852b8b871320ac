# SPDX-License-Identifier: Apache-2.0
"""Asynchronous dispatches."""
from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Generator, Generic, Sequence, TypeVar

from ._arguments import instance, members, seconds, wrong
from ._arrays import shaped
from ._c import array, cell, new
from ._core import Core, view
from ._error import Code, Error
from ._program import BufferParam

if TYPE_CHECKING:
    from ._elements import Array

_T = TypeVar("_T")

_SLICE = 0.1  # seconds between looks at signals, so that Ctrl-C ends a wait
# Errors of waiting, after which the dispatch's own result is still to come.
_OF_THE_WAIT = (Code.TIMEOUT, Code.SHUTTING_DOWN, Code.STALE_HANDLE, Code.WRONG_OWNER,
                Code.INVALID_ARGUMENT, Code.OUT_OF_MEMORY)


class Pending:
    """Owns a wye_pending. Its outputs live as long as arrays show them."""

    def __init__(self, core: Core, handle: int, keep: Any) -> None:
        self.core, self.handle, self.keep = core, handle, keep
        core.adopt(self, "wye_pending_free", handle)

    def output(self, buffer: BufferParam, shape: tuple[int, ...] | None) -> Array:
        """The array of an output that it owns, in `shape` if the sizes match. Valid after the end."""
        return shaped(self.memory(buffer.binding), buffer.type, shape)

    def memory(self, binding: int) -> Array:
        """The bytes of an output that it owns, 0 for those of a transfer. Valid after the end."""
        out = cell("wye_bytes")
        with self.core.exporting(self):
            self.core.call("wye_pending_output", self.handle, binding, out)
        return view(self, out[0].data, out[0].size)


def _within(timeout: float | None, wait: Callable[[int], None]) -> None:
    # Calls `wait` with one slice of time after another, in nanoseconds. Raises TIMEOUT after the last.
    limit = seconds("timeout", timeout)
    deadline = None if limit is None else time.monotonic() + limit
    while True:
        left = _SLICE if deadline is None else min(_SLICE, deadline - time.monotonic())
        try:
            return wait(max(0, int(left * 1e9)))
        except Error as error:
            if error.code != Code.TIMEOUT or left < _SLICE:
                raise


class Future(Generic[_T]):
    """A dispatch or a compile in flight, or one that has ended; made by Device.submit and the like.

    Its result is the Outputs of a dispatch, or what the method that made it says. `await future`
    returns what result() returns. Any threads may use it at once. If nothing refers to it, the work
    continues unobserved; if the work borrows arrays, dropping the Future waits for its end.
    """

    def __init__(self, pending: Pending, collect: Callable[[Any], _T]) -> None:
        """Not for applications: use Device.submit."""
        self._pending = pending
        self._collect = collect
        self._lock = threading.RLock()  # a destructor may ask for the result meanwhile
        self._outcome: _T | Error | None = None  # the result or the error, once it was delivered

    def done(self) -> bool:
        """Whether it has ended, with or without success. Does not wait."""
        if self._outcome is not None:
            return True
        ended = cell("uint32_t")
        self._pending.core.call("wye_pending_poll", self._pending.handle, ended)
        return ended[0] != 0

    def result(self, timeout: float | None = None) -> _T:
        """Waits for the end, at most `timeout` seconds, and returns the outputs.

        Raises TIMEOUT if the dispatch has not ended; it then continues. Raises the dispatch's own error
        if it failed. With Options.timeout that may be TIMEOUT, too; then done() is true. Once it has
        ended, further calls have the same outcome, even after the context was closed.
        """
        report = new("wye_report")

        def wait(slice_ns: int) -> None:
            if self._outcome is not None:
                return
            try:
                self._pending.core.call("wye_pending_wait", self._pending.handle, slice_ns, report)
            except Error as error:
                if error.code != Code.TIMEOUT or not self.done():
                    raise
                # The dispatch's own time limit has passed, or it ended just now with another
                # result.
                try:
                    self._pending.core.call("wye_pending_wait", self._pending.handle, 0, report)
                except Error as own:
                    if own.code != Code.TIMEOUT:
                        raise
                    self._outcome = own._again()
        try:
            _within(timeout, wait)
        except Error as error:
            if error.code not in _OF_THE_WAIT:
                self._outcome = error._again()
            raise
        with self._lock:
            if self._outcome is None:
                self._outcome = self._collect(report)
                self._pending.keep = None
        if isinstance(self._outcome, Error):
            raise self._outcome._again()
        return self._outcome

    def cancel(self) -> None:
        """Cancels it. result() raises CANCELLED, unless it ended before. A GPU does not stop."""
        if self._outcome is None:
            self._pending.core.call("wye_pending_cancel", self._pending.handle)

    def add_done_callback(self, function: Callable[[Future[_T]], object]) -> None:
        """Calls `function(future)`, which should be short, on a thread of the library after the end.

        Exceptions of the function are printed to standard error. Closing the context, and the end
        of the process, wait until the function has returned; it can still read the result.
        """
        if not callable(function):
            raise wrong("function", function, "which cannot be called", "Fix: pass a function")
        self._pending.core.notify(self._pending.handle, lambda: function(self))

    def __await__(self) -> Generator[Any, None, _T]:
        if self._outcome is not None:
            return self.result()
        import asyncio  # not at the top, since this takes a while and is seldom needed
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()

        def wake() -> None:
            if not waiter.done():
                waiter.set_result(None)

        def ended(_: Future[_T]) -> None:
            try:  # collects the result now, since the context may be closed when the coroutine goes on
                with contextlib.suppress(Error):
                    self.result()
            finally:
                with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                    loop.call_soon_threadsafe(wake)
        self.add_done_callback(ended)
        try:
            yield from waiter
        except asyncio.CancelledError:
            self.cancel()
            raise
        return self.result()


def wait_any(futures: Sequence[Future[Any]], timeout: float | None = None) -> int:
    """Waits until one of several futures of one context has ended, and returns its index.

    Raises TIMEOUT if none has within `timeout` seconds.
    """
    waited = [instance("futures", one, Future)._pending for one in members("futures", futures)]
    if not waited:
        raise wrong("futures", futures, "so there is nothing to wait for", "Fix: pass at least one")
    core = waited[0].core
    if any(one.core is not core for one in waited):
        raise Error(Code.WRONG_OWNER, "the futures belong to several contexts",
                    "Fix: wait for those of one context", "futures")
    handles = array("wye_pending", [one.handle for one in waited])
    index = cell("uint64_t")
    _within(timeout, lambda slice_ns: core.call("wye_pending_wait_any", handles, len(waited),
                                                slice_ns, index))
    return int(index[0])
