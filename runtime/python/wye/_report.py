# SPDX-License-Identifier: Apache-2.0
"""Reports of dispatches."""
from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Mapping

from . import _html
from ._c import cell, new
from ._core import Core
from ._error import Code, Error
from ._library import NO_LIMIT, library, text_of

_DISK = ("unused", "hit", "miss")
_DETERMINISM = ("none", "yes", "not proven", "beyond")
_ROUTED = ("named", "owner", "chosen")
_MOST_CHOICES = 256  # as many as a context of the library keeps
_COOPERATIVE = ("none", "native", "split: device", "split: format", "split: grid", "split: room")


@dataclasses.dataclass(frozen=True)
class Choice:
    """Why the library chose a device for a dispatch that named none."""

    selector: str
    """The device that was chosen."""
    reason: str
    """Why it was chosen."""
    passed_over: Mapping[str, str]
    """The reason against each other device or plugin, by its selector, in order of preference."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Times and sizes of a dispatch. Times are nanoseconds."""

    wall_ns: int
    """The time of the call, or from the submit to the end."""
    device_ns: int | None
    """The time by the driver's timestamps. None without Options.timed, or if the driver has none."""
    enqueue_ns: int
    """The time to submit the work."""
    wait_ns: int
    """The time from the submit until the work ended."""
    bytes_uploaded: int
    """Bytes copied from host to device."""
    bytes_downloaded: int
    """Bytes copied from device to host."""
    bytes_filled: int
    """Bytes zeroed before the launch."""
    groups: tuple[int, int, int]
    """The number of workgroups that ran; zeros if the device read it from a buffer."""
    compiled: bool
    """Whether the driver compiled the program in this call."""
    disk_cache: str
    """"hit", "miss", or "unused"."""
    variant: int
    """0 if the program's own body ran, else 1 + the index of a native variant."""
    native_functions: tuple[str, ...]
    """Functions that ran in a native or fast form, within Options.ulp_budget."""
    check_free: bool
    """Whether the range checks that this launch does not need were left out."""
    cooperative: str
    """"none" without Options.cooperative, "native" if all workgroups ran at once, or why the program
    was split at its grid barriers: "split: device", "split: format", "split: grid", "split: room"."""
    bytes_copied: int
    """Bytes copied within the device, such as those of a range at an offset that it cannot bind."""
    determinism: str
    """"yes" if the launch is proven to give the same bytes each time and on every device; "not proven" if
    the program is not (see Program.analysis), or native code or functions ran; "beyond" if the proof does
    not hold for this grid, parameters and lengths; "none" if nothing ran."""
    device: str
    """The selector of the device that ran it."""
    routed: str
    """Who named that device: "named" if the caller did, "owner" if it owns the buffers, "chosen" if
    the library did."""
    choice: Choice | None
    """The reasons, if the library chose the device; otherwise None. Also None for old choices: a context
    keeps the newest 256."""

    def _repr_html_(self) -> str:
        return _html.pairs("dispatch", dataclasses.asdict(self))


def _choice(core: Core, number: int) -> Choice | None:
    if number == 0:
        return None
    known: Choice | None = core.choices.get(number)
    if known is not None:
        return known
    lib, out = library(), cell("address")
    try:
        core.call("wye_choice_find", number, out)
    except Error as error:
        if error.code == Code.NOT_FOUND:
            return None
        raise
    try:
        losers, loser = {}, new("wye_passed_over")
        for index in itertools.count():
            if lib.wye_choice_passed_over(out[0], index, loser, None):
                break
            losers[text_of(loser.selector)] = text_of(loser.reason)
        made = Choice(text_of(lib.wye_choice_selector(out[0])),
                      text_of(lib.wye_choice_reason(out[0])), losers)
    finally:
        lib.wye_choice_free(out[0])
    if len(core.choices) >= _MOST_CHOICES:
        core.choices.clear()
    core.choices[number] = made
    return made


def _selector(core: Core, device: int) -> str:
    known = core.devices.get(device)
    if known is None:  # opened by the library for a dispatch that named none
        out = new("wye_device_description")
        core.call("wye_device_describe", device, out)
        known = core.devices[device] = text_of(out.selector)
    return known


def read_report(core: Core, raw: Any) -> Report:
    """A wye_report as a Report."""
    names: tuple[str, ...] = ()
    if raw.native_functions:
        names = tuple(library().wye_native_function_name(bit).decode()
                      for bit in range(64) if raw.native_functions >> bit & 1)
    return Report(
        raw.wall_ns, None if raw.device_ns == NO_LIMIT else raw.device_ns, raw.enqueue_ns,
        raw.wait_ns, raw.bytes_uploaded, raw.bytes_downloaded, raw.bytes_filled,
        (raw.groups[0], raw.groups[1], raw.groups[2]), raw.compiled != 0, _DISK[raw.disk_cache],
        raw.variant, names, raw.check_free != 0, _COOPERATIVE[raw.cooperative],
        raw.bytes_copied, _DETERMINISM[raw.determinism], _selector(core, raw.device),
        _ROUTED[raw.routed], _choice(core, raw.choice))
