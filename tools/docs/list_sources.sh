#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the files from which the site is made, relative to this folder, for Meson.
cd "$(dirname "$0")" || exit 1
for file in ../../runtime/include/wye/*.h* ../../runtime/include/wye/builder/*.hpp ../../plugin-abi/include/wye/*.h \
    ../../README.md ../../.github/*.md ../../.github/*.svg ../../tools/INSTALL.md ../../tests/README.md ../../plugin-abi/*.md ../../runtime/*.md ../../runtime/program/LANGUAGE.md ../../runtime/examples/README.md \
    ../../runtime/python/README.md ../../registry/README.md; do
    echo "$file"
done
