// SPDX-License-Identifier: Apache-2.0
//
// The number of events, markers and flushes that submits cause if the driver's events are costly
// (`opencl.events` = few, as on NVIDIA's driver). All values are still reached. The loader of the
// tests counts the driver's calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

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

    void submit() {
        const wye_operation op = harness::fill(words, 0, 256, ++filled, 4);
        REQUIRE(device.submit({&op, 1}) == WYE_OK);
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

// A submit has an event of its own if 1 to 7 other submits are pending. If more are pending, one
// event is shared by as many submits as a quarter of the pending ones, at most 64. So the numbers
// of calls depend only a little on the speed of the device.
void check_few_calls() {
    CHECK(loader().events() >= 1000 / 64);
    CHECK(loader().events() <= 48);
    CHECK(loader().markers() <= 1);
    CHECK(loader().flushes() <= 1);
    CHECK(loader().questions() <= 96);
}

TEST_CASE("1000 submits in a row share events; a submit alone has none") {
    Rig rig("few");
    for (int round = 0; round < 8; ++round) {
        loader().reset();
        for (int n = 0; n < 1000; ++n) rig.submit();
        check_few_calls();
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

TEST_CASE("1000 dispatches in a row, alone or as a command, are as many enqueues and little else") {
    Rig rig("few");
    Device& device = rig.device;
    const char* const text = R"(
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void advance(__global uint* restrict r, const ulong n) {
    const uint i = (uint)get_global_id(0);
    if (i < n) r[i] = r[i] * 1664525u + 1013904223u;
})";
    constexpr wye_slot kSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}},
                                   {WYE_SLOT_LENGTH, 0, 0, 0, 0, {}}};
    wye_program_object* program =
        device.program(harness::artifact(text, "advance", kSlots, 1, 64, 0));
    REQUIRE_MESSAGE((program != nullptr), device.failure.message);
    std::vector<std::uint32_t> expected = counting(64);
    const wye_binding bindings[] = {harness::binding(rig.words, 0, 64)};
    const wye_operation launch = harness::dispatch(program, bindings, {1, 1, 1});
    const harness::Command command(device, {&launch, 1});
    REQUIRE(command.status == WYE_OK);
    const wye_operation execution = command.execute();
    for (int round = 0; round < 3; ++round)
        for (const wye_operation& one : {launch, execution}) {
            REQUIRE(device.run(one) == WYE_OK);  // sets the arguments
            loader().reset();
            for (int n = 0; n < 1000; ++n) REQUIRE(device.submit({&one, 1}) == WYE_OK);
            CHECK(loader().kernels() == 1000);
            CHECK(loader().arguments() == 0);
            check_few_calls();
            CHECK(device.wait() == WYE_OK);
            for (int n = 0; n < 1001; ++n)
                for (std::uint32_t& word : expected) word = word * 1664525U + 1013904223U;
            CHECK(values_of<std::uint32_t>(device.download(rig.words, 256)) == expected);
        }
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
            for (std::uint64_t n = 0; n < 100; ++n)
                CHECK(rig.await(rig.device.value - n) == WYE_OK);
            rig.check_words();
        }
}

// If a submit that shares an event seemed to end only with later submits, the wait here would never
// end: the later work waits for the application.
TEST_CASE("submits that share events end before later ones that wait for the application") {
    Rig rig("few");
    Device& device = rig.device;
    for (int n = 0; n < 30; ++n) rig.submit();
    const std::uint64_t before = device.value;

    const std::string_view name = WYE_EXTENSION_NATIVE_HANDLE;
    const auto* native = static_cast<const wye_native_table*>(
        device.table->get_extension(device.object, {name.data(), name.size()}, 1));
    REQUIRE((native != nullptr));
    wye_native_handle handle{};
    handle.header.size = sizeof handle;
    REQUIRE(native->device(device.object, &handle, nullptr) == WYE_OK);
    void* context = nullptr;
    for (const wye_native_value& value : std::span(handle.values, handle.count))
        if (std::string_view(value.type.data, value.type.size) == "cl_context")
            context = reinterpret_cast<void*>(value.value);
    REQUIRE((context != nullptr));
    void* const theirs = loader().make_event(context);
    REQUIRE((theirs != nullptr));
    wye_native_handle event{};
    event.header.size = sizeof event;
    event.count = 1;
    event.values[0].type = {"cl_event", 8};
    event.values[0].value = reinterpret_cast<std::uintptr_t>(theirs);
    wye_native_wait wait{};
    wait.header = {sizeof wait, WYE_CHAIN_NATIVE_WAIT | WYE_CHAIN_CRITICAL, nullptr};
    wait.event = &event;
    wye_submission submission{};
    submission.header = {sizeof submission, 0, &wait.header};
    submission.value = ++device.newest;
    REQUIRE(device.queue_table->submit(device.queue, &submission, nullptr) == WYE_OK);
    for (int n = 0; n < 30; ++n) rig.submit();

    for (std::uint64_t n = 0; n < 30; ++n) CHECK(rig.await(before - n) == WYE_OK);
    CHECK(device.query(device.queue, device.value, nullptr) == WYE_NOT_READY);
    loader().let_happen(theirs);
    CHECK(device.wait() == WYE_OK);
    rig.check_words();
}
