// SPDX-License-Identifier: Apache-2.0
//
// Chooses devices from a catalogue of 1,000, with the reasons against all others. The plugins are
// built in and already open, so that only the choice is timed. Also prints the memory that the
// catalogue takes, and what a folder with 20,000 bad manifests adds.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "fakes/base.hpp"
#include "ratio_reporter.hpp"
#include "registry/choose/catalogue.hpp"
#include "route/rank.hpp"

namespace {

using namespace wye::registry;

constexpr std::uint32_t kDevices = 250;  // of each of the four plugins

wye_status probe(wye_plugin_object*, std::uint32_t* count, wye_error**) {
    *count = kDevices;
    return WYE_OK;
}

wye_status info(wye_plugin_object* plugin, std::uint32_t, wye_device_info* out, wye_error** error) {
    return fake::device_info(plugin, 0, out, error);
}

// Device `index` has the same address in all plugins, so they list the same physical devices.
wye_status fact(wye_plugin_object* plugin, std::uint32_t index, std::uint32_t key, wye_fact* out) {
    static thread_local char address[16];
    if (key == WYE_FACT_KEY_MEMORY_BYTES) {
        out->type = WYE_FACT_U64;
        out->u = (std::uint64_t{index} + 1) << 30U;
        return WYE_OK;
    }
    if (key != WYE_FACT_KEY_PCI_ADDRESS) return fake::device_fact(plugin, 0, key, out);
    std::snprintf(address, sizeof address, "%04x:%02x:00.0", index / 200 + 1, index % 200);
    out->type = WYE_FACT_TEXT;
    out->text = {address, 12};
    return WYE_OK;
}

template <char Id>
wye_status query(const wye_hello*, const wye_plugin_desc** out) {
    static constexpr char kId[] = {Id, 0};
    static constexpr wye_plugin_table kTable = [] {
        auto table = fake::kPluginTable;
        table.probe_devices = probe;
        table.device_info = info;
        table.device_fact = fact;
        return table;
    }();
    static constexpr wye_plugin_desc kDesc = fake::make_desc({kId, 1}, &kTable);
    *out = &kDesc;
    return WYE_OK;
}

Registry& catalogue() {
    static const auto made = [] {
        Options options;
        options.builtins = {
            {"a", query<'a'>}, {"b", query<'b'>}, {"c", query<'c'>}, {"d", query<'d'>}};
        options.search_files = false;
        options.rank = [](const DeviceInfo& device) { return wye::route::rank(device, {}); };
        return std::move(Registry::create(std::move(options))).value();
    }();
    return *made;
}

void choose(benchmark::State& state, const std::string& text) {
    Registry& registry = catalogue();
    if (registry.devices(*parse_selector("*")).size() != 4 * kDevices)
        state.SkipWithError("the catalogue is not whole");
    for (auto _ : state) {
        const auto selector = parse_selector(text);
        auto chosen = registry.select(*selector);
        if (!chosen.ok()) state.SkipWithError(chosen.error().text().c_str());
        benchmark::DoNotOptimize(chosen);
    }
}

std::size_t allocated() { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; }

// Prints how much memory `make` allocates for its result.
template <typename Make>
void print_memory(const char* of, Make&& make) {
    const std::size_t before = allocated();
    [[maybe_unused]] const auto made = make();  // keeps the memory until it is counted
    std::printf("memory of %s: %.2f MiB\n", of,
                static_cast<double>(allocated() - before) / (1 << 20));
}

// A registry that has searched a folder with 20,000 bad manifests.
std::unique_ptr<Registry> beside_strangers() {
    namespace fs = std::filesystem;
    std::string folder = (fs::temp_directory_path() / "wye_bench_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) std::exit(1);
    for (int i = 0; i < 20'000; ++i)
        std::ofstream(folder + "/bad" + std::to_string(i) + ".wye.json") << "{\"schema\": 1";
    Options options;
    options.application_paths = {folder};
    auto out = std::move(Registry::create(std::move(options))).value();
    (void)out->devices(*parse_selector("*"));
    fs::remove_all(folder);
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    print_memory("a registry with 20,000 bad manifests", &beside_strangers);
    print_memory("a catalogue of 1,000 devices", [] {
        (void)catalogue().devices(*parse_selector("*"));
        return 0;
    });
    const auto add = [](const char* name, const char* selector) {
        benchmark::RegisterBenchmark(name, [selector](benchmark::State& state) {
            choose(state, selector);
        })->UseRealTime();
    };
    add("choice_auto/wye", "auto");
    add("choice_index/wye", "d:249");
    add("choice_address/wye", "@0002:31:00.0");
    add("choice_name/wye", "\"FAKE DEVICE\"");
    add("choice_property/wye", "*[memory>=250GiB]");
    add("choice_list/wye", "nope,a:999,-b,c[memory<1],d");
    return wye::bench::run_benchmarks(argc, argv,
                                      {{"choice_auto", 0, 1e6},
                                       {"choice_index", 0, 1e6},
                                       {"choice_address", 0, 1e6},
                                       {"choice_name", 0, 1e6},
                                       {"choice_property", 0, 1e6},
                                       {"choice_list", 0, 1e6}});
}
