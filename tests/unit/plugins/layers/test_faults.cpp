// SPDX-License-Identifier: Apache-2.0
//
// The layer `faults`: its rules, and what a device does after each.
#include <chrono>

#include "layers/faults/rules.hpp"
#include "rig.hpp"

using harness::Device;
using harness::Plugin;
using layer_test::choose;
using layer_test::logs;
using layer_test::submit_one;
using namespace std::chrono_literals;
using wye::layers::faults::parse_rules;

TEST_CASE("rules are read as they are written") {
    const auto rules =
        parse_rules("buffer_create:3:OUT_OF_MEMORY, submit:10+:DEVICE_LOST,wait:2:hang(50ms)");
    REQUIRE(rules.ok());
    REQUIRE(rules->size() == 3);
    CHECK((*rules)[0].slot == "buffer_create");
    CHECK((*rules)[0].code == wye::Code::OUT_OF_MEMORY);
    CHECK_FALSE((*rules)[0].is_for(2));
    CHECK((*rules)[0].is_for(3));
    CHECK_FALSE((*rules)[0].is_for(4));
    CHECK((*rules)[1].is_for(UINT64_MAX));
    CHECK((*rules)[2].pause == 50ms);
    CHECK(parse_rules("")->empty());
}

TEST_CASE("a wrong rule is refused, with what is meant") {
    struct Wrong {
        const char* rule;
        const char* text;
        const char* fix;
    };
    constexpr Wrong kWrong[] = {
        {"submit", "is not SLOT:N:ACTION", "Fix: name a slot"},
        {"submit:1", "is not SLOT:N:ACTION", "Fix: name a slot"},
        {"sumbit:1:DRIVER", "names `sumbit`", "Fix: write `submit`"},
        {"submit:0:DRIVER", "has no number", "Fix: count calls from 1"},
        {"submit:-1:DRIVER", "has no number", "Fix: count calls from 1"},
        {"submit:99999999999999999999:DRIVER", "has no number", "Fix: count calls from 1"},
        {"submit:1x:DRIVER", "has no number", "Fix: count calls from 1"},
        {"submit:1:DEVICE_LOTS", "`DEVICE_LOTS`, which is not known", "Fix: write `DEVICE_LOST`"},
        {"submit:1:OK", "`OK`, which is not known", "Fix: "},
        {"submit:1:hang(5)", "no time to hang for", "Fix: write a time"},
        {"submit:1:hang(5h)", "no time to hang for", "Fix: write a time"},
        {"submit:1:hang(3601s)", "no time to hang for", "Fix: write a time"},
        {"submit:1:hang(5ms", "no time to hang for", "Fix: write a time"},
        {"close:1:DRIVER", "returns no status", "Fix: let it hang"},
    };
    for (const Wrong& one : kWrong) {
        CAPTURE(one.rule);
        const auto rules = parse_rules(one.rule);
        REQUIRE_FALSE(rules.ok());
        CHECK(rules.error().code == wye::Code::INVALID_ARGUMENT);
        CHECK(rules.error().message.find(one.text) != std::string::npos);
        CHECK(rules.error().fix.starts_with(one.fix));
    }
    choose(WYE_CPU_PLUGIN, {"faults"}, {{"layer.faults.rules", "sumbit:1:DRIVER"}});
    const Plugin plugin;
    CHECK(plugin.status == WYE_INVALID_ARGUMENT);
    CHECK(plugin.failure.fix == "Fix: write `submit`");
}

TEST_CASE("the nth call fails, and no other") {
    choose(WYE_CPU_PLUGIN, {"validate", "faults"},
           {{"layer.faults.rules", "buffer_create:2:OUT_OF_MEMORY,submit:3+:DRIVER"}});
    Plugin plugin;
    {
        Device device(plugin);
        CHECK(device.buffer(64) != nullptr);
        CHECK(device.buffer(64) == nullptr);
        CHECK(device.failure.code == WYE_OUT_OF_MEMORY);
        CHECK(device.failure.message.find("buffer_create:2:OUT_OF_MEMORY") != std::string::npos);
        CHECK(device.failure.fix.starts_with("Fix: "));
        CHECK(device.buffer(64) != nullptr);
        CHECK(device.submit({}) == WYE_OK);
        CHECK(device.submit({}) == WYE_OK);
        CHECK(device.submit({}) == WYE_DRIVER);
        CHECK(device.submit({}) == WYE_DRIVER);
        CHECK(device.wait(harness::kDeadline) == WYE_OK);
    }
    plugin.close();
    CHECK(plugin.host.errors().empty());  // an injected fault is no breach
    CHECK(logs(plugin.host, "faults: call 2 of `buffer_create`"));
}

TEST_CASE("a call hangs for its time, and then goes on") {
    choose(WYE_CPU_PLUGIN, {"faults"}, {{"layer.faults.rules", "wait:1:hang(80ms)"}});
    Plugin plugin;
    Device device(plugin);
    REQUIRE(device.submit({}) == WYE_OK);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(device.wait(harness::kDeadline) == WYE_OK);
    CHECK(std::chrono::steady_clock::now() - begin >= 80ms);
}

TEST_CASE("a lost device stays lost until it is recovered, and keeps what was reached") {
    choose(WYE_CPU_PLUGIN, {"validate", "faults", "validate"},
           {{"layer.faults.rules", "submit:3:DEVICE_LOST"}});
    Plugin plugin;
    {
        Device device(plugin);
        wye_buffer_object* buffer = device.buffer(64);
        REQUIRE(device.run(harness::fill(buffer, 0, 64, 1, 4)) == WYE_OK);
        REQUIRE(submit_one(device, harness::fill(buffer, 0, 64, 2, 4)) == WYE_OK);
        CHECK(device.table->device_lost(device.object) == 0);
        CHECK(device.submit({}) == WYE_DEVICE_LOST);
        CHECK(device.table->device_lost(device.object) == 1);
        CHECK(device.query(device.queue, 1, nullptr) == WYE_OK);
        CHECK(device.query(device.queue, 2, nullptr) == WYE_DEVICE_LOST);
        CHECK(device.wait(0) == WYE_DEVICE_LOST);
        CHECK(device.failure.fix.starts_with("Fix: "));
        CHECK(device.buffer(64) == nullptr);
        CHECK(device.failure.code == WYE_DEVICE_LOST);
        Device other(plugin);  // this one is not lost
        CHECK(other.submit({}) == WYE_OK);
        REQUIRE((device.table->try_recover != nullptr));
        CHECK(device.table->try_recover(device.object, nullptr) == WYE_OK);
        CHECK(device.table->device_lost(device.object) == 0);
        CHECK(device.buffer(64) != nullptr);
    }
    plugin.close();
    CHECK(plugin.host.errors().empty());
}

TEST_CASE("a rule that never applied, and a layer without rules, are told") {
    choose(WYE_CPU_PLUGIN, {"faults"}, {{"layer.faults.rules", "translate:1:DRIVER"}});
    {
        Plugin plugin;
        plugin.close();
        CHECK(logs(plugin.host, "the rule `translate:1:DRIVER` never applied", "called 0 times"));
    }
    choose(WYE_CPU_PLUGIN, {"faults"});
    const Plugin plugin;
    CHECK(logs(plugin.host, "the layer has no rules", "Fix: set layer.faults.rules"));
}

TEST_CASE("a layer that is opened as a plugin says so") {
    choose(WYE_LAYERS_FOLDER "/wye_layer_faults.so", {});
    const Plugin plugin;
    CHECK(plugin.status == WYE_UNSUPPORTED);
    CHECK(plugin.failure.message.find("is a layer") != std::string::npos);
}
