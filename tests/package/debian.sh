#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages of a build, checks their contents, and uses them unpacked. The last line is "N passed, N failed".
#
#   debian.sh BUILD SOURCE PREFIX PYTHON
#
# PYTHON: as for installed.sh.
set -uo pipefail
build=$1 source=$2 prefix=$3 interpreter=$4
here=$source/tests/package
. "$here/try.sh"
root=$work/root

# The packages have no debugging data and are not compressed: either of these would take longer than all else.
if ! DEB_BUILD_OPTIONS=noautodbgsym DPKG_DEB_COMPRESSOR_TYPE=none "$source/tools/package" --output "$work/packages" "$build"; then
    echo "0 passed, 1 failed"
    exit 1
fi
plugins=()
for id in opencl vulkan cuda; do [ ! -e "$build/plugins/$id/wye_$id.so" ] || plugins+=("$id"); done
python=$(meson introspect --installed "$build" | jq -r 'if any(.[]; endswith("/wye/__init__.py")) then "python3-wye" else empty end')
expected=(libwye-dev libwye0 $python wye-layers "${plugins[@]/#/wye-plugin-}" wye-tools)

# Lists the files of each package, with their permissions, owner and path.
names=()
for file in "$work/packages"/*.deb; do
    name=$(dpkg-deb -f "$file" Package)
    names+=("$name")
    dpkg-deb -f "$file" >"$work/$name.control"
    dpkg-deb -c "$file" | awk '{print $1, $2, substr($6, 2)}' >"$work/$name.list"
    dpkg-deb --ctrl-tarfile "$file" | tar -t | sort >"$work/$name.members"
    mkdir -p "$root"
    dpkg-deb -x "$file" "$root"
done
the_names() { diff <(printf '%s\n' "${expected[@]}" | sort) <(printf '%s\n' "${names[@]}" | sort); }
try "the packages are the libraries, the tools, and one for each plugin" the_names
field() { sed -n "s/^$2: //p" "$work/$1.control"; } # field PACKAGE FIELD

# Compares the files that Meson installs with those in the packages, except the licence and the changelog of each package.
installed() {
    meson introspect --installed "$build" | jq -r 'to_entries[] | "\(.key)\t\(.value)"' | while IFS=$'\t' read -r from to; do
        if [ -d "$from" ]; then (cd "$from" && find . -type f -printf "$to/%P\n"); else echo "$to"; fi
    done | sed -e "s,^$prefix/,/usr/," -e 's,/zsh/site-functions/,/zsh/vendor-completions/,' -e 's,/lib/python3[^/]*/[a-z]*-packages/,/lib/python3/dist-packages/,' -e 's,/man/.*,&.gz,' | sort
}
packaged() { cat "$work"/*.list | grep -v '^d' | cut -d' ' -f3 | grep -vE '/(copyright|changelog[.]Debian[.]gz)$' | sort; }
each_once() { [ "$(installed | wc -l)" -gt 100 ] && diff <(installed) <(packaged); }
try "each installed file is in exactly one package" each_once
of() { grep -q " [^ ]*$2\$" "$work/$1.list" || { echo "$1 has no $2"; return 1; }; } # of PACKAGE FILE
places() {
    of libwye0 /libwye.so.0 && of libwye0 /wye-probe && of libwye-dev /libwye.so && of libwye-dev /wye.pc &&
        of libwye-dev /wyeConfig.cmake && of libwye-dev /libwye_sdk.a && of libwye-dev /include/wye/sdk/result.hpp &&
        of libwye-dev /LANGUAGE.md && of libwye-dev /saxpy.wye && of wye-tools /usr/bin/wye && of wye-tools /wye.1.gz &&
        of wye-tools /wye-run.1.gz && of wye-tools /report.schema.json && of wye-tools /conform.schema.json && of wye-tools /wye-conform-abi && of wye-layers /wye/plugins/wye_layer_validate.so &&
        of wye-layers /wye/plugins/wye_layer_validate.wye.json && of wye-layers /wye/mock/wye_mock.so || return 1
    for id in "${plugins[@]}"; do of "wye-plugin-$id" "/wye/plugins/wye_$id.so" && of "wye-plugin-$id" "/wye_$id.wye.json" || return 1; done
    ! grep -vE ' /usr/lib/[^ ]*-linux-[^ ]*/|/$|/wye-probe$|/doc/' "$work"/{libwye0,wye-layers,wye-plugin-*}.list
}
try "each file is in the package where it is looked for, libraries in the folder of the architecture" places
# Checks that packages have the files that the source tree has: the lists above lack a file that Meson forgets to install.
headers() {
    local folder file
    for folder in plugin-abi/include plugin-abi/sdk/include runtime/include; do
        for file in $(cd "$source/$folder" && find wye -name '*.h' -o -name '*.hpp'); do of libwye-dev "/include/$file" || return 1; done
    done
    for file in wye-plugin.pc wye-sdk.pc plugin.map plugin-abi.md plugin-tutorial.md plugin-formats.md; do of libwye-dev "/$file" || return 1; done
}
try "libwye-dev has each public header, and what plugins are built with" headers
layers() {
    local layer
    for layer in $(cd "$source/plugins/layers" && ls -d */); do
        of wye-layers "/wye_layer_${layer%/}.so" && of wye-layers "/wye_layer_${layer%/}.wye.json" || return 1
    done
    of wye-layers /wye/mock/wye_mock.wye.json
}
try "wye-layers has each layer, and the mock plugin, with manifests" layers
verbs() {
    local verb helper
    for verb in $(cd "$source/tools/wye/pages" && ls *.md); do of wye-tools "/wye-${verb%.md}.1.gz" || return 1; done
    for helper in $(sed -nE 's/.*(find|become)_helper\("([a-z-]+)".*/\2/p' "$source"/tools/wye/*.cpp "$source"/tools/wye/conform/*.cpp); do
        of wye-tools "/wye-$helper" || return 1
    done
}
try "wye-tools has the page of each verb, and each helper that the command starts" verbs
owners() { ! cat "$work"/*.list | grep -vE '^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx) root/root '; }
try "all files are root's, and nobody else may write them" owners
licence() { for name in "${names[@]}"; do grep -q Apache-2.0 "$root/usr/share/doc/$name/copyright" || return 1; done; }
try "each package has its licence" licence
members() { ! cat $(ls "$work"/*.members | grep -v python3-wye) | grep -vxE './(control|md5sums|shlibs|symbols|triggers)?'; }
try "no package has a script or a file of settings, but that for Python" members
# When root imports a Python module, Python writes compiled files beside it. Without these scripts the files would stay after a purge.
compiled() { diff <(printf './%s\n' '' control md5sums postinst prerm) "$work/python3-wye.members"; }
[ -z "$python" ] || try "the package for Python compiles its module, and removes what was compiled" compiled

# Lists the dependencies of a package, without versions and alternatives.
words() { field "$1" "$2" | tr ',|' '\n\n' | sed -e 's/(.*)//' -e 's/:any//' -e 's/ //g'; } # words PACKAGE FIELD
ours() { printf '%s\n' "${names[@]}" | grep -qx -- "$1"; }
closure() {
    local name field word
    for name in "${names[@]}"; do
        for field in Pre-Depends Depends Recommends Suggests; do
            for word in $(words "$name" $field); do
                case $word in
                    *wye*) ours "$word" || { echo "$name: $field: $word is none of the packages"; return 1; } ;;
                    *) [ $field != Depends ] || dpkg-query -W "$word" || return 1 ;;
                esac
            done
        done
    done
}
try "dependencies are packages that exist" closure
exact() { for name in "${names[@]}"; do [ "$name" = libwye0 ] || field "$name" Depends | grep -q 'libwye0 (= ' || return 1; done; }
try "each package needs the library of its own version" exact
system() { for name in libwye0 wye-tools; do words "$name" Depends | grep -qx libstdc++6 && words "$name" Depends | grep -qx libc6 || return 1; done; }
try "the libraries that files need are dependencies" system
loaders() {
    local id word
    for id in "${plugins[@]}"; do
        for word in $(jq -r '.needs[].package' "$build/plugins/$id/wye_$id.wye.json"); do
            words "wye-plugin-$id" Recommends | grep -qx "$word" || { echo "wye-plugin-$id does not recommend $word"; return 1; }
        done
        [ "$id" = cuda ] || words libwye0 Recommends | grep -qx "wye-plugin-$id" || return 1
    done
    ! cat "$work"/*.control | grep -E '^(Pre-)?Depends:.*(libcuda|opencl|vulkan)'
}
try "what plugins open at run time is recommended, and not needed" loaders
version() { for name in "${names[@]}"; do [ "$(field "$name" Version)" = "$("$build/tools/wye" --version | cut -d' ' -f2)-1" ] || return 1; done; }
try "their version is that of the command" version

# Uses the packages, which are unpacked into an empty folder.
lib=$(dirname "$(find "$root/usr/lib" -name libwye.so)")
unset WYE_DEVICE WYE_PLUGIN_PATH WYE_PLUGIN_PATH_ADD WYE_LIBEXEC LD_LIBRARY_PATH
# The compiler cache, if there is one, is used here, too. Meson finds it by itself.
if command -v ccache >/dev/null; then
    export CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config=cache_dir)} CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
export PKG_CONFIG_PATH=$lib/pkgconfig WYE_CACHE_DIR=$work/cache HOME=$work POCL_CACHE_DIR=$work/pocl MESA_SHADER_CACHE_DIR=$work/mesa
info() {
    "$root/usr/bin/wye" info --json >"$work/info.json"
    diff <(printf '%s\n' cpu "${plugins[@]}" | sort) <(jq -r '.plugins[].id' "$work/info.json" | sort) &&
        jq -e '.devices[] | select(.selector == "cpu:0" and .usable)' "$work/info.json"
}
try "wye info lists the CPU and the packaged plugins" info
own_library() { [ "$(realpath "$(ldd "$root/usr/bin/wye" | sed -n 's/.*libwye.so.0 => \(.*\) (0x.*/\1/p')")" = "$(realpath "$lib/libwye.so.0")" ]; }
try "the command takes the library beside it" own_library
try "the command finds its helpers" "$root/usr/bin/wye" fuzz --help
for id in "${plugins[@]}"; do
    try "$id loads as the contract asks" "$root/usr/bin/wye" conform "$lib/wye/plugins/wye_$id.so" --only file,load
done
validated() {
    printf '\0\0\200\077' >"$work/x.bin"
    WYE_LAYERS=validate,trace,faults WYE_LOG=info "$root/usr/bin/wye" run "$source/runtime/examples/programs/saxpy.wye" --device cpu \
        --param a=2.0 --in "x=$work/x.bin" --in "y=$work/x.bin" --out "r=$work/r.bin" 2>&1 | grep 'validate: plugin .cpu.: 0 breaches'
}
try "the packaged layers stand above a device" validated
mock() {
    printf 'device = Big GPU\n' >"$work/devices"
    WYE_PLUGIN_PATH_ADD=$lib/wye/mock WYE_MOCK_SCRIPT=$work/devices "$root/usr/bin/wye" info | grep 'Big GPU'
}
try "the mock plugin has the devices of a script" mock
new_plugin() {
    "$root/usr/bin/wye" new-plugin acme --format wye-program --out "$work/acme" &&
        PATH=$root/usr/bin:$PATH PKG_CONFIG_SYSROOT_DIR= meson setup "$work/acme/build" "$work/acme" && meson compile -C "$work/acme/build" &&
        "$root/usr/bin/wye" conform "$work/acme/build/wye_acme.so" --only file,load,device,queue,loss
}
try "a new plugin builds with libwye-dev, and conforms" new_plugin
if [ -n "$python" ]; then
    try "the packaged module runs a program" env PYTHONPATH="$root/usr/lib/python3/dist-packages" "$interpreter" -B -c "import wye
saxpy = wye.Program.from_file('$source/runtime/examples/programs/saxpy.wye')
assert wye.default_context().device('cpu').run(saxpy, a=2.0, x=[1, 2], y=[1, 2]).r.tolist() == [3, 6]
assert '$lib/' in open('/proc/self/maps').read()"
fi
compiles() {
    flags --cflags --libs wye
    gcc -std=c11 -Wall -Wextra -Werror "$here/consumer.c" -o "$work/c" "${flags[@]}" "-Wl,-rpath,$lib"
}
try "an application in C compiles" compiles
try "it runs" "$work/c"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
