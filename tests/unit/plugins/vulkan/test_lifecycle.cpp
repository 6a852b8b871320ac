// SPDX-License-Identifier: Apache-2.0
//
// Opening, absence, discovery and facts.
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "checked.hpp"
#include "conformance/abi/cases.hpp"

using harness::Device;

namespace {

using Config = std::map<std::string, std::string>;

std::string text(wye_string s) { return {s.data, s.size}; }

}  // namespace

TEST_CASE("an absent library is a missing dependency that is named with its package") {
    harness::cases::absent_library_is_named("vulkan.library", "libvulkan-that-is-not-there.so.1",
                                            "libvulkan1");
}

TEST_CASE("a library without Vulkan's functions is refused by the missing name") {
    harness::cases::foreign_library_is_refused("vulkan.library", "vkGetInstanceProcAddr");
}

TEST_CASE("without a driver that starts, the error says how to install one, or what is wrong") {
    const char* const set = std::getenv("VK_DRIVER_FILES");
    const std::optional<std::string> before =
        set != nullptr ? std::optional<std::string>(set) : std::nullopt;
    REQUIRE(::setenv("VK_DRIVER_FILES", "/there/is/no/driver.json", 1) == 0);
    const harness::Plugin plugin(Config{{"vulkan.validation", "0"}});
    if (before)
        ::setenv("VK_DRIVER_FILES", before->c_str(), 1);
    else
        ::unsetenv("VK_DRIVER_FILES");
    CHECK(plugin.status == WYE_NO_DEVICE);
    CHECK(plugin.failure.message.rfind("no Vulkan driver is installed, or none starts: ", 0) == 0);
    CHECK(plugin.failure.fix.find("`mesa-vulkan-drivers`") != std::string::npos);
    CHECK(plugin.failure.fix.find("`VK_LOADER_DEBUG=error vulkaninfo`") != std::string::npos);
}

TEST_CASE("the plugin works without the validation layer") {
    CheckedPlugin plugin(Config{{"vulkan.validation", "0"}});
    REQUIRE(plugin.status == WYE_OK);
    Device device(plugin);
    CHECK(device.buffer(16) != nullptr);
}

TEST_CASE("the kind of the devices can be given") {
    const CheckedPlugin plugin(Config{{"vulkan.kind", "accelerator"}});
    REQUIRE_MESSAGE(plugin.status == WYE_OK, plugin.failure.message);
    CHECK(text(plugin.fact(WYE_FACT_KEY_DEVICE_KIND).text) == "accelerator");
}

TEST_CASE("the validation layer is on, and what it says is logged") {
    harness::Plugin plugin;  // not checked: the misuse is on purpose
    REQUIRE_MESSAGE(plugin.status == WYE_OK, plugin.failure.message);
    Device device(plugin);
    CHECK(plugin.host.log().empty());
    // The module reads a descriptor that the layout lacks: its block is at binding 99 instead of 2.
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}}};
    std::string words = module_words("large_block");
    std::size_t moved = 0;
    for (std::size_t at = 0; at + 16 <= words.size(); at += 4) {
        std::uint32_t decorate[4];  // what, target, Binding (33), its number
        std::memcpy(decorate, words.data() + at, sizeof decorate);
        if (decorate[0] != (4U << 16U | 71U) || decorate[2] != 33 || decorate[3] != 2) continue;
        words[at + 12] = 99;
        ++moved;
    }
    REQUIRE(moved == 1);
    (void)device.program(harness::artifact(words, "main", slots, 1, 64));
    REQUIRE_FALSE(plugin.host.log().empty());
    CHECK(plugin.host.log()[0].rfind("vulkan.validation: ", 0) == 0);
}

TEST_CASE("devices have names, formats and honest facts") {
    const CheckedPlugin plugin;
    harness::cases::first_device_takes(plugin, WYE_FORMAT_SPIRV);
    // Every device of Vulkan 1.1 has these.
    CHECK(plugin.flag(WYE_FACT_KEY_ATOMIC_INT32));
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS).u >= 128);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_SIZE).xyz[0] >= 128);
    for (const std::uint32_t groups : plugin.fact(WYE_FACT_KEY_MAX_WORKGROUPS).xyz)
        CHECK(groups >= 65535);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_PUSH_BYTES).u >= 128);
    const std::uint64_t buffers = plugin.fact(WYE_FACT_KEY_MAX_BUFFERS).u;
    CHECK(buffers >= 2);
    CHECK(buffers <= 64);
    CHECK(plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u <= 256);
    CHECK(text(plugin.fact(WYE_FACT_KEY_API_VERSION).text).rfind("Vulkan 1.", 0) == 0);
    CHECK(plugin.fact(WYE_FACT_KEY_UUID).text.size == 32);
    // Vulkan does not report these facts, or the language does not have them yet, so they are not
    // claimed.
    harness::cases::facts_are_absent(
        plugin, std::array<std::uint32_t, 5>{WYE_FACT_KEY_GRID_SYNC, WYE_FACT_KEY_MAX_PRIVATE_BYTES,
                                             WYE_FACT_KEY_TENSOR_CORES, WYE_FACT_KEY_COMPUTE_UNITS,
                                             WYE_FACT_KEY_ISA});
}
