#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which folder may include which headers. Meson gives each folder its own include directories; this test also finds relative paths and
# system headers, which Meson does not restrict.
. "$(dirname "${BASH_SOURCE[0]}")/sources.sh"

# allow FOLDER REGEX WHY: every #include in FOLDER, except of the C and C++ standard library, must match REGEX. REGEX is matched with the
# name without its quotes or brackets. A name without a folder is a file in the same folder.
standard='[a-z_0-9]+|(assert|complex|ctype|errno|fenv|float|inttypes|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|time)\.h'
allow() {
    local folder=$1 regex=$2 why=$3 file line text name
    # One search over all files, since a process for each file would take a minute.
    while IFS=: read -r file line text; do
        [[ $text =~ include[[:space:]]*([<\"][^>\"]*[>\"]) ]] || continue
        name=${BASH_REMATCH[1]}
        if [[ $name == '<'* ]] && [[ ${name:1:-1} =~ ^($standard)$ ]]; then continue; fi
        if [[ $name == '"'* ]] && [[ ${name:1:-1} != */* ]] && [ -e "${file%/*}/${name:1:-1}" ]; then continue; fi
        if [[ ${name:1:-1} =~ ^($regex)$ ]]; then pass; else fail "$file:$line: includes $name. Fix: $why"; fi
    done < <(grep -rnE --include='*.[ch]' --include='*.[ch]pp' --include='*.inc' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' $folder | LC_ALL=C sort -t: -k1,1 -k2,2n)
}

abi='wye/(abi|abi_compiler|abi_layer|abi_layouts|abi_loss|abi_native|program_format)\.h'
sdk="$abi|wye/sdk/[a-z_0-9]+\.hpp"
posix='(cxxabi|linux/futex|unistd|fcntl|fnmatch|dlfcn|elf|link|pthread|sched|spawn|poll|dirent|malloc|sys/[a-z]+)\.h'
simd='(immintrin|xmmintrin|pmmintrin|emmintrin|cpuid|arm_neon)\.h'

allow plugin-abi/include 'wye/abi\.h' 'the contract stands alone, on three standard headers'
allow plugin-abi/sdk "$sdk|$posix|$simd|sanitizer/tsan_interface\.h" 'the sdk sees the contract and itself only, and no other library'
registry_libraries="$sdk|nlohmann/json\.hpp|fmt/[a-z-]+\.h|xxhash\.h|boost/dll.*|boost/system.*|$posix"
allow registry "registry(/[a-z]+)?/[a-z_0-9]+\.hpp|$registry_libraries" 'the registry sees plugin-abi only'
above=''
for room in find open probe choose hold report; do
    above+="${above:+|}$room"
    allow "registry/$room registry/include/registry/$room" "registry/(($above)/)?[a-z_0-9]+\.hpp|$registry_libraries" \
        'a room of the registry sees itself and those above it in registry/README.md'
done
for plugin in plugins/*/; do
    plugin=$(basename "$plugin")
    case $plugin in
        opencl) extra='|CL/[a-z_0-9]+\.h' ;;
        vulkan) extra='|vulkan/.*' ;;
        cuda) extra='|cuda\.h|nvrtc\.h' ;;
        *) extra='' ;;
    esac
    allow "plugins/$plugin" "$plugin/([a-z_0-9]+/)?[a-z_0-9]+\.(h|hpp|inc)|$sdk|$posix|$simd$extra" 'a plugin sees plugin-abi and its own driver only'
done
pure='fmt/[a-z]+\.h|xxhash\.h'
allow runtime/program "program/([a-z]+/)?[a-z_0-9]+\.hpp|$sdk|$pure" 'the program knows the wire form and nothing below it'
allow runtime/lower "(lower(/[a-z]+)?|program(/[a-z]+)?)/[a-z_0-9]+\.hpp|$sdk|$pure|spirv/unified1/[A-Za-z.0-9]+" 'lowering sees the program only: no driver, no registry'
allow runtime/plan "(plan|lower(/[a-z]+)?|program(/[a-z]+)?)/[a-z_0-9]+\.hpp|$sdk|$pure" 'planning is pure: no driver, no registry'
allow runtime/cache "cache/[a-z_0-9]+\.hpp|$sdk|$pure|$posix" 'the cache knows keys and bytes only'
allow runtime/route "(route|plan|program(/[a-z]+)?|registry(/[a-z]+)?)/[a-z_0-9]+\.hpp|$sdk|$pure" 'routing works on the catalogue: no driver, no execution'
outside_exec="(cache|route|plan|lower(/[a-z]+)?|program(/[a-z]+)?|registry(/[a-z]+)?)/[a-z_0-9]+\.hpp|wye/(buffer|capture|device|graph|native|pipeline|profile|report|wye)\.h|$sdk|$pure|$posix|nlohmann/json\.hpp|cpu/[a-z_0-9]+\.h(pp)?"
allow runtime/exec "exec/([a-z]+/)?[a-z_0-9]+\.hpp|$outside_exec" 'execution sees the pure stages, the registry and the built-in plugin'
# The order inside runtime/exec: devices and programs, which may include each other; the files of exec itself, such as the context; then the
# folders named below, one after another.
below='device|program|trace'
allow 'runtime/exec/device runtime/exec/program runtime/exec/trace' "exec/($below)/[a-z_0-9]+\.hpp|$outside_exec" \
    'devices and programs see no room of exec that uses them'
allow 'runtime/exec/*.?pp' "exec/(($below)/)?[a-z_0-9]+\.hpp|$outside_exec" 'the context sees devices and programs only'
for room in dispatch prepared pipeline api; do
    below+="|$room"
    allow "runtime/exec/$room" "exec/(($below)/)?[a-z_0-9]+\.hpp|$outside_exec" 'a room of exec sees itself and those before it: dispatch, prepared, pipeline, api'
done
allow runtime/probe "exec/api/api\.hpp|registry(/[a-z]+)?/[a-z_0-9]+\.hpp|wye/wye\.h|$sdk|$pure|$posix" \
    'the helper that probes plugins sees the API and the registry'
allow runtime/include 'wye/(abi|abi_native|buffer|capture|device|graph|native|pipeline|profile|program_format|report|wye)\.h|wye/builder/[a-z_0-9]+\.hpp|wye/(buffer|device|element|handle|outputs|pending|program|queue|wye)\.hpp|wye/sdk/(cxx20|nearest|result)\.hpp' 'a public header needs no library and no private header'
public='wye/(wye|builder|element)\.hpp|wye/(wye|program_format)\.h|wye/sdk/(new_file|output_file|printable|result|standard_files)\.hpp'
command='CLI/[A-Za-z_]+\.hpp|fmt/[a-z]+\.h'
allow runtime/examples "$public|wye/(device\.h|(graph|memory)\.hpp)|$command|[a-z0-9_]+_program\.hpp|png\.h|$posix" 'an example links libwye and sees its public headers only'
public_tool="$public|wye/(graph|memory|pipeline)\.hpp|wye/sdk/(ascii|numbers|words)\.hpp|$command|nlohmann/json\.hpp|$posix"
allow tools/wye "$public_tool|(command|conform|info|\.\.|\.\./info)/[a-z_]+\.hpp|(language_text|contract_text|new_plugin_files|verb_texts)\.hpp|report_schema\.hpp|wye/abi\.h|registry/(choose/(capability|selector)|find/(manifest|search)|open/(device|facts)|probe/spawn)\.hpp|route/choose_variant\.hpp" 'the tool links libwye, and sees its public headers, and of registry and routing what opens no plugin'
allow tools/command "$public_tool|command/[a-z_]+\.hpp" 'what the commands share links libwye, and sees its public headers'
allow tools/new_plugin "[a-z]+\.hpp|wye/abi\.h|wye/sdk/(program|typing|wire)\.hpp|ucontext\.h|$posix" \
    'a new plugin is built with what is installed for plugins, and its own files'
allow tools/bench "$public_tool|command/[a-z_]+\.hpp|sha256_text\.hpp|(advance|increment)_spirv\.h|cuda\.h|CL/cl\.h|vulkan/vulkan_core\.h" \
    'the benchmark links libwye, and opens drivers by name'
allow tests/oracle "oracle/[a-z_0-9]+\.hpp|wye/program_format\.h|wye/sdk/result\.hpp|$posix" 'the oracle shares no code with what it checks'
shared='(oracle|support)/[a-z_0-9]+\.hpp'
inside="(lower(/[a-z]+)?|program(/[a-z]+)?)/[a-z_0-9]+\.hpp"
allow tests/support "$shared|wye/wye\.hpp|$abi|spirv-tools/libspirv\.h|$posix|(malloc|fpu_control|xmmintrin)\.h" 'what tests share knows no test'
allow tests/conformance/language "conformance/(abi|language)/[a-z_0-9]+\.hpp|$shared|$inside|wye/(wye|sdk/[a-z_0-9]+)\.hpp|$abi|doctest/doctest\.h|$posix" \
    'the suites see what tests share, and no other test: what both need stands in tests/support'
allow tests/differential "differential/(c11/)?[a-z_0-9]+\.hpp|$shared|$inside|wye/(wye|sdk/[a-z_0-9]+)\.hpp|$abi|doctest/doctest\.h|nlohmann/json\.hpp|CLI/CLI\.hpp|fmt/[a-z]+\.h|ucontext\.h|command/[a-z_]+\.hpp|quirk_regressions\.hpp|$posix" \
    'the differential tests see what tests share, and no other test: what both need stands in tests/support'
allow tests/conformance/abi "conformance/abi/[a-z_]+\.hpp|wye/abi\.h|wye/abi_layer\.h|wye/abi_loss\.h|wye/abi_native\.h|wye/sdk/(samples|standard_files)\.hpp|doctest/doctest\.h|$posix" 'the conformance kit sees the contract and itself only, so that it can be installed'

# A source file without a header of its own name belongs to the only header in its folder with the same prefix: `write_loop.cpp` belongs to
# `writer.hpp`.
for file in runtime/lower/{c,middle,spirv}/*.cpp; do
    prefix=${file%%_*}
    if [ -e "${file%.cpp}.hpp" ] || [ "$(compgen -G "${prefix%e}*.hpp" | wc -l)" = 1 ]; then
        pass
    else
        fail "$file: not exactly one header of its folder has its name or shares its prefix. Fix: name it by the header that it implements"
    fi
done

# Only one file of the product may use Boost.DLL, which opens libraries.
users=$(grep -rlE '#[[:space:]]*include[[:space:]]*<boost/dll' plugin-abi registry runtime tools --include='*.?pp' --include='*.h' || true)
count=$(grep -c . <<<"$users" || true)
if [ "$count" -le 1 ]; then pass; else fail "Boost.DLL is used by $count files: $users. Fix: open libraries in one file of the registry"; fi
finish
