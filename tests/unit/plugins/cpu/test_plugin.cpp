// SPDX-License-Identifier: Apache-2.0
//
// The plugin's description and refusals, and the plugin as a shared object.
#include <dlfcn.h>
#include <doctest/doctest.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <fstream>
#include <map>
#include <string>

#include "cpu/cpu_plugin.h"
#include "rig.hpp"
#include "wye/sdk/facts.hpp"

namespace {

const wye_plugin_desc* described(wye_plugin_query_fn query) {
    const wye_hello hello = wye::sdk::hello();
    const wye_plugin_desc* desc = nullptr;
    CHECK(query(&hello, &desc) == WYE_OK);
    return desc;
}

std::string id_of(const wye_plugin_desc* desc) { return {desc->id.data, desc->id.size}; }

}  // namespace

TEST_CASE("the plugin as a file is the plugin as a library") {
    void* library = dlopen(WYE_CPU_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const auto query = reinterpret_cast<wye_plugin_query_fn>(dlsym(library, "wye_plugin_query_1"));
    REQUIRE((query != nullptr));
    CHECK(id_of(described(query)) == "cpu");
    CHECK(id_of(described(wye_cpu_plugin_query)) == "cpu");
    CHECK(dlsym(library, "wye_cpu_plugin_query") == nullptr);
    dlclose(library);
}

TEST_CASE("facts are there, and what is not claimed is absent") {
    test::Rig rig({}, 5);
    const auto fact = [&](std::uint32_t key) {
        wye_fact fact = wye::sdk::facts::empty();
        CAPTURE(key);
        CHECK(rig.plugin_table().device_fact(rig.plugin(), 0, key, &fact) == WYE_OK);
        return fact;
    };
    for (const auto key :
         {WYE_FACT_KEY_INT64, WYE_FACT_KEY_F64, WYE_FACT_KEY_IEEE_F32, WYE_FACT_KEY_IEEE_F64,
          WYE_FACT_KEY_STORAGE8, WYE_FACT_KEY_STORAGE16, WYE_FACT_KEY_ATOMIC_INT64,
          WYE_FACT_KEY_BARRIER, WYE_FACT_KEY_SUBGROUP, WYE_FACT_KEY_DEVICE_TIMESTAMPS})
        CHECK(fact(key).u == 1);
    CHECK(fact(WYE_FACT_KEY_COMPUTE_UNITS).u == 5);
    CHECK(fact(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS).u == 4096);
    CHECK(fact(WYE_FACT_KEY_MAX_SHARED_BYTES).u == 1U << 20U);
    CHECK(fact(WYE_FACT_KEY_MEMORY_BYTES).u > 1U << 20U);
    CHECK(fact(WYE_FACT_KEY_ISA).text.size > 0);
    wye_fact unused = wye::sdk::facts::empty();
    for (const auto key : {WYE_FACT_KEY_GRID_SYNC, WYE_FACT_KEY_NATIVE_F16})
        CHECK(rig.plugin_table().device_fact(rig.plugin(), 0, key, &unused) == WYE_UNSUPPORTED);
    CHECK(rig.plugin_table().device_fact(rig.plugin(), 0, 0x7abc, &unused) == WYE_UNKNOWN_KEY);
    CHECK(rig.plugin_table().device_fact(rig.plugin(), 1, WYE_FACT_KEY_F64, &unused) ==
          WYE_UNSUPPORTED);
}

TEST_CASE("name and vendor are those that the system has") {
    std::ifstream file("/proc/cpuinfo");
    std::map<std::string, std::string> entries;  // of the first processor
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const std::size_t colon = line.find(':');
        if (colon == line.npos || colon + 2 > line.size()) continue;
        entries[line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1)] =
            line.substr(colon + 2);
    }
    test::Rig rig({}, 5);
    wye_device_info info{};
    info.header.size = sizeof info;
    REQUIRE(rig.plugin_table().device_info(rig.plugin(), 0, &info, nullptr) == WYE_OK);
    // After a virtual machine has moved to another host, /proc/cpuinfo still has the name that the
    // system read when it started.
    std::string name = entries.contains("model name") ? entries["model name"] : "CPU";
#if defined(__x86_64__)
    std::array<unsigned, 13> texts{};
    for (unsigned i = 0; i < 3; ++i) {
        unsigned* part = texts.data() + 4 * i;
        if (__get_cpuid(0x80000002 + i, part, part + 1, part + 2, part + 3) == 0) break;
    }
    const std::string told = reinterpret_cast<const char*>(texts.data());
    if (told.find(name) == told.npos) name = told.substr(0, told.find_last_not_of(' ') + 1);
#endif
    CHECK(std::string(info.name.data, info.name.size) == name);
    wye_fact vendor = wye::sdk::facts::empty();
    const wye_status status =
        rig.plugin_table().device_fact(rig.plugin(), 0, WYE_FACT_KEY_VENDOR, &vendor);
    REQUIRE((status == WYE_OK) == entries.contains("vendor_id"));
    if (status == WYE_OK)
        CHECK(std::string(vendor.text.data, vendor.text.size) == entries["vendor_id"]);
}

TEST_CASE("what is not run yet is refused by name") {
    struct Refusal {
        const char* text;
        const char* names;
    };
    const Refusal refusals[] = {
        {"wye 1; program a; workgroup 64; output r: f32[]; main { r[0u] = sin(1.0); }", "`sin`"},
        {"wye 1; program c; workgroup 24; output r: u32[]; main { r[0u] = subgroup_size; }",
         "subgroups of 32"},
        {"wye 1; program e; workgroup 64; main { grid_barrier; }", "`grid_barrier`"},
    };
    test::Rig rig;
    for (const Refusal& refusal : refusals) {
        const test::Loaded program(rig, refusal.text);
        CAPTURE(refusal.text);
        CAPTURE(program.failure().message);
        CHECK(program.failure().code == WYE_UNSUPPORTED);
        CHECK(program.failure().message.find(refusal.names) != std::string::npos);
        CHECK(program.failure().fix.substr(0, 5) == "Fix: ");
    }
}

TEST_CASE("wrong settings are errors with a fix") {
    test::Rig rig;
    using Config = std::map<std::string, std::string>;
    for (const Config& config : {Config{{"cpu.threads", "0"}}, Config{{"cpu.threads", "many"}},
                                 Config{{"cpu.isa", "sse9"}}}) {
        const test::Host host(config);
        wye_plugin_object* plugin = nullptr;
        wye_error* error = nullptr;
        CHECK(rig.plugin_table().init(host.table(), 0, &plugin, &error) == WYE_INVALID_ARGUMENT);
        CHECK(test::Host::take(error).fix.substr(0, 5) == "Fix: ");
    }
}
