# SPDX-License-Identifier: Apache-2.0
"""Registered memory."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._arrays import host_array
from ._c import cell
from ._core import Core

if TYPE_CHECKING:
    from ._device import Device
    from ._elements import Array


class RegisteredMemory:
    """Memory of an array that one device reads and writes directly; made by Device.register.

    The bytes of transfers and of arguments that lie in it are copied by the device itself, at the
    speed of the bus. The object keeps the array alive. Freed by free(), at the end of its `with`
    block, or when nothing refers to it. Any threads may use it at once.
    """

    device: Device
    """The device."""
    array: Array
    """The array."""

    def __init__(self, device: Device, array: Any) -> None:
        """Not for applications: use Device.register."""
        host = host_array("array", array, write=True)
        out = cell("wye_memory")
        self._core: Core = device._core
        self._core.retry()
        self._core.call("wye_memory_register", device._handle, *host.bytes, out)
        self.device, self.array = device, host.array
        self._handle: int = out[0]
        self._free = self._core.adopt(self, "wye_memory_unregister", self._handle, host)

    def __enter__(self) -> RegisteredMemory:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Ends the registration now. Raises BUFFER_IN_USE if work in flight uses the memory."""
        self._core.free(self._free, "wye_memory_unregister", self._handle)

    def __repr__(self) -> str:
        return f"<wye.RegisteredMemory of {self.array.nbytes} bytes with {self.device.selector}>"
