#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the package's wheel into a folder, without a network, and prints the wheel's path.

usage: make_wheel.py FOLDER

Needs setuptools and wheel. Leaves no files in the source tree, as `pip wheel` would.
"""
import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import warnings


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        from setuptools import build_meta
        import wheel  # noqa: F401, for the backend
    except ImportError as error:
        sys.exit(f"make_wheel.py: {error}. Fix: run tools/setup, or install setuptools and wheel")
    warnings.simplefilter("ignore")
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work) / "python"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
        os.chdir(copy)
        # The backend prints every file, which only helps if it fails.
        log = io.StringIO()
        try:
            with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                name = build_meta.build_wheel(str(folder))
        except BaseException:
            sys.stderr.write(log.getvalue())
            raise
        os.chdir(folder)
    print(folder / name)


if __name__ == "__main__":
    main()
