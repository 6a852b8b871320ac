# SPDX-License-Identifier: Apache-2.0
"""Prints the folder of a prefix that this Python takes packages from, relative to the prefix.

usage: site_folder.py PREFIX

If this Python takes packages from no such folder, prints the usual one, which PYTHONPATH has to name.
"""
import os
import site
import sys

prefix = os.path.realpath(sys.argv[1])
for folder in site.getsitepackages():
    # Debian's folders below /usr/local do not belong to the prefix /usr.
    inside = os.path.relpath(os.path.realpath(folder), prefix)
    if inside.split(os.sep)[0] in ("lib", "lib64"):
        print(inside)
        break
else:
    print(f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")
