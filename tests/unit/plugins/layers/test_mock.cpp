// SPDX-License-Identifier: Apache-2.0
//
// The mock plugin: its script, and what its devices do.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "mock/script.hpp"
#include "rig.hpp"
#include "support/longer.hpp"
#include "support/temp_dir.hpp"

using harness::Device;
using harness::Plugin;
using layer_test::choose;
using namespace std::chrono_literals;

TEST_CASE("a script describes devices, their facts and times") {
    const auto devices = wye::mock::parse_script(
        "# two devices\n"
        "device = Big GPU\n"
        "formats = spirv-vulkan, wye-program\n"
        "fact.memory_bytes = 80GiB\n"
        "fact.max_workgroup_size = 256, 256,64\n"
        "fact.subgroup_sizes = 16,32\n"
        "fact.f64 = none\n"
        "time.dispatch = 20us\n"
        "output = 0x5a\n"
        "\n"
        "device = Broken GPU   # with a reason\n"
        "reason = the driver is too old\n"
        "fix = Fix: update it\n",
        "test");
    REQUIRE(devices.ok());
    REQUIRE(devices->size() == 2);
    const wye::mock::DeviceInfo& big = (*devices)[0];
    CHECK(big.name == "Big GPU");
    CHECK(big.formats == std::vector<std::string>{"spirv-vulkan", "wye-program"});
    CHECK(big.facts.at(WYE_FACT_KEY_MEMORY_BYTES).u == std::uint64_t{80} << 30U);
    CHECK(big.facts.at(WYE_FACT_KEY_MAX_WORKGROUP_SIZE).xyz[2] == 64);
    CHECK(big.facts.at(WYE_FACT_KEY_SUBGROUP_SIZES).list == std::vector<std::uint64_t>{16, 32});
    CHECK(big.facts.count(WYE_FACT_KEY_F64) == 0);
    CHECK(big.dispatch_ns == 20000);
    CHECK(*big.output == 0x5a);
    CHECK(big.usable());
    CHECK_FALSE((*devices)[1].usable());
    CHECK((*devices)[1].fix == "Fix: update it");
}

TEST_CASE("a wrong line is refused by its number, with what is meant") {
    struct Wrong {
        const char* line;
        const char* text;
        const char* fix;
    };
    constexpr Wrong kWrong[] = {
        {"device", "has no `=`", "Fix: write KEY = VALUE"},
        {"formts = x", "has the key `formts`", "Fix: write `formats`"},
        {"fact.f46 = true", "names the fact `f46`", "Fix: write `fact.f64`"},
        {"fact.f64 = yes", "gives `fact.f64` the value `yes`", "Fix: write true or false"},
        {"fact.max_workgroup_size = 1,2", "gives `fact.max_workgroup_size`", "Fix: write true"},
        {"fact.subgroup_sizes = 32,16", "gives `fact.subgroup_sizes`", "Fix: write true"},
        {"fact.memory_bytes = 99999999999GiB", "gives `fact.memory_bytes`", "Fix: write true"},
        {"time.dispatch = soon", "gives `time.dispatch` the value `soon`", "Fix: write a time"},
        {"output = 0x100", "gives `output` the value `0x100`", "Fix: write none"},
    };
    for (const Wrong& one : kWrong) {
        CAPTURE(one.line);
        const auto devices =
            wye::mock::parse_script(std::string("device = A\n\n") + one.line, "test");
        REQUIRE_FALSE(devices.ok());
        CHECK(devices.error().code == wye::Code::INVALID_ARGUMENT);
        CHECK(devices.error().message.starts_with("line 3 of the script `test` "));
        CHECK(devices.error().message.find(one.text) != std::string::npos);
        CHECK(devices.error().fix.starts_with(one.fix));
    }
}

TEST_CASE("a device moves bytes, fills outputs with its pattern, and takes its time") {
    CHECK(support::with_longer_times([](std::chrono::milliseconds time) {
        choose(WYE_MOCK_PLUGIN, {"validate"},
               {{"mock.text", "output = 0x5a\nfact.memory_bytes = 1MiB\ntime.dispatch = " +
                                  std::to_string(time.count()) + "ms"}});
        Plugin plugin;
        REQUIRE(plugin.status == WYE_OK);
        Device device(plugin);
        const auto words = harness::counting(16);
        wye_buffer_object* in = device.buffer(harness::bytes_of(words));
        wye_buffer_object* out = device.buffer(64);
        const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 1, 0, {}},
                                  {WYE_SLOT_BUFFER, 1, 0, 2, 0, {}}};
        wye_program_object* program =
            device.program(harness::artifact("anything", "main", slots, 2, 1));
        REQUIRE(program != nullptr);
        const wye_binding bindings[] = {harness::binding(in, 0, 16), harness::binding(out, 16, 8)};
        const wye_operation launch = harness::dispatch(program, bindings, {1, 1, 1});
        const auto begin = std::chrono::steady_clock::now();
        REQUIRE(device.submit({&launch, 1}) == WYE_OK);
        const wye_status soon = device.query(device.queue, device.value, nullptr);
        const wye_status by_limit = device.wait(1'000'000);
        if (std::chrono::steady_clock::now() - begin >= time) return false;
        CHECK(soon == WYE_NOT_READY);
        CHECK(by_limit == WYE_TIMEOUT);
        CHECK(device.wait(harness::kDeadline) == WYE_OK);
        CHECK(std::chrono::steady_clock::now() - begin >= time);
        CHECK(harness::values_of<std::uint32_t>(device.download(in, 64)) == words);
        const auto found = device.download(out, 64);
        for (std::size_t i = 0; i < found.size(); ++i)
            CHECK(found[i] == (i >= 16 && i < 48 ? std::byte{0x5a} : std::byte{0}));
        CHECK(device.buffer(std::uint64_t{2} << 20U) == nullptr);
        CHECK(device.failure.code == WYE_DEVICE_MEMORY);
        CHECK(plugin.host.errors().empty());
        return true;
    }));
}

TEST_CASE("a script is a file too; an absent or wrong one is an error of init") {
    const support::TempDir folder;
    const std::string path = folder.path() / "devices";
    choose(WYE_MOCK_PLUGIN, {}, {{"mock.script", path}});
    {
        const Plugin plugin;
        CHECK(plugin.status == WYE_IO);
        CHECK(plugin.failure.fix.starts_with("Fix: "));
    }
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);  // opening it would wait for a writer
    CHECK(Plugin().status == WYE_IO);
    std::filesystem::remove(path);
    std::ofstream(path) << "device = A\ndevice = B\n";
    {
        const Plugin plugin;
        CHECK(plugin.devices == 2);
    }
    std::ofstream(path) << "what = that\n";
    const Plugin plugin;
    CHECK(plugin.status == WYE_INVALID_ARGUMENT);
}
