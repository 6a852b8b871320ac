#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages in folder PACKAGES with apt in a fresh Debian of the same release as this system, uses them, and
# purges them. Needs mmdebstrap, root and the network. `tools/package --chroot` runs this. It takes minutes, so it is not a
# test of the build.
#
#   chroot.sh PACKAGES
set -euo pipefail
packages=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
work=$(mktemp -d "${TMPDIR:-/tmp}/wye-chroot.XXXXXX")
root=$work/root
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT

# The fresh system uses the apt settings of this one (proxies, mirrors).
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do [ ! -s "$file" ] || sources+=("$file"); done
apt-config dump | grep -iE '^Acquire::(https?|Retries)' >"$work/apt.conf" || true
mmdebstrap --mode=root --variant=minbase --aptopt="$work/apt.conf" --include=gcc,g++,libc6-dev,meson,pkgconf --skip=cleanup/apt \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" "${sources[@]}"

mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages/"
cp "$here/consumer.c" "$here/saxpy.h" "$here/../../runtime/examples/programs/saxpy.wye" "$root/root/"
mapfile -t debs < <(cd "$packages" && printf '/packages/%s\n' *.deb)
apt=(chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)

# Files that apt and dpkg keep for themselves belong to no package. The loader's cache is left out as well: after the purge it no longer
# names Wye's libraries.
files() { find "$root" -xdev ! -path "$root/var/*/apt*" ! -path "$root/var/lib/dpkg/*" ! -path "$root/var/log/*" \
    ! -path "$root/var/cache/ldconfig/*" -printf '%P %y %l\n' | LC_ALL=C sort; }

files >"$work/before"
"${apt[@]}" install --no-install-recommends "${debs[@]}"
echo "== wye info"
chroot "$root" wye info
echo "== wye run"
chroot "$root" sh -euc '
    cd /root
    printf "\000\000\200\077\000\000\000\100" >x.bin
    printf "\000\000\000\077\000\000\000\000" >y.bin
    wye run saxpy.wye --device cpu --param a=2.0 --in x=x.bin --in y=y.bin --out r=r.bin
    od -An -tf4 r.bin
    [ "$(od -An -tf4 r.bin | tr -s " ")" = " 2.5 4" ]'
echo "== an application in C"
chroot "$root" sh -euc '
    cd /root
    gcc -std=c11 -Wall -Wextra -Werror consumer.c -o consumer $(pkg-config --cflags --libs wye)
    ./consumer
    rm -rf consumer *.bin .cache'
echo "== an application in Python"
chroot "$root" python3 -c '
import wye
saxpy = wye.Program.from_file("/root/saxpy.wye")
r = wye.default_context().device("cpu").run(saxpy, a=2.0, x=[1, 2], y=[0.5, 0]).r.tolist()
assert r == [2.5, 4], r'
echo "== layers and the mock plugin"
chroot "$root" sh -euc '
    cd /root
    printf "\000\000\200\077\000\000\000\100" >x.bin
    WYE_LAYERS=validate,trace,faults WYE_LOG=info wye run saxpy.wye --device cpu --param a=2.0 --in x=x.bin --in y=x.bin --out r=r.bin 2>log
    grep "validate: plugin .cpu.: 0 breaches" log
    printf "device = Big GPU\n" >devices
    WYE_PLUGIN_PATH_ADD=$(dirname "$(find /usr/lib -name wye_mock.so)") WYE_MOCK_SCRIPT=devices wye info | grep "Big GPU"
    rm -rf x.bin r.bin log devices .cache'
echo "== a new plugin"
chroot "$root" sh -euc '
    cd /root
    wye new-plugin acme --format wye-program --out acme
    meson setup acme/build acme
    meson compile -C acme/build
    wye conform acme/build/wye_acme.so --quick
    rm -rf acme .cache'
echo "== the packaged plugins, without drivers"
chroot "$root" sh -euc '
    for plugin in $(find /usr/lib -path "*/wye/plugins/wye_[!l]*.so"); do wye conform "$plugin" --quick; done
    rm -rf /root/.cache'
echo "== purge"
mapfile -t names < <(for package in "$packages"/*.deb; do dpkg-deb -f "$package" Package; done)
"${apt[@]}" purge --auto-remove "${names[@]}"
files >"$work/after"
diff "$work/before" "$work/after"
! grep -a libwye "$root/etc/ld.so.cache"
echo "installed, used, purged; no file is left"
