// SPDX-License-Identifier: Apache-2.0
//
// The plugin's slots and its description. Reads no environment; the host's configuration may set
// "cpu.threads" (a number) and "cpu.isa" (baseline, avx2 or avx512).
#include <charconv>
#include <memory>
#include <optional>
#include <string>

#include "cpu/cpu_plugin.h"
#include "cpu/device.hpp"
#include "cpu/run/isa.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::cpu {
namespace {

constexpr unsigned kMostThreads = 4096;

Result<unsigned> threads_wanted(const wye_host_table& host) {
    const auto text = sdk::config(host, "cpu.threads");
    if (!text) return 0U;
    unsigned threads = 0;
    const auto read = std::from_chars(text->data(), text->data() + text->size(), threads);
    if (read.ec != std::errc{} || read.ptr != text->data() + text->size() || threads == 0 ||
        threads > kMostThreads)
        return Error(wye::Code::INVALID_ARGUMENT,
                     "cpu.threads is \"" + *text + "\", not a number of threads",
                     "Fix: set cpu.threads to a number from 1 to " + std::to_string(kMostThreads),
                     "cpu.threads");
    return threads;
}

Result<const KernelSet*> kernels_wanted(const wye_host_table& host) {
    const auto name = sdk::config(host, "cpu.isa");
    if (!name) return &best_kernels();
    if (const KernelSet* set = kernels_named(*name)) return set;
    return Error(wye::Code::INVALID_ARGUMENT,
                 "cpu.isa is \"" + *name + "\", which this machine does not run",
                 "Fix: set cpu.isa to one of: " + std::string(isa_names()), "cpu.isa");
}

Plugin& of(wye_plugin_object* plugin) { return *reinterpret_cast<Plugin*>(plugin); }

Result<void> only_device(std::uint32_t index) {
    if (index == 0) return {};
    return Error(wye::Code::NO_DEVICE, "the cpu plugin has no device " + std::to_string(index),
                 "Fix: use device 0, selector \"cpu\"");
}

wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out,
                wye_error** error) {
    return sdk::guard(*host, error, [&]() -> Result<void> {
        auto plugin = std::make_unique<Plugin>();
        plugin->host = host;
        WYE_ASSIGN(const unsigned threads, threads_wanted(*host));
        WYE_ASSIGN(plugin->kernels, kernels_wanted(*host));
        plugin->facts = read_facts(threads, plugin->kernels->name);
        plugin->pool = std::make_unique<Pool>(plugin->facts.threads);
        *out = reinterpret_cast<wye_plugin_object*>(plugin.release());
        return {};
    });
}

wye_status probe_devices(wye_plugin_object*, std::uint32_t* out_count, wye_error**) {
    *out_count = 1;
    return WYE_OK;
}

constexpr wye_string kFormats[] = {sdk::to_abi(WYE_FORMAT_PROGRAM)};

wye_status device_info(wye_plugin_object* plugin, std::uint32_t index, wye_device_info* out,
                       wye_error** error) {
    return sdk::guard(*of(plugin).host, error, [&]() -> Result<void> {
        WYE_TRY(only_device(index));
        out->name = sdk::to_abi(of(plugin).facts.name);
        out->state = WYE_DEVICE_USABLE;
        out->formats = kFormats;
        out->format_count = std::size(kFormats);
        return {};
    });
}

wye_status device_fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    if (index != 0) return WYE_UNSUPPORTED;
    return fact(of(plugin).facts, key, *out);
}

wye_status open_device(wye_plugin_object* plugin, std::uint32_t index, wye_device_object** out,
                       const wye_device_table** table, wye_error** error) {
    return sdk::guard(*of(plugin).host, error, [&]() -> Result<void> {
        WYE_TRY(only_device(index));
        auto device = std::make_unique<Device>();
        device->plugin = &of(plugin);
        *out = reinterpret_cast<wye_device_object*>(device.release());
        *table = &device_table();
        return {};
    });
}

void shutdown(wye_plugin_object* plugin) { delete reinterpret_cast<Plugin*>(plugin); }

constexpr wye_plugin_table make_table() {
    wye_plugin_table table{};
    table.header = sdk::header_of(sizeof table);
    table.init = init;
    table.probe_devices = probe_devices;
    table.device_info = device_info;
    table.device_fact = device_fact;
    table.open_device = open_device;
    table.shutdown = shutdown;
    return table;
}
constinit const wye_plugin_table kTable = make_table();

constinit const wye_plugin_desc kDesc =
    sdk::describe("cpu", WYE_CPU_VERSION, "the Wye project", kTable, WYE_BUILD_UNLOADABLE);

}  // namespace
}  // namespace wye::cpu

extern "C" wye_status wye_cpu_plugin_query(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::cpu::kDesc, out);
}
