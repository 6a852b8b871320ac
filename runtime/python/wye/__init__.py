# SPDX-License-Identifier: Apache-2.0
"""Wye runs a portable compute program on any device of the machine.

    with wye.Context() as context:
        device = context.device("auto")
        program = wye.Program.from_file("saxpy.wye", context=context)
        r = device.run(program, a=2.0, x=x, y=y).r

Every failure raises wye.Error with a code, a sentence and a remedy.
"""
try:
    import cffi as _cffi  # noqa: F401
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError(f"wye needs the Python packages cffi and numpy: {_error}. "
                      "Fix: install them, as with `pip install cffi numpy` or, on Debian, "
                      "`apt install python3-cffi python3-numpy`", name=_error.name) from None

from ._buffer import Buffer, BufferRange
from ._context import Context, DeviceInfo, default_context, devices, info
from ._device import Device
from ._dispatch import Discard, InOut, Options, Outputs
from ._error import Code, Error
from ._future import Future, wait_any
from ._library import __version__
from ._program import BufferParam, Param, Program
from ._report import Choice, Report

__all__ = [
    "Buffer", "BufferParam", "BufferRange", "Choice", "Code", "Context", "Device", "DeviceInfo", "Discard",
    "Error", "Future", "InOut", "Options", "Outputs", "Param", "Program", "Report", "__version__",
    "default_context", "devices", "info", "wait_any",
]

Error.__module__ = "wye"  # what tracebacks print
