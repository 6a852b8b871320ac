# SPDX-License-Identifier: Apache-2.0
"""Prints the folder below PREFIX from which this Python takes packages, relative to PREFIX.

usage: site_folder.py PREFIX

If there is no such folder, prints the usual folder for packages, which PYTHONPATH then has to name.
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
