// SPDX-License-Identifier: Apache-2.0
//
// Flags, types, kinds and critical chain entries that no plugin of this version knows, since they
// belong to a later version or to a vendor. A plugin must refuse them wherever a host may put them,
// and must skip all other unknown chain entries.
#include <algorithm>
#include <array>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::check_helpful;
using harness::Command;
using harness::fill;
using harness::Rig;
using harness::subject;

namespace {

constexpr std::uint32_t kHighest = 0x80000000U;  // the highest bit of `flags`

// Unknown chain entries: of a vendor, by name, and of a later minor.
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
constexpr const wye_header* kCriticals[] = {&kCritical, &kPlainThenCritical};

// Entries that mean something in one kind of structure, and are unknown in all others.
struct Elsewhere {
    wye_header header;
    std::uint64_t members[8];
};
constexpr Elsewhere elsewhere(std::uint32_t type) {
    return {{sizeof(Elsewhere), type | WYE_CHAIN_CRITICAL, nullptr}, {}};
}
constexpr Elsewhere kElsewhere[] = {
    elsewhere(WYE_CHAIN_TIMELINE_IMPORT), elsewhere(WYE_CHAIN_BUFFER_IMPORT),
    elsewhere(WYE_CHAIN_LAYER_NEXT), elsewhere(WYE_CHAIN_NATIVE_MEMORY),
    elsewhere(WYE_CHAIN_NATIVE_WAIT)};

// Checks that a description with an unknown flag, type or critical chain entry is refused. `make`
// calls the plugin with the description, and sets `made` if the call has made an object. `flags`:
// all flags that the contract defines; `entry`: the type of the chain entry that `Desc` may have.
template <typename Desc, typename Make>
void check_description(std::string_view what, const Desc& desc, std::uint32_t flags,
                       std::uint32_t entry, const Make& make) {
    CAPTURE(what);
    const auto check = [&](const Desc& tried, wye_status wanted) {
        harness::Sink sink;
        bool made = false;
        CHECK(make(tried, made, sink.out()) == wanted);
        CHECK(made == (wanted == WYE_OK));
        if (wanted != WYE_OK) check_helpful(sink.failure(), wanted);
    };
    const auto check_chain = [&](const wye_header* chain, wye_status wanted) {
        Desc chained = desc;
        chained.header.next = chain;
        CAPTURE(chain->type);
        check(chained, wanted);
    };
    check_chain(&kPlain, WYE_OK);
    for (const wye_header* chain : kCriticals) check_chain(chain, WYE_UNSUPPORTED_EXTENSION);
    for (const Elsewhere& one : kElsewhere)
        if (one.header.type != (entry | WYE_CHAIN_CRITICAL))
            check_chain(&one.header, WYE_UNSUPPORTED_EXTENSION);
    Desc typed = desc;
    typed.header.type = 77;
    CAPTURE(typed.header.type);
    check(typed, WYE_UNSUPPORTED);
    if constexpr (requires { desc.flags; }) {
        for (const std::uint32_t flag : {flags + 1, kHighest}) {
            CAPTURE(flag);
            Desc flagged = desc;
            flagged.flags = flag;
            check(flagged, WYE_UNSUPPORTED);
        }
    }
}

template <typename Desc>
Desc blank() {
    Desc out{};
    out.header.size = sizeof out;
    return out;
}

// Operations with one unknown part each. If a plugin ran them, they would change `target`.
struct Strange {
    struct One {
        std::string_view what;
        wye_operation operation;
        wye_status status;
    };

    Strange(Rig& rig, bool in_command) : target(rig.zeros(kBytes)) {
        known = {binding(target, 0, kBytes / 4), binding(target, 0, kBytes / 4)};
        flagged = known;
        flagged[1].flags = 1;
        filling = fill(target, 0, kBytes, 1, 4);
        launch = harness::dispatch(rig.add_program(), known, {1, 1, 1}, &by);
        for (const wye_operation& whole : {filling, launch}) {
            for (const std::uint32_t flag : {1U, kHighest})
                add("flags of an operation", whole).flags = flag;
            for (const wye_header* chain : kCriticals)
                add("a critical entry of an operation", whole, WYE_UNSUPPORTED_EXTENSION).next =
                    chain;
        }
        for (const std::uint32_t kind :
             {0U, WYE_OPERATION_EXECUTE + 1U, 77U, std::uint32_t{WYE_FIRST_VENDOR}})
            add("the kind of an operation", filling).kind = kind;
        for (const std::uint32_t flag : {WYE_LAUNCH_LATE_GRID * 2U, kHighest})
            add("flags of a launch", launch).u.dispatch.flags = flag;
        if (!in_command)
            add("a late grid outside of commands", launch).u.dispatch.flags = WYE_LAUNCH_LATE_GRID;
        add("flags of a binding", launch).u.dispatch.bindings = flagged.data();
        add("flags of the trap words", launch).u.dispatch.trap.flags = 1;
        add("flags of the indirect range", launch).u.dispatch.indirect.flags = 1;
    }
    Strange(const Strange&) = delete;
    Strange& operator=(const Strange&) = delete;

    static constexpr std::uint64_t kBytes = 64;
    static constexpr std::uint32_t by = 5;
    wye_buffer_object* target;
    std::array<wye_binding, 2> known{}, flagged{};
    wye_operation filling{}, launch{};
    std::vector<One> all;

  private:
    wye_operation& add(std::string_view what, const wye_operation& from,
                       wye_status status = WYE_UNSUPPORTED) {
        return all.emplace_back(One{what, from, status}).operation;
    }
};

std::vector<std::uint32_t> words_of(Rig& rig, const Strange& strange) {
    return rig.words(strange.target, Strange::kBytes / 4);
}
const std::vector<std::uint32_t>& all_words(std::uint32_t value) {
    static std::vector<std::uint32_t> out;
    out.assign(Strange::kBytes / 4, value);
    return out;
}

}  // namespace

TEST_SUITE_BEGIN("skew");

TEST_CASE("a hello's unknown entries are skipped, and critical ones refused (P-3, P-7)") {
    const auto query = reinterpret_cast<wye_plugin_query_fn>(
        harness::export_of(subject().library, WYE_PLUGIN_QUERY_SYMBOL));
    wye_hello hello = harness::kHello;
    hello.header.next = &kPlain;
    const wye_plugin_desc* desc = nullptr;
    CHECK(query(&hello, &desc) == WYE_OK);
    CHECK(desc != nullptr);
    for (const wye_header* chain : kCriticals) {
        hello.header.next = chain;
        desc = nullptr;
        CHECK(query(&hello, &desc) == WYE_UNSUPPORTED_EXTENSION);
        CHECK(desc == nullptr);
    }
}

TEST_CASE("a host's table with unknown parts is refused (P-3, P-7)") {
    harness::QuietPlugin plugin;
    plugin.close();
    const harness::Host host;
    check_description("host table", *host.table(), 0, WYE_CHAIN_LAYER_NEXT,
                      [&](const wye_host_table& table, bool& made, wye_error** error) {
                          wye_plugin_object* out = nullptr;
                          const wye_status status =
                              plugin.table->init(&table, WYE_ABI_MINOR, &out, error);
                          made = out != nullptr;
                          if (made) plugin.table->shutdown(out);
                          return status;
                      });
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device_skew");

TEST_CASE("descriptions with unknown parts are refused, and nothing is made (P-3, P-7)") {
    Rig rig;
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    auto open = blank<wye_open_desc>();
    open.index = subject().device;
    check_description(
        "opening", open, 0, 0, [&](const wye_open_desc& desc, bool& made, wye_error** error) {
            wye_device_object* out = nullptr;
            const wye_device_table* of = nullptr;
            const wye_status status =
                rig.plugin.table->open_device(rig.plugin.object, &desc, &out, &of, error);
            made = out != nullptr;
            if (made) of->close(out);
            return status;
        });
    auto buffer = blank<wye_buffer_desc>();
    buffer.size = 64;
    buffer.alignment = 16;
    check_description("buffer", buffer, 0, WYE_CHAIN_NATIVE_MEMORY,
                      [&](const wye_buffer_desc& desc, bool& made, wye_error** error) {
                          wye_buffer_object* out = nullptr;
                          const wye_status status =
                              table.buffer_create(device.object, &desc, &out, error);
                          made = out != nullptr;
                          if (made) table.buffer_destroy(device.object, out);
                          return status;
                      });
    check_description("queue", blank<wye_queue_desc>(), 0, 0,
                      [&](const wye_queue_desc& desc, bool& made, wye_error** error) {
                          wye_queue_object* out = nullptr;
                          wye_timeline_object* timeline = nullptr;
                          const wye_queue_table* of = nullptr;
                          const wye_status status =
                              table.queue_create(device.object, &desc, &out, &timeline, &of, error);
                          made = out != nullptr;
                          if (made) of->destroy(out);
                          return status;
                      });
    check_description(
        "submission", blank<wye_submission>(), WYE_SUBMISSION_TIMED, WYE_CHAIN_NATIVE_WAIT,
        [&](const wye_submission& desc, bool& made, wye_error** error) {
            wye_submission submission = desc;
            submission.value = ++device.newest;
            const wye_status status = device.queue_table->submit(device.queue, &submission, error);
            made = status == WYE_OK;
            return status;
        });
    if (table.timeline_create != nullptr)
        check_description("timeline", blank<wye_timeline_desc>(), 0, 0,
                          [&](const wye_timeline_desc& desc, bool& made, wye_error** error) {
                              wye_timeline_object* out = nullptr;
                              const wye_status status =
                                  table.timeline_create(device.object, &desc, &out, error);
                              made = out != nullptr;
                              if (made) table.timeline_destroy(device.object, out);
                              return status;
                          });
    if (table.command_create != nullptr)
        check_description("command", blank<wye_command_desc>(), WYE_COMMAND_EDGES, 0,
                          [&](const wye_command_desc& desc, bool& made, wye_error** error) {
                              wye_command_object* out = nullptr;
                              const wye_status status =
                                  table.command_create(device.object, &desc, &out, error);
                              made = out != nullptr;
                              if (made) table.command_destroy(device.object, out);
                              return status;
                          });
}

TEST_CASE("artifacts with unknown parts are refused, and not built (P-3, P-7)") {
    Rig rig;
    harness::Device& device = rig.device;
    const wye_device_table& table = *device.table;
    const auto create = [&](const wye_artifact& artifact, bool& made, wye_error** error) {
        wye_program_object* out = nullptr;
        const wye_status status = table.program_create(device.object, &artifact, &out, error);
        made = out != nullptr;
        if (made) table.program_destroy(device.object, out);
        return status;
    };
    const wye_artifact sample = rig.sample();
    check_description("artifact", sample, 0, 0, create);

    std::array<wye_slot, 16> slots{};
    REQUIRE(sample.slot_count < slots.size());
    const auto check_slot = [&](std::uint32_t at, std::uint32_t kind, std::uint32_t flags) {
        CAPTURE(at);
        CAPTURE(kind);
        CAPTURE(flags);
        std::copy_n(sample.slots, sample.slot_count, slots.begin());
        if (kind != 0 || at == sample.slot_count) slots[at] = {};
        if (at == sample.slot_count) slots[at].kind = kind;
        slots[at].flags = flags;
        wye_artifact artifact = sample;
        artifact.slots = slots.data();
        artifact.slot_count = std::max(sample.slot_count, at + 1);
        harness::Sink sink;
        bool made = false;
        CHECK(create(artifact, made, sink.out()) == WYE_UNSUPPORTED);
        CHECK_FALSE(made);
        check_helpful(sink.failure(), WYE_UNSUPPORTED);
    };
    for (std::uint32_t at = 0; at < sample.slot_count; ++at) check_slot(at, 0, 1);
    for (const std::uint32_t kind :
         {0U, WYE_SLOT_GRID_BARRIER + 1U, std::uint32_t{WYE_FIRST_VENDOR}})
        check_slot(sample.slot_count, kind, 0);

    // `program_load` and `translate` take artifacts, too.
    const auto check_refused = [&](std::string_view what, const auto& call) {
        CAPTURE(what);
        for (const wye_header* chain : kCriticals) {
            wye_artifact artifact = sample;
            artifact.header.next = chain;
            harness::Sink sink;
            const wye_status status = call(artifact, sink.out());
            if (status == WYE_UNIMPLEMENTED) return;  // a layer whose plugin lacks the slot
            CHECK(status == WYE_UNSUPPORTED_EXTENSION);
            check_helpful(sink.failure(), WYE_UNSUPPORTED_EXTENSION);
        }
        wye_artifact artifact = sample;
        artifact.flags = 1;
        CHECK(call(artifact, nullptr) == WYE_UNSUPPORTED);
    };
    wye_bytes saved{};
    if (table.program_save != nullptr &&
        table.program_save(device.object, rig.add_program(), &saved, nullptr) == WYE_OK)
        check_refused("loaded", [&](const wye_artifact& artifact, wye_error** error) {
            wye_program_object* out = nullptr;
            const wye_status status =
                table.program_load(device.object, &artifact, saved, &out, error);
            CHECK((out == nullptr));
            return status;
        });
    if (rig.plugin.table->translate != nullptr)
        check_refused("translated", [&](const wye_artifact& artifact, wye_error** error) {
            const wye_device_info info = rig.plugin.info();
            wye_bytes out{};
            const wye_status status =
                rig.plugin.table->translate(rig.plugin.object, UINT32_MAX, &artifact,
                                            info.formats[info.format_count - 1], &out, error);
            CHECK((out.data == nullptr));
            return status;
        });
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("queue");

TEST_CASE("operations with unknown parts are refused, and nothing is queued (P-7)") {
    Rig rig;
    Strange strange(rig, false);
    for (const Strange::One& one : strange.all) {
        CAPTURE(one.what);
        CHECK(rig.device.submit({&one.operation, 1}) == one.status);
        check_helpful(rig.device.failure, one.status);
    }
    harness::check_same(words_of(rig, strange), all_words(0));
    strange.filling.next = &kPlain;
    CHECK(rig.device.run(strange.filling) == WYE_OK);
    harness::check_same(words_of(rig, strange), all_words(1));
    strange.launch.next = &kPlain;
    CHECK(rig.device.run(strange.launch) == WYE_OK);
    harness::check_same(words_of(rig, strange), all_words(6));
}

TEST_CASE("a wait accepts only the modes all and any (P-7)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    for (const std::uint32_t any : {0U, 1U})
        CHECK(table.wait(rig.device.object, nullptr, 0, any, 0, nullptr, nullptr) == WYE_OK);
    REQUIRE(rig.device.submit({}) == WYE_OK);
    const wye_event end = rig.device.event(rig.device.queue, rig.device.value);
    CHECK(table.wait(rig.device.object, &end, 1, 2, harness::kDeadline, nullptr, nullptr) ==
          WYE_UNSUPPORTED);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("command");

TEST_CASE("commands of operations with unknown parts are refused (P-7, P-41)") {
    Rig rig;
    if (rig.device.table->command_create == nullptr)
        return harness::not_applicable("the plugin has no commands");
    Strange strange(rig, true);
    for (const Strange::One& one : strange.all) {
        CAPTURE(one.what);
        const Command command(rig.device, {&one.operation, 1});
        CHECK(command.status == one.status);
        CHECK((command.object == nullptr));
        check_helpful(command.failure, one.status);
    }
    wye_operation operations[] = {strange.filling, strange.launch};
    for (wye_operation& one : operations) one.next = &kPlain;
    Command command(rig.device, operations);
    REQUIRE_MESSAGE(command.status == WYE_OK, command.failure.message);
    if (rig.device.table->command_update != nullptr) {
        for (const Strange::One& one : strange.all) {
            const std::uint32_t kind = one.operation.kind;
            if (kind != WYE_OPERATION_FILL && kind != WYE_OPERATION_DISPATCH) continue;
            CAPTURE(one.what);
            CHECK(command.update(kind == WYE_OPERATION_FILL ? 0 : 1, one.operation) == one.status);
            check_helpful(command.failure, one.status);
        }
        CHECK(command.update(0, operations[0]) == WYE_OK);
    }
    CHECK(rig.device.run(command.execute()) == WYE_OK);
    harness::check_same(words_of(rig, strange), all_words(6));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("timeline");

TEST_CASE("signals with unknown flags are refused, and signal nothing (P-7, P-37)") {
    Rig rig;
    const harness::Timeline made(rig.device);
    if (made.timeline == nullptr) return harness::not_applicable("the plugin makes no timelines");
    const wye_event odd[] = {{made.timeline, 1, WYE_EVENT_ORDER_ONLY, 0},
                             {made.timeline, 1, kHighest, 0},
                             {made.timeline, 1, 0, 1}};
    for (const wye_event& one : odd) {
        CAPTURE(one.flags);
        CHECK(rig.device.submit({}, {}, nullptr, {&one, 1}) == WYE_UNSUPPORTED);
        check_helpful(rig.device.failure, WYE_UNSUPPORTED);
    }
    CHECK(made.query(1) == WYE_NOT_READY);
    const wye_event good = made.event(1);
    CHECK(rig.device.submit({}, {}, nullptr, {&good, 1}) == WYE_OK);
    CHECK(made.wait(1) == WYE_OK);
}

TEST_CASE("a failure with unknown parts is refused, and fails nothing (P-7, P-37)") {
    Rig rig;
    const harness::Timeline made(rig.device);
    if (made.timeline == nullptr) return harness::not_applicable("the plugin makes no timelines");
    auto failure = blank<wye_error_desc>();
    failure.code = WYE_CANCELLED;
    failure.message = {"given up", 8};
    failure.fix = {"Fix: none, this is a test", 25};
    std::uint64_t value = 0;
    check_description("failure", failure, 0, 0,
                      [&](const wye_error_desc& desc, bool& ended, wye_error** error) {
                          const wye_event event = made.event(++value);
                          const wye_status status =
                              made.table.timeline_fail(rig.device.object, &event, &desc, error);
                          ended = made.query(value) != WYE_NOT_READY;
                          return status;
                      });
}

TEST_SUITE_END();
