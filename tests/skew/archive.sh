#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the present sources, and stores the files that later runs of skew_check.py need as archives/ABI-DATE.tar.xz. To keep the
# archive small, the files have no debugging data and no symbols, and are optimised for size.
#
#   archive.sh [BUILD]    BUILD: a folder for the build, which is kept; without one, a temporary folder
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
source=$(realpath "$here/../..")
work=$(mktemp -d "${TMPDIR:-/tmp}/wye-archive.XXXXXX")
trap 'rm -rf "$work"' EXIT
build=$(realpath -m "${1:-$work/build}")

sections='-ffunction-sections -fdata-sections'
CFLAGS=$sections CXXFLAGS=$sections LDFLAGS=-Wl,--gc-sections "$here/build_side.sh" "$source" "$build" "$work/files" --buildtype=minsize
cd "$work/files"
strip --strip-unneeded -- libwye.so.0 application *.so

read -r major minor draft date < <(jq -r '"\(.major) \(.minor) \(.draft) \(.date)"' archive.json)
name=$major.$minor
[ "$draft" -eq 0 ] || name=draft-$draft
archive=$here/archives/$name-$date.tar.xz
mkdir -p "$here/archives"
# The library and the plugin share code. The compressor finds that only if its window is larger than both.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date" -c -- * | xz --x86 --lzma2=preset=9e,dict=64MiB >"$work/archive"
mv "$work/archive" "$archive"
ls -l "$archive"
