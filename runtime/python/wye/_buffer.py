# SPDX-License-Identifier: Apache-2.0
"""Buffers that stay on a device."""
from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._arguments import choice, flag, handle, instance, integer, text
from ._arrays import dtype_of, empty, host_array, octets, pattern, shape_of
from ._core import Core, Finalizer, view
from ._error import Error, invalid
from ._library import ffi, library, new

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._device import Device

_USAGES = ("device", "upload", "readback", "shared")


class Buffer:
    """Memory on one device, which stays there between dispatches.

    Made by Device.buffer and Device.upload. Freed by free(), at the end of its `with` block, or
    when nothing refers to it; if pending work uses it then, after that work. Any threads may use it
    at once: calls that use one buffer run one after the other.
    """

    dtype: np.dtype[Any]
    """The element type, for download and map. A uint8 buffer fits every program."""
    shape: tuple[int, ...]
    """The shape of download and map."""
    nbytes: int
    """Its size."""
    device: Device
    """The device that it is on."""

    def __init__(self, device: Device, shape: int | Sequence[int], dtype: Any, usage: str,
                 label: str) -> None:
        """Not for applications: use Device.buffer or Device.upload."""
        self.device = device
        self.dtype = dtype_of("dtype", dtype)
        self.shape = shape_of(shape, self.dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        name = text("label", label)
        desc = new("wye_buffer_create_desc")
        desc.size, desc.label, desc.usage = self.nbytes, name.value, choice("usage", usage, _USAGES)
        out = ffi.new("wye_buffer*")
        self._core: Core = device._core
        self._core.retry()
        self._core.call("wye_buffer_create", device._handle, desc, out)
        self._handle: int = out[0]
        self._free = self._core.adopt(self, "wye_buffer_free", self._handle)

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Frees it now. Raises BUFFER_IN_USE if pending work uses it, or if arrays show it (map)."""
        self._core.free(self._free, "wye_buffer_free", self._handle)

    def __repr__(self) -> str:
        return f"<wye.Buffer {self.shape} {self.dtype} on {self.device.selector}>"

    def range(self, offset: int, nbytes: int) -> BufferRange:
        """A part of the buffer, as an argument of a dispatch. Offset and size are bytes."""
        return BufferRange(self, offset, nbytes)

    def upload(self, source: Any, *, offset: int = 0) -> None:
        """Copies an array, or anything with `__dlpack__` or the buffer protocol, to the device.

        `offset` is in bytes. The source must be contiguous and have the buffer's element type;
        bytes and uint8 fit every type. Waits for the end.
        """
        array = self._same_type("source", host_array("source", source))
        data = ffi.from_buffer(octets(array))
        self._core.call("wye_buffer_upload_range", self._handle, integer("offset", offset),
                        ffi.new("wye_bytes*", (data, array.nbytes))[0])

    def _same_type(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype != self.dtype and np.uint8 not in (array.dtype, self.dtype):
            raise invalid(f"`{name}` has elements of type {array.dtype}, the buffer {self.dtype}",
                          f"Fix: pass {name}.astype(numpy.{self.dtype}), which copies it, or "
                          f"{name}.view(numpy.uint8) for the bytes as they are", name)
        return array

    def download(self, out: Any = None, *, offset: int = 0) -> NDArray[Any]:
        """Copies from the device, and returns the array.

        Without `out`, it returns a new array of all elements. With `out`, a contiguous writable
        array, it fills `out` from `offset` in bytes on.
        """
        offset = integer("offset", offset)
        if out is None:
            if offset != 0:
                raise invalid(f"`offset` is {offset}, but there is no array to download to",
                              "Fix: pass `out`", "offset")
            array = empty(self.shape, self.dtype)
        else:
            array = self._same_type("out", host_array("out", out, write=True))
        data = ffi.from_buffer(octets(array), require_writable=True)
        self._core.call("wye_buffer_download_range", self._handle, offset, data, array.nbytes)
        return array

    def copy_to(self, target: Buffer, *, offset: int = 0, target_offset: int = 0,
                nbytes: int | None = None, across: bool = False) -> None:
        """Copies within a device. All numbers are bytes; without `nbytes`, copies all from `offset` on.

        A copy to another device goes through host memory, and needs `across`.
        """
        offset = integer("offset", offset)
        if nbytes is None:
            nbytes = self.nbytes - integer("offset", offset, 0, self.nbytes)
        self._core.call(
            "wye_buffer_copy_across" if flag("across", across) else "wye_buffer_copy", self._handle,
            offset, handle("target", target, Buffer, self._core),
            integer("target_offset", target_offset), integer("nbytes", nbytes))

    def fill(self, value: Any = 0) -> None:
        """Sets all elements to one number, which the element type must be able to hold."""
        self._core.call("wye_buffer_fill", self._handle, 0, self.nbytes, pattern(value, self.dtype),
                        self.dtype.itemsize)

    def map(self) -> NDArray[Any]:
        """The memory as an array, without a copy. Raises UNSUPPORTED if the device cannot map it.

        Devices that can map buffers map those of the usages "upload", "readback" and "shared". The
        buffer cannot be freed while such arrays live. Call sync between the accesses of host and
        device, and do not let both use the same bytes at once. The memory is gone when the device
        is lost.
        """
        mapping = _Mapping(self)
        return view(mapping, mapping.address, self.nbytes).view(self.dtype).reshape(self.shape)

    def sync(self, direction: str) -> None:
        """Makes what one side wrote to a mapped buffer visible to the other.

        "to_device" makes the host's writes visible to work that is submitted later. "to_host" waits
        for pending work that uses the buffer, and makes its writes visible to the host.
        """
        self._core.call("wye_buffer_sync", self._handle, 0, self.nbytes,
                        (library().WYE_SYNC_TO_DEVICE, library().WYE_SYNC_TO_HOST)[
                            choice("direction", direction, ("to_device", "to_host"))])

    def __dlpack__(self, **options: Any) -> Any:
        """The mapped memory as a DLPack capsule, after the work that uses the buffer has ended."""
        try:
            array = self.map()
            self.sync("to_host")
        except Error as error:
            raise BufferError(str(error)) from error
        return array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The DLPack device (1, 0), which is host memory."""
        return (1, 0)


@dataclasses.dataclass(frozen=True)
class BufferRange:
    """A part of a Buffer, as an argument of a dispatch; made by Buffer.range."""

    buffer: Buffer
    """The buffer."""
    offset: int
    """Where the part begins, in bytes."""
    nbytes: int
    """Its size, which may be 0."""

    def __post_init__(self) -> None:
        size = instance("buffer", self.buffer, Buffer).nbytes
        offset = integer("offset", self.offset, 0, size)
        object.__setattr__(self, "offset", offset)
        object.__setattr__(self, "nbytes", integer("nbytes", self.nbytes, 0, size - offset))


class _Mapping:
    # One mapping of a buffer, undone when no array shows it.
    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        core = buffer._core
        out = new("wye_buffer_mapping")
        core.call("wye_buffer_map", buffer._handle, out)
        Finalizer(self, core.release, "wye_buffer_unmap", buffer._handle)
        self.address = out.address
        with core.exporting(self):
            pass
