// SPDX-License-Identifier: Apache-2.0
//
// Submits in a row that nobody waits for are kept, and sent to the driver together: how many calls
// reach the driver, what sends the kept submits, and what happens if the driver refuses them. The
// loader of the tests counts the driver's calls. Unless a test sets a time, submits are kept so
// long that none is sent because of the time.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "checked.hpp"
#include "vulkan/lossy_loader.hpp"
#include "wye/abi_loss.h"
#include "wye/sdk/plugin.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;

namespace {

using std::chrono::milliseconds;

constexpr const char* kLong = "600000000";  // us: longer than any test

const lossy_vulkan::Control& loader() {
    static const auto& control =
        harness::control_of<lossy_vulkan::Control>(WYE_LOSSY_VULKAN, "lossy_vulkan_control");
    return control;
}

// The number of calls that the driver has got since the construction of this object.
class Count {
  public:
    explicit Count(std::uint64_t (*of)()) : of_(of), before_(of()) {}
    [[nodiscard]] std::uint64_t now() const { return of_() - before_; }

  private:
    std::uint64_t (*of_)();
    std::uint64_t before_;
};

struct Rig {
    // `keep_us`: how long submits may be kept; empty: the default.
    explicit Rig(const std::string& keep_us = kLong) : plugin(config(keep_us)) {}

    static std::map<std::string, std::string> config(const std::string& keep_us) {
        loader().reset();
        std::map<std::string, std::string> out = {{"vulkan.library", WYE_LOSSY_VULKAN}};
        if (!keep_us.empty()) out["vulkan.keep_us"] = keep_us;
        return out;
    }
    // Submits a fill of the buffer with the next number.
    void submit(wye_queue_object* to = nullptr) {
        const wye_operation op = harness::fill(words, 0, 256, ++filled, 4);
        REQUIRE(device.submit({&op, 1}, {}, to) == WYE_OK);
    }
    // Submits to a queue until at least `wanted` are kept. Returns their number.
    std::uint64_t keep(std::uint64_t wanted = 1, wye_queue_object* to = nullptr) {
        std::uint64_t kept = 0;
        for (int tries = 0; kept < wanted; ++tries) {
            REQUIRE(tries < 1000);
            const Count submits(loader().submits);
            submit(to);
            kept = submits.now() == 0 ? kept + 1 : 0;
        }
        return kept;
    }
    wye_status await(std::uint64_t value, wye_queue_object* of = nullptr) {
        return device.await(of == nullptr ? device.queue : of, value, harness::kDeadline, nullptr);
    }
    void check_words() {
        CHECK(values_of<std::uint32_t>(device.download(words, 256)) ==
              std::vector<std::uint32_t>(64, filled));
    }

    CheckedPlugin plugin;
    Device device{plugin};
    wye_buffer_object* words = device.buffer(bytes_of(counting(64)));
    std::uint32_t filled = 0;
};

// Waits until the driver has all submits, without a call of the plugin.
bool all_are_sent_soon(const Rig& rig) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (loader().sent() < rig.filled && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(milliseconds(1));
    return loader().sent() == rig.filled;  // sent() counts segments: one a submit
}

}  // namespace

TEST_CASE("1000 dependent submits in a row, singly or of a command, are few for the driver") {
    constexpr std::uint32_t kCount = 256, kGroups = kCount / 64, kSubmits = 1000;
    const std::uint32_t step = 5;
    for (const bool by_command : {false, true}) {
        CAPTURE(by_command);
        Rig rig;
        Device& device = rig.device;
        const std::string code = module_words("slots");
        wye_program_object* program =
            device.program(harness::artifact(code, "main", kSlots, 2, 64, 4));
        REQUIRE_MESSAGE(program != nullptr, device.failure.message);
        wye_buffer_object* a = device.buffer(bytes_of(counting(kCount)));
        wye_buffer_object* b = device.buffer(bytes_of(counting(kCount)));
        wye_buffer_object* trap = device.buffer(bytes_of(std::vector<std::uint32_t>(2)));
        const std::array<wye_binding, 4> bindings = {binding(a, 0, kCount), binding(b, 0, kCount),
                                                     binding(b, 0, kCount), binding(a, 0, kCount)};
        // `slots.spvasm`: r[i] = x[i] + step + groups * 1000
        std::array<wye_operation, 2> there_and_back;
        for (std::size_t n = 0; n < 2; ++n) {
            there_and_back[n] = harness::dispatch(program, std::span(bindings).subspan(2 * n, 2),
                                                  {kGroups, 1, 1}, &step);
            there_and_back[n].u.dispatch.trap = wye::sdk::binding_of(trap, 0, 8, 2);
        }
        const harness::Command command(device, there_and_back);
        REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
        const wye_operation execute = command.execute();
        for (int round = 1; round <= 2; ++round) {
            const Count submits(loader().submits), signals(loader().signals);
            for (std::uint32_t n = 0; n < kSubmits; ++n)
                REQUIRE(device.submit({by_command ? &execute : &there_and_back[n % 2], 1}) ==
                        WYE_OK);
            CHECK(device.wait() == WYE_OK);
            CHECK(submits.now() <= 60);
            CHECK(submits.now() >= 1000 / 64);  // at most 64 are sent together
            CHECK(signals.now() == submits.now());
            const std::uint32_t dispatches =
                static_cast<std::uint32_t>(round) * kSubmits * (by_command ? 2 : 1);
            CHECK(values_of<std::uint32_t>(device.download(a, kCount * 4)) ==
                  counting(kCount, dispatches * (step + kGroups * 1000)));
        }
    }
}

TEST_CASE("a submit to an idle queue, and the first ones in a row, are sent at once") {
    Rig rig;
    for (int round = 0; round < 40; ++round) {
        const Count submits(loader().submits);
        rig.submit();
        REQUIRE(submits.now() == 1);
        REQUIRE(rig.device.wait() == WYE_OK);
    }
    const Count submits(loader().submits);
    for (int n = 0; n < 8; ++n) rig.submit();
    CHECK(submits.now() == 8);
    CHECK(rig.device.wait() == WYE_OK);
    rig.check_words();
}

TEST_CASE("with no time to keep them, every submit is sent at once") {
    Rig rig("0");
    const Count submits(loader().submits);
    for (int n = 0; n < 100; ++n) rig.submit();
    CHECK(submits.now() == 100);
    CHECK(rig.device.wait() == WYE_OK);
    rig.check_words();
}

TEST_CASE("a time to keep submits that is no number is refused by its name") {
    const harness::Plugin plugin(Rig::config("soon"));
    CHECK(plugin.status == WYE_INVALID_ARGUMENT);
    CHECK(plugin.failure.message.find("vulkan.keep_us") != std::string::npos);
}

TEST_CASE("a wait or query for a kept submit sends it and the others") {
    for (const bool waits : {false, true}) {
        CAPTURE(waits);
        Rig rig;
        const std::uint64_t kept = rig.keep(5);
        const Count submits(loader().submits), signals(loader().signals);
        const std::uint64_t newest = rig.device.value;
        if (waits) {
            CHECK(rig.await(newest) == WYE_OK);
        } else {
            wye_status status = WYE_NOT_READY;
            while (status == WYE_NOT_READY) {
                status = rig.device.query(rig.device.queue, newest, nullptr);
                REQUIRE(submits.now() == 1);
            }
            CHECK(status == WYE_OK);
        }
        CHECK(submits.now() == 1);
        CHECK(signals.now() == 1);
        for (std::uint64_t n = 0; n < kept; ++n) CHECK(rig.await(newest - n) == WYE_OK);
        CHECK(submits.now() == 1);
        rig.check_words();
    }
}

TEST_CASE("one of several kept submits has a signal of its own for who waits for it") {
    Rig rig;
    (void)rig.keep(5);
    const Count submits(loader().submits), signals(loader().signals);
    CHECK(rig.await(rig.device.value - 2) == WYE_OK);
    CHECK(submits.now() == 1);
    CHECK(signals.now() == 2);
    CHECK(rig.await(rig.device.value) == WYE_OK);
    CHECK(submits.now() == 1);
    rig.check_words();
}

TEST_CASE("only a wait for the newest sent submit also sends the kept ones") {
    Rig rig;
    const std::uint64_t kept = rig.keep(3);
    const Count submits(loader().submits);
    CHECK(rig.await(rig.device.value - rig.filled + 8) == WYE_OK);  // last submit sent alone
    CHECK(submits.now() == 0);
    CHECK(rig.await(rig.device.value - kept) == WYE_OK);
    CHECK(submits.now() == 1);
    CHECK(rig.device.wait() == WYE_OK);
    CHECK(submits.now() == 1);
}

TEST_CASE("every other call on kept submits sends them first") {
    Rig rig;
    Device& device = rig.device;
    wye_queue_object* other = device.queue_create();
    const wye_operation op = harness::fill(rig.words, 0, 256, 7, 4);
    SUBCASE("work of another queue that waits for one") {
        (void)rig.keep(4);
        const wye_event event = device.event(device.queue, device.value - 1);
        const wye_event last = device.event(device.queue, device.value);
        const Count submits(loader().submits);
        REQUIRE(device.submit({}, {&event, 1}, other) == WYE_OK);
        CHECK(submits.now() == 1);  // the submit to `other` has no command buffer
        REQUIRE(device.submit({}, {&last, 1}, other) == WYE_OK);
        CHECK(rig.await(device.value, other) == WYE_OK);
        CHECK(submits.now() == 1);
    }
    SUBCASE("work of the same queue that waits for one") {
        (void)rig.keep(2);
        const wye_event event = device.event(device.queue, device.value);
        const Count submits(loader().submits);
        REQUIRE(device.submit({&op, 1}, {&event, 1}) == WYE_OK);
        rig.filled = 7;
        CHECK(submits.now() >= 1);
        CHECK(device.wait() == WYE_OK);
    }
    SUBCASE("a timed submit") {
        (void)rig.keep(2);
        const Count submits(loader().submits);
        device.timed = true;
        REQUIRE(device.submit({&op, 1}) == WYE_OK);
        device.timed = false;
        rig.filled = 7;
        CHECK(submits.now() == 2);
        REQUIRE(device.wait() == WYE_OK);
        wye_timing time{};
        CHECK(device.queue_table->timing(device.queue, device.value, &time, nullptr) == WYE_OK);
    }
    SUBCASE("a copy") {
        wye_buffer_object* target = device.buffer(256);
        (void)rig.keep(2);
        const wye_operation copy = harness::copy(rig.words, target, 0, 0, 256);
        const Count submits(loader().submits);
        REQUIRE(device.submit({&copy, 1}) == WYE_OK);
        CHECK(submits.now() == 2);
        CHECK(values_of<std::uint32_t>(device.download(target, 256)) ==
              std::vector<std::uint32_t>(64, rig.filled));
    }
    SUBCASE("who waits for a timeline that one signals") {
        wye_timeline_desc desc{};
        desc.header.size = sizeof desc;
        wye_timeline_object* timeline = nullptr;
        REQUIRE(device.table->timeline_create(device.object, &desc, &timeline, nullptr) == WYE_OK);
        const wye_event signal{timeline, 3, 0, 0};
        (void)rig.keep(1);
        std::uint64_t kept = 0;
        while (kept == 0) {  // the submit may send the kept ones instead
            const Count submits(loader().submits);
            const wye_event next{timeline, signal.value + device.value, 0, 0};
            REQUIRE(device.submit({&op, 1}, {}, nullptr, {&next, 1}) == WYE_OK);
            kept = submits.now() == 0 ? next.value : 0;
        }
        rig.filled = 7;
        const Count submits(loader().submits);
        const wye_event wanted{timeline, kept, 0, 0};
        CHECK(device.table->wait(device.object, &wanted, 1, 0, harness::kDeadline, nullptr,
                                 nullptr) == WYE_OK);
        CHECK(submits.now() == 1);
        device.table->timeline_destroy(device.object, timeline);
    }
    SUBCASE("the end of the queue") {
        (void)rig.keep(3, other);
        const Count submits(loader().submits);
        device.queue_table->destroy(other);
        CHECK(submits.now() == 1);
        other = nullptr;
    }
    SUBCASE("whoever gets the native queue, for which nothing is kept from then on") {
        (void)rig.keep(3);
        const std::string_view name = WYE_EXTENSION_NATIVE_HANDLE;
        const auto* native = static_cast<const wye_native_table*>(
            device.table->get_extension(device.object, {name.data(), name.size()}, 1));
        REQUIRE((native != nullptr));
        wye_native_handle handle{};
        handle.header.size = sizeof handle;
        const Count submits(loader().submits);
        REQUIRE(native->queue(device.object, device.queue, &handle, nullptr) == WYE_OK);
        CHECK(submits.now() == 1);
        for (int n = 0; n < 40; ++n) rig.submit();
        CHECK(submits.now() == 41);
    }
    rig.check_words();
    if (other != nullptr) device.queue_table->destroy(other);
}

TEST_CASE("a command in a kept submit is updated and destroyed after its end") {
    Rig rig;
    Device& device = rig.device;
    const wye_operation first = harness::fill(rig.words, 0, 256, 100, 4);
    const wye_operation second = harness::fill(rig.words, 0, 256, 200, 4);
    harness::Command command(device, {&first, 1});
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    const wye_operation execute = command.execute();
    const auto keep = [&] {
        (void)rig.keep(1);
        for (std::uint64_t sent = 1; sent != 0;) {
            const Count submits(loader().submits);
            REQUIRE(device.submit({&execute, 1}) == WYE_OK);
            sent = submits.now();
        }
    };
    keep();
    const Count submits(loader().submits);
    REQUIRE(command.update(0, second) == WYE_OK);
    CHECK(submits.now() == 1);
    CHECK(device.wait() == WYE_OK);
    rig.filled = 100;
    rig.check_words();
    keep();
    CHECK(device.wait() == WYE_OK);
    rig.filled = 200;
    rig.check_words();
}

TEST_CASE("kept submits are sent within a bounded time without any further call") {
    Rig rig("20000");
    for (int round = 0; round < 4; ++round) {  // the plugin's thread sleeps in between
        (void)rig.keep(2);
        CHECK(all_are_sent_soon(rig));
        std::this_thread::sleep_for(milliseconds(50));
    }
    CHECK(rig.device.wait() == WYE_OK);
    rig.check_words();
}

TEST_CASE("a submit that finds the device without work is sent, unless others were a moment ago") {
    Rig rig("6000000");  // us; "a moment" is a sixth of this time
    const auto sends = [&](bool dry) {
        for (int n = 0; n < 12; ++n) rig.submit();
        (void)rig.keep(1);
        loader().stall(!dry);
        std::this_thread::sleep_for(milliseconds(1050));
        const Count submits(loader().submits);
        rig.submit();
        const auto sent = submits.now();
        loader().stall(false);
        CHECK(rig.device.wait() == WYE_OK);
        return sent;
    };
    int tries = 0;
    while (sends(true) != 1 && tries < 20) ++tries;  // the driver's thread may be late
    CHECK(tries < 20);
    CHECK(sends(false) == 0);
    rig.check_words();
}

TEST_CASE("submits that the driver refuses when they are sent fail, each, and no others") {
    constexpr std::int32_t kNoMemory = -2;  // VK_ERROR_OUT_OF_DEVICE_MEMORY
    Rig rig;
    Device& device = rig.device;
    wye_queue_object* other = device.queue_create();
    const std::uint64_t kept = rig.keep(4);
    const std::uint64_t newest = device.value, sent = newest - kept;
    loader().refuse_submits(kNoMemory);
    const auto check_failed = [&](std::uint64_t value) {
        CAPTURE(value);
        harness::Sink sink;
        CHECK(device.await(device.queue, value, harness::kDeadline, sink.out()) ==
              WYE_DEVICE_MEMORY);
        const harness::Failure failure = sink.failure();
        CHECK(failure.native_code == kNoMemory);
        CHECK(failure.message.find("vkQueueSubmit") != std::string::npos);
        CHECK(failure.fix.rfind("Fix: ", 0) == 0);
    };
    SUBCASE("seen by who waits") { check_failed(newest); }
    SUBCASE("seen by who polls") {
        wye_status status = WYE_NOT_READY;
        while (status == WYE_NOT_READY) status = device.query(device.queue, newest, nullptr);
        CHECK(status == WYE_DEVICE_MEMORY);
    }
    SUBCASE("seen by another queue, whose work fails unless it waits for the end alone") {
        const wye_event event = device.event(device.queue, newest - 1);
        wye_event order = event;
        order.flags = WYE_EVENT_ORDER_ONLY;
        CHECK(device.submit({}, {&event, 1}, other) == WYE_DEVICE_MEMORY);
        CHECK(device.submit({}, {&event, 1}) == WYE_DEVICE_MEMORY);
        loader().refuse_submits(0);
        REQUIRE(device.submit({}, {&order, 1}, other) == WYE_OK);
        CHECK(rig.await(device.value, other) == WYE_OK);
    }
    SUBCASE("seen by the submit after them, which is not kept") {
        wye_buffer_object* target = device.buffer(256);
        loader().refuse_submits(kNoMemory);
        const wye_operation copy = harness::copy(rig.words, target, 0, 0, 256);
        CHECK(device.submit({&copy, 1}) == WYE_DEVICE_MEMORY);
    }
    loader().refuse_submits(0);
    for (std::uint64_t n = 0; n < kept; ++n) check_failed(newest - n);
    CHECK(rig.await(sent) == WYE_OK);
    // A submit without work, and later submits, are not affected.
    REQUIRE(device.submit({}) == WYE_OK);
    CHECK(device.wait() == WYE_OK);
    rig.filled -= static_cast<std::uint32_t>(kept);
    rig.check_words();
    for (std::uint64_t n = 0; n < kept; ++n) {
        const wye_event event = device.event(device.queue, newest - n);
        CHECK(device.table->retire(device.object, &event, nullptr) == WYE_OK);
        CHECK(device.query(device.queue, newest - n, nullptr) == WYE_OK);
    }
    (void)rig.keep(2);
    CHECK(device.wait() == WYE_OK);
    rig.check_words();
    device.queue_table->destroy(other);
}

TEST_CASE("refusals one after the other, and work between them, end in their order") {
    constexpr std::int32_t kNoMemory = -1;  // VK_ERROR_OUT_OF_HOST_MEMORY
    Rig rig;
    for (int round = 0; round < 3; ++round) {
        (void)rig.keep(3);
        loader().refuse_submits(kNoMemory);
        const std::uint64_t newest = rig.device.value;
        CHECK(rig.await(newest - 1) != WYE_OK);
        loader().refuse_submits(0);
        CHECK(rig.await(newest) != WYE_OK);
        rig.submit();
        CHECK(rig.device.wait() == WYE_OK);
    }
    rig.check_words();
}

TEST_CASE("kept submits of a device that is lost fail by the loss, and nothing of them is sent") {
    for (const int way : {0, 1, 2}) {
        CAPTURE(way);
        Rig rig;
        Device& device = rig.device;
        (void)rig.keep(3);
        const std::uint64_t newest = device.value;
        const Count submits(loader().submits);
        if (way == 0) {  // a loss by request: kept submits end first
            const std::string_view name = WYE_EXTENSION_LOSS;
            const auto* loss = static_cast<const wye_loss_table*>(
                device.table->get_extension(device.object, {name.data(), name.size()}, 1));
            REQUIRE((loss != nullptr));
            REQUIRE(loss->lose(device.object, nullptr) == WYE_OK);
            CHECK(submits.now() == 1);
        } else {
            loader().lose_newest();
        }
        if (way == 2) {
            const wye_operation op = harness::fill(rig.words, 0, 256, 1, 4);
            wye_status status = WYE_OK;
            for (int n = 0; n < 100 && status == WYE_OK; ++n) status = device.submit({&op, 1});
            CHECK(status == WYE_DEVICE_LOST);
        }
        CHECK(rig.await(newest) == WYE_DEVICE_LOST);
        CHECK(rig.await(newest - 1) == WYE_DEVICE_LOST);
        CHECK(device.table->device_lost(device.object) == 1);
        const wye_operation op = harness::fill(rig.words, 0, 256, 1, 4);
        CHECK(device.submit({&op, 1}) == WYE_DEVICE_LOST);
        if (way != 0) CHECK(submits.now() == 0);
    }
}

TEST_CASE("a process may leave while submits are kept") {
    constexpr const char* kLeaves = "WYE_TEST_LEAVES";  // set in the process that leaves
    if (std::getenv(kLeaves) != nullptr) {
        auto* const rig = new Rig("10000");  // never destroyed; long enough under sanitizers
        (void)rig->keep(2);
        std::exit(7);  // doctest's own statuses are 0 and 1
    }
    REQUIRE(setenv(kLeaves, "1", 1) == 0);
    for (int round = 0; round < 5; ++round) {
        std::string name = "-tc=a process may leave while submits are kept";
        std::string self = "/proc/self/exe";
        char* const arguments[] = {self.data(), name.data(), nullptr};
        pid_t child = 0;
        REQUIRE(posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments, environ) == 0);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 7);
    }
    REQUIRE(unsetenv(kLeaves) == 0);
}

TEST_CASE("threads that ask and one that submits meet in no wrong order") {
    Rig rig("50");
    constexpr int kRounds = 3000;
    std::atomic<std::uint64_t> newest{0};
    std::atomic<bool> over{false};
    std::array<std::thread, 2> askers;
    for (std::thread& one : askers)
        one = std::thread([&] {
            std::uint64_t seen = 0;
            while (!over) {
                const std::uint64_t value = newest.load();
                if (value == seen) continue;
                CHECK(rig.await(value) == WYE_OK);
                seen = value;
            }
        });
    for (int n = 0; n < kRounds; ++n) {
        rig.submit();
        if (n % 37 == 0) newest = rig.device.value;
    }
    over = true;
    for (std::thread& one : askers) one.join();
    CHECK(rig.device.wait() == WYE_OK);
    rig.check_words();
}
