# SPDX-License-Identifier: Apache-2.0
"""The C context behind a Context, and the order in which what belongs to it is freed.

Everything that has a handle keeps the Core alive, so the C context is destroyed last. Arrays that
show memory of the library (results, mapped buffers) are its *exports*: they keep their owner and
the Core, and so stay valid after the Context was closed.
"""
from __future__ import annotations

import contextlib
import threading
import weakref
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from ._error import Code, Error
from ._library import NO_LIMIT, call, ffi, library

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Threads that run a callback of the library: these may not destroy its context.
in_callback = threading.local()


def _flush(raw: Any, devices: set[int]) -> None:
    # Waits for all work. A lost device has none.
    for device in list(devices):
        library().wye_device_flush(raw, device, ffi.NULL)


def _destroy(raw: Any, exports: set[int], devices: set[int]) -> None:
    # Arrays are left only at the end of the process, which frees their memory.
    if exports:
        _flush(raw, devices)
    elif getattr(in_callback, "value", False):
        threading.Thread(target=library().wye_context_destroy, args=(raw,)).start()
    else:
        library().wye_context_destroy(raw)


class Core:
    """Owns one wye_context. Any thread may use it."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.closed = False
        self.exports: set[int] = set()  # ids of the owners of memory that arrays show
        self.devices: set[int] = set()  # that were opened
        self._lock = threading.RLock()
        self._children: dict[tuple[str, int], weakref.finalize] = {}
        self._refused: list[tuple[str, int]] = []  # in use by pending work when they were freed
        weakref.finalize(self, _destroy, raw, self.exports, self.devices)

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function of the C API that takes the context first and the error sink last."""
        if self.closed:
            raise self._is_closed()
        try:
            call(getattr(library(), function), self.raw, *arguments)
        except Error as error:
            # Another thread may have closed it since.
            if self.closed and error.code == Code.STALE_HANDLE:
                raise self._is_closed() from error
            raise

    def _is_closed(self) -> Error:
        return Error(Code.SHUTTING_DOWN, "the context is closed",
                     "Fix: use it inside its `with` block, or make another wye.Context", "context")

    def adopt(self, owner: Any, free: str, handle: int) -> weakref.finalize:
        """Frees a handle by the function `free` once `owner` is gone, or at the end of this."""
        self.retry()
        finalizer = weakref.finalize(owner, self.release, free, handle)
        self._children[free, handle] = finalizer
        return finalizer

    def release(self, free: str, handle: int) -> None:
        """Frees a handle, or notes that pending work uses it."""
        self._children.pop((free, handle), None)
        if getattr(library(), free)(self.raw, handle, ffi.NULL) == Code.BUFFER_IN_USE:
            self._refused.append((free, handle))

    def free(self, finalizer: weakref.finalize, free: str, handle: int) -> None:
        """Frees a handle now, once; raises the error if that is refused."""
        self.retry()
        if finalizer.alive and not self.closed:
            self.call(free, handle)
            finalizer.detach()
            self._children.pop((free, handle), None)

    def retry(self) -> None:
        """Frees what pending work kept from being freed when its owner went away."""
        if self._refused:
            again, self._refused = self._refused, []
            for free, handle in again:
                self.release(free, handle)

    @contextlib.contextmanager
    def exporting(self, owner: Any, finalizer: weakref.finalize) -> Iterator[None]:
        """Notes an owner of memory that arrays are to show. The body takes the memory's address.

        `finalizer` frees that memory; it no longer runs at the end of the process.
        """
        key = id(owner)
        with self._lock:
            if self.closed:
                raise self._is_closed()
            known = key in self.exports
            self.exports.add(key)
        try:
            yield
        except BaseException:
            if not known:
                self.exports.discard(key)
            raise
        if not known:
            finalizer.atexit = False
            weakref.finalize(owner, self.exports.discard, key).atexit = False

    def close(self) -> None:
        """Refuses later calls, waits for all work, and frees everything but what arrays show."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            exported = bool(self.exports)
        if not exported:
            call(library().wye_context_shutdown, self.raw, NO_LIMIT)
            return
        _flush(self.raw, self.devices)
        for finalizer in reversed(list(self._children.values())):
            owner = finalizer.peek()
            if owner is None or id(owner[0]) not in self.exports:
                finalizer()


class _Memory:
    # What numpy asks for an array over memory of an owner; it is the array's base.
    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any, address: int, nbytes: int) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (nbytes,),
                                    "data": (address, False)}


def view(owner: Any, address: Any, nbytes: int) -> NDArray[Any]:
    """A writable array of bytes at an address, which keeps the memory's owner alive."""
    if nbytes == 0:
        return np.empty(0, np.uint8)
    return np.asarray(_Memory(owner, int(ffi.cast("uintptr_t", address)), nbytes))
