#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the package's wheel into a folder, without a network, and prints the wheel's path.

usage: make_wheel.py FOLDER [BUILD]

BUILD is the folder of a finished build. The wheel then carries libwye.so, its helper wye-probe, and the plugins
with their manifests. Such a wheel is for this architecture, and for the C library that these files need
(manylinux). It needs no other package, and works wherever it is installed. Without BUILD the wheel has the
Python package alone, which uses the library of its prefix or of the system.

Needs setuptools and wheel, and for BUILD readelf and strip (binutils). Leaves no files in the source tree.
"""
import base64
import contextlib
import csv
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent
# Matches the libraries that every Linux system of a manylinux tag has.
SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+$|ld-linux[\w-]*\.so\.\d+$")
# Maps a minor version of libstdc++ to the minor version of glibc that came with it: GLIBCXX_3.4.30
# came with glibc 2.35.
GLIBC_OF_GLIBCXX = {29: 34, 30: 35, 31: 38, 32: 38, 33: 40, 34: 41}


def stop(message: str) -> None:
    sys.exit(f"make_wheel.py: {message}")


def build_pure(folder: pathlib.Path) -> pathlib.Path:
    """Builds the wheel of the Python package alone."""
    try:
        from setuptools import build_meta
        import wheel  # noqa: F401, for the backend
    except ImportError as error:
        stop(f"{error}. Fix: run tools/setup, or install setuptools and wheel")
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work) / "python"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "lib"))
        shutil.copy(SOURCE.parents[1] / "LICENSE", copy)
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
    return folder / name


def parts_of(build: pathlib.Path) -> dict[str, pathlib.Path]:
    """The files of a build that the wheel carries, by their paths in the folder `lib` of the package.

    The library finds wye-probe in its own folder, and plugins in wye/plugins of that folder.
    """
    listed = build / "meson-info/intro-installed.json"
    if not listed.is_file():
        stop(f"'{build}' is not the folder of a build. Fix: meson setup {build} && ninja -C {build}")
    parts = {}
    for made, installed in json.loads(listed.read_text(encoding="utf-8")).items():
        name = pathlib.Path(installed).name
        if re.fullmatch(r"libwye\.so\.\d+\.\d+\.\d+", name):
            parts[name.rsplit(".", 2)[0]] = pathlib.Path(made)  # by its soname
        elif name == "wye-probe":
            parts[name] = pathlib.Path(made)
        elif pathlib.Path(installed).parent.parts[-2:] == ("wye", "plugins"):
            parts[f"wye/plugins/{name}"] = pathlib.Path(made)
    missing = [str(path) for path in parts.values() if not path.is_file()]
    if missing or not any(name.startswith("libwye.so") for name in parts):
        stop(f"the build lacks {', '.join(missing) or 'libwye.so'}. Fix: ninja -C {build}")
    return parts


def readelf(option: str, file: pathlib.Path) -> str:
    return subprocess.run(["readelf", "-W", option, file], check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def glibc_of(file: pathlib.Path) -> int:
    """The minor version of glibc that a file needs: 34 for 2.34. Stops if it needs libraries not in SYSTEM."""
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file)):
        if not SYSTEM.match(name):
            stop(f"{file} needs {name}, which not every system has. Fix: build without it, as with -Dinline_fmt=true")
    versions = readelf("-V", file)
    cxx = max(map(int, re.findall(r"\bGLIBCXX_3\.4\.(\d+)", versions)), default=0)
    if cxx > max(GLIBC_OF_GLIBCXX):
        stop(f"{file} needs the C++ library 3.4.{cxx}, which is newer than this script knows. Fix: add it to GLIBC_OF_GLIBCXX")
    return max([17, GLIBC_OF_GLIBCXX.get(cxx, 0), *map(int, re.findall(r"\bGLIBC_2\.(\d+)", versions))])


def carry(pure: pathlib.Path, build: pathlib.Path) -> pathlib.Path:
    """Puts the parts of a build into a wheel, which then is for this architecture."""
    parts = parts_of(build)
    with tempfile.TemporaryDirectory() as work:
        glibc = 0
        for name, path in list(parts.items()):
            if path.suffix == ".json":
                continue
            bare = pathlib.Path(work) / path.name
            subprocess.run(["strip", "--strip-unneeded", "-o", bare, path], check=True)
            glibc = max(glibc, glibc_of(bare))
            parts[name] = bare
        tag = f"py3-none-manylinux_2_{glibc}_{platform.machine()}"
        target = pure.with_name(pure.name.replace("py3-none-any", tag))
        with zipfile.ZipFile(pure) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
            record = io.StringIO()
            rows = csv.writer(record, lineterminator="\n")

            def add(info: zipfile.ZipInfo, data: bytes) -> None:
                info.compress_type = zipfile.ZIP_DEFLATED
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                rows.writerow([info.filename, f"sha256={digest}", len(data)])
                new.writestr(info, data)
            last = None
            for info in old.infolist():
                data = old.read(info)
                if info.filename.endswith(".dist-info/WHEEL"):
                    data = re.sub(rb"Root-Is-Purelib: true", b"Root-Is-Purelib: false", data)
                    data = re.sub(rb"Tag: .*", b"Tag: " + tag.encode(), data)
                if info.filename.endswith(".dist-info/RECORD"):
                    last = info
                else:
                    add(info, data)
            # The licences of the code in the added libraries.
            notice = zipfile.ZipInfo(last.filename.replace("RECORD", "NOTICE"), date_time=last.date_time)
            notice.external_attr = 0o100644 << 16
            add(notice, (SOURCE / "NOTICE").read_bytes())
            for name, path in sorted(parts.items()):
                info = zipfile.ZipInfo(f"wye/lib/{name}", date_time=last.date_time)
                info.external_attr = (0o100644 if path.suffix == ".json" else 0o100755) << 16
                add(info, path.read_bytes())
            rows.writerow([last.filename, "", ""])
            new.writestr(last, record.getvalue())
    pure.unlink()
    return target


def main() -> None:
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    build = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) == 3 else None
    if build is not None:
        parts_of(build)
        for tool in ("readelf", "strip"):
            if shutil.which(tool) is None:
                stop(f"{tool} is missing. Fix: run tools/setup, or install binutils")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        made = build_pure(pathlib.Path(work))
        if build is not None:
            made = carry(made, build)
        os.chdir(folder)
        os.replace(made, folder / made.name)
    print(folder / made.name)


if __name__ == "__main__":
    main()
