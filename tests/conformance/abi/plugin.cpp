// SPDX-License-Identifier: Apache-2.0
//
// Starting and ending, the list of devices and their facts. Nothing here opens a device, so a
// plugin without devices passes too.
#include <memory>
#include <set>
#include <utility>

#include "conformance/abi/rig.hpp"

using harness::QuietPlugin;
using harness::text_of;

namespace {

struct Fact {
    std::uint32_t key, type;
    std::string_view name;
};
constexpr Fact kFacts[] = {
#define WYE_LISTED_FACT(name, key, json, type) {key, WYE_FACT_##type, json},
    WYE_FACTS(WYE_LISTED_FACT)
#undef WYE_LISTED_FACT
};

// Checks that the value has the type that the contract specifies for its key.
void check_type(const Fact& fact, const wye_fact& value) {
    CAPTURE(fact.name);
    REQUIRE(value.type == fact.type);
    if (fact.type == WYE_FACT_BOOL) CHECK(value.u <= 1);
    if (fact.type == WYE_FACT_TEXT) REQUIRE(value.text.size <= 4096);
    if (fact.type == WYE_FACT_U64_LIST)
        for (std::uint64_t i = 1; i < value.list_size; ++i)
            CHECK(value.list[i - 1] < value.list[i]);
}

}  // namespace

TEST_SUITE_BEGIN("plugin");

TEST_CASE("probing again gives the same list (P-17)") {
    const QuietPlugin plugin;
    std::uint32_t again = plugin.devices + 1;
    CHECK(plugin.table->probe_devices(plugin.object, &again, nullptr) == WYE_OK);
    CHECK(again == plugin.devices);
}

TEST_CASE("the plugin starts afresh after shutdown (P-29)") {
    std::uint32_t devices = 0;
    for (int round = 0; round < 3; ++round) {
        const QuietPlugin plugin;
        if (round > 0) CHECK(plugin.devices == devices);
        devices = plugin.devices;
    }
}

TEST_CASE("the plugin can be started twice at the same time, and outlives the other host (P-57)") {
    auto one = std::make_unique<QuietPlugin>();
    const QuietPlugin two;
    CHECK(one->object != two.object);
    CHECK(one->devices == two.devices);
    one.reset();
    if (two.devices == 0) return;
    // The first host is gone. The error must be made with the host of `two`.
    wye_open_desc desc{};
    desc.header.size = sizeof desc;
    desc.flags = 0x80000000U;
    harness::Sink sink;
    wye_device_object* device = nullptr;
    const wye_device_table* table = nullptr;
    CHECK(two.table->open_device(two.object, &desc, &device, &table, sink.out()) ==
          WYE_UNSUPPORTED);
    CHECK(device == nullptr);
    harness::check_helpful(sink.failure(), WYE_UNSUPPORTED);
}

TEST_CASE("an extension that nobody knows is null (P-7)") {
    const QuietPlugin plugin;
    if (plugin.table->get_extension == nullptr)
        return harness::not_applicable("the plugin has no get_extension");
    const std::string_view name = "org.example.not_there";
    CHECK(plugin.table->get_extension(plugin.object, {name.data(), name.size()}, 1) == nullptr);
}

TEST_CASE("a device names no format twice (P-22)") {
    const QuietPlugin plugin;
    for (std::uint32_t index = 0; index < plugin.devices; ++index) {
        const wye_device_info info = plugin.info(index);
        std::set<std::string> formats;
        for (std::uint64_t i = 0; i < info.format_count; ++i)
            CHECK(formats.insert(text_of(info.formats[i])).second);
    }
}

TEST_CASE("facts have the contract's types, and stay the same (P-19, P-21)") {
    const QuietPlugin plugin;
    for (std::uint32_t index = 0; index < plugin.devices; ++index) {
        const auto fact_of = [&](std::uint32_t key, wye_fact& out) {
            return plugin.table->device_fact(plugin.object, index, key, &out);
        };
        for (const Fact& fact : kFacts) {
            wye_fact first{};
            first.header.size = sizeof first;
            wye_fact second{};
            second.header.size = sizeof second;
            const wye_status status = fact_of(fact.key, first);
            // A plugin of an older minor does not know the newer facts.
            const bool newer = std::cmp_less(harness::desc_of(harness::subject().library).abi_minor,
                                             WYE_ABI_MINOR);
            CHECK((status == WYE_OK || status == WYE_UNSUPPORTED ||
                   (newer && status == WYE_UNKNOWN_KEY)));
            const wye_status again = fact_of(fact.key, second);
            if (status == WYE_OK) check_type(fact, first);
            if (again == status && first.u == second.u &&
                text_of(first.text) == text_of(second.text))
                continue;
            harness::blame("P-21");
            FAIL_CHECK("the fact " << fact.name << " was " << first.u << ", and then " << second.u);
        }
        wye_fact unknown{};
        unknown.header.size = sizeof unknown;
        CHECK(fact_of(0x7ffffff0U, unknown) == WYE_UNKNOWN_KEY);
    }
}

TEST_SUITE_END();
