// SPDX-License-Identifier: Apache-2.0
//
// Lost devices, exhausted memory and refused pipelines, simulated by a test's loader.
#include <link.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "checked.hpp"
#include "conformance/abi/cases.hpp"
#include "vulkan/lossy_loader.hpp"

using harness::bytes_of;
using harness::counting;
using harness::Device;
using harness::values_of;

namespace {

constexpr harness::cases::Loss kLoss = {"vulkan", -4};

const lossy_vulkan::Control& loader() {
    static const auto& control =
        harness::control_of<lossy_vulkan::Control>(WYE_LOSSY_VULKAN, "lossy_vulkan_control");
    return control;
}

const std::map<std::string, std::string> kLossy = {{"vulkan.library", WYE_LOSSY_VULKAN}};

struct Rig {
    Rig() { loader().reset(); }
    CheckedPlugin plugin{kLossy};
};

wye_artifact slow_artifact(const std::string& words) {
    return harness::artifact(words, "main", kSlowSlots, 1, 1, 4);
}

// Whether the library of lavapipe, the driver under test, is mapped.
bool driver_mapped() {
    return dl_iterate_phdr(
               [](dl_phdr_info* info, std::size_t, void*) {
                   const std::string name = info->dlpi_name;
                   return name.find("libvulkan_lvp") != std::string::npos ? 1 : 0;
               },
               nullptr) != 0;
}

// False in sanitized runs, whose helper keeps libraries open for the names in reports
// (tests/support/keep_open.c).
bool dlclose_unmaps() {
    const char* const preloaded = std::getenv("LD_PRELOAD");
    return preloaded == nullptr ||
           std::string_view(preloaded).find("keep_open") == std::string_view::npos;
}

}  // namespace

TEST_CASE("a driver's library stays mapped if the driver is one that must not be unmapped") {
    constexpr std::uint32_t kNvidiaProprietary = 4;  // VkDriverId
    for (const std::uint32_t id : {0U, kNvidiaProprietary}) {
        CAPTURE(id);
        {
            loader().reset();
            loader().driver_id(id);
            const CheckedPlugin plugin(kLossy);
            REQUIRE(plugin.devices != 0);
            CHECK(driver_mapped());
        }
        if (id != 0 || dlclose_unmaps()) CHECK(driver_mapped() == (id != 0));
    }
}

TEST_CASE("a lost device is lost on every handle; others go on, and it can be opened again") {
    Rig rig;
    const std::string words = module_words("slow");
    Device other(rig.plugin);
    const auto content = counting(64);
    wye_buffer_object* theirs = other.buffer(bytes_of(content));

    Device device(rig.plugin);
    harness::cases::lost_on_every_handle(device, slow_artifact(words), kLoss, loader().lose_newest);

    CHECK(other.table->device_lost(other.object) == 0);
    CHECK(values_of<std::uint32_t>(other.download(theirs, 256)) == content);
    Device again(rig.plugin);
    CHECK(again.table->device_lost(again.object) == 0);
    CHECK(values_of<std::uint32_t>(again.download(again.buffer(bytes_of(content)), 256)) ==
          content);
}

TEST_CASE("a loss that no semaphore tells ends every wait all the same") {
    for (const int way : {0, 1, 2}) {
        Rig rig;
        Device device(rig.plugin);
        wye_buffer_object* a = device.buffer(bytes_of(counting(64)));
        const wye_operation fill = harness::fill(a, 0, 256, 1, 4);
        REQUIRE(device.submit({&fill, 1}) == WYE_OK);
        loader().lose_newest_silently();
        wye_status status = WYE_TIMEOUT;
        if (way == 0) {
            status = device.wait();
        } else if (way == 1) {
            while (status == WYE_TIMEOUT) status = device.wait(10000000);
        } else {
            status = WYE_NOT_READY;
            while (status == WYE_NOT_READY)
                status = device.query(device.queue, device.value, nullptr);
        }
        CHECK(status == WYE_DEVICE_LOST);
        CHECK(device.table->device_lost(device.object) == 1);
        CHECK(device.submit({&fill, 1}) == WYE_DEVICE_LOST);
        harness::cases::tells_loss(device.failure, kLoss);
    }
}

TEST_CASE("a loss that a submit meets queues nothing") {
    Rig rig;
    Device device(rig.plugin);
    wye_buffer_object* a = device.buffer(256);
    loader().lose_newest();
    const wye_operation op = harness::fill(a, 0, 256, 1, 4);
    CHECK(device.submit({&op, 1}) == WYE_DEVICE_LOST);
    harness::cases::tells_loss(device.failure, kLoss);
    CHECK(device.table->device_lost(device.object) == 1);
}

// The previous submit and the first two pieces of the download (4 MiB each) fill the staging ring.
// To make room for the third piece, the plugin sends these two and waits for the previous submit.
TEST_CASE("a submit that fails in the middle waits for the end of what it has sent") {
    constexpr std::uint64_t kMiB = 1U << 20U;
    const std::vector<std::byte> content(12 * kMiB, std::byte{1});
    std::vector<std::byte> target(12 * kMiB, std::byte{2});
    const std::vector<std::byte> before = target;
    Rig rig;
    {
        Device device(rig.plugin);
        wye_buffer_object* a = device.buffer(std::span(content));
        loader().reset();
        const wye_operation fill = harness::fill(a, 0, 256, 1, 4);
        const wye_operation staged[] = {
            fill, harness::upload(a, 0, std::span(content).first(8 * kMiB)), fill};
        REQUIRE(device.submit(staged) == WYE_OK);
        const std::uint64_t first = loader().sent();
        wye_operation unknown{};
        unknown.kind = 77;
        const wye_operation steps[] = {harness::download(a, 0, target), unknown};
        CHECK(device.submit(steps) == WYE_OK);
        CHECK(loader().sent() > first);  // else this test shows nothing
        CHECK(loader().seen_to_end() == loader().sent());
        CHECK(device.wait() == WYE_UNSUPPORTED);
        CHECK(device.failure.message.find("77") != std::string::npos);
        CHECK(device.run(fill) == WYE_OK);  // later work runs
    }
    CHECK(target == before);  // the caller may use the memory again
}

TEST_CASE("memory that the driver does not give is an error with figures, and all else works on") {
    Rig rig;
    Device device(rig.plugin);
    const auto content = counting(1024);
    wye_buffer_object* a = device.buffer(bytes_of(content));
    loader().memory_full(true);
    CHECK(device.buffer(123456) == nullptr);
    CHECK(device.failure.code == WYE_DEVICE_MEMORY);
    CHECK(device.failure.native_code == -2);
    CHECK(device.failure.message.find("123456") != std::string::npos);
    CHECK(device.failure.message.find(
              std::to_string(rig.plugin.fact(WYE_FACT_KEY_MEMORY_BYTES).u)) != std::string::npos);
    CHECK(device.failure.fix.rfind("Fix: free buffers", 0) == 0);
    // A submit that needs staging memory cannot run, and none of its operations is queued.
    std::vector<std::byte> out(4096);
    const wye_operation steps[] = {harness::fill(a, 1, 3, 7, 1), harness::download(a, 0, out)};
    CHECK(device.submit(steps) == WYE_DEVICE_MEMORY);
    loader().memory_full(false);
    CHECK(values_of<std::uint32_t>(device.download(a, 4096)) == content);
    CHECK(device.buffer(123456) != nullptr);
    CHECK(device.table->device_lost(device.object) == 0);
}

TEST_CASE("a pipeline that the driver refuses names the program and what the driver said") {
    Rig rig;
    Device device(rig.plugin);
    const std::string words = module_words("slow");
    loader().refuse_pipelines(-1000012000);
    CHECK(device.program(slow_artifact(words)) == nullptr);
    CHECK(device.failure.code == WYE_COMPILE_FAILED);
    CHECK(device.failure.subject == "test");
    CHECK(device.failure.message.find("VK_ERROR_INVALID_SHADER_NV") != std::string::npos);
    CHECK(device.failure.fix.rfind("Fix: ", 0) == 0);
    loader().refuse_pipelines(0);
    CHECK(device.program(slow_artifact(words)) != nullptr);
}
