// SPDX-License-Identifier: Apache-2.0
//
// Hosts of other versions, newer and older, and structures with members of later minors.
#include <cstddef>
#include <cstring>

#include "conformance/abi/rig.hpp"

using harness::bytes_of;
using harness::counting;
using harness::kHello;
using harness::Rig;
using harness::subject;

namespace {

wye_plugin_query_fn query_of() {
    return reinterpret_cast<wye_plugin_query_fn>(
        harness::export_of(subject().library, WYE_PLUGIN_QUERY_SYMBOL));
}

// A structure as a later minor defines it: with more members, and with a chain entry that this
// plugin does not know.
constexpr wye_header kLater = {sizeof(wye_header), WYE_FIRST_VENDOR - 1, nullptr};
template <typename T>
struct Longer {
    T known{};
    std::uint64_t later[8];
    Longer() {
        std::memset(later, 0xa5, sizeof later);
        known.header = {sizeof(Longer), 0, &kLater};
    }
    // Whether the plugin has changed neither a member that it does not know nor the header.
    [[nodiscard]] bool untouched() const {
        if (known.header.size != sizeof(Longer) || known.header.next != &kLater) return false;
        for (const std::uint64_t word : later)
            if (word != 0xa5a5a5a5a5a5a5a5U) return false;
        return true;
    }
};

}  // namespace

TEST_SUITE_BEGIN("skew");

TEST_CASE("a newer host, with a longer hello, gets the same description (P-2, P-3)") {
    const wye_plugin_query_fn query = query_of();
    const wye_plugin_desc* wanted = nullptr;
    REQUIRE(query(&kHello, &wanted) == WYE_OK);
    for (const std::uint32_t newest : {WYE_ABI_MINOR + 1U, WYE_ABI_MINOR + 100U, UINT32_MAX}) {
        CAPTURE(newest);
        Longer<wye_hello> hello;
        const std::uint32_t size = hello.known.header.size;
        hello.known = kHello;
        hello.known.header.size = size;
        hello.known.minor_max = newest;
        const wye_plugin_desc* desc = nullptr;
        CHECK(query(&hello.known, &desc) == WYE_OK);
        CHECK(desc == wanted);
    }
}

TEST_CASE(
    "a host that accepts only newer plugins, or has another draft, is refused or answered "
    "with the truth (P-3)") {
    const wye_plugin_query_fn query = query_of();
    const wye_plugin_desc* wanted = nullptr;
    REQUIRE(query(&kHello, &wanted) == WYE_OK);
    wye_hello newer = kHello;
    newer.minor_max = newer.minor_floor = WYE_ABI_MINOR + 1000;
    wye_hello next_draft = kHello;
    next_draft.draft = WYE_ABI_MINOR_DRAFT + 1;
    wye_hello released = kHello;
    released.draft = 0;
    wye_hello shorter = kHello;  // like a host of the first draft: its hello ends before `draft`
    shorter.header.size = offsetof(wye_hello, draft);
    shorter.draft = 77;  // behind the end of the hello: a plugin must not read this
    for (const wye_hello& hello : {newer, next_draft, released, shorter}) {
        CAPTURE(hello.minor_floor);
        CAPTURE(hello.draft);
        CAPTURE(hello.header.size);
        const wye_plugin_desc* desc = nullptr;
        const wye_status status = query(&hello, &desc);
        CHECK((status == WYE_OK || status == WYE_ABI_MISMATCH));
        CHECK(desc == (status == WYE_OK ? wanted : nullptr));
    }
}

TEST_CASE("a plugin starts with a newer host, whose table is longer (P-3)") {
    harness::QuietPlugin plugin;
    plugin.close();
    const harness::Host host;
    Longer<wye_host_table> table;
    const std::uint32_t size = table.known.header.size;
    table.known = *host.table();
    table.known.header.size = size;
    wye_plugin_object* object = nullptr;
    REQUIRE(plugin.table->init(&table.known, WYE_ABI_MINOR, &object, nullptr) == WYE_OK);
    REQUIRE((object != nullptr));
    std::uint32_t devices = 0;
    CHECK(plugin.table->probe_devices(object, &devices, nullptr) == WYE_OK);
    CHECK(devices == plugin.devices);
    for (std::uint32_t index = 0; index < devices; ++index) {
        Longer<wye_device_info> info;
        CHECK(plugin.table->device_info(object, index, &info.known, nullptr) == WYE_OK);
        CHECK(info.known.name.size > 0);
        CHECK(info.untouched());
    }
    plugin.table->shutdown(object);
}

TEST_SUITE_END();

// These cases need a device, so they have a suite of their own.
TEST_SUITE_BEGIN("device_skew");

TEST_CASE("longer descriptions of a newer host are read as far as the plugin knows them (P-3)") {
    Rig rig;
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    Longer<wye_buffer_desc> buffer;
    buffer.known.size = 256;
    buffer.known.alignment = 16;
    wye_buffer_object* made = nullptr;
    REQUIRE(table.buffer_create(device.object, &buffer.known, &made, nullptr) == WYE_OK);
    const auto words = counting(64, 5);
    CHECK(device.run(harness::upload(made, 0, bytes_of(words))) == WYE_OK);
    harness::check_same(rig.words(made, 64), words);
    table.buffer_destroy(device.object, made);

    Longer<wye_queue_desc> description;
    wye_queue_object* queue = nullptr;
    wye_timeline_object* timeline = nullptr;
    const wye_queue_table* queue_table = nullptr;
    REQUIRE(table.queue_create(device.object, &description.known, &queue, &timeline, &queue_table,
                               nullptr) == WYE_OK);
    Longer<wye_submission> submission;
    submission.known.value = 3;
    CHECK(queue_table->submit(queue, &submission.known, nullptr) == WYE_OK);
    const wye_event event = {timeline, 3, 0, 0};
    CHECK(table.wait(device.object, &event, 1, 0, harness::kDeadline, nullptr, nullptr) == WYE_OK);
    queue_table->destroy(queue);
}

TEST_CASE("longer outputs of a newer host are written as far as the plugin knows them (P-3)") {
    if (harness::desc_of(subject().library).abi_minor > WYE_ABI_MINOR)
        return harness::not_applicable("the plugin is of a later minor, and knows more members");
    Rig rig;
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    if (table.memory_info != nullptr) {
        Longer<wye_memory_info> info;
        CHECK(table.memory_info(device.object, &info.known, nullptr) == WYE_OK);
        CHECK(info.untouched());
    }
    Longer<wye_fact> fact;
    CHECK(rig.plugin.table->device_fact(rig.plugin.object, subject().device,
                                        WYE_FACT_KEY_DEVICE_KIND, &fact.known) == WYE_OK);
    CHECK(fact.untouched());
    if (table.buffer_map != nullptr) {
        Longer<wye_mapping> mapping;
        wye_buffer_object* const staging = device.buffer(64, WYE_BUFFER_USAGE_STAGING);
        REQUIRE(staging != nullptr);
        CHECK(table.buffer_map(device.object, staging, &mapping.known, nullptr) == WYE_OK);
        CHECK(mapping.untouched());
    }
    if (table.command_create != nullptr) {
        const harness::Command command(device, {});
        REQUIRE(command.status == WYE_OK);
        Longer<wye_command_info> info;
        CHECK(table.command_info(device.object, command.object, &info.known, nullptr) == WYE_OK);
        CHECK(info.untouched());
    }
    const wye_queue_table& queues = *device.queue_table;
    if (queues.header.size > offsetof(wye_queue_table, info) && queues.info != nullptr) {
        Longer<wye_queue_info> info;
        CHECK(queues.info(device.queue, &info.known, nullptr) == WYE_OK);
        CHECK(info.untouched());
    }
    if (table.program_info != nullptr) {
        Longer<wye_program_info> info;
        CHECK(table.program_info(device.object, rig.add_program(), &info.known, nullptr) == WYE_OK);
        CHECK(info.untouched());
    }
}

TEST_SUITE_END();
