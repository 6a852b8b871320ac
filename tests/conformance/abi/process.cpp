// SPDX-License-Identifier: Apache-2.0
//
// What a plugin does to its process, from loading to shutdown. A change that a driver's library
// made is noted and is no failure: the host undoes most of these changes.
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "conformance/abi/rig.hpp"
#include "conformance/abi/watch.hpp"

using harness::Plugin;
using harness::ProcessWatch;

namespace {

// Runs the sample program once. If the kit has none in a format of the device, copies some bytes.
void work_on(const wye_device_info& info, harness::Device& device) {
    const auto words = harness::counting(64);
    wye_buffer_object* x = device.buffer(harness::bytes_of(words));
    wye_buffer_object* r = device.buffer(256);
    (void)device.download(x, 256);
    const auto sample = harness::add_sample({info.formats, info.format_count});
    wye_program_object* program = sample ? device.program(*sample) : nullptr;
    if (program == nullptr) return;
    const std::uint32_t by = 1;
    const wye_binding bindings[] = {harness::binding(x, 0, 64), harness::binding(r, 0, 64)};
    (void)device.run(harness::dispatch(program, bindings, {1, 1, 1}, &by));
}

// Uses the plugin from loading to shutdown, and calls `after` with the name of each step.
void use_plugin(const std::function<void(const char* step)>& after) {
    harness::export_of(harness::subject().library, WYE_PLUGIN_QUERY_SYMBOL);
    after("loading");
    {
        Plugin plugin;
        after("init and probe_devices");
        if (plugin.status != WYE_OK || plugin.devices <= harness::subject().device) return;
        wye_device_info info{};
        info.header.size = sizeof info;
        if (plugin.table->device_info(plugin.object, harness::subject().device, &info, nullptr) !=
                WYE_OK ||
            info.state != WYE_DEVICE_USABLE)
            return;
        {
            harness::Device device(plugin);
            after("open_device");
            work_on(info, device);
            after("a build and a dispatch");
        }
        after("close");
    }
    after("shutdown");
}

std::string first_of(std::string text) {
    constexpr std::size_t kTold = 200;
    if (text.size() > kTold) text = text.substr(0, kTold) + "...";
    return "`" + text + "`";
}

}  // namespace

TEST_SUITE_BEGIN("process");

TEST_CASE(
    "each step leaves signals, floating point, locale, folder, environment and descriptors "
    "as it found them (P-10)") {
    std::optional<ProcessWatch> watch(std::in_place);
    use_plugin([&](const char* step) {
        for (const harness::Change& change : watch->changes()) {
            const std::string text = change.what + " is another one after " + step;
            if (change.by_driver)
                harness::note(text + ", by a driver's library");
            else
                FAIL_CHECK(text);
        }
        watch.emplace();
    });
}

TEST_CASE("nothing is printed (P-9)") {
    const ProcessWatch before_loading;
    harness::Printed printed;
    use_plugin([](const char*) {});
    printed.end();
    CHECK_MESSAGE(printed.output().empty(),
                  "printed to standard output: " << first_of(printed.output()));
    if (printed.errors().empty()) return;
    const std::string text = "printed to standard error: " + first_of(printed.errors());
    // With a driver's library loaded, nobody can tell whether the driver or the plugin printed
    // this.
    if (ProcessWatch::driver_loaded())
        harness::note(text);
    else
        FAIL_CHECK(text);
}

TEST_CASE("threads and descriptors end with shutdown (P-29)") {
    const ProcessWatch before_loading;
    const std::size_t threads = harness::count_threads();
    use_plugin([](const char*) {});
    use_plugin([](const char*) {});
    const std::size_t descriptors = harness::count_descriptors();
    for (int round = 0; round < 3; ++round) use_plugin([](const char*) {});
    // A thread that was joined may stay in the list of threads for a moment.
    for (int tries = 0; tries < 10'000 && harness::count_threads() > threads; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto judge = [&](std::size_t before, std::size_t now, const char* what) {
        if (now <= before) return;
        const std::string text = std::to_string(now - before) + " " + what;
        if (ProcessWatch::driver_loaded())
            harness::note(text + ", with a driver's library loaded");
        else
            FAIL_CHECK(text);
    };
    judge(threads, harness::count_threads(), "thread(s) run after the last shutdown");
    judge(descriptors, harness::count_descriptors(), "descriptor(s) more are open after 3 rounds");
}

TEST_SUITE_END();
