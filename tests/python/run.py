#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the Python package, installs it into a temporary folder, and runs the tests of
this folder with it.

usage: run.py SOURCE LIBRARY CC...

SOURCE is the top of the source tree, LIBRARY a built libwye.so, CC the C compiler's command.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

PACKAGES = {"numpy": "python3-numpy", "pip": "python3-pip",
            "setuptools": "python3-setuptools", "wheel": "python3-wheel"}


def main() -> int:
    source, library = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
    missing = [package for module, package in PACKAGES.items()
               if importlib.util.find_spec(module) is None]
    if missing:
        sys.exit(f"{', '.join(missing)} missing for {sys.executable}. Fix: run tools/setup")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        wheel = subprocess.run(
            [sys.executable, "-B", source / "runtime/python/make_wheel.py", work], check=True,
            stdout=subprocess.PIPE, text=True).stdout.strip()
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                        "--no-compile", "--disable-pip-version-check", "--root-user-action=ignore",
                        "--target", work / "site", wheel], check=True)
        here = pathlib.Path(__file__).resolve().parent
        folders = [str(library.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        # The loader finds the library by its soname.
        environment = {
            **os.environ, "PYTHONPATH": f"{work / 'site'}:{here}", "PYTHONDONTWRITEBYTECODE": "1",
            "LD_LIBRARY_PATH": ":".join(folders), "WYE_TEST_SOURCE": str(source),
            "WYE_TEST_LIBRARY": str(library), "WYE_TEST_CC": " ".join(sys.argv[3:]),
            "WYE_CACHE_DIR": str(work / "cache")}
        environment.pop("WYE_DEVICE", None)
        build = library.parents[1]
        driver, plugin = build / "tests/fakes/libfake_cuda.so", build / "plugins/cuda"
        if driver.exists() and (plugin / "wye_cuda.so").exists():
            (work / "driver").mkdir()
            (work / "driver/libcuda.so.1").symlink_to(driver)
            environment.update(WYE_TEST_FAKE_CUDA=str(work / "driver"), WYE_TEST_CUDA_PLUGIN=str(plugin))
        return subprocess.run([sys.executable, "-W", "error", "-m", "unittest", "discover", "-t", here,
                               "-s", here], env=environment, check=False, cwd=work).returncode


if __name__ == "__main__":
    sys.exit(main())
