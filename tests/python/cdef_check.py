# SPDX-License-Identifier: Apache-2.0
"""Compares the declarations that the Python package gives to ctypes with the public headers.

Compiles one C file that includes the headers. The file repeats every prototype of _functions.h; the compiler refuses one that
differs. The file also asserts what the package read from _types.h: the size of each structure, the offset and type of each
member, and the value of each constant. Headers may declare more than the package does.
"""
import ctypes
import pathlib
import re
import subprocess
import sys

HEADERS = ("buffer.h", "device.h", "graph.h", "native.h", "pipeline.h", "program_format.h", "wye.h")


def source(c, functions):
    """The text of the C file for a module's declarations and the prototypes `functions`, and the number of comparisons."""
    lines = [f'#include "wye/{name}"' for name in HEADERS]
    # Uses each function before its prototype, so that a function that no header declares is an error.
    lines += [f"extern __typeof__({name})* has_{name};" for name in re.findall(r"\b(wye_\w+)\(", functions)]
    lines.append(functions)
    checks = []
    for name, kind in c.TYPES.items():
        if name not in c.MEMBERS:
            checks.append((f"sizeof({name}) == {ctypes.sizeof(kind)}", f"the size of {name}"))
            continue
        checks.append((f"sizeof({name}) == {ctypes.sizeof(kind)}", f"the size of {name}"))
        for member, written in c.MEMBERS[name]:
            checks.append((f"offsetof({name}, {member}) == {getattr(kind, member).offset}", f"the place of {name}.{member}"))
            checks.append((f"__builtin_types_compatible_p(__typeof__((({name}*)0)->{member}), {written})",
                           f"the type of {name}.{member}"))
            checks.append((f"sizeof((({name}*)0)->{member}) == {getattr(kind, member).size}", f"the size of {name}.{member}"))
    checks += [(f"{name} == {value}", f"the value of {name}") for name, value in c.CONSTANTS.items()]
    lines += [f'_Static_assert({check}, "{what} is not that of the headers");' for check, what in checks]
    return "\n".join(lines) + "\n", len(checks)


def check(c, root, compiler):
    """The faults of the declarations that a module (wye._c) read, or an empty text."""
    text, count = source(c, (c.HERE / "_functions.h").read_text())
    if count < 600:
        return f"only {count} comparisons were made"
    done = subprocess.run(
        [*compiler, "-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", "-x", "c", "-",
         "-I", str(root / "runtime/include"), "-I", str(root / "plugin-abi/include")],
        input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


if __name__ == "__main__":
    ROOT = pathlib.Path(__file__).resolve().parents[2]
    sys.path.insert(0, str(ROOT / "runtime/python"))
    import wye._c  # pylint: disable=wrong-import-position
    sys.exit(check(wye._c, ROOT, ["gcc"]) or 0)
