# SPDX-License-Identifier: Apache-2.0
"""Wye runs a portable compute program on any device of the machine.

    saxpy = wye.Program.from_file("saxpy.wye")
    r = saxpy(a=2.0, x=x, y=y).r

Every failure raises wye.Error with a code, a sentence and a remedy.
"""
from ._buffer import Buffer, BufferRange
from ._context import Context, DeviceInfo, DeviceList, default_context, devices, info
from ._device import Device
from ._dispatch import Discard, InOut, Options, Outputs
from ._error import (ArgumentError, Code, DeviceError, Error, ExchangeError, FileError, NotFoundError,
                     OutOfMemoryError, ProgramError, StateError, TimedOutError, UnsupportedError)
from ._future import Future, wait_any
from ._graph import Graph
from ._library import __version__
from ._memory import RegisteredMemory
from ._pipeline import Pipeline
from ._program import BufferParam, Param, Program
from ._queue import Queue
from ._report import Choice, Report

__all__ = [
    "ArgumentError", "Buffer", "BufferParam", "BufferRange", "Choice", "Code", "Context", "Device", "DeviceError",
    "DeviceInfo", "DeviceList", "Discard", "Error", "ExchangeError", "FileError", "Future", "Graph",
    "InOut", "NotFoundError", "Options", "OutOfMemoryError", "Outputs", "Param", "Pipeline", "Program",
    "ProgramError", "Queue", "RegisteredMemory", "Report", "StateError", "TimedOutError", "UnsupportedError", "__version__",
    "default_context", "devices", "info", "wait_any",
]

for _error in (ArgumentError, DeviceError, Error, ExchangeError, FileError, NotFoundError, OutOfMemoryError,
               ProgramError, StateError, TimedOutError, UnsupportedError):
    _error.__module__ = "wye"  # which tracebacks print before the name
