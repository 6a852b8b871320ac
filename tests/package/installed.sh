#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build, moves the installed tree to another folder, and uses it like applications and vendors: with pkg-config, CMake and Meson,
# from C, C++ and Python, as a subproject, and for plugins outside the tree. The last line is "N passed, N failed".
#
#   installed.sh BUILD SOURCE PREFIX LIBDIR PYTHON
#
# PYTHON: the interpreter for which the Python package was installed; empty: none.
set -uo pipefail
build=$1 source=$2 prefix=$3 libdir=$4 python=$5
here=$source/tests/package
. "$here/try.sh"

if ! DESTDIR=$work/first meson install -C "$build" --no-rebuild >"$work/log" 2>&1; then
    cat "$work/log"
    echo "0 passed, 1 failed"
    exit 1
fi
mkdir "$work/elsewhere"
mv "$work/first$prefix" "$work/elsewhere/wye"
installed=$work/elsewhere/wye
lib=$installed/$libdir
unset WYE_DEVICE WYE_PLUGIN_PATH WYE_PLUGIN_PATH_ADD WYE_LIBEXEC LD_LIBRARY_PATH
# The compiler cache, if there is one, is used here, too. Meson finds it by itself.
if command -v ccache >/dev/null; then
    export CCACHE_DIR=${CCACHE_DIR:-$(ccache --get-config=cache_dir)} CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
export PKG_CONFIG_PATH=$lib/pkgconfig WYE_CACHE_DIR=$work/cache HOME=$work POCL_CACHE_DIR=$work/pocl MESA_SHADER_CACHE_DIR=$work/mesa
strict=(-Wall -Wextra -Wpedantic -Werror -O1)

# The command needs no environment variable, in whichever folder the tree is.
try "the command runs" "$installed/bin/wye" --version
try "the command finds its helpers" "$installed/bin/wye" fuzz --help
names() { [ "$(ls "$installed/bin")" = wye ]; }
try "bin has the command only" names
outside() { ! grep -rlE "$build|$work/first" "$lib/pkgconfig" "$lib/cmake"; }
try "no file names the build's folders" outside
pages() { for page in $(grep -oE '`[A-Za-z/-]+\.md`' "$installed/share/doc/wye/README.md" | tr -d '`'); do
        [ -s "$installed/share/doc/wye/$page" ] || [ "$page:$python" = python.md: ] || return 1
    done
    [ -s "$installed/share/doc/wye/LANGUAGE.md" ] && [ -s "$installed/share/doc/wye/examples/programs/saxpy.wye" ] &&
    [ -s "$installed/share/man/man1/wye.1" ] && [ -s "$installed/share/man/man1/wye-run.1" ]; }
try "documents and programs are installed" pages
site() { [ ! -e "$build/tools/docs/html" ] || grep -q 'Where to begin' "$installed/share/doc/wye/html/index.html"; }
try "the documentation site is installed, if the build has one" site

flags --cflags --libs wye
try "pkg-config, C" gcc -std=c11 "${strict[@]}" "$here/consumer.c" -o "$work/c" "${flags[@]}" "-Wl,-rpath,$lib"
try "pkg-config, C runs" "$work/c"
try "pkg-config, C++" g++ -std=c++20 "${strict[@]}" -Wold-style-cast "$here/consumer.cpp" -o "$work/cpp" \
    "${flags[@]}" "-Wl,-rpath,$lib"
try "pkg-config, C++ runs" "$work/cpp"
older() {
    local said
    said=$(g++ -std=c++17 -fsyntax-only "$here/consumer.cpp" "${flags[@]}" 2>&1)
    [[ $(grep -m1 'error:' <<<"$said") == *'add -std=c++20'* ]]
}
try "an older C++ is told first what it needs" older
if [ -e "$lib/libwye.a" ]; then
    flags --static --cflags --libs wye
    try "static, C" gcc -std=c11 "${strict[@]}" "$here/consumer.c" -o "$work/static" "${flags[@]/#-lwye/-l:libwye.a}"
    try "static, C runs" "$work/static"
    alone() { ! ldd "$work/static" | grep -q libwye; }
    try "static, C needs no libwye.so" alone
fi

# The Python package must find the library of the moved tree.
if [ -n "$python" ]; then
    site=$(dirname "$(find "$installed" -type d -path '*-packages/wye')")
    try "Python runs" env PYTHONPATH="$site" "$python" -B -c "import wye
assert wye.Program.from_file('$installed/share/doc/wye/examples/programs/saxpy.wye').name == 'saxpy'
assert '$lib/libwye.so' in open('/proc/self/maps').read()"
fi

# Builds a plugin outside the tree: the template, as plugin `null`, in the folder that pkg-config names.
flags --variable=plugindir wye-plugin
plugindir=${flags[0]}
flags --cflags wye-plugin
in_prefix() { [ "$(realpath -m "$plugindir")" = "$(realpath -m "$lib/wye/plugins")" ]; }
try "pkg-config names the moved folder for plugins" in_prefix
try "pkg-config, plugin" gcc -std=c11 "${strict[@]}" -shared -fPIC -fvisibility=hidden "$source/plugins/null/plugin.c" \
    -o "$plugindir/wye_null.so" "${flags[@]}"
abi() { pkg-config --variable="abi_$1" wye-plugin; }
cat >"$plugindir/wye_null.wye.json" <<J
{"schema": 1, "id": "null", "library": "wye_null.so", "arch": "$(uname -m)", "backend": "null", "version": "0.1.0",
 "abi": {"major": $(abi major), "draft": $(abi minor_draft), "minor_needed": 0, "minor_built": $(abi minor)}}
J
# The plugin has no device, so the exit status of the command is not 0.
lists() { "$installed/bin/wye" info --json -d null >"$work/null.json"
    jq -e '.plugins[] | select(.id == "null") | .state == "ready"' "$work/null.json"; }
try "the command lists the plugin" lists
try "the plugin conforms" "$installed/bin/wye" conform "$plugindir/wye_null.so" --quick
flags --cflags --libs wye-sdk
try "pkg-config, sdk" g++ -std=c++20 "${strict[@]}" -x c++ - -o "$work/sdk" "${flags[@]}" \
    <<<'#include "wye/sdk/result.hpp"
int main() { return wye::Result<int>(0).value(); }'

# CMake
mkdir "$work/cmake"
cp "$here/CMakeLists.txt" "$here/saxpy.h" "$here/consumer.c" "$here/consumer.cpp" "$source/plugins/null/plugin.c" "$work/cmake/"
try "CMake" cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$installed"
try "CMake builds" cmake --build "$work/cmake/build"
for consumer in c_consumer cpp_consumer $([ ! -e "$lib/libwye.a" ] || echo static_consumer); do
    try "CMake, $consumer runs" "$work/cmake/build/$consumer"
done
newer() { ! cmake -S "$work/cmake" -B "$work/cmake/newer" -DCMAKE_PREFIX_PATH="$installed" -Dwye_FIND_VERSION=9 ||
    ! cmake -P /dev/stdin <<<"set(PACKAGE_FIND_VERSION 9.0) include($lib/cmake/wye/wyeConfigVersion.cmake)
if(PACKAGE_VERSION_COMPATIBLE)
  message(STATUS compatible)
else()
  message(FATAL_ERROR refused)
endif()"; }
try "CMake is told that a newer version is not here" newer

# Meson uses Wye installed, and as a subproject. The subproject is only configured.
mkdir -p "$work/meson/subprojects"
cp "$work/cmake"/*.[ch] "$work/cmake/consumer.cpp" "$work/meson/"
cat >"$work/meson/meson.build" <<'M'
project('consumers', 'c', 'cpp', default_options : ['c_std=c11', 'cpp_std=c++20'])
wye = dependency('wye', default_options : ['tests=false'])
executable('c_consumer', 'consumer.c', dependencies : wye)
executable('cpp_consumer', 'consumer.cpp', dependencies : wye)
shared_module('wye_null', 'plugin.c', dependencies : dependency('wye-plugin'))
M
try "Meson" meson setup "$work/meson/build" "$work/meson"
try "Meson builds" ninja -C "$work/meson/build"
for consumer in c_consumer cpp_consumer; do try "Meson, $consumer runs" "$work/meson/build/$consumer"; done
ln -s "$source" "$work/meson/subprojects/wye"
printf '[wrap-file]\ndirectory = wye\n[provide]\ndependency_names = wye, wye-plugin, wye-sdk\n' >"$work/meson/subprojects/wye.wrap"
subproject() { meson setup "$work/meson/within" "$work/meson" --force-fallback-for=wye,wye-plugin &&
    meson introspect "$work/meson/within" --projectinfo | jq -e '.subprojects[] | select(.name == "wye")' &&
    ninja -C "$work/meson/within" -n c_consumer cpp_consumer; }
try "Meson, as a subproject" subproject

# Builds projects that `wye new-plugin` has written. Each takes half a minute, so one run of the tests builds a part of them. The tutorial
# builds one for opencl-c, with Meson and with CMake.
export PATH=$installed/bin:$PATH CMAKE_PREFIX_PATH=$installed
slice=${WYE_TEST_SLICE:-0}
if [ "$slice" = all ]; then taken="0 1" said="all 2 slices"; else taken=$((slice % 2)) said="slice $taken of 2"; fi
echo "slice: projects of new-plugin, $said"
project() { # NAME FORMAT
    wye new-plugin "$1" --format "$2" --out "$work/$1" && meson setup "$work/$1/build" "$work/$1" -Dwerror=true &&
        meson compile -C "$work/$1/build" && "$work/$1/tests/program.sh" wye "$work/$1/build"
}
one_symbol() { [ "$(nm -D --defined-only "$work/wire/build/wye_wire.so" | cut -d' ' -f3)" = wye_plugin_query_1 ]; }
cmake_project() { cmake -S "$work/wire" -B "$work/wire/cmake" -DCMAKE_CXX_FLAGS=-Werror && cmake --build "$work/wire/cmake" &&
    "$work/wire/tests/program.sh" wye "$work/wire/cmake"; }
body() { # The device `own` runs only the variant, and not the body of the program.
    WYE_PLUGIN_PATH_ADD=$work/own/build wye run "$work/own/tests/program.wye" --device own:0 --param a=1.0 \
        --in x=/dev/null --in y=/dev/null --out r=/dev/null 2>"$work/refused"
    [ $? -eq 2 ] && grep -q 'the request allows none' "$work/refused" && grep -q 'wye run --variants' "$work/refused"
}
if [[ $taken == *0* ]]; then
    mkdir "$work/tutorial"
    try "the commands of the tutorial for plugins" "$here/tutorial.py" "$installed/share/doc/wye/plugin-tutorial.md" "$work/tutorial"
    try "a plugin of a format of its own runs the variant of that format" project own com.example.own
    try "without variants the device refuses the program, and says why" body
fi
if [[ $taken == *1* ]]; then
    try "a plugin of wye-program" project wire wye-program
    # The tutorial runs the other groups on its own plugin.
    try "it conforms" wye conform --quick --only file,load,plugin,skew,device,program "$work/wire/build/wye_wire.so"
    try "it exports the query only" one_symbol
    try "CMake builds it" cmake_project
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
