// SPDX-License-Identifier: Apache-2.0
//
// Lost devices, simulated by a test's loader, and failures that are no loss.
#include <doctest/doctest.h>

#include "conformance/abi/cases.hpp"
#include "opencl/lossy_loader.hpp"
#include "wye/sdk/facts.hpp"

using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;
using harness::cases::tells_loss;

namespace {

// The driver's code in the error of the first call that meets a loss: of clFinish, or of others.
constexpr harness::cases::Loss kFinish = {"opencl", -36}, kOther = {"opencl", -9999};

const lossy_opencl::Control& loader() {
    static const auto& control =
        harness::control_of<lossy_opencl::Control>(WYE_OPENCL_LOADER, "lossy_opencl_control");
    return control;
}

struct Rig {
    Rig() { loader().reset(); }
    ~Rig() { loader().reset(); }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;
    harness::Plugin plugin{std::map<std::string, std::string>{{"opencl.library", WYE_OPENCL_LOADER},
                                                              {"opencl.events", "few"}}};
};

constexpr std::string_view kNothing =
    "__kernel void nothing(__global uint* x, const ulong n) { if (n == 77) x[0] = 1; }";
constexpr wye_slot kSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}},
                               {WYE_SLOT_LENGTH, 0, 0, 0, 0, {}}};

wye_artifact nothing() { return harness::artifact(kNothing, "nothing", kSlots, 1, 1); }

}  // namespace

TEST_CASE("a device that stopped to answer is lost on every handle") {
    Rig rig;
    Device device(rig.plugin);
    harness::cases::lost_on_every_handle(device, nothing(), kFinish, loader().lose);
}

TEST_CASE("a driver that fails while the speed of f64 is measured costs that fact alone") {
    for (const bool lost : {false, true}) {
        loader().reset();
        {
            harness::Plugin plugin({{"opencl.library", WYE_OPENCL_LOADER}, {"opencl.kind", "gpu"}});
            lost ? loader().lose() : loader().fail_next_finish();
            wye_status status = WYE_OK;
            (void)plugin.fact(wye::sdk::facts::kF32ToF64Rate, &status);
            CHECK(status == WYE_UNSUPPORTED);
            REQUIRE(plugin.host.log().size() == 1);
            CHECK(plugin.host.log()[0].find("was not measured") != std::string::npos);
            loader().reset();
            Device device(plugin);
            CHECK(device.program(nothing()) != nullptr);
        }
        loader().reset();
    }
}

TEST_CASE("a loss is seen by whoever meets it first: a poll, a compilation, a new queue") {
    for (const int way : {0, 1, 2}) {
        Rig rig;
        Device device(rig.plugin);
        wye_buffer_object* a = device.buffer(bytes_of(counting(64)));
        const wye_operation fill = harness::fill(a, 0, 256, 1, 4);
        REQUIRE(device.submit({&fill, 1}) == WYE_OK);
        loader().lose();
        harness::Sink sink;
        wye_queue_desc desc{};
        desc.header.size = sizeof desc;
        wye_queue_object* queue = nullptr;
        wye_timeline_object* timeline = nullptr;
        const wye_queue_table* table = nullptr;
        if (way == 0) {
            CHECK(device.query(device.queue, device.value, sink.out()) == WYE_DEVICE_LOST);
            tells_loss(sink.failure(), kOther);
        } else if (way == 1) {
            CHECK(device.program(nothing()) == nullptr);
            tells_loss(device.failure, kOther);
        } else {
            CHECK(device.table->queue_create(device.object, &desc, &queue, &timeline, &table,
                                             sink.out()) == WYE_DEVICE_LOST);
            tells_loss(sink.failure(), kOther);
        }
        CHECK(device.table->device_lost(device.object) == 1);
    }
}

TEST_CASE("where a lost device cannot be opened again, the error says to restart the process") {
    Rig rig;
    Device device(rig.plugin);
    REQUIRE(device.submit({}) == WYE_OK);
    loader().lose();
    CHECK(device.wait() == WYE_DEVICE_LOST);
    harness::cases::not_opened_again(rig.plugin, kOther);
    // The device can be opened again if the driver has recovered.
    loader().reset();
    Device recovered(rig.plugin);
    const auto content = counting(64);
    wye_buffer_object* a = recovered.buffer(bytes_of(content));
    CHECK(values_of<std::uint32_t>(recovered.download(a, 256)) == content);
}

TEST_CASE("a queue that fails on a device that answers is no loss") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(bytes_of(counting(64)));
    REQUIRE(device.submit({}) == WYE_OK);
    loader().fail_next_finish();
    CHECK(device.wait() == WYE_DRIVER);
    CHECK(device.failure.native_code == -36);
    CHECK(device.table->device_lost(device.object) == 0);
    CHECK(device.download(a, 256).size() == 256);  // the same queue still works
}

TEST_CASE("full memory is no loss, and leaves everything usable") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(bytes_of(counting(64)));
    const wye_operation fill = harness::fill(a, 0, 256, 1, 4);
    loader().memory_full(true);
    CHECK(device.submit({&fill, 1}) == WYE_DEVICE_MEMORY);
    CHECK(device.failure.native_code == -5);
    CHECK(device.table->device_lost(device.object) == 0);
    loader().memory_full(false);
    CHECK(device.run(fill) == WYE_OK);
    CHECK(values_of<std::uint32_t>(device.download(a, 256)) == std::vector<std::uint32_t>(64, 1));
}
