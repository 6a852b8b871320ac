#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how alike the plugins' files of one noun are.

    tests/layout/likeness.py [--rev COMMIT] [FLOOR...]      FLOOR: noun=0.60, below which it fails

A noun's header and source are compared, plugin with plugin, as statements. Comments and includes are left out, and names
(with their qualifiers), strings and numbers are made equal, so that only the shape counts. Line breaks within a statement
do not count. The likeness of two plugins is twice the number of statements that both have, in the same order (difflib),
divided by the number of statements of both. A noun's likeness is the median over the six pairs. A mean or a minimum would
let one plugin, which differs for a reason of its driver, hide that the others drift apart. --rev compares the files of
COMMIT. Without --rev it is also checked that every plugin has the same files at the top of its folder.
"""
import difflib
import itertools
import os
import re
import statistics
import subprocess
import sys

PLUGINS = ["opencl", "vulkan", "cuda", "cpu"]
NOUNS = ["plugin", "device", "buffer", "program", "queue", "timeline"]
FILES = {f"{noun}.{end}" for noun in NOUNS + ["command"] for end in ("hpp", "cpp")} | {"discovery.hpp", "discovery.cpp", "facts.cpp"}
DRIVER = {"driver.hpp", "driver.cpp", "handle.hpp", "quirks.hpp", "status.hpp", "status.cpp"}  # the CPU has no driver
OWN = {"cpu": {"cpu_plugin.h", "module.cpp"}}  # the built-in plugin is both a library and a module
KEYWORDS = set("""alignas auto bool break case catch char class const constexpr constinit continue default delete do double
else enum explicit extern false float for friend if inline int long mutable namespace new noexcept nullptr operator private
protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned
using virtual void volatile while""".split())
TOKEN = re.compile(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d[\w\'.]*|::|->|[^\s\w]')
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def made_equal(token):
    if token[0] in "\"'" or token.startswith('R"'):
        return "S"
    if token[0].isdigit():
        return "0"
    return "N" if re.match(r"[A-Za-z_]", token) and token not in KEYWORDS else token


def statements(text):
    text = re.sub(r"//[^\n]*|/\*(?:.|\n)*?\*/", "", text)
    text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    out, now, depth = [], [], 0
    for match in TOKEN.finditer(text):
        token = made_equal(match.group(0))
        depth += (token == "(") - (token == ")")
        now.append(token)
        if token in "{}" or (token == ";" and depth == 0):
            out.append(" ".join(now))
            now = []
    for pattern, equal in ((r"S( S)+", "S"), (r"N (::|\.|->) N", "N")):
        for at, statement in enumerate(out):
            before = None
            while before != statement:
                before, statement = statement, re.sub(pattern, equal, statement)
            out[at] = statement
    return out


def read(rev, plugin, noun):
    text = ""
    for end in ("hpp", "cpp"):
        path = f"plugins/{plugin}/{noun}.{end}"
        if rev:
            shown = subprocess.run(["git", "-C", root, "show", f"{rev}:{path}"], capture_output=True, text=True)
            text += shown.stdout if shown.returncode == 0 else ""
        elif os.path.exists(os.path.join(root, path)):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text += file.read()
    return statements(text)


def main():
    arguments = sys.argv[1:]
    rev = None
    if arguments[:1] == ["--rev"]:
        rev, arguments = arguments[1], arguments[2:]
    floors = {noun: float(floor) for noun, floor in (a.split("=") for a in arguments)}
    findings = 0
    print(f"{'':9} {'statements: ' + ' '.join(PLUGINS):44} {'pairs, ascending':36} median")
    for noun in NOUNS:
        texts = {p: s for p, s in ((p, read(rev, p, noun)) for p in PLUGINS) if s}
        pairs = sorted(difflib.SequenceMatcher(None, texts[a], texts[b], autojunk=False).ratio()
                       for a, b in itertools.combinations(texts, 2))
        median = statistics.median(pairs) if pairs else 0.0
        sizes = " ".join(f"{p} {len(s)}" for p, s in texts.items())
        print(f"{noun:9} {sizes:44} {' '.join(f'{r:.2f}' for r in pairs):36} {median:.2f}")
        if median < floors.get(noun, 0):
            findings += 1
            print(f"plugins/*/{noun}.*: likeness {median:.2f}, below {floors[noun]:.2f}. Fix: give equal things equal order "
                  "and shape, or move what is common to plugin-abi/sdk", file=sys.stderr)
    for plugin in PLUGINS if not rev else []:
        folder = os.path.join(root, "plugins", plugin)
        wanted = FILES | (DRIVER if plugin != "cpu" else set()) | OWN.get(plugin, set())
        there = {f for f in os.listdir(folder) if f.endswith((".c", ".cpp", ".h", ".hpp"))}
        for file in sorted(wanted ^ there):
            findings += 1
            what = "is missing" if file in wanted else "is not a file that every plugin has"
            print(f"plugins/{plugin}/{file} {what}. Fix: see plugin-abi/README.md; what one driver needs alone stands in "
                  "a folder below", file=sys.stderr)
    return 1 if findings else 0


sys.exit(main())
