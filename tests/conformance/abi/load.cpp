// SPDX-License-Identifier: Apache-2.0
//
// The steps from the plugin's file to the list of devices, one case each. All other suites need
// them.
#include <dlfcn.h>

#include <cctype>
#include <chrono>

#include "conformance/abi/rig.hpp"

using harness::Failure;
using harness::subject;
using harness::text_of;

namespace {

constexpr std::uint32_t kMostTable = 64 * 1024;  // bytes; no table has a larger size
constexpr std::uint32_t kMostDevices = 4096;

const wye_plugin_desc& described() {
    const auto query = reinterpret_cast<wye_plugin_query_fn>(
        harness::export_of(subject().library, WYE_PLUGIN_QUERY_SYMBOL));
    const wye_plugin_desc* desc = nullptr;
    REQUIRE(query(&harness::kHello, &desc) == WYE_OK);
    REQUIRE(desc != nullptr);
    return *desc;
}

// Checks that no chain entry is critical, since hosts know no such entries, and that the chain
// ends.
void check_chain(const wye_header& header) {
    int entries = 0;
    for (auto* entry = static_cast<const wye_header*>(header.next); entry != nullptr;
         entry = static_cast<const wye_header*>(entry->next)) {
        REQUIRE(++entries <= 64);
        CHECK(entry->size >= sizeof(wye_header));
        CHECK((entry->type & WYE_CHAIN_CRITICAL) == 0);
    }
}

void check_id(const std::string& id) {
    REQUIRE_FALSE(id.empty());
    CHECK(id.size() <= 64);
    CHECK(id != "auto");
    CHECK(std::islower(static_cast<unsigned char>(id[0])) != 0);
    for (const char c : id) CHECK(((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'));
}

// Checks that a text has at most 4 KiB, the host's limit, and no control characters.
void check_text(std::string_view what, wye_string text) {
    CAPTURE(what);
    REQUIRE(text.size <= 4096);
    REQUIRE((text.size == 0 || text.data != nullptr));
    for (const char c : text_of(text)) {
        const auto byte = static_cast<unsigned char>(c);
        REQUIRE((byte >= 0x20 && byte != 0x7f));
    }
}

// Writes the plugin's description to the report. The second function writes that of a device.
void tell(const wye_plugin_desc& desc) {
    if (harness::report() == nullptr) return;
    const auto number = [](std::uint32_t n) { return std::to_string(n); };
    harness::report()->line(
        "plugin",
        {text_of(desc.id), text_of(desc.version), text_of(desc.vendor), number(desc.abi_major),
         number(desc.abi_minor), number(desc.host_minor_needed), number(desc.abi_draft)});
}

void tell(std::uint32_t index, const wye_device_info& info) {
    if (harness::report() == nullptr) return;
    std::string formats;
    for (std::uint64_t i = 0; i < info.format_count; ++i)
        formats += (i == 0 ? "" : ",") + text_of(info.formats[i]);
    harness::report()->line(
        "device", {std::to_string(index), info.state == WYE_DEVICE_USABLE ? "usable" : "unusable",
                   text_of(info.name), text_of(info.reason), formats});
}

}  // namespace

TEST_SUITE_BEGIN("load");

TEST_CASE("the file loads without its driver, and has the query (P-1, P-4)") {
    void* const loaded = ::dlopen(subject().library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (loaded == nullptr) harness::blame("P-4");
    REQUIRE_MESSAGE(loaded != nullptr, ::dlerror());
    CHECK((harness::export_of(subject().library, WYE_PLUGIN_QUERY_SYMBOL) != nullptr));
}

TEST_CASE("the query describes a plugin of this contract (P-3, P-5, P-6, P-7)") {
    const wye_plugin_desc& desc = described();
    REQUIRE(desc.header.size >= offsetof(wye_plugin_desc, build_flags));
    REQUIRE(desc.abi_major == WYE_ABI_MAJOR);
    REQUIRE(desc.header.size >= WYE_SIZE_TO(wye_plugin_desc, minor_frozen));
    CHECK(desc.header.size <= kMostTable);
    CHECK(desc.header.type == 0);
    check_chain(desc.header);
    CHECK(desc.minor_frozen <= desc.abi_minor);
    // A plugin states a draft exactly if its minor is above the newest released one. 1.0 is
    // released, so this fails for a plugin that was built against a draft of 1.0.
    CHECK((desc.abi_draft == 0) == (desc.minor_frozen == desc.abi_minor));
    CHECK(desc.host_minor_needed <= desc.abi_minor);
    CHECK(desc.host_minor_needed <= WYE_ABI_MINOR);
    CHECK(desc.pointer_bytes == sizeof(void*));
    check_text("version", desc.version);
    check_text("vendor", desc.vendor);
    check_text("id", desc.id);
    CHECK(desc.version.size > 0);
    CHECK(desc.vendor.size > 0);
    check_id(text_of(desc.id));
    tell(desc);
    REQUIRE(desc.table != nullptr);
    const wye_plugin_table& table = *desc.table;
    REQUIRE(table.header.size >= WYE_SIZE_TO(wye_plugin_table, shutdown));
    CHECK(table.header.size <= kMostTable);
    CHECK(table.header.type == 0);
    check_chain(table.header);
    const std::pair<bool, const char*> mandatory[] = {
        {table.init != nullptr, "init"},
        {table.probe_devices != nullptr, "probe_devices"},
        {table.device_info != nullptr, "device_info"},
        {table.device_fact != nullptr, "device_fact"},
        {table.open_device != nullptr, "open_device"},
        {table.shutdown != nullptr, "shutdown"},
        {(table.translate == nullptr) == (table.translate_release == nullptr),
         "translate or translate_release, while it has the other"}};
    for (const auto& [present, slot] : mandatory) {
        if (present) continue;
        harness::blame("P-6");
        FAIL_CHECK("the plugin's table lacks the slot " << slot);
    }
}

TEST_CASE("the query gives the same static description each time (P-2, P-3)") {
    CHECK(&described() == &described());
}

TEST_CASE("`init` gives an object, or says what is missing (P-4, P-11, P-12)") {
    const wye_plugin_table& table = *described().table;
    const harness::Host host;
    harness::Sink sink;
    wye_plugin_object* object = nullptr;
    const wye_status status = table.init(host.table(), WYE_ABI_MINOR, &object, sink.out());
    const Failure failure = sink.failure();
    if (status == WYE_OK) {
        REQUIRE_MESSAGE(object != nullptr, "it succeeded with a null object");
        CHECK(failure.message.empty());
        table.shutdown(object);
        return;
    }
    CHECK((object == nullptr));
    harness::check_helpful(failure, status);
    harness::note("`init` failed: " + failure.message + ". " + failure.fix);
}

TEST_CASE(
    "devices are listed soon, each with a name, and with formats or a reason (P-3, P-17, "
    "P-18)") {
    const auto begun = std::chrono::steady_clock::now();
    const harness::Plugin plugin;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (plugin.status != WYE_OK) {
        harness::check_helpful(plugin.failure, plugin.status);
        return harness::not_applicable("the plugin lists no devices: " + plugin.failure.message);
    }
    CHECK(took.count() < 30.0);
    REQUIRE(plugin.devices <= kMostDevices);
    for (std::uint32_t index = 0; index < plugin.devices; ++index) {
        wye_device_info info{};
        info.header.size = sizeof info;
        REQUIRE(plugin.table->device_info(plugin.object, index, &info, nullptr) == WYE_OK);
        check_text("name", info.name);
        check_text("reason", info.reason);
        check_text("fix", info.fix);
        CHECK(info.name.size > 0);
        REQUIRE(info.format_count <= 64);
        for (std::uint64_t i = 0; i < info.format_count; ++i) {
            check_text("format", info.formats[i]);
            CHECK(info.formats[i].size > 0);
        }
        tell(index, info);
        if (info.state == WYE_DEVICE_USABLE) {
            CHECK(info.format_count >= 1);
        } else {
            CHECK(info.state == WYE_DEVICE_UNUSABLE);
            if (!text_of(info.reason).empty() && text_of(info.fix).rfind("Fix: ", 0) == 0) continue;
            harness::blame("P-18");
            FAIL_CHECK("device " << index << " is unusable for the reason `" << text_of(info.reason)
                                 << "`, with the remedy `" << text_of(info.fix) << "`");
        }
    }
}

TEST_SUITE_END();
