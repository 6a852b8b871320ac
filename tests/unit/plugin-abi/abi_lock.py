#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the layout of the plugin contract with plugin-abi/abi.lock, or writes the lock.

Reads the contract's headers as the compiler sees them, lists every structure, member, enumerator and
constant, and compares the sizes, alignments, offsets and values that a small C program prints. Every
difference is a change of the contract and needs a review.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ["wye/abi.h", "wye/abi_compiler.h", "wye/abi_layer.h", "wye/abi_layouts.h", "wye/abi_loss.h", "wye/abi_native.h",
           "wye/program_format.h"]
NOT_VALUES = {"WYE_ABI_H", "WYE_PROGRAM_FORMAT_H", "WYE_OWNED", "WYE_BORROWED", "WYE_STATIC",
              "WYE_PLUGIN_EXPORT"}


HEAD = """# Sizes, offsets and values of the plugin contract. For a change of this file, a reviewer asks the questions in
# plugin-abi/README.md, "What a reviewer asks of a change".
"""


def run(command, text=""):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def members(body):
    """(name, declaration) of each member of a structure's text; unions are one member."""
    body = re.sub(r"union\s*\{[^}]*\}", lambda m: m.group(0).replace(";", ","), body)
    for declaration in (d.strip() for d in body.split(";")):
        if not declaration:
            continue
        text = re.sub(r"\s+", " ", declaration)
        pointer = re.search(r"\(\*\s*(\w+)\)", text)
        if pointer and not text.startswith("union"):
            yield pointer.group(1), text
            continue
        plain = re.sub(r"^union \{.*\} ", "union ", text)
        for part in plain.split(","):
            yield re.search(r"(\w+)(\[[^\]]*\])?\s*$", part).group(1), text


def contract(cc, include, header):
    """Lines of C that print the contract of one header."""
    flags = [f"-I{include}", "-xc", "-std=c11"]
    source = f'#include "{header}"\n'
    seen = run([*cc, "-E", "-P", *flags, "-"], source)
    own = (include / header).read_text()  # included headers are read separately
    lines = [f'puts("header {header}");']
    defines = run([*cc, "-E", "-dM", *flags, "-"], source)
    for name in sorted(re.findall(r"^#define (WYE_\w+) \S", defines, re.M)):
        if name not in NOT_VALUES and defined_in(include, header, name):
            lines.append(f"VALUE({name});")
    # Lists of rows, as text: they carry names ("int64", "fma") and operand counts.
    for name in re.findall(r"^#define (WYE_\w+)\(X\)", (include / header).read_text(), re.M):
        lines.append(f'puts("rows {name}"); {name}(ROW)')
    for name, body in re.findall(r"\benum (wye_\w+)\s*\{([^}]*)\}", seen):
        if f"enum {name} {{" not in own:
            continue
        lines.append(f'puts("enum {name}");')
        for enumerator in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip()):
            lines.append(f'printf("  {enumerator} = %lld\\n", (long long){enumerator});')
    for name, body in structures(seen):
        if f"struct {name} {{" not in own:
            continue
        lines.append(f'printf("struct {name}: size %zu, align %zu\\n", '
                     f"sizeof(struct {name}), _Alignof(struct {name}));")
        for member, text in members(body):
            lines.append(f'printf("  %3zu +%zu  {member}: {text}\\n", '
                         f"offsetof(struct {name}, {member}), "
                         f"sizeof(((struct {name}*)0)->{member}));")
    for name, text in re.findall(r"typedef\s+[^;{}]*\(\*(wye_\w+)\)(\([^;]*\));", seen):
        if f"(*{name})" not in own:
            continue
        signature = re.sub(r"\s+", " ", text)
        lines.append(f'puts("function type {name}{signature}");')
    return lines


def defined_in(include, header, name):
    return re.search(rf"^\s*#define {name}\b(?!\()", (include / header).read_text(), re.M)


def structures(text):
    """Name and body of each structure that has a body. Matches braces."""
    for found in re.finditer(r"\bstruct (wye_\w+)\s*\{", text):
        depth, at = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield found.group(1), text[found.end():at - 1]


def layout(cc, include):
    body = "\n".join(line for header in HEADERS for line in contract(cc, include, header))
    program = f"""
#include <stdio.h>
#include "wye/abi.h"
#include "wye/abi_compiler.h"
#include "wye/abi_layer.h"
#include "wye/abi_layouts.h"
#include "wye/abi_loss.h"
#include "wye/abi_native.h"
#include "wye/program_format.h"
static void text(const char* name, const char* value) {{
    printf("%s = \\"", name);
    for (; *value != 0; ++value)
        if (*value < 32 || *value > 126) printf("\\\\x%02x", (unsigned char)*value);
        else putchar(*value);
    puts("\\"");
}}
static void number(const char* name, unsigned long long value) {{ printf("%s = %llu\\n", name, value); }}
#define VALUE(x) _Generic((x), char*: text, const char*: text, default: number)(#x, x)
#define ROW(...) puts("  " #__VA_ARGS__);
int main(void) {{
{body}
return 0;
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        exe = f"{folder}/layout"
        run([*cc, "-xc", "-std=c11", f"-I{include}", "-o", exe, "-"], program)
        return run([exe])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", required=True, nargs="+")
    parser.add_argument("--include", required=True, type=pathlib.Path)
    parser.add_argument("--lock", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    now = HEAD + layout(given.cc, given.include)
    if given.update:
        given.lock.write_text(now)
        print(f"{given.lock} written: {len(now.splitlines())} lines")
        return
    before = given.lock.read_text() if given.lock.exists() else ""
    if now == before:
        print(f"the contract is as locked: {len(now.splitlines())} lines")
        return
    sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), now.splitlines(True),
                                               "abi.lock", "the headers"))
    print("\nThe contract between host and plugins has changed.\n"
          "Fix: undo the change; or, when it is meant, have it reviewed (plugin-abi/README.md, "
          "\"What a reviewer asks of a change\"), then run `meson compile -C build update-abi-lock` and commit "
          "abi.lock with it.")
    sys.exit(1)


main()
