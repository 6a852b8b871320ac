# SPDX-License-Identifier: Apache-2.0
"""The C context behind a Context, and the order in which what belongs to it is freed.

Everything that has a handle keeps the Core alive, so the C context is destroyed last. Arrays that
show memory of the library (results, mapped buffers) are its *exports*: they keep their owner and
the Core, and so stay valid after the Context was closed.

At the end of the process contexts are closed, but not destroyed: threads, exit handlers and
destructors may use them until the last moment, and are refused.
"""
from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import itertools
import os
import sys
import threading
import time
import traceback
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterator

from ._c import TYPES
from ._elements import at_address
from ._error import Code, Error
from ._library import NO_LIMIT, call, library

if TYPE_CHECKING:
    from ._elements import Array

LONGEST = 2**63 - 1  # nanoseconds; a wait with this limit ends when work is cancelled, one without a limit does not

# Its `value` is the id of the Core whose callback runs on this thread. Such a thread may neither
# close nor destroy the context.
in_callback = threading.local()

# Callbacks that the library may still make, by the number that the library was given: the context,
# the handle of the dispatch, and the function to call at its end. For a call that reads files there
# is no dispatch: 0 and None.
due: dict[int, tuple[Core, int, Callable[[], object] | None]] = {}
_numbers = itertools.count(1)


@contextlib.contextmanager
def inside_callback(core: int) -> Iterator[None]:
    """Marks this thread as running a callback of a context, by the id of its Core."""
    before = getattr(in_callback, "value", 0)
    in_callback.value = core
    try:
        yield
    finally:
        in_callback.value = before


def _ended(number: int, _status: int) -> None:
    if number not in due:
        return  # the call that asked for it was interrupted
    # The function may drop the last reference to the context, so its destructor must see the mark,
    # too.
    with inside_callback(id(due[number][0])):
        try:
            due[number][2]()  # type: ignore[misc]
        except BaseException:
            traceback.print_exc()
        finally:
            due.pop(number, None)


_ENDED = TYPES["wye_pending_fn"](_ended)


class Finalizer:
    """Calls a function once: when an object is gone, or when it is called itself.

    Unlike weakref.finalize, it does nothing at the end of the process.
    """

    __slots__ = ("_do", "_owner")

    def __init__(self, owner: Any, do: Callable[..., object], *arguments: Any) -> None:
        self._do: Callable[[], object] | None = functools.partial(do, *arguments)
        self._owner = weakref.ref(owner, self)
        _finalizers.add(self)

    def __call__(self, _: Any = None) -> None:
        do = self.detach()
        if do is not None and not _process_ends:
            do()

    def detach(self) -> Callable[[], object] | None:
        """Makes it do nothing from now on. Returns its function to the first caller, None to later ones."""
        try:
            _finalizers.remove(self)
        except KeyError:
            return None
        do, self._do = self._do, None
        return do

    @property
    def alive(self) -> bool:
        """Whether it has not been called yet."""
        return self in _finalizers

    @property
    def owner(self) -> Any:
        """The object, or None."""
        return self._owner()


_finalizers: set[Finalizer] = set()
_process_ends = False


class _State:
    # The state that a Core shares with its finalizer. After the finalizer has run, destructors of
    # objects in a reference cycle may still use the Core.
    __slots__ = ("closed", "inherited", "raw")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.closed = False  # calls are refused
        self.inherited = False  # True in the child of a fork, where the context cannot be used


def _destroy(state: _State) -> None:
    state.closed = True
    if state.inherited:
        return
    if getattr(in_callback, "value", 0):
        threading.Thread(target=library().wye_context_destroy, args=(state.raw,)).start()
    else:
        library().wye_context_destroy(state.raw)


class Core:
    """Owns one wye_context. Any thread may use it."""

    def __init__(self, raw: Any) -> None:
        self.exports: set[int] = set()  # ids of the owners of memory that arrays show
        self.devices: dict[int, str] = {}  # the selectors of opened devices, by handle
        self.choices: dict[int, Any] = {}  # the newest Choices that _report has made, by number
        self.closing = False  # True: no further callback can be requested
        self._state = _State(raw)
        self._lock = threading.RLock()
        self._children: dict[tuple[str, int], Finalizer] = {}
        # Handles that could not be freed yet.
        self._refused: collections.deque[tuple[str, int, Any]] = collections.deque()
        Finalizer(self, _destroy, self._state)
        _cores[id(self)] = self
        check_running()  # if it raises nothing, _end() will see the entry above

    @property
    def closed(self) -> bool:
        """Whether calls are refused."""
        return self._state.closed

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function of the C API that takes the context first and the error sink last."""
        if self._state.closed:
            raise _closed()
        try:
            call(getattr(library(), function), self._state.raw, *arguments)
        except Error as error:
            # Another thread may have closed it since.
            if self._state.closed and error.code in (Code.STALE_HANDLE, Code.SHUTTING_DOWN):
                raise _closed() from error
            raise

    def adopt(self, owner: Any, free: str, handle: int, keep: Any = None) -> Finalizer:
        """Frees a handle by the function `free` once `owner` is gone, or when this Core ends. `keep`
        lives until the handle is freed."""
        self.retry()
        finalizer = Finalizer(owner, self.release, free, handle, keep)
        self._children[free, handle] = finalizer
        return finalizer

    def release(self, free: str, handle: int, keep: Any = None) -> None:
        """Frees a handle. If pending work uses it, or files are being read, retry() frees it later."""
        self._children.pop((free, handle), None)
        status = getattr(library(), free)(self._state.raw, handle, None)
        # A closed context frees its handles when it is destroyed; `keep` must live until then.
        kept = keep is not None and status == Code.SHUTTING_DOWN
        if kept or status in (Code.BUFFER_IN_USE, Code.INVALID_ARGUMENT):
            self._refused.append((free, handle, keep))

    def free(self, finalizer: Finalizer, free: str, handle: int) -> None:
        """Frees a handle now, once; raises the error if that is refused."""
        self.retry()
        if finalizer.alive and not self.closed and not self._state.inherited:
            self.call(free, handle)
            finalizer.detach()
            self._children.pop((free, handle), None)

    def retry(self) -> None:
        """Frees the handles that could not be freed when their owners went away."""
        # Other threads may add to the queue, and take from it.
        for _ in range(len(self._refused)):
            try:
                again = self._refused.popleft()
            except IndexError:
                return
            self.release(*again)

    def expect(self, handle: int = 0, function: Callable[[], object] | None = None) -> int:
        """Notes in `due` that the library may make a callback. The caller removes the note if it makes none."""
        number = next(_numbers)
        due[number] = (self, handle, function)
        if self.closing:  # else close() will see the entry in `due`
            del due[number]
            raise _closed()
        return number

    def notify(self, handle: int, function: Callable[[], object]) -> None:
        """Calls a function on a thread of the library once a dispatch has ended."""
        number = self.expect(handle, function)
        try:
            self.call("wye_pending_notify", handle, _ENDED, number)
        except BaseException:
            due.pop(number, None)
            raise

    @contextlib.contextmanager
    def exporting(self, owner: Any) -> Iterator[None]:
        """Notes an owner of memory that arrays are to show. The body takes the memory's address."""
        key = id(owner)
        with self._lock:
            if self.closed:
                raise _closed()
            known = key in self.exports
            self.exports.add(key)
        try:
            yield
        except BaseException:
            if not known:
                self.exports.discard(key)
            raise
        if not known:
            Finalizer(owner, self.exports.discard, key)

    def close(self) -> None:
        """Makes the callbacks that are due, then refuses calls, waits for all work, and frees
        everything except memory that arrays show."""
        if self._state.inherited:
            self._state.closed = True
            return
        if getattr(in_callback, "value", 0) == id(self):
            raise Error(Code.INVALID_ARGUMENT, "the context is closed inside one of its callbacks",
                        "Fix: return from the callback, and close it afterwards or on another "
                        "thread", "context")
        self.closing = True
        self._wait_for_callbacks()
        with self._lock:
            if self.closed:
                return
            self._state.closed = True
            exported = bool(self.exports)
        if not exported:
            call(library().wye_context_shutdown, self._state.raw, NO_LIMIT)
            return
        # Waits for each dispatch: one that named no device may run on a device that is not in `devices`.
        for free, handle in list(self._children):
            if free == "wye_pending_free":
                library().wye_pending_wait(self._state.raw, handle, NO_LIMIT, None, None)
        for device in list(self.devices):
            library().wye_device_flush(self._state.raw, device, None)  # a lost one has no work
        for finalizer in reversed(list(self._children.values())):
            owner = finalizer.owner
            if owner is None or id(owner) not in self.exports:
                finalizer()

    def _wait_for_callbacks(self) -> None:
        while True:
            handles = [handle for core, handle, _ in list(due.values()) if core is self]
            if not handles:
                return
            for handle in filter(None, handles):
                library().wye_pending_wait(self._state.raw, handle, LONGEST, None, None)
            time.sleep(0.001)

    def inherit(self) -> None:
        """Makes the context of the parent one that this child of a fork cannot use."""
        self._state.inherited = True
        self._lock = threading.RLock()  # a thread of the parent may have held it


_cores: weakref.WeakValueDictionary[int, Core] = weakref.WeakValueDictionary()


def _living() -> list[Core]:
    return [core for core in (one() for one in _cores.valuerefs()) if core is not None]


def _closed() -> Error:
    if _process_ends:
        return Error(Code.SHUTTING_DOWN, "the process ends, and its contexts are closed",
                     "Fix: end threads before the main one, and register exit handlers after "
                     "`import wye`", "context")
    return Error(Code.SHUTTING_DOWN, "the context is closed",
                 "Fix: use it inside its `with` block, or make another wye.Context", "context")


def check_running() -> None:
    """Refuses a context that would be made too late to be closed."""
    if _process_ends:
        raise _closed()


def _runs_callback(frame: Any) -> bool:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code is _ended.__code__


def _end() -> None:
    for core in _living():
        with contextlib.suppress(Error):
            core.close()
    # close() has waited for the functions of callbacks to return. Their threads must also have left
    # Python: a thread that asks for the interpreter's lock after the end of Python ends the process.
    while any(map(_runs_callback, sys._current_frames().values())):
        time.sleep(0.001)


@atexit.register
def _end_of_process() -> None:
    # Ctrl-C does not end this, since callbacks would come while the interpreter ends.
    global _process_ends
    _process_ends = True
    while True:
        try:
            return _end()
        except (KeyboardInterrupt, SystemExit):
            pass


def _after_fork() -> None:
    # The callbacks of the parent's dispatches are not made in the child.
    due.clear()
    for core in _living():
        core.inherit()


os.register_at_fork(after_in_child=_after_fork)


def view(owner: Any, address: int | None, nbytes: int) -> Array:
    """A writable array of bytes at an address, which keeps the memory's owner alive."""
    return at_address(owner, address or 0, nbytes)
