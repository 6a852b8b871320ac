// SPDX-License-Identifier: Apache-2.0
//
// Hosts of other versions: newer and older ones, structures that are longer, chains of extensions
// that the plugin does not know.
#include <algorithm>
#include <array>
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

// A structure as a later minor has it: longer, with members that this plugin does not know.
template <typename T>
struct Longer {
    T known{};
    std::uint64_t later[8];
    Longer() {
        std::memset(later, 0xa5, sizeof later);
        known.header.size = sizeof(Longer);
    }
    // The plugin wrote no member that it does not know.
    [[nodiscard]] bool untouched() const {
        for (const std::uint64_t word : later)
            if (word != 0xa5a5a5a5a5a5a5a5U) return false;
        return true;
    }
};

// Entries that nobody knows: of a vendor, by name, and of a later minor.
constexpr std::string_view kName = "org.wye.conform.unknown";
constexpr wye_named_entry kNamed = {{sizeof(wye_named_entry), WYE_CHAIN_NAMED, nullptr},
                                    {kName.data(), kName.size()}};
constexpr wye_named_entry kNamedCritical = {
    {sizeof(wye_named_entry), WYE_CHAIN_NAMED | WYE_CHAIN_CRITICAL, nullptr},
    {kName.data(), kName.size()}};
constexpr wye_header kPlain = {sizeof(wye_header), WYE_FIRST_VENDOR - 1, &kNamed};
constexpr wye_header kCritical = {sizeof(wye_header), (WYE_FIRST_VENDOR - 2) | WYE_CHAIN_CRITICAL,
                                  nullptr};
constexpr wye_header kPlainThenCritical = {sizeof(wye_header), WYE_FIRST_VENDOR - 1,
                                           &kNamedCritical};

// Calls `create` with a chain of a plain entry, which is skipped, and with critical ones, which are
// refused and not created.
template <typename Create>
void check_chains(const char* what, const Create& create) {
    CAPTURE(what);
    harness::Sink sink;
    CHECK(create(&kPlain, sink.out()) == WYE_OK);
    for (const wye_header* chain : {&kCritical, &kPlainThenCritical}) {
        harness::Sink refused;
        CHECK(create(chain, refused.out()) == WYE_UNSUPPORTED_EXTENSION);
        harness::check_helpful(refused.failure(), WYE_UNSUPPORTED_EXTENSION);
    }
}

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
    wye_hello shorter = kHello;  // as a host of the first draft, which ends before `draft`
    shorter.header.size = offsetof(wye_hello, draft);
    shorter.draft = 77;  // a plugin must not read it
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

TEST_CASE("a hello's unknown extensions are skipped, and critical ones refused (P-3, P-7)") {
    const wye_plugin_query_fn query = query_of();
    wye_hello hello = kHello;
    hello.header.next = &kPlain;
    const wye_plugin_desc* desc = nullptr;
    CHECK(query(&hello, &desc) == WYE_OK);
    CHECK(desc != nullptr);
    for (const wye_header* chain : {&kCritical, &kPlainThenCritical}) {
        hello.header.next = chain;
        desc = nullptr;
        CHECK(query(&hello, &desc) == WYE_UNSUPPORTED_EXTENSION);
        CHECK(desc == nullptr);
    }
}

TEST_CASE(
    "unknown extensions of the host's table are skipped, and critical ones refused (P-3, P-7)") {
    harness::QuietPlugin plugin;
    plugin.close();
    const harness::Host host;
    wye_host_table table = *host.table();
    check_chains("host table", [&](const wye_header* chain, wye_error** error) {
        table.header.next = chain;
        wye_plugin_object* object = nullptr;
        const wye_status status = plugin.table->init(&table, WYE_ABI_MINOR, &object, error);
        CHECK((object != nullptr) == (status == WYE_OK));
        if (object != nullptr) plugin.table->shutdown(object);
        return status;
    });
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

// A suite of its own, since it needs a device.
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
    Rig rig;
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    if (table.memory_info != nullptr) {
        Longer<wye_memory_info> info;
        CHECK(table.memory_info(device.object, &info.known, nullptr) == WYE_OK);
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

TEST_CASE(
    "unknown extensions of buffers, queues and submits are skipped, critical ones refused "
    "(P-3, P-7)") {
    Rig rig;
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    check_chains("buffer", [&](const wye_header* chain, wye_error** error) {
        wye_buffer_desc desc{};
        desc.header = {sizeof desc, 0, chain};
        desc.size = 64;
        desc.alignment = 16;
        wye_buffer_object* made = nullptr;
        const wye_status status = table.buffer_create(device.object, &desc, &made, error);
        CHECK((made != nullptr) == (status == WYE_OK));
        if (made != nullptr) table.buffer_destroy(device.object, made);
        return status;
    });
    check_chains("queue", [&](const wye_header* chain, wye_error** error) {
        wye_queue_desc desc{};
        desc.header = {sizeof desc, 0, chain};
        wye_queue_object* made = nullptr;
        wye_timeline_object* timeline = nullptr;
        const wye_queue_table* queues = nullptr;
        const wye_status status =
            table.queue_create(device.object, &desc, &made, &timeline, &queues, error);
        CHECK((made != nullptr) == (status == WYE_OK));
        if (made != nullptr) queues->destroy(made);
        return status;
    });
    check_chains("submission", [&](const wye_header* chain, wye_error** error) {
        wye_submission submission{};
        submission.header = {sizeof submission, 0, chain};
        submission.value = ++device.newest;
        return device.queue_table->submit(device.queue, &submission, error);
    });
}

TEST_CASE("unknown extensions of an artifact are skipped, critical ones refused (P-3, P-7)") {
    Rig rig;
    harness::Device& device = rig.device;
    check_chains("artifact", [&](const wye_header* chain, wye_error** error) {
        wye_artifact artifact = rig.sample();
        artifact.header.next = chain;
        wye_program_object* made = nullptr;
        const wye_status status =
            device.table->program_create(device.object, &artifact, &made, error);
        CHECK((made != nullptr) == (status == WYE_OK));
        if (made != nullptr) device.table->program_destroy(device.object, made);
        return status;
    });
}

TEST_CASE("unknown flags and types of descriptions are refused, and nothing is made (P-7)") {
    Rig rig;
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    // `make` returns the status of a call with the description, and sets `made`.
    const auto check = [](const char* what, auto desc, const auto& make) {
        CAPTURE(what);
        auto flagged = desc;
        flagged.flags |= 0x80000000U;
        auto typed = desc;
        typed.header.type = 77;
        for (const auto& wrong : {flagged, typed}) {
            CAPTURE(wrong.header.type);
            harness::Sink sink;
            bool made = false;
            CHECK(make(wrong, made, sink.out()) == WYE_UNSUPPORTED);
            CHECK_FALSE(made);
            harness::check_helpful(sink.failure(), WYE_UNSUPPORTED);
        }
    };
    const auto described = []<typename Desc>(Desc desc) {
        desc.header.size = sizeof desc;
        return desc;
    };
    wye_open_desc open = described(wye_open_desc{});
    open.index = subject().device;
    check("opening", open, [&](const wye_open_desc& desc, bool& made, wye_error** error) {
        wye_device_object* out = nullptr;
        const wye_device_table* of = nullptr;
        const wye_status status =
            rig.plugin.table->open_device(rig.plugin.object, &desc, &out, &of, error);
        made = out != nullptr;
        return status;
    });
    wye_buffer_desc buffer = described(wye_buffer_desc{});
    buffer.size = 64;
    buffer.alignment = 16;
    check("buffer", buffer, [&](const wye_buffer_desc& desc, bool& made, wye_error** error) {
        wye_buffer_object* out = nullptr;
        const wye_status status = table.buffer_create(device.object, &desc, &out, error);
        made = out != nullptr;
        return status;
    });
    check("queue", described(wye_queue_desc{}),
          [&](const wye_queue_desc& desc, bool& made, wye_error** error) {
              wye_queue_object* out = nullptr;
              wye_timeline_object* timeline = nullptr;
              const wye_queue_table* of = nullptr;
              const wye_status status =
                  table.queue_create(device.object, &desc, &out, &timeline, &of, error);
              made = out != nullptr;
              return status;
          });
    if (table.timeline_create != nullptr)
        check("timeline", described(wye_timeline_desc{}),
              [&](const wye_timeline_desc& desc, bool& made, wye_error** error) {
                  wye_timeline_object* out = nullptr;
                  const wye_status status =
                      table.timeline_create(device.object, &desc, &out, error);
                  made = out != nullptr;
                  return status;
              });
    if (table.command_create != nullptr)
        check("command", described(wye_command_desc{}),
              [&](const wye_command_desc& desc, bool& made, wye_error** error) {
                  wye_command_object* out = nullptr;
                  const wye_status status = table.command_create(device.object, &desc, &out, error);
                  made = out != nullptr;
                  return status;
              });
    check("submission", described(wye_submission{}),
          [&](const wye_submission& desc, bool&, wye_error** error) {
              wye_submission submission = desc;
              submission.value = device.newest + 1;
              return device.queue_table->submit(device.queue, &submission, error);
          });
    const auto create = [&](const wye_artifact& desc, bool& made, wye_error** error) {
        wye_program_object* out = nullptr;
        const wye_status status = table.program_create(device.object, &desc, &out, error);
        made = out != nullptr;
        return status;
    };
    check("artifact", rig.sample(), create);
    wye_artifact artifact = rig.sample();
    std::array<wye_slot, 16> slots{};
    REQUIRE(artifact.slot_count <= slots.size());
    if (artifact.slot_count == 0) return;
    std::copy_n(artifact.slots, artifact.slot_count, slots.begin());
    slots[0].flags = 0x80000000U;
    artifact.slots = slots.data();
    harness::Sink sink;
    bool made = false;
    CHECK(create(artifact, made, sink.out()) == WYE_UNSUPPORTED);
    CHECK_FALSE(made);
}

TEST_SUITE_END();
