// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>

#include "fakes/base.hpp"
#include "registry/abi_versions.hpp"
#include "registry/open/error_object.hpp"
#include "registry/open/handshake.hpp"

namespace test_handshake {

using namespace wye;
using namespace wye::registry;

namespace {

// The description that query_now() gives. It is global, since query functions take no user data.
wye_plugin_desc desc_now;
wye_status query_now(const wye_hello* hello, const wye_plugin_desc** out) {
    CHECK(hello->header.size == sizeof(wye_hello));
    CHECK(hello->minor_max == WYE_ABI_MINOR);
    CHECK(hello->draft == WYE_ABI_MINOR_DRAFT);
    *out = &desc_now;
    return WYE_OK;
}

Result<Negotiated> try_desc(const wye_plugin_desc& desc, const char* expected = "") {
    desc_now = desc;
    return negotiate(query_now, expected);
}

wye_plugin_desc good() { return fake::make_desc(fake::text("good"), &fake::kPluginTable); }

}  // namespace

TEST_CASE("a good description is copied") {
    const auto n = try_desc(good(), "good");
    REQUIRE(n.ok());
    CHECK(n->id == "good");
    CHECK(n->version == "0.1.0");
    CHECK(n->minor == WYE_ABI_MINOR);
    CHECK((n->table.init == fake::kPluginTable.init));
    CHECK(n->table.header.size == sizeof(wye_plugin_table));
}

TEST_CASE("every bad member of a description is refused") {
    const auto code_of = [](auto change) {
        wye_plugin_desc desc = good();
        change(desc);
        const auto n = try_desc(desc, "good");
        REQUIRE_FALSE(n.ok());
        CHECK(n.error().fix.rfind("Fix: ", 0) == 0);
        return n.error().code;
    };
    CHECK(code_of([](auto& d) { d.abi_major = 2; }) == Code::ABI_MISMATCH);
    CHECK(code_of([](auto& d) { d.pointer_bytes = 4; }) == Code::ABI_MISMATCH);
    CHECK(code_of([](auto& d) { d.abi_draft = WYE_ABI_MINOR_DRAFT + 1; }) == Code::ABI_MISMATCH);
    CHECK(code_of([](auto& d) {
              d.abi_minor = 9;
              d.host_minor_needed = 9;
          }) == Code::ABI_MISMATCH);
    CHECK(code_of([](auto& d) { d.header.size = 8; }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.header.size = 1U << 30; }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.header.type = 3; }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.id = fake::text("Good"); }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.id = fake::text("auto"); }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.id = fake::text("other"); }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.id = {nullptr, 4}; }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.version.size = UINT64_MAX; }) == Code::BAD_PLUGIN);
    CHECK(code_of([](auto& d) { d.table = nullptr; }) == Code::BAD_PLUGIN);
}

TEST_CASE("the effective minor of a plugin of a later minor is the host's") {
    wye_plugin_desc desc = good();
    desc.abi_minor = WYE_ABI_MINOR + 7;
    desc.header.size = sizeof desc + 64;  // members that this host does not know
    alignas(8) static std::byte room[sizeof(wye_plugin_desc) + 64];
    std::memcpy(room, &desc, sizeof desc);
    const auto query = [](const wye_hello*, const wye_plugin_desc** out) -> wye_status {
        *out = reinterpret_cast<const wye_plugin_desc*>(room);
        return WYE_OK;
    };
    const auto n = negotiate(query, "good");
    REQUIRE(n.ok());
    CHECK(n->minor_built == WYE_ABI_MINOR + 7);
    CHECK(n->minor == WYE_ABI_MINOR);
}

TEST_CASE("two drafts use what both have released, and those of 1.0 work with nothing else") {
    const auto minor_of = [](const BuiltAgainst& plugin) -> int {
        const auto minor = effective_minor(plugin);
        if (minor.ok()) return static_cast<int>(*minor);
        CHECK(minor.error().code == Code::ABI_MISMATCH);
        return -1;
    };
    constexpr std::uint32_t kOurs = WYE_ABI_MINOR, kFrozen = WYE_ABI_MINOR_FROZEN;
    constexpr std::uint32_t kOther = WYE_ABI_MINOR_DRAFT + 7;
    constexpr int kBoth = kFrozen;
    // {minor, minor_needed, draft, minor_frozen}
    CHECK(minor_of({kOurs, 0, WYE_ABI_MINOR_DRAFT, kFrozen}) == static_cast<int>(kOurs));
    CHECK(minor_of({kFrozen + 1, 0, kOther, kFrozen}) == kBoth);
    CHECK(minor_of({kFrozen + 9, 0, kOther, kFrozen + 8}) == kBoth);
    CHECK(minor_of({kFrozen + 1, kFrozen + 1, kOther, kFrozen}) == -1);
    for (const std::uint32_t draft : {1U, 2U, 3U}) {
        CHECK(minor_of({0, 0, draft, 0}) == -1);
        const std::string text = effective_minor({0, 0, draft, 0}).error().message;
        CHECK(text.find("draft " + std::to_string(draft) + " of ABI 1.0") != std::string::npos);
        CHECK(text.find("the host has") != std::string::npos);
    }
}

TEST_CASE("missing optional slots answer with their name") {
    const auto table = adopt(&fake::kDeviceTable, WYE_ABI_MINOR);
    REQUIRE(table.ok());
    REQUIRE((table->memory_info != nullptr));
    wye_error* error = nullptr;
    wye_memory_info info{};
    CHECK(table->memory_info(nullptr, &info, &error) == WYE_UNIMPLEMENTED);
    REQUIRE(error != nullptr);
    const Error taken = take_error(WYE_UNIMPLEMENTED, error, "");
    CHECK(taken.message.find("`memory_info`") != std::string::npos);
    CHECK(taken.fix.rfind("Fix: ", 0) == 0);
    CHECK(table->flush(nullptr, nullptr) == WYE_UNIMPLEMENTED);  // no pointer for the error
    CHECK(table->device_lost(nullptr) == 0);
    CHECK(table->get_extension(nullptr, {}, 1) == nullptr);
    table->command_destroy(nullptr, nullptr);

    const auto queue = adopt(&fake::kQueueTable, WYE_ABI_MINOR);
    REQUIRE(queue.ok());
    error = nullptr;
    CHECK(queue->cancel(nullptr, 1, 2, &error) == WYE_UNIMPLEMENTED);
    CHECK(take_error(WYE_UNIMPLEMENTED, error, "").message.find("`cancel`") != std::string::npos);
    CHECK(table->retire(nullptr, nullptr, nullptr) == WYE_UNIMPLEMENTED);
    CHECK(table->timeline_create(nullptr, nullptr, nullptr, nullptr) == WYE_UNIMPLEMENTED);
}

TEST_CASE("each mandatory slot is missed by name, each optional one is filled") {
    const auto try_all = [](const auto& healthy, std::span<const SlotInfo> slots) {
        using Table = std::decay_t<decltype(healthy)>;
        REQUIRE(sizeof(wye_header) + slots.size() * sizeof(void*) == sizeof(Table));
        for (std::size_t i = 0; i < slots.size(); ++i) {
            CAPTURE(slots[i].name);
            Table table = healthy;
            std::memset(reinterpret_cast<char*>(&table) + sizeof(wye_header) + i * sizeof(void*), 0,
                        sizeof(void*));
            const auto adopted = adopt(&table, WYE_ABI_MINOR);
            CHECK(adopted.ok() == !slots[i].mandatory);
            if (!adopted.ok()) {
                CHECK(adopted.error().code == Code::BAD_PLUGIN);
                CHECK(adopted.error().message.find("`" + std::string(slots[i].name) + "`") !=
                      std::string::npos);
            } else {
                void* slot = nullptr;
                std::memcpy(&slot,
                            reinterpret_cast<const char*>(&*adopted) + sizeof(wye_header) +
                                i * sizeof(void*),
                            sizeof slot);
                CHECK((slot != nullptr));
            }
        }
    };
    try_all(fake::kPluginTable, plugin_slots());
    try_all(fake::kDeviceTable, device_slots());
    try_all(fake::kQueueTable, queue_slots());
}

TEST_CASE("a device makes timelines with all their slots, or none") {
    wye_device_table table = fake::kDeviceTable;
    const auto missing = [&](const char* slot) {
        const auto adopted = adopt(&table, WYE_ABI_MINOR);
        return !adopted.ok() && adopted.error().code == Code::BAD_PLUGIN &&
               adopted.error().message.find("`" + std::string(slot) + "`") != std::string::npos;
    };
    table.timeline_create = [](wye_device_object*, const wye_timeline_desc*, wye_timeline_object**,
                               wye_error**) -> wye_status { return WYE_OK; };
    CHECK(missing("timeline_destroy"));
    table.timeline_destroy = [](wye_device_object*, wye_timeline_object*) {};
    CHECK(missing("timeline_signal"));
    table.timeline_signal = [](wye_device_object*, const wye_event*, wye_error**) -> wye_status {
        return WYE_OK;
    };
    CHECK(missing("timeline_fail"));
    table.timeline_fail = [](wye_device_object*, const wye_event*, const wye_error_desc*,
                             wye_error**) -> wye_status { return WYE_OK; };
    CHECK(adopt(&table, WYE_ABI_MINOR).ok());
}

TEST_CASE("a table is read no further than it says") {
    // A short table, followed by memory that looks like slots.
    struct {
        wye_queue_table table = fake::kQueueTable;
    } memory;
    memory.table.header.size = offsetof(wye_queue_table, timing);
    const auto adopted = adopt(&memory.table, WYE_ABI_MINOR);
    REQUIRE_FALSE(adopted.ok());
    CHECK(adopted.error().message.find("`destroy`") != std::string::npos);
    memory.table.header.size = 20;  // no multiple of a slot
    CHECK(adopt(&memory.table, WYE_ABI_MINOR).error().code == Code::BAD_PLUGIN);
    const wye_queue_table* none = nullptr;
    CHECK(adopt(none, WYE_ABI_MINOR).error().code == Code::BAD_PLUGIN);
}

TEST_CASE("extension chains") {
    const wye_header plain = {sizeof plain, 5, nullptr};
    const wye_header critical = {sizeof critical, WYE_CHAIN_CRITICAL | 9, nullptr};
    const wye_header both = {sizeof both, 5, &critical};
    const wye_header tiny = {4, 5, nullptr};
    wye_header loop = {sizeof loop, 5, nullptr};
    loop.next = &loop;
    CHECK(check_chain(nullptr, "x").ok());
    CHECK(check_chain(&plain, "x").ok());
    CHECK(check_chain(&critical, "x").error().code == Code::UNSUPPORTED_EXTENSION);
    CHECK(check_chain(&both, "x").error().message.find("extension 9") != std::string::npos);
    CHECK(check_chain(&tiny, "x").error().code == Code::BAD_PLUGIN);
    CHECK(check_chain(&loop, "x").error().code == Code::BAD_PLUGIN);
    CHECK(check_chain(&loop, "x").error().fix.find("author") != std::string::npos);
}

}  // namespace test_handshake
