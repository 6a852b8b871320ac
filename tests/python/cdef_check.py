# SPDX-License-Identifier: Apache-2.0
"""Compares the declarations that the Python package gives to cffi with the public headers.

Compiles one C file that includes the headers. The file repeats every prototype of _functions.h, which
the compiler refuses if it differs. It also asserts cffi's view of _types.h: the size of each structure,
the offset and type of each member, and the value of each constant. Headers may declare more than that.
"""
import pathlib
import re
import subprocess

import cffi

HEADERS = ("buffer.h", "device.h", "wye.h")


def same(what, ffi, kind):
    """A C expression which is true if `what` has the type that cffi knows. cffi drops `const` in members."""
    name = ffi.getctype(kind)
    test = f"__builtin_types_compatible_p({what}, {name})"
    if kind.kind == "pointer" and kind.item.kind != "function":
        test += f" || __builtin_types_compatible_p({what}, const {name})"
    return test


def source(folder):
    """The text of the C file for the declarations in a folder."""
    types, functions = ((folder / name).read_text() for name in ("_types.h", "_functions.h"))
    ffi = cffi.FFI()
    ffi.cdef(types)
    lines = [f'#include "wye/{name}"' for name in HEADERS]
    # A function that no header declares is an error at this use, which precedes its prototype.
    lines += [f"extern __typeof__({name})* has_{name};"
              for name in re.findall(r"\b(wye_\w+)\(", functions)]
    lines.append(functions)
    checks = []
    for name in ffi.list_types()[0]:
        kind = ffi.typeof(name)
        if kind.kind == "primitive":
            checks.append((same(name, ffi, kind), f"the type {name}"))
        elif kind.kind == "struct" and kind.fields is not None:
            checks.append((f"sizeof({name}) == {ffi.sizeof(kind)}", f"the size of {name}"))
            for member, field in kind.fields:
                checks.append((f"offsetof({name}, {member}) == {field.offset}",
                               f"the place of {name}.{member}"))
                checks.append((same(f"__typeof__((({name}*)0)->{member})", ffi, field.type),
                               f"the type of {name}.{member}"))
        elif kind.kind == "pointer" and kind.item.kind == "function":
            checks.append((same(name, ffi, kind), f"the type {name}"))
    # cffi reads constants through a library; the process itself serves as one.
    lib = ffi.dlopen(None)
    for name in dir(lib):
        checks.append((f"{name} == {getattr(lib, name)}", f"the value of {name}"))
    lines += [f'_Static_assert({check}, "{what} is not that of the headers");'
              for check, what in checks]
    return "\n".join(lines) + "\n", len(checks)


def check(folder, root, compiler):
    """The faults of the declarations in a folder, or an empty text."""
    text, count = source(folder)
    if count < 300:
        return f"only {count} comparisons were made"
    done = subprocess.run(
        [*compiler, "-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", "-x", "c", "-",
         "-I", str(root / "runtime/include"), "-I", str(root / "plugin-abi/include")],
        input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


if __name__ == "__main__":
    import sys
    ROOT = pathlib.Path(__file__).resolve().parents[2]
    faults = check(ROOT / "runtime/python/wye", ROOT, ["gcc"])
    sys.exit(faults or 0)
