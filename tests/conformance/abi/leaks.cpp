// SPDX-License-Identifier: Apache-2.0
//
// Leaks: objects are made and destroyed thousands of times, and the memory in use must not grow.
// That is the memory of the heap, of the process, and of the device.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "conformance/abi/rig.hpp"
#include "conformance/abi/watch.hpp"

using harness::fill;
using harness::Rig;

namespace {

constexpr int kWindows = 4;
constexpr int kMostWindows = 12;                 // if the device's memory grows in every window
constexpr int kRounds = 500;                     // maximum in one window
constexpr std::chrono::milliseconds kTime{300};  // a window ends after this time
constexpr std::int64_t kHeapNoise = 16;          // bytes of one round that count as no growth
constexpr std::int64_t kMappedNoise = 2048;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

struct Taken {
    std::int64_t heap = 0, mapped = 0, device = 0;
};

Taken taken(const Rig* rig) {
    Taken out;
    const struct mallinfo2 heap = ::mallinfo2();
    out.heap = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    out.mapped = pages * ::sysconf(_SC_PAGESIZE);
    if (rig == nullptr || rig->device.table->memory_info == nullptr) return out;
    wye_memory_info info{};
    info.header.size = sizeof info;
    if (rig->device.table->memory_info(rig->device.object, &info, nullptr) == WYE_OK)
        out.device = static_cast<std::int64_t>(info.total_bytes - info.free_bytes);
    return out;
}

// Runs `round` many times, in several windows. Fails if memory grew in every window: a cache that
// fills, or a table that grows once, does so in some windows only. `bytes`: the least memory that
// one object has, as far as the kit knows. `rig`: null if each round opens the device itself.
void check_gives_back(const char* what, std::int64_t bytes, const Rig* rig,
                      const std::function<void()>& round) {
    if (kSanitized) return harness::not_applicable("a sanitizer keeps freed memory");
    if (!harness::subject().layers.empty())
        return harness::not_applicable("a layer remembers objects that were destroyed");
    const auto run = [&] {
        const auto until = std::chrono::steady_clock::now() + kTime;
        int done = 0;
        while (done < kRounds && (done < 10 || std::chrono::steady_clock::now() < until)) {
            round();
            ++done;
        }
        return done;
    };
    (void)run();
    Taken least = {INT64_MAX, INT64_MAX, INT64_MAX};
    int rounds = 0;
    const auto device_grows = [&] { return bytes > 0 && least.device >= bytes / 2; };
    for (int window = 0; window < kWindows || (window < kMostWindows && device_grows()); ++window) {
        // Other processes use the device's memory, too. For a short time they may take more of it
        // in each window.
        if (window >= kWindows) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const Taken before = taken(rig);
        const int done = run();
        const Taken after = taken(rig);
        least.heap = std::min(least.heap, (after.heap - before.heap) / done);
        least.mapped = std::min(least.mapped, (after.mapped - before.mapped) / done);
        least.device = std::min(least.device, (after.device - before.device) / done);
        rounds += done;
    }
    if (least.heap < kHeapNoise && least.mapped < kMappedNoise && !device_grows()) return;
    const std::string text =
        "over " + std::to_string(rounds) + " rounds, each " + what + " leaves at least " +
        std::to_string(least.heap) + " bytes of the heap, " + std::to_string(least.mapped) +
        " of the process and " + std::to_string(least.device) + " of the device";
    // A driver may have small leaks and caches of its own, which are only noted. A growth of half
    // an object's memory for each round is a failure even if a driver is loaded.
    const bool whole = bytes > 0 && std::max({least.heap, least.mapped, least.device}) >= bytes / 2;
    if (harness::ProcessWatch::driver_loaded() && !whole)
        harness::note(text + ", with a driver's library loaded");
    else
        FAIL_CHECK(text);
}

}  // namespace

TEST_SUITE_BEGIN("leaks");

TEST_CASE("buffers give their memory back (P-60)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    wye_buffer_desc desc{};
    desc.header.size = sizeof desc;
    desc.size = 65536;
    desc.alignment = 16;
    check_gives_back("buffer of 65536 bytes", 65536, &rig, [&] {
        wye_buffer_object* buffer = nullptr;
        REQUIRE(table.buffer_create(rig.device.object, &desc, &buffer, nullptr) == WYE_OK);
        table.buffer_destroy(rig.device.object, buffer);
    });
}

TEST_CASE("programs give their memory back (P-60)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    const wye_artifact artifact = rig.sample();
    check_gives_back("program", 0, &rig, [&] {
        wye_program_object* program = nullptr;
        REQUIRE(table.program_create(rig.device.object, &artifact, &program, nullptr) == WYE_OK);
        table.program_destroy(rig.device.object, program);
    });
}

TEST_CASE("queues give their memory back, and so do submits once they have ended (P-60)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    wye_buffer_object* buffer = rig.device.buffer(64);
    const wye_operation work = fill(buffer, 0, 64, 1, 4);
    check_gives_back("submit", 0, &rig, [&] { REQUIRE(rig.device.run(work) == WYE_OK); });
    wye_queue_desc desc{};
    desc.header.size = sizeof desc;
    check_gives_back("queue", 0, &rig, [&] {
        wye_queue_object* queue = nullptr;
        wye_timeline_object* timeline = nullptr;
        const wye_queue_table* queues = nullptr;
        REQUIRE(table.queue_create(rig.device.object, &desc, &queue, &timeline, &queues, nullptr) ==
                WYE_OK);
        queues->destroy(queue);
    });
}

TEST_CASE("timelines give their memory back (P-60)") {
    Rig rig;
    if (rig.device.table->timeline_create == nullptr)
        return harness::not_applicable("the plugin makes no timelines");
    check_gives_back("timeline", 0, &rig, [&] {
        const harness::Timeline made(rig.device);
        REQUIRE(made.signal(1) == WYE_OK);
    });
}

TEST_CASE("commands give their memory back (P-60)") {
    Rig rig;
    if (rig.device.table->command_create == nullptr)
        return harness::not_applicable("the plugin has no commands");
    wye_buffer_object* buffer = rig.device.buffer(64);
    const std::vector<wye_operation> work(16, fill(buffer, 0, 64, 1, 4));
    check_gives_back("command", 0, &rig, [&] {
        const harness::Command command(rig.device, work);
        REQUIRE(rig.device.run(command.execute()) == WYE_OK);
    });
}

TEST_CASE("devices give their memory back when they are closed (P-60)") {
    harness::QuietPlugin plugin;
    check_gives_back("opened device", 0, nullptr, [&] { const harness::Device device(plugin); });
}

TEST_CASE("`shutdown` gives back all that the plugin has taken since `init` (P-29)") {
    check_gives_back("start and end of the plugin", 0, nullptr,
                     [] { const harness::QuietPlugin plugin; });
}

TEST_SUITE_END();
