# SPDX-License-Identifier: Apache-2.0
"""Buffers that stay on a device."""
from __future__ import annotations

import dataclasses
import math
import operator
from typing import TYPE_CHECKING, Any, Sequence

from . import _dlpack
from ._arguments import choice, flag, handle, instance, integer, shown, text
from ._arrays import (Host, converted, dtype_of, empty, host_array, is_list, kind_of, pattern,
                      shape_of)
from ._c import TYPES, cell, new
from ._core import Core, Finalizer, view
from ._elements import UINT8, Array, DType, same, typed
from ._error import Code, Error, ExchangeError, invalid
from ._library import Text, library, text_of

if TYPE_CHECKING:
    from ._device import Device
    from ._future import Future
    from ._queue import Queue

_USAGES = ("device", "upload", "readback", "shared")


class Buffer:
    """Memory on one device, which stays there between dispatches.

    Made by Device.buffer and Device.upload. Freed by free(), at the end of its `with` block, or
    when nothing refers to it; if pending work uses it then, after that work. Any threads may use it
    at once: calls that use one buffer run one after the other.
    """

    dtype: DType
    """The element type, for download and map. A uint8 buffer fits every program."""
    shape: tuple[int, ...]
    """The shape of download and map."""
    nbytes: int
    """Its size in bytes."""
    device: Device
    """The device that it is on."""
    usage: str
    """Who accesses it: "device", "upload", "readback" or "shared"."""

    def __init__(self, device: Device, shape: int | Sequence[int], dtype: Any, usage: str,
                 label: str, adopted: _dlpack.Taken | None = None) -> None:
        """Not for applications: use Device.buffer, Device.upload or Device.adopt."""
        self.device, self._adopted = device, adopted
        self.dtype = dtype_of("dtype", dtype)
        self.shape = shape_of(shape, self.dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        name = text("label", label)
        kind = choice("usage", usage, _USAGES)
        self.usage = usage
        out = cell("wye_buffer")
        self._core: Core = device._core
        self._core.retry()
        if adopted is None:
            desc = new("wye_buffer_create_desc", size=self.nbytes, label=name.value, usage=kind)
            self._core.call("wye_buffer_create", device._handle, desc, out)
        else:
            memory, pointer = new("wye_native_handle", count=1), Text("CUdeviceptr")
            memory.values[0].type, memory.values[0].value = pointer.value, adopted.address
            desc = new("wye_buffer_adopt_desc", size=self.nbytes, label=name.value)
            desc.memory = (TYPES["wye_native_handle"] * 1)(memory)
            self._core.call("wye_buffer_adopt", device._handle, desc, out)
        self._handle: int = out[0]
        self._free = self._core.adopt(self, "wye_buffer_free", self._handle, adopted)

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

    def _whole(self) -> BufferRange:
        return BufferRange(self, 0, self.nbytes)

    def upload(self, source: Any, *, offset: int = 0) -> None:
        """Copies an array, or anything with `__dlpack__` or the buffer protocol, to the device.

        `offset` is in bytes. The source must be contiguous and have the buffer's element type;
        bytes and uint8 fit every type. A list of numbers is converted to that type. Waits for the
        end.
        """
        self._upload(self._source(source), integer("offset", offset))

    def _source(self, source: Any) -> Host:
        kind = kind_of(self.dtype)
        if is_list(source) and kind is not None:
            return converted("source", source, kind)
        return self._same_type("source", host_array("source", source))

    def _upload(self, host: Host, offset: int = 0) -> None:
        self._core.call("wye_buffer_upload_range", self._handle, offset, TYPES["wye_bytes"](*host.bytes))

    def _same_type(self, name: str, host: Host) -> Host:
        if not same(host.dtype, self.dtype) and UINT8 not in (host.dtype, self.dtype) and not host.raw:
            raise invalid(f"`{name}` has elements of type {host.dtype}, the buffer {self.dtype}",
                          f"Fix: pass {name}.astype(numpy.{self.dtype}), which copies it, or "
                          f"{name}.view(numpy.uint8) for the bytes as they are", name)
        return host

    def download(self, out: Any = None, *, offset: int = 0) -> Array:
        """Copies from the device, and returns the array.

        Without `out`, it returns a new array of all elements. With `out`, a contiguous writable
        array, it fills `out` from `offset` in bytes on.
        """
        host, begin = self._target(out, offset)
        if host is None:
            host = Host(empty(self.shape, self.dtype), self.dtype)
        self._core.call("wye_buffer_download_range", self._handle, begin, *host.bytes)
        return host.array

    def _target(self, out: Any, offset: Any) -> tuple[Host | None, int]:
        begin = integer("offset", offset)
        if out is not None:
            return self._same_type("out", host_array("out", out, write=True)), begin
        if begin != 0:
            raise invalid(f"`offset` is {begin}, but there is no array to download to",
                          "Fix: pass `out`", "offset")
        return None, begin

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

    def submit_upload(self, source: Any, *, offset: int = 0, borrow: bool = False,
                      queue: Queue | None = None, timed: bool = False) -> Future:
        """Like `upload`, but does not wait: the returned Future has the report.

        The source is copied before this returns. With `borrow` it is used in place until the end, and
        the caller must not change it before.
        """
        from ._transfer import submit
        host = self._source(source)
        return submit("UPLOAD", self, queue, timed, flag("borrow", borrow), host,
                      offset=integer("offset", offset), size=host.nbytes, source=host.address)

    def submit_download(self, out: Any = None, *, offset: int = 0, queue: Queue | None = None,
                        timed: bool = False) -> Future:
        """Like `download`, but does not wait: `result().out` of the returned Future is the array.

        `out` is written in place, and the caller must not read or change it before the end.
        """
        from ._transfer import submit_download
        host, begin = self._target(out, offset)
        return submit_download(self, queue, timed, host, offset=begin,
                               size=self.nbytes if host is None else host.nbytes)

    def submit_copy_to(self, target: Buffer, *, offset: int = 0, target_offset: int = 0,
                       nbytes: int | None = None, queue: Queue | None = None,
                       timed: bool = False) -> Future:
        """As copy_to on one device, but does not wait: the returned Future has the report."""
        from ._transfer import submit
        handle("target", target, Buffer, self._core)
        begin = integer("offset", offset, 0, self.nbytes)
        size = self.nbytes - begin if nbytes is None else integer("nbytes", nbytes)
        return submit("COPY", target, queue, timed, False, self, source_buffer=self._handle,
                      source_offset=begin, offset=integer("target_offset", target_offset), size=size)

    def submit_fill(self, value: Any = 0, *, queue: Queue | None = None, timed: bool = False) -> Future:
        """Like `fill`, but does not wait: the returned Future has the report."""
        from ._transfer import submit
        return submit("FILL", self, queue, timed, False, None, size=self.nbytes,
                      pattern=pattern(value, self.dtype), pattern_size=self.dtype.itemsize)

    def map(self) -> Array:
        """The memory as an array, without a copy. Raises UNSUPPORTED if the device cannot map it.

        Devices that can map buffers map those of the usages "upload", "readback" and "shared". The
        buffer cannot be freed while such arrays live. Call sync between the accesses of host and
        device, and do not let both use the same bytes at once. The memory is gone when the device
        is lost.
        """
        mapping = _Mapping(self)
        return typed(view(mapping, mapping.address, self.nbytes), self.dtype, self.shape)

    def sync(self, direction: str) -> None:
        """Makes what one side wrote to a mapped buffer visible to the other.

        "to_device" makes the host's writes visible to work that is submitted later. "to_host" waits
        for pending work that uses the buffer, and makes its writes visible to the host.
        """
        self._core.call("wye_buffer_sync", self._handle, 0, self.nbytes,
                        (library().WYE_SYNC_TO_DEVICE, library().WYE_SYNC_TO_HOST)[
                            choice("direction", direction, ("to_device", "to_host"))])

    def __dlpack__(self, **options: Any) -> Any:
        """The memory as a DLPack capsule, without a copy, after the work of its device has ended.

        Of a CUDA device it is the device's memory, else mapped memory of the host. Do not use the
        Buffer until the other library has ended its own work with the memory.
        """
        try:
            where = self.__dlpack_device__()
            if options.get("copy") or _place(options.get("dl_device"), where) != where:
                raise Error(Code.UNSUPPORTED, "`copy` or `dl_device` asks for a copy, but a Buffer is passed "
                            "as it is", "Fix: leave them out, and copy the result", "buffer")
            if where[0] == _dlpack.CUDA:
                self.device.flush()
                pointer = native_value(self._core, "wye_buffer_native", self._handle, "CUdeviceptr")
                return _dlpack.give(self, pointer, where, self.shape, self.dtype)
            array = self.map()
            self.sync("to_host")
            return _dlpack.give(array, Host(array, self.dtype).address, where, self.shape, self.dtype)
        except Error as error:
            raise ExchangeError(error.code, error.message, error.remedy, error.subject) from None

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where its memory is, for DLPack: (2, N) on CUDA device N, else (1, 0), the host."""
        if self.usage == "device" and self.device.plugin == "cuda":
            number = native_value(self._core, "wye_device_native", self.device._handle, "CUdevice")
            return (_dlpack.CUDA, number)
        return (_dlpack.CPU, 0)


def _place(wanted: Any, default: tuple[int, int]) -> tuple[int, int]:
    """The device that `dl_device` names."""
    try:
        kind, number = default if wanted is None else map(operator.index, wanted)
    except (TypeError, ValueError) as error:
        raise invalid(f"`dl_device` is {shown(wanted)}, which is no pair of a type and a number of a device",
                      "Fix: pass what __dlpack_device__() of the other library's tensor returns",
                      "dl_device") from error
    return kind, number


def native_value(core: Core, function: str, handle: int, kind: str) -> int:
    """The native handle of an object, of a type of the driver's API such as "CUdeviceptr"."""
    out = new("wye_native_handle")
    core.call(function, handle, out)
    for one in out.values[0:out.count]:
        if text_of(one.type) == kind:
            return int(one.value)
    raise Error(Code.UNSUPPORTED, f"the driver has no {kind} for this object",
                "Fix: copy through host memory, by download() and upload()", kind)


def adopt(device: Device, name: str, tensor: Any, label: str = "") -> Buffer:
    """Device.adopt. Messages call the tensor `name`."""
    where = _dlpack.device_of(name, tensor)
    own = None
    if device.plugin == "cuda":
        own = native_value(device._core, "wye_device_native", device._handle, "CUdevice")
    if where is None or own is None or where not in ((_dlpack.CUDA, own), (_dlpack.CUDA_MANAGED, own)):
        what = f"a {type(tensor).__name__}" if where is None else f"on DLPack device {where}"
        raise invalid(f"`{name}` is {what}, which is no memory of {device.selector}",
                      "Fix: pass a tensor of that CUDA device, or upload() a copy", name)
    taken = _dlpack.take_cuda(name, tensor)
    if taken.dtype is None:
        raise invalid(f"`{name}` has elements of a type that no program has",
                      "Fix: pass integers or floating-point numbers of at most 64 bits", name)
    _dlpack.wait_for_default_stream(
        native_value(device._core, "wye_device_native", device._handle, "CUcontext"))
    return Buffer(device, taken.shape, taken.dtype, "device", label, taken)


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
        try:
            core.call("wye_buffer_map", buffer._handle, out)
        except Error as error:
            if error.code != Code.UNSUPPORTED:
                raise
            raise _not_mapped(buffer, error) from None
        Finalizer(self, core.release, "wye_buffer_unmap", buffer._handle)
        self.address = out.address
        with core.exporting(self):
            pass


def _not_mapped(buffer: Buffer, error: Error) -> Error:
    # Suggests what works on this device: the usage "shared" if the device can map it, else copies.
    remedy = "Fix: use download() and upload(), which copy; this device shows no buffer to the host"
    if buffer.usage == "device":
        try:
            with Buffer(buffer.device, 16, "uint8", "shared", "") as other:
                buffer._core.call("wye_buffer_map", other._handle, new("wye_buffer_mapping"))
                buffer._core.call("wye_buffer_unmap", other._handle)
            remedy = 'Fix: make the buffer with usage="shared", or use download(), which copies'
        except Error:
            pass
    reason = error.__cause__.message if isinstance(error.__cause__, Error) else error.message
    return Error(Code.UNSUPPORTED, f'{buffer.device.selector} cannot show a buffer of the usage '
                 f'"{buffer.usage}" to the host: {reason}', remedy, error.subject)
