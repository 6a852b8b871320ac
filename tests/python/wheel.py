#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel that carries a build, installs it without a network into an environment that has nothing else, and uses it.

usage: wheel.py SOURCE BUILD
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# A program on lists, and the files of Wye that the process has open.
USE = """
import importlib.util, wye
assert not any(map(importlib.util.find_spec, ("cffi", "numpy")))
saxpy = wye.Program.from_file({saxpy!r})
r = saxpy(a=2.0, x=[[1, 2], [3, 4]], y=0.5).r
assert (r.tolist(), r.shape) == ([[2.5, 4.5], [6.5, 8.5]], (2, 2))
states = {{one["id"]: one["state"] for one in wye.info("*")["plugins"]}}
print(states)
print(*sorted({{line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if "wye" in line}}), sep="\\n")
"""


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    source, build = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        wheel = pathlib.Path(run(sys.executable, "-B", source / "runtime/python/make_wheel.py", work, build).strip())
        assert re.fullmatch(r"wye-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name), wheel
        names = zipfile.ZipFile(wheel).namelist()
        for end in ("/LICENSE", "/NOTICE", "wye/lib/libwye.so.0", "wye/lib/wye-probe", "wye/py.typed"):
            assert any(name.endswith(end) for name in names), (end, names)
        manifests = [name for name in names if name.endswith(".wye.json")]
        assert manifests and all(name.replace(".wye.json", ".so") in names for name in manifests), names

        run(sys.executable, "-m", "venv", "--without-pip", work / "empty")
        python = work / "empty/bin/python"
        run(sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "--quiet", "--no-index", wheel)
        # Apart from PATH and HOME, only the variables of the drivers' caches are set.
        kept = {name: value for name, value in os.environ.items() if name.startswith(("POCL_", "MESA_", "XDG_"))}
        plain = {"PATH": "/usr/bin:/bin", "HOME": str(work), **kept}
        listed = run(python, "-m", "wye", cwd=work, env=plain)
        assert listed.startswith("cpu:0\t") and all(line.count("\t") == 1 for line in listed.splitlines()), listed
        assert run(python, "-m", "wye", "cpu", cwd=work, env=plain).count("\n") == 1
        saxpy = str(source / "runtime/examples/programs/saxpy.wye")
        used = run(python, "-c", USE.format(saxpy=saxpy), cwd=work, env=plain)
        lib = python.parents[1] / "lib"
        opened = [line for line in used.splitlines() if line.endswith((".so", ".so.0"))]
        assert any(line.endswith("libwye.so.0") for line in opened), used
        assert all(pathlib.Path(line).resolve().is_relative_to(lib) for line in opened), used
        for name in manifests:
            state = name.rpartition("wye_")[2].split(".")[0]
            assert f"'{state}'" in used or state.startswith("layer_"), used
        wrong = subprocess.run([python, "-m", "wye", "a", "b"], capture_output=True, text=True, check=False, env=plain)
        assert wrong.returncode == 2 and "Fix: " in wrong.stderr, wrong
    print(f"{wheel.name}: {len(manifests)} plugins and layers\n{listed}", end="")


main()
