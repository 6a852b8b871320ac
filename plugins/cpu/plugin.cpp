// SPDX-License-Identifier: Apache-2.0
#include "cpu/plugin.hpp"

#include "cpu/buffer.hpp"
#include "cpu/command.hpp"
#include "cpu/cpu_plugin.h"
#include "cpu/program.hpp"
#include "cpu/queue.hpp"
#include "cpu/run/isa.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/processors.hpp"

namespace wye::cpu {
namespace {

constexpr unsigned kMostThreads = 4096;

Result<unsigned> threads_wanted(const wye_host_table& host) {
    const auto text = sdk::config(host, "cpu.threads");
    if (!text) return 0U;
    const auto threads = sdk::parse_number<unsigned>(*text);
    if (!threads || *threads == 0 || *threads > kMostThreads)
        return Error(Code::INVALID_ARGUMENT,
                     "`cpu.threads` is `" + *text + "`, not a number of threads",
                     "Fix: set `cpu.threads` to a number from 1 to " + std::to_string(kMostThreads),
                     "cpu.threads");
    return *threads;
}

Result<const KernelSet*> kernels_wanted(const wye_host_table& host) {
    const auto name = sdk::config(host, "cpu.isa");
    if (!name) return &best_kernels();
    if (const KernelSet* set = kernels_named(*name)) return set;
    return Error(Code::INVALID_ARGUMENT,
                 "`cpu.isa` is `" + *name + "`, which this machine does not run",
                 "Fix: set `cpu.isa` to one of: " + std::string(isa_names()), "cpu.isa");
}

}  // namespace

Result<std::unique_ptr<Plugin>> Plugin::create(const wye_host_table& host) {
    auto plugin = std::make_unique<Plugin>(host);
    WYE_ASSIGN(const unsigned threads, threads_wanted(host));
    WYE_ASSIGN(plugin->kernels, kernels_wanted(host));
    plugin->pool = std::make_unique<Pool>(threads != 0 ? threads : sdk::usable_processors());
    return plugin;
}

Result<std::vector<DeviceInfo>> Plugin::probe() {
    return std::vector<DeviceInfo>{describe(pool->threads(), kernels->name)};
}

std::span<const wye_string> Plugin::formats(const DeviceInfo&) const {
    static constexpr wye_string kFormats[] = {sdk::to_abi(WYE_FORMAT_PROGRAM)};
    return kFormats;
}

wye_status Plugin::fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const {
    return cpu::fact(devices[index], key, out);
}

namespace {

constinit const wye_plugin_table kTable = sdk::PluginSlots<Plugin>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("cpu", WYE_CPU_VERSION, "the Wye project", kTable, WYE_BUILD_UNLOADABLE);

}  // namespace
}  // namespace wye::cpu

extern "C" wye_status wye_cpu_plugin_query(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::cpu::kDesc, out);
}
