# SPDX-License-Identifier: Apache-2.0
"""Contexts, which find plugins and devices and own everything else."""
from __future__ import annotations

import dataclasses
import json
import os
import threading
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping

from . import _html
from ._arguments import choice, flag, handle, integer, mapping, members, path, shown, text
from ._c import MEMBERS, array, cell, new
from ._core import Core, check_running
from ._error import Code, Error, nearest
from ._library import Text, call, library, take_blob

if TYPE_CHECKING:
    from ._device import Device
    from ._dispatch import Options, Outputs
    from ._future import Future
    from ._program import Program

_POLICIES = ("require", "prefer", "auto")


@dataclasses.dataclass(frozen=True)
class DeviceInfo:
    """One device that was found, usable or not."""

    selector: str
    """The selector for Context.device."""
    name: str
    """Its name, as the driver gives it."""
    plugin: str
    """The id of the plugin that found it: "cpu", "opencl", ..."""
    usable: bool
    """Whether it can be opened."""
    reason: str
    """Why it cannot be opened; empty if it can."""
    remedy: str
    """How to make it usable; begins with "Fix: ", or is empty."""
    facts: Mapping[str, Any]
    """Its properties and limits, by their names in `wye info --json`. None means unknown."""

    def __getitem__(self, name: str) -> Any:
        """A member or a fact by its name: info["name"], info["max_workgroup_size"]."""
        if isinstance(name, str) and name in self.__dataclass_fields__:
            return getattr(self, name)
        if isinstance(name, str) and name in self.facts:
            return self.facts[name]
        known = [*self.__dataclass_fields__, *self.facts]
        meant = nearest(name, known) if isinstance(name, str) else ""
        raise Error(Code.UNKNOWN_KEY, f"a device has no fact or member {shown(name)}",
                    f"Fix: did you mean \"{meant}\"?" if meant else "Fix: keys() has the names",
                    name if isinstance(name, str) else "")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in self.__dataclass_fields__:
            raise AttributeError(name)
        return self[name]

    def keys(self) -> list[str]:
        """The names of its members and facts, so that dict(info) has all of them."""
        return [*self.__dataclass_fields__, *self.facts]

    def _repr_html_(self) -> str:
        return _html.pairs(self.selector, {name: self[name] for name in self.keys()
                                              if name != "facts"})


class DeviceList(List[DeviceInfo]):
    """Devices that were found; notebooks show it as a table."""

    def _repr_html_(self) -> str:
        return _html.table(("selector", "name", "plugin", "usable", "reason"),
                           [(one.selector, one.name, one.plugin, one.usable,
                             f"{one.reason} {one.remedy}") for one in self])


class Context:
    """Finds plugins and devices, and owns everything that is made with it. Any threads may use it
    at once.

    `plugin_paths` are files or folders that are searched for plugins first. `config` has settings
    of the library ("cpu.threads": "2"). With `read_environment=False`, WYE_* variables are not
    read. With `plugins=False`, only the built-in CPU is used.

    Leaving the `with` block, or close(), waits for all work and ends everything that was made with
    the context. Arrays that came from it stay valid.
    """

    def __init__(self, *, plugin_paths: Iterable[str | os.PathLike[str]] = (),
                 config: Mapping[str, str] | None = None, read_environment: bool = True,
                 plugins: bool = True) -> None:
        check_running()
        lib = library()
        paths = [Text(os.fsencode(path("plugin_paths", one)))
                 for one in members("plugin_paths", plugin_paths)]
        given = {} if config is None else mapping("config", config)
        settings = [(text("config", key), text("config", value)) for key, value in given.items()]
        desc = new("wye_context_desc")
        if not flag("read_environment", read_environment):
            desc.flags |= lib.WYE_CONTEXT_IGNORE_ENVIRONMENT
        if not flag("plugins", plugins):
            desc.flags |= lib.WYE_CONTEXT_NO_PLUGINS
        path_values = array("wye_string", [path.value for path in paths])
        desc.plugin_paths, desc.plugin_path_count = path_values, len(paths)
        pairs = array("wye_key_value", [(key.value, value.value) for key, value in settings])
        desc.config, desc.config_count = pairs, len(settings)
        out = cell("address")
        call(lib.wye_context_create, desc, out)
        self._core = Core(out[0])

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Waits for all work and ends everything; later calls raise SHUTTING_DOWN.

        Functions of Future.add_done_callback are called first, and may read their results, but not
        close the context. Memory that arrays show is freed with the last of these arrays.
        """
        self._core.close()

    def device(self, selector: str = "", program: Program | None = None, *,
               policy: str = "require") -> Device:
        """Opens a device by a selector: "cpu", "opencl:0", "auto", "cuda:*,cpu", ...

        An empty selector stands for $WYE_DEVICE, else for "auto". With a `program`, devices that
        cannot run it are passed over. The `policy` "require" takes only devices that the selector
        names, in its order; "prefer" takes those first, then the best of all others; "auto" takes
        the best of those that it names. Opening a device again returns the same one. Raises
        NO_DEVICE if none is left; the error says why.
        """
        return choose(self._core, selector, program, policy)

    def run(self, program: Program, options: Options | None = None, /, **arguments: Any) -> Outputs:
        """As Device.run, on the owner of the Buffers among the arguments, or else on a device that
        the library chooses.

        The choice is that of device(), and sizes count as well: a device that cannot run the
        program or hold the arrays is passed over. Report.device, .routed and .choice say which
        device ran and why. Raises UNSUPPORTED if the owner cannot run the program, WRONG_OWNER for
        the Buffers of two devices, and NO_DEVICE if no device is left; the error says why.
        """
        from ._dispatch import run
        return run(self._core, None, program, options, arguments)

    def submit(self, program: Program, options: Options | None = None, /,
               **arguments: Any) -> Future[Outputs]:
        """As Device.submit, on a device that is found as in run()."""
        from ._dispatch import submit
        return submit(self._core, None, program, options, arguments)

    def info(self, selector: str = "") -> dict[str, Any]:
        """The report on plugins and devices as a dict, as `wye info --json` prints it.

        It has every plugin with its state, every device with its facts, and the reason against
        each that was passed over. Opens the plugins that `selector` can mean. An empty selector
        stands for $WYE_DEVICE, else for all plugins.
        """
        name = text("selector", selector)
        return json.loads(take_from(self._core, "wye_context_report", name.value))

    def devices(self, selector: str = "") -> DeviceList:
        """The devices that a selector names, including unusable ones. Opens only their plugins."""
        return DeviceList(
            DeviceInfo(one["selector"], one["name"], one["plugin"], one["usable"],
                       one["reason"] or "", one["fix"] or "", one["facts"])
            for one in self.info(selector)["devices"])

    def counters(self) -> dict[str, int]:
        """What its devices did so far: dispatches, submits, bytes moved, memory, compiles."""
        return read_counters(self._core, "wye_context_counters")

    def limit_memory(self, nbytes: int) -> None:
        """Limits the device memory that its devices hold together; 0: no limit. As Device.limit_memory,
        with the setting "memory.context_limit"."""
        self._core.call("wye_memory_limit", 0, integer("nbytes", nbytes))


def choose(core: Core, selector: str, program: Program | None, policy: str = "require") -> Device:
    """Context.device."""
    from ._device import Device
    from ._program import Program
    name = text("selector", selector)
    wanted = new("wye_device_choice", selector=name.value,
                 policy=choice("policy", policy, _POLICIES))
    if program is not None:
        wanted.program = handle("program", program, Program, core)
    out = cell("wye_device")
    core.call("wye_device_choose", wanted, out)
    return Device(core, out[0])


def take_from(core: Core, function: str, *arguments: Any) -> bytes:
    """The bytes of the blob that a function with a context returns."""
    def ask(*rest: Any) -> int:
        core.call(function, *rest[:-1])
        return 0
    return take_blob(ask, *arguments)


def read_counters(core: Core, function: str, *handles: int) -> dict[str, int]:
    """The members of a wye_counters by their names."""
    out = new("wye_counters")
    core.call(function, *handles, out)
    return members_of(out)


def members_of(structure: Any) -> dict[str, Any]:
    """The numbers of a structure by their names."""
    return {name: getattr(structure, name) for name, kind in MEMBERS[type(structure).__name__]
            if name != "reserved" and kind in ("uint32_t", "int32_t", "uint64_t")}


_default: Context | None = None
_default_lock = threading.RLock()  # a destructor may ask for the context while it is made


def default_context() -> Context:
    """The context that is used where none is named. The first call makes it; it lives until the end.

    After a fork the child makes its own.
    """
    global _default
    with _default_lock:
        if _default is None or _default._core.closed:
            _default = Context()
        return _default


def _after_fork() -> None:
    global _default, _default_lock
    _default, _default_lock = None, threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def info(selector: str = "") -> dict[str, Any]:
    """Context.info of the default context."""
    return default_context().info(selector)


def devices(selector: str = "") -> DeviceList:
    """Context.devices of the default context."""
    return default_context().devices(selector)
