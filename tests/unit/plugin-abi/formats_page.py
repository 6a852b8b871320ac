#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks plugin-abi/FORMATS.md: its example is what `wye lower` prints, it describes every kind of slot and every format of
abi.h, and its host code compiles.

usage: formats_page.py PAGE INCLUDE WYE CC...
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# The declarations that the host code needs from OpenCL and from its plugin.
SURROUNDINGS = """#include <stdint.h>
#include <string.h>
#include "wye/abi.h"
typedef int32_t cl_int;
typedef struct one_kernel* cl_kernel;
typedef struct one_memory* cl_mem;
#define CL_SUCCESS 0
cl_int clSetKernelArg(cl_kernel kernel, uint32_t index, size_t size, const void* value);
cl_mem memory_of(const wye_binding* binding);
cl_int (*used(void))(cl_kernel, const wye_slot*, uint32_t, uint32_t, const wye_dispatch_op*);
%s
cl_int (*used(void))(cl_kernel, const wye_slot*, uint32_t, uint32_t, const wye_dispatch_op*) { return set_arguments; }
"""


def main():
    page, include, wye = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2]), sys.argv[3]
    header = (include / "wye/abi.h").read_text()
    faults = []

    def block(language):
        found = re.findall(rf"^```{language}\n(.*?)^```$", page, re.S | re.M)
        if len(found) != 1:
            sys.exit(f"FORMATS.md has {len(found)} blocks of `{language}`, not one. Fix: mark the example as such")
        return found[0]

    slots = re.findall(r"\b(WYE_SLOT_[A-Z_]+) = ", header)
    formats = re.findall(r'#define (WYE_FORMAT_[A-Z_]+) "([^"]+)"', header)
    if len(slots) < 6 or len(formats) < 6:
        sys.exit(f"abi.h: found only {len(slots)} kinds of slots and {len(formats)} formats. Fix: correct the patterns")
    for name in slots:
        if not re.search(rf"^\| `{name}` \| .*\|$", page, re.M):
            faults.append(f"{name} has no row in FORMATS.md. Fix: describe it under `Slots`")
    for name, text in formats:
        if not re.search(rf"^\| `{text}` \| `{name}` \| ", page, re.M):
            faults.append(f"{name} (`{text}`) has no row in FORMATS.md. Fix: add it to the first table")
        if not re.search(rf"^## .*`{text}`", page, re.M):
            faults.append(f"`{text}` has no section in FORMATS.md. Fix: describe it")

    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "saxpy.wye"
        program.write_text(block("wye"))
        clean = {name: value for name, value in os.environ.items() if not name.startswith("WYE_")}
        lowered = subprocess.run([wye, "lower", program, "--to", "opencl-c"], capture_output=True, text=True, env=clean)
        if lowered.returncode != 0:
            faults.append(f"`wye lower` refuses the example: {lowered.stderr.strip()}. Fix: correct the program")
        elif lowered.stdout != block("opencl-c"):
            faults.append("the OpenCL C in FORMATS.md is not what `wye lower` prints. Fix: put this in its place, and "
                          "check the slots below it:\n" + lowered.stdout)
        source = pathlib.Path(folder) / "host.c"
        source.write_text(SURROUNDINGS % block("c"))
        built = subprocess.run([*sys.argv[4:], "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                                "-I", include, source], capture_output=True, text=True)
        if built.returncode != 0:
            faults.append(f"the host code in FORMATS.md does not compile. Fix: correct it:\n{built.stderr}")
    for fault in faults:
        print(fault)
    print(f"{len(slots)} kinds of slots, {len(formats)} formats, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
