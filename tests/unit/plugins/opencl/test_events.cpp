// SPDX-License-Identifier: Apache-2.0
//
// How many events, markers and flushes submits cost where the driver's events are costly
// (`opencl.events` = few, as on NVIDIA's driver), and that values are reached all the same. The
// loader of the tests counts the driver's calls.
#include <doctest/doctest.h>

#include "conformance/abi/harness.hpp"
#include "opencl/lossy_loader.hpp"

using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;

namespace {

const lossy_opencl::Control& loader() {
    static const auto& control =
        harness::control_of<lossy_opencl::Control>(WYE_OPENCL_LOADER, "lossy_opencl_control");
    return control;
}

// Each submit fills the buffer with another number.
struct Rig {
    explicit Rig(const char* events)
        : plugin(std::map<std::string, std::string>{{"opencl.library", WYE_OPENCL_LOADER},
                                                    {"opencl.events", events}}) {
        loader().reset();
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;
    ~Rig() { loader().reset(); }

    void submit(std::span<const wye_event> waits = {}) {
        const wye_operation op = harness::fill(words, 0, 256, ++filled, 4);
        REQUIRE(device.submit({&op, 1}, waits) == WYE_OK);
    }
    wye_status await(std::uint64_t value) {
        return device.await(device.queue, value, harness::kDeadline, nullptr);
    }
    void check_words() {
        CHECK(values_of<std::uint32_t>(device.download(words, 256)) ==
              std::vector<std::uint32_t>(64, filled));
    }

    harness::Plugin plugin;
    Device device{plugin};
    wye_buffer_object* words = device.buffer(bytes_of(counting(64)));
    std::uint32_t filled = 0;
};

}  // namespace

TEST_CASE("1000 submits in a row share events; a submit alone has none") {
    Rig rig("few");
    for (int round = 0; round < 2; ++round) {
        loader().reset();
        for (int n = 0; n < 1000; ++n) rig.submit();
        // At least 16 by number; others by time, on a slow machine.
        CHECK(loader().events() >= 1000 / 64);
        CHECK(loader().events() <= 300);
        CHECK(loader().markers() <= 10);
        CHECK(rig.device.wait() == WYE_OK);
        rig.check_words();
    }
    loader().reset();
    for (int n = 0; n < 10; ++n) {
        rig.submit();
        REQUIRE(rig.device.wait() == WYE_OK);
    }
    CHECK(loader().events() == 0);
    CHECK(loader().markers() == 0);
}

TEST_CASE("where events cost little, each submit has one") {
    Rig rig("each");
    for (int n = 0; n < 100; ++n) rig.submit();
    CHECK(loader().events() == 100);
    CHECK(loader().markers() == 0);
    CHECK(rig.device.wait() == WYE_OK);
    rig.check_words();
}

TEST_CASE("every one of submits that share events is reached by who waits or polls") {
    Rig rig("few");
    for (const bool waits : {false, true})
        for (const std::uint64_t back : {0, 1, 7, 20, 63, 99}) {
            CAPTURE(waits);
            CAPTURE(back);
            for (int n = 0; n < 100; ++n) rig.submit();
            const std::uint64_t value = rig.device.value - back;
            wye_status status = WYE_NOT_READY;
            if (waits) status = rig.await(value);
            while (status == WYE_NOT_READY)
                status = rig.device.query(rig.device.queue, value, nullptr);
            CHECK(status == WYE_OK);
            for (std::uint64_t n = 0; n < 100; ++n) CHECK(rig.await(rig.device.value - n) == WYE_OK);
            rig.check_words();
        }
}

// A submit without an event that seemed to end only with the one behind it would never end here,
// since that waits for the application, which waits first.
TEST_CASE("submits that share events end before later ones that wait for the application") {
    Rig rig("few");
    Device& device = rig.device;
    wye_queue_object* other = device.queue_create();
    for (int n = 0; n < 30; ++n) rig.submit();
    const std::uint64_t before = device.value;
    const wye_operation op = harness::fill(rig.words, 0, 256, 1, 4);
    const wye_event theirs = [&] {
        const wye_event ours = device.event(device.queue, before);
        REQUIRE(device.submit({&op, 1}, {&ours, 1}, other) == WYE_OK);
        return device.event(other, device.value);
    }();
    rig.submit({&theirs, 1});
    for (int n = 0; n < 30; ++n) rig.submit();
    for (std::uint64_t n = 0; n < 30; ++n) CHECK(rig.await(before - n) == WYE_OK);
    CHECK(device.wait() == WYE_OK);
    rig.check_words();
    device.queue_table->destroy(other);
}
