// SPDX-License-Identifier: Apache-2.0
//
// The CPU plugin under another name, with the kind of fault that a driver's compiler may have: it
// rotates right where a program rotates left. For tests of the tools that compare devices.
#include <cstring>
#include <vector>

#include "over_cpu.hpp"
#include "wye/program_format.h"
#include "wye/sdk/plugin.hpp"

namespace {

// The CPU plugin's own tables. Several threads may set them, but always to the same values.
const wye_plugin_table* plugin_behind = nullptr;
const wye_device_table* device_behind = nullptr;

// Replaces the number of the operation ROTL by that of ROTR in the code of functions and main. A
// literal that is the same number changes, too. That does not matter, since any fault will do.
std::vector<std::uint32_t> turned(wye_bytes code) {
    std::vector<std::uint32_t> words((code.size + 3) / 4);
    std::memcpy(words.data(), code.data, code.size);
    constexpr std::size_t kHead = WYE_PROGRAM_HEADER_BYTES / 4;
    constexpr std::size_t kEntry = WYE_PROGRAM_SECTION_ENTRY_BYTES / 4;
    const std::size_t size = words.size();
    for (std::size_t entry = 0; size > kHead && entry < words[3]; ++entry) {
        if (kHead + (entry + 1) * kEntry > size) break;           // damaged code
        const std::uint32_t* e = &words[kHead + entry * kEntry];  // id, zero, offset, bytes
        if ((std::uint64_t{e[2]} + e[4]) / 4 > size) continue;
        if (e[0] != WYE_SECTION_FUNCTIONS && e[0] != WYE_SECTION_BODY) continue;
        for (std::size_t at = e[2] / 4; at < (e[2] + e[4]) / 4; ++at)
            if (words[at] == WYE_OP_ROTL) words[at] = WYE_OP_ROTR;
    }
    return words;
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    const std::vector<std::uint32_t> words = turned(artifact->code);
    wye_artifact wrong = *artifact;
    wrong.code.data = words.data();
    return device_behind->program_create(device, &wrong, out, error);
}

wye_status open_device(wye_plugin_object* plugin, const wye_open_desc* desc,
                       wye_device_object** out, const wye_device_table** table, wye_error** error) {
    const wye_status status = plugin_behind->open_device(plugin, desc, out, table, error);
    if (status != WYE_OK) return status;
    fake::replace_slots(device_behind, table, [](wye_device_table& t) {
        t.program_create = program_create;
        t.program_save = nullptr;
        t.program_load = nullptr;
    });
    return WYE_OK;
}

}  // namespace

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return fake::query_over_cpu(hello, out, "turns_wrong", plugin_behind,
                                [](wye_plugin_table& table) { table.open_device = open_device; });
}
