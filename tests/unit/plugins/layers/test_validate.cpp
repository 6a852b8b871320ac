// SPDX-License-Identifier: Apache-2.0
//
// The layer `validate`: calls that keep the contract pass silently, a wrong call of the host does
// not reach the plugin, and a breach of a plugin is reported with the number of the rule. The
// plugins are fakes, which each break a rule.
#include <array>
#include <cfenv>
#include <chrono>
#include <thread>

#include "rig.hpp"
#include "support/longer.hpp"
#include "wye/sdk/samples.hpp"

using harness::Device;
using harness::Plugin;
using layer_test::choose;
using layer_test::logs;
using layer_test::submit_one;

// Hosts and plugins of these tests leave devices and buffers behind, with what the layer keeps
// about them. The leak check ignores these.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:open_device\nleak:buffer_create\nleak:fake::\n";
}

namespace {

// The lines of the log about breaches, without the line that has their total.
std::vector<std::string> breaches(const Plugin& plugin) {
    std::vector<std::string> out;
    for (const std::string& line : plugin.host.errors())
        if (line.find("validate: P-") != line.npos || line.find("validate: H-") != line.npos)
            out.push_back(line);
    return out;
}

struct Below {
    Below() { choose(WYE_CPU_PLUGIN, {"validate"}); }
};

std::string fake(const char* name) { return std::string(WYE_FAKES "/") + name + ".so"; }

}  // namespace

TEST_CASE("calls that keep the contract are no breach, and the layer says how many it saw") {
    const Below below;
    Plugin plugin;
    REQUIRE(plugin.status == WYE_OK);
    {
        Device device(plugin);
        wye_buffer_object* a = device.buffer(256);
        wye_buffer_object* b = device.buffer(256);
        CHECK(device.run(harness::fill(a, 0, 256, 7, 4)) == WYE_OK);
        CHECK(device.run(harness::copy(a, b, 0, 128, 128)) == WYE_OK);
        CHECK(harness::values_of<std::uint32_t>(device.download(b, 256))[63] == 7);
    }
    plugin.close();
    CHECK(breaches(plugin).empty());
    CHECK(logs(plugin.host, "validate: plugin `cpu`: 0 breaches in "));
}

TEST_CASE("a handle that was destroyed is refused, and does not reach the plugin") {
    const Below below;
    Plugin plugin;
    Device device(plugin);
    wye_buffer_object* buffer = device.buffer(64);
    device.destroy(buffer);
    CHECK(submit_one(device, harness::fill(buffer, 0, 64, 1, 4)) == WYE_STALE_HANDLE);
    CHECK(device.failure.message.find("the buffer was destroyed") != std::string::npos);
    CHECK(device.failure.fix.starts_with("Fix: "));
    device.table->buffer_destroy(device.object, buffer);  // would free the buffer again
    REQUIRE(breaches(plugin).size() == 2);
    CHECK(breaches(plugin)[0].find("P-16: `submit` of plugin `cpu`") != std::string::npos);
    CHECK(breaches(plugin)[1].find("P-16: `buffer_destroy`") != std::string::npos);
    // The value of the refused submit may be used again.
    CHECK(device.submit({}) == WYE_OK);
}

TEST_CASE("native memory without a handle, without values, or of another usage is refused") {
    const Below below;
    Plugin plugin;
    Device device(plugin);
    alignas(16) std::uint32_t words[4] = {};
    wye_native_handle handle{};
    handle.header.size = sizeof handle;
    handle.count = 1;
    handle.values[0] = {{"void*", 5}, reinterpret_cast<std::uintptr_t>(words), {}};
    harness::NativeBuffer native(sizeof words, handle);
    const auto create = [&] {
        wye_buffer_object* out = nullptr;
        const wye_status status = native.create(device, &out, nullptr);
        if (out != nullptr) device.table->buffer_destroy(device.object, out);
        return status;
    };
    CHECK(create() == WYE_OK);
    CHECK(breaches(plugin).empty());
    native.handle.count = 0;
    CHECK(create() == WYE_INVALID_ARGUMENT);
    native.handle.count = 1;
    native.memory.handle = nullptr;
    CHECK(create() == WYE_INVALID_ARGUMENT);
    native.memory.handle = &native.handle;
    native.desc.usage = WYE_BUFFER_USAGE_UPLOAD;
    CHECK(create() == WYE_INVALID_ARGUMENT);
    REQUIRE(breaches(plugin).size() == 3);
    CHECK(breaches(plugin)[0].find("P-16: `buffer_create`") != std::string::npos);
    CHECK(breaches(plugin)[2].find("of the usage 1") != std::string::npos);
}

TEST_CASE("a native wait without an event, or with one without values, is refused") {
    const Below below;
    Plugin plugin;
    Device device(plugin);
    wye_native_handle event{};
    event.header.size = sizeof event;
    wye_native_wait wait{};
    wait.header = {sizeof wait, WYE_CHAIN_NATIVE_WAIT | WYE_CHAIN_CRITICAL, nullptr};
    wye_submission submission{};
    submission.header = {sizeof submission, 0, &wait};
    submission.value = device.newest + 1;
    const auto submit = [&] {
        return device.queue_table->submit(device.queue, &submission, nullptr);
    };
    CHECK(submit() == WYE_INVALID_ARGUMENT);
    wait.event = &event;
    CHECK(submit() == WYE_INVALID_ARGUMENT);
    REQUIRE(breaches(plugin).size() == 2);
    CHECK(breaches(plugin)[1].find("P-16: `submit`") != std::string::npos);
    CHECK(breaches(plugin)[1].find("the native wait has no event") != std::string::npos);
    event.count = 1;
    event.values[0] = {{"CUevent", 7}, 77, {}};
    CHECK(submit() == WYE_UNSUPPORTED_EXTENSION);  // refused by the CPU plugin
    CHECK(breaches(plugin).size() == 2);
}

TEST_CASE("a launch with the hint `again` is refused if it differs from the operation before it") {
    choose(WYE_MOCK_PLUGIN, {"validate"});
    Plugin plugin;
    Device device(plugin);
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}}};
    wye_program_object* program =
        device.program(harness::artifact("anything", "main", slots, 1, 1));
    REQUIRE(program != nullptr);
    wye_buffer_object* buffer = device.buffer(256);
    const wye_binding bindings[] = {harness::binding(buffer, 0, 64)};
    const wye_binding others[] = {harness::binding(buffer, 0, 64)};
    const wye_operation first = harness::dispatch(program, bindings, {1, 1, 1});
    wye_operation again = first;
    again.u.dispatch.again = 1;
    const wye_operation right[] = {first, again, again};
    CHECK(device.submit(right) == WYE_OK);
    CHECK(breaches(plugin).empty());
    CHECK(device.submit({&again, 1}) == WYE_INVALID_ARGUMENT);
    const wye_operation between[] = {first, harness::fill(buffer, 0, 64, 1, 4), again};
    CHECK(device.submit(between) == WYE_INVALID_ARGUMENT);
    wye_operation other = again;
    other.u.dispatch.bindings = others;
    const wye_operation wrong[] = {first, other};
    CHECK(device.submit(wrong) == WYE_INVALID_ARGUMENT);
    other = again;
    other.u.dispatch.again = 2;
    const wye_operation unknown[] = {first, other};
    CHECK(device.submit(unknown) == WYE_INVALID_ARGUMENT);
    REQUIRE(breaches(plugin).size() == 4);
    CHECK(breaches(plugin)[0].find("differs from the operation before it") != std::string::npos);
    CHECK(breaches(plugin)[3].find("the hint `again` 2") != std::string::npos);
}

TEST_CASE("a destroyed queue and a closed device are refused") {
    const Below below;
    Plugin plugin;
    {
        Device device(plugin);
        wye_queue_object* queue = device.queue_create();
        device.queue_table->destroy(queue);
        CHECK(device.submit({}, {}, queue) == WYE_STALE_HANDLE);
        device.queue_table->destroy(queue);
        CHECK(breaches(plugin).size() == 2);
    }
    const wye_device_table* table = nullptr;
    wye_device_object* object = nullptr;
    REQUIRE(plugin.open(&object, &table, nullptr, 0) == WYE_OK);
    table->close(object);
    CHECK((table->flush == nullptr));
    wye_memory_info memory{};
    memory.header.size = sizeof memory;
    CHECK(table->memory_info(object, &memory, nullptr) == WYE_STALE_HANDLE);
    CHECK(breaches(plugin).size() == 3);
}

TEST_CASE("objects of another device, and of another kind, are refused") {
    const Below below;
    Plugin plugin;
    Device one(plugin);
    Device two(plugin);
    wye_buffer_object* theirs = two.buffer(64);
    CHECK(submit_one(one, harness::fill(theirs, 0, 64, 1, 4)) == WYE_WRONG_OWNER);
    CHECK(logs(plugin.host, "P-16: `submit`", "the buffer belongs to another device"));
    wye_buffer_object* mine = one.buffer(64);
    auto* program = reinterpret_cast<wye_program_object*>(mine);
    CHECK(submit_one(one, harness::dispatch(program, {}, {1, 1, 1})) == WYE_WRONG_KIND);
    CHECK(logs(plugin.host, "P-16: `submit`", "a buffer is given as a program"));
}

TEST_CASE("ranges, patterns, overlaps, values and memory are as the host promises") {
    const Below below;
    Plugin plugin;
    Device device(plugin);
    wye_buffer_object* a = device.buffer(64);
    wye_buffer_object* staging = device.buffer(64, WYE_BUFFER_USAGE_STAGING);
    REQUIRE(staging != nullptr);
    const std::vector<std::pair<wye_operation, const char*>> wrong = {
        {harness::fill(a, 32, 64, 1, 4), "a range of 64 bytes at 32 is not inside"},
        {harness::fill(a, 64, UINT64_MAX - 3, 1, 4), "is not inside its buffer of 64"},
        {harness::fill(a, 2, 4, 1, 4), "is no multiple of its pattern's 4"},
        {harness::fill(a, 0, 6, 1, 3), "a pattern of 3 bytes"},
        {harness::fill(nullptr, 0, 4, 1, 4), "the buffer is null"},
        {harness::fill(staging, 0, 64, 1, 4), "used by something else than a copy"},
        {harness::copy(a, a, 0, 16, 32), "overlaps itself"},
        {harness::upload(a, 0, {static_cast<const std::byte*>(nullptr), 4}),
         "has no memory of the host"},
    };
    for (const auto& one : wrong) {
        const std::string text = one.second;
        CAPTURE(text);
        CHECK(submit_one(device, one.first) == WYE_INVALID_ARGUMENT);
        CHECK(device.failure.message.find(text) != std::string::npos);
    }
    CHECK(breaches(plugin).size() == wrong.size());
    REQUIRE(device.submit({}) == WYE_OK);
    device.newest = 0;
    CHECK(device.submit({}) == WYE_INVALID_ARGUMENT);
    CHECK(device.failure.message.find("the value 1 is not above 1") != std::string::npos);
    device.newest = 1;
    wye_buffer_desc desc{};
    desc.header.size = sizeof desc;
    desc.size = 64;
    desc.alignment = 48;
    wye_buffer_object* none = nullptr;
    CHECK(device.table->buffer_create(device.object, &desc, &none, nullptr) ==
          WYE_INVALID_ARGUMENT);
    CHECK(none == nullptr);
    CHECK(logs(plugin.host, "P-16: `buffer_create`", "the alignment 48 is no power of two"));
}

TEST_CASE("a command that names a destroyed buffer is not executed, and its edges lead forward") {
    const Below below;
    Plugin plugin;
    Device device(plugin);
    wye_buffer_object* a = device.buffer(64);
    const std::array operations = {harness::fill(a, 0, 64, 1, 4), harness::fill(a, 0, 64, 2, 4)};
    const wye_edge back[] = {{1, 1}};
    const harness::Command wrong(device, operations, 0, 0, back, WYE_COMMAND_EDGES);
    CHECK(wrong.status == WYE_INVALID_ARGUMENT);
    harness::Command command(device, operations);
    REQUIRE(command.status == WYE_OK);
    CHECK(device.run(command.execute()) == WYE_OK);
    CHECK(command.update(0, harness::copy(a, a, 0, 32, 4)) == WYE_INVALID_ARGUMENT);
    device.destroy(a);
    CHECK(submit_one(device, command.execute()) == WYE_STALE_HANDLE);
    CHECK(device.failure.message.find("names a buffer that was destroyed") != std::string::npos);
    command.destroy();
    CHECK(breaches(plugin).size() == 3);
}

TEST_CASE("what is left when a device is closed or a plugin shut down is told") {
    const Below below;
    Plugin plugin;
    const wye_device_table* table = nullptr;
    wye_device_object* object = nullptr;
    REQUIRE(plugin.open(&object, &table, nullptr, 0) == WYE_OK);
    wye_buffer_desc desc{};
    desc.header.size = sizeof desc;
    desc.size = 64;
    desc.alignment = 16;
    wye_buffer_object* left = nullptr;
    REQUIRE(table->buffer_create(object, &desc, &left, nullptr) == WYE_OK);
    table->close(object);
    REQUIRE(breaches(plugin).size() == 1);
    CHECK(logs(plugin.host, "P-56: `close`", "1 buffer: not destroyed before their device"));
}

// The action of the layer `faults` that makes a call take this time.
std::string hang(std::chrono::milliseconds time) {
    return "hang(" + std::to_string(time.count()) + "ms)";
}

TEST_CASE("two threads in [SYNC] slots of one queue are told") {
    CHECK(support::with_longer_times([](std::chrono::milliseconds time) {
        choose(WYE_CPU_PLUGIN, {"validate", "faults"},
               {{"layer.faults.rules", "submit:1:" + hang(3 * time)}});
        Plugin plugin;
        Device device(plugin);
        const auto submit = [&](std::uint64_t value) {
            wye_submission submission{};
            submission.header.size = sizeof submission;
            submission.value = value;
            return device.queue_table->submit(device.queue, &submission, nullptr);
        };
        std::thread slow([&] { (void)submit(2); });
        std::this_thread::sleep_for(time);
        (void)submit(1);
        slow.join();
        return logs(plugin.host, "P-15: `submit`", "two threads are in [SYNC] slots");
    }));
}

TEST_CASE("calls of a device while it is recovered are told (H-2)") {
    for (const std::string_view slow : {"query", "try_recover"}) {
        CAPTURE(slow);
        CHECK(support::with_longer_times([&](std::chrono::milliseconds time) {
            choose(WYE_CPU_PLUGIN, {"validate", "faults"},
                   {{"layer.faults.rules", std::string(slow) + ":1:" + hang(3 * time)}});
            Plugin plugin;
            Device device(plugin);
            const auto query = [&] { (void)device.query(device.queue, 0, nullptr); };
            const auto recover = [&] { (void)device.table->try_recover(device.object, nullptr); };
            std::thread first([&] { slow == "query" ? query() : recover(); });
            std::this_thread::sleep_for(time);
            slow == "query" ? recover() : query();
            first.join();
            CHECK(breaches(plugin).size() <= 1);
            return logs(plugin.host, slow == "query" ? "H-2: `try_recover`" : "H-2: `query`",
                        "recovered while another call concerns it");
        }));
    }
}

TEST_CASE("structures to fill in are zero, and translations are for a device or for none (H-3)") {
    const Below below;
    Plugin plugin;
    Device device(plugin);
    wye_memory_info memory{};
    memory.header.size = sizeof memory;
    CHECK(device.table->memory_info(device.object, &memory, nullptr) == WYE_OK);
    CHECK(breaches(plugin).empty());
    REQUIRE(memory.total_bytes != 0);
    CHECK(device.table->memory_info(device.object, &memory, nullptr) == WYE_OK);
    REQUIRE(breaches(plugin).size() == 1);
    CHECK(breaches(plugin)[0].find("H-3: `memory_info`") != std::string::npos);
    wye_artifact artifact{};
    artifact.header.size = sizeof artifact;
    wye_bytes out{};
    REQUIRE((plugin.table->translate != nullptr));
    const auto translate = [&](std::uint32_t index) {
        return plugin.table->translate(plugin.object, index, &artifact, {}, &out, nullptr);
    };
    CHECK(translate(UINT32_MAX) == WYE_UNIMPLEMENTED);
    CHECK(translate(0) == WYE_UNIMPLEMENTED);
    CHECK(breaches(plugin).size() == 1);
    CHECK(translate(1) == WYE_INVALID_ARGUMENT);
    REQUIRE(breaches(plugin).size() == 2);
    CHECK(breaches(plugin)[1].find("H-3: `translate`") != std::string::npos);
}

// A host that calls the plugin while the host makes an error.
namespace meddling {

const wye_host_table* host = nullptr;
const wye_plugin_table* table = nullptr;
wye_plugin_object* object = nullptr;

wye_error* error_make(wye_host_object*, const wye_error_desc* desc) {
    std::uint32_t count = 0;
    (void)table->probe_devices(object, &count, nullptr);
    return host->error_make(host->self, desc);
}

}  // namespace meddling

TEST_CASE("a host that calls from inside of its own slots is told (H-4)") {
    const harness::Host host;
    meddling::host = host.table();
    meddling::table = harness::desc_of(WYE_LAYERS_FOLDER "/wye_layer_validate.so").table;
    wye_host_table below = *host.table();
    below.error_make = meddling::error_make;
    wye_layer_next next{};
    next.header = {sizeof next, WYE_CHAIN_LAYER_NEXT | WYE_CHAIN_CRITICAL, nullptr};
    next.table = harness::desc_of(WYE_CPU_PLUGIN).table;
    next.host = &below;
    next.id = {"cpu", 3};
    wye_host_table above = *host.table();
    above.header.next = &next;
    REQUIRE(meddling::table->init(&above, WYE_ABI_MINOR, &meddling::object, nullptr) == WYE_OK);
    std::uint32_t count = 0;
    CHECK(meddling::table->probe_devices(meddling::object, &count, nullptr) == WYE_OK);
    wye_open_desc desc{};
    desc.header.size = sizeof desc;
    desc.flags = 1;
    wye_device_object* device = nullptr;
    const wye_device_table* devices = nullptr;
    harness::Sink sink;
    CHECK(meddling::table->open_device(meddling::object, &desc, &device, &devices, sink.out()) ==
          WYE_UNSUPPORTED);
    meddling::table->shutdown(meddling::object);
    CHECK(logs(host, "H-4: `probe_devices`", "from inside of one of its own slots"));
}

TEST_CASE("a plugin that breaks a rule is told by its number") {
    struct Case {
        const char* plugin;
        const char* rule;
        const char* text;
    };
    constexpr Case kCases[] = {
        {"silent_failure", "P-11: `init`", "without an error object"},
        {"lying_facts", "P-19: `device_fact`", "has the type 2 in place of 1"},
        {"lying_facts", "P-19: `device_fact`", "is the truth value 2"},
        {"null_device", "P-12: `open_device`", "succeeds without an object"},
        {"bad_device_table", "P-6: `open_device`", "no `buffer_destroy`"},
        {"null_buffer", "P-12: `buffer_create`", "succeeds without an object"},
        {"boasts_queue", "P-45: `info`", "has the kind 2, and 0 was asked for"},
        {"breaks_calls", "P-11: `buffer_create`", "has no remedy that begins with `Fix: `"},
        {"breaks_calls", "P-12: `buffer_create`", "it fails, and writes to its outputs"},
        {"breaks_calls", "P-11: `program_create`",
         "its status is 22, and its error has the code 3"},
        {"breaks_calls", "P-25: `query`", "is not reached, but 1 was reached before"},
        {"breaks_calls", "P-27: `wait`", "it timed out after"},
        {"breaks_calls", "P-10: `prepare`", "the thread's floating-point mode"},
        {"breaks_calls", "P-21: `device_fact`", "is another than before"},
        {"breaks_calls", "P-17: `probe_devices`", "the list has 3 devices, and had 2 before"},
        {"breaks_calls", "P-39: `buffer_map`", "at another address than before"},
        {"breaks_calls", "P-8: `memory_info`", "it throws: out of luck"},
    };
    for (const Case& one : kCases) {
        const std::string about = std::string(one.plugin) + ": " + one.rule;
        CAPTURE(about);
        choose(fake(one.plugin), {"validate"});
        std::fesetround(FE_TONEAREST);  // which `breaks_calls` changes
        Plugin plugin;
        if (plugin.status == WYE_OK) {
            std::uint32_t count = 0;
            CHECK(plugin.table->probe_devices(plugin.object, &count, nullptr) == WYE_OK);
            for (int round = 0; round < 2; ++round)
                for (const std::uint32_t key : {WYE_FACT_KEY_INT64, WYE_FACT_KEY_F64})
                    (void)plugin.fact(key);
            wye_device_object* object = nullptr;
            const wye_device_table* table = nullptr;
            REQUIRE(plugin.open(&object, &table, nullptr, 0) == WYE_OK);
            const bool whole = object != nullptr && table->buffer_destroy != nullptr &&
                               std::string_view(one.plugin) != "null_buffer";
            if (object != nullptr) {
                harness::Sink sink;
                wye_buffer_desc desc{};
                desc.header.size = sizeof desc;
                desc.size = 7;  // which `breaks_calls` refuses
                desc.alignment = 16;
                wye_buffer_object* buffer = nullptr;
                (void)table->buffer_create(object, &desc, &buffer, sink.out());
            }
            if (whole) {
                Device device(plugin);
                (void)device.queue_info(device.queue);
                REQUIRE(device.submit({}) == WYE_OK);
                wye_buffer_object* buffer = device.buffer(64);
                for (int round = 0; round < 2; ++round) {
                    (void)device.query(device.queue, 1, nullptr);
                    if (device.table->buffer_map != nullptr) (void)device.map(buffer);
                }
                (void)device.await(device.queue, 1, 1'000'000'000, nullptr);
                (void)device.program(harness::artifact("x", "main", {}, 0, 1));
                if (device.table->prepare != nullptr)
                    (void)device.table->prepare(device.object, nullptr);
                wye_memory_info memory{};
                memory.header.size = sizeof memory;
                if (device.table->memory_info != nullptr)
                    CHECK_THROWS(device.table->memory_info(device.object, &memory, nullptr));
            }
        }
        plugin.close();
        std::fesetround(FE_TONEAREST);
        CHECK(logs(plugin.host, one.rule, one.text));
    }
}

// ---- Work in flight ----------------------------------------------------------------------------

TEST_CASE("early values, writes that are lost and workgroups that are left out are told") {
    const auto found = [](const char* how, std::string_view rule, auto&& use,
                          std::string_view or_rule = {}) {
        CAPTURE(how);
        choose(fake("deviates"), {"validate"},
               {{"deviates.how", how}, {"layer.validate.late_ms", "200"}});
        Plugin plugin;
        REQUIRE(plugin.status == WYE_OK);
        {
            Device device(plugin);
            use(device);
        }
        plugin.close();
        const auto lines = breaches(plugin);
        if (rule.empty()) {
            CHECK(lines.empty());
            return;
        }
        REQUIRE_FALSE(lines.empty());
        const auto is_of = [&](std::string_view one) {
            return lines[0].find("validate: " + std::string(one) + ": ") != std::string::npos;
        };
        CHECK_MESSAGE((is_of(rule) || (!or_rule.empty() && is_of(or_rule))), lines[0]);
    };
    constexpr std::uint64_t kBytes = std::uint64_t{8} << 20U;
    const auto downloads = [](Device& device) {
        std::vector<wye_operation> work(8, harness::fill(device.buffer(kBytes), 0, kBytes, 1, 4));
        std::vector<std::byte> got(kBytes);
        work.push_back(harness::download(work[0].u.fill.target, 0, got));
        REQUIRE(device.submit(work) == WYE_OK);
        CHECK(device.wait() == WYE_OK);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the early work ends
    };
    found("", "", downloads);
    // On a busy machine the layer may first see that the downloaded bytes are missing.
    found("early", "P-25", downloads, "P-55");
    found("loses_downloads", "P-55", downloads);
    // The layer moves the same number of bytes of its own, and checks them.
    for (const char* how : {"loses_uploads", "loses_copies", "fills_less"})
        found(how, "P-55", [](Device& device) {
            wye_buffer_object* const buffer = device.buffer(65536);
            CHECK(device.run(harness::fill(buffer, 0, 65536, 1, 4)) == WYE_OK);
        });
    // With this number of workgroups, the layer checks whether all of them run.
    const auto launches = [](Device& device) {
        const wye_string format = {"wye-program", 11};
        const auto sample = wye::sdk::add_sample({&format, 1});
        REQUIRE(sample.has_value());
        wye_program_object* program = device.program(*sample);
        REQUIRE((program != nullptr));
        const wye_binding bindings[] = {harness::binding(device.buffer(256), 0, 64),
                                        harness::binding(device.buffer(256), 0, 64)};
        const std::uint32_t by = 5;
        for (const std::uint32_t groups : {65535U, 65536U, 65536U})
            CHECK(device.run(harness::dispatch(program, bindings, {groups, 1, 1}, &by)) == WYE_OK);
    };
    found("", "", launches);
    found("short_grid", "P-19", launches);
}

TEST_CASE("what pending work uses is not destroyed, also what only a command names (P-56)") {
    CHECK(support::with_longer_times([](std::chrono::milliseconds time) {
        choose(WYE_MOCK_PLUGIN, {"validate"},
               {{"mock.text",
                 "device = D\ntime.transfer = " + std::to_string(3 * time.count()) + "ms\n"}});
        Plugin plugin;
        Device device(plugin);
        wye_buffer_object* direct = device.buffer(64);
        wye_buffer_object* named = device.buffer(64);
        wye_buffer_object* late = device.buffer(64);
        wye_buffer_object* unused = device.buffer(64);
        wye_operation open = harness::copy(named, nullptr, 0, 0, 64);
        open.u.copy.target_slot = 0;
        harness::Command command(device, {&open, 1}, 1);
        REQUIRE(command.status == WYE_OK);
        const wye_binding slots[] = {harness::binding(late, 0, 16)};
        const wye_operation both[] = {harness::fill(direct, 0, 64, 1, 4), command.execute(slots)};
        REQUIRE(device.submit(both) == WYE_OK);
        device.destroy(unused);
        CHECK(breaches(plugin).empty());
        device.destroy(direct);
        device.destroy(late);
        device.destroy(named);
        command.destroy();
        if (breaches(plugin).size() < 4) return false;  // the work has ended
        REQUIRE(breaches(plugin).size() == 4);
        for (const char* what : {"`buffer_destroy`", "`command_destroy`"})
            CHECK(logs(plugin.host, std::string("P-56: ") + what, "which is pending, uses it"));
        CHECK(device.wait() == WYE_OK);
        return true;
    }));
}

TEST_CASE("a timeline is not named after its queue was destroyed, nor a queue by a chain") {
    const Below below;
    Plugin plugin;
    Device device(plugin);
    wye_queue_object* queue = device.queue_create();
    REQUIRE(device.submit({}, {}, queue) == WYE_OK);
    const wye_event event = device.event(queue, device.newest);
    REQUIRE(device.submit({}, {&event, 1}) == WYE_OK);
    device.queue_table->destroy(queue);
    CHECK(device.wait() == WYE_OK);
    CHECK(breaches(plugin).empty());
    CHECK(device.submit({}, {&event, 1}) == WYE_STALE_HANDLE);
    CHECK(device.table->query(device.object, &event, nullptr) == WYE_STALE_HANDLE);
    CHECK(device.table->wait(device.object, &event, 1, 0, 0, nullptr, nullptr) == WYE_STALE_HANDLE);
    REQUIRE(breaches(plugin).size() == 3);
    for (const char* slot : {"submit", "query", "wait"})
        CHECK(logs(plugin.host, std::string("P-54: `") + slot + '`', "the timeline was destroyed"));

    struct {
        wye_header header;
        const void* what;
    } entry = {{sizeof entry, 0x7fff, nullptr}, device.queue};
    wye_submission submission{};
    submission.header = {sizeof submission, 0, &entry.header};
    submission.value = device.newest + 1;
    const auto submit = [&] {
        return device.queue_table->submit(device.queue, &submission, nullptr);
    };
    CHECK(submit() == WYE_INVALID_ARGUMENT);
    CHECK(logs(plugin.host, "P-56: `submit`", "names a device or a queue"));
    entry.what = &entry;
    CHECK(submit() == WYE_OK);
    auto* buffer = reinterpret_cast<wye_buffer_object*>(device.queue);
    ++device.newest;
    CHECK(submit_one(device, harness::fill(buffer, 0, 4, 1, 4)) == WYE_WRONG_KIND);
    CHECK(logs(plugin.host, "P-56: `submit`", "a device or queue is given as a buffer"));
}

TEST_CASE("a queue is not destroyed inside a call that names its timeline") {
    CHECK(support::with_longer_times([](std::chrono::milliseconds time) {
        // This plugin never uses an event's timeline, so the test may destroy the timeline.
        choose(fake("breaks_flight"), {"validate", "faults"},
               {{"layer.faults.rules", "wait:1:" + hang(4 * time)}, {"layer.validate.of", "host"}});
        Plugin plugin;
        Device device(plugin);
        wye_queue_object* queue = device.queue_create();
        REQUIRE(device.submit({}, {}, queue) == WYE_OK);
        const wye_event events[] = {device.event(queue, device.newest)};
        std::thread slow(
            [&] { (void)device.table->wait(device.object, events, 1, 0, 0, nullptr, nullptr); });
        std::this_thread::sleep_for(time);
        CHECK(breaches(plugin).empty());
        device.queue_table->destroy(queue);
        slow.join();
        return logs(plugin.host, "P-54: `destroy`", "1 calls that name the timeline are inside");
    }));
}

TEST_CASE("ends in a wrong order are told, and others are not") {
    choose(fake("breaks_flight"), {"validate"}, {{"layer.validate.late_ms", "0"}});
    Plugin plugin;
    Device device(plugin);
    wye_queue_object* other = device.queue_create();
    const auto submit = [&](wye_queue_object* to, std::uint64_t value,
                            std::initializer_list<wye_event> waits = {}) {
        device.newest = value - 1;
        REQUIRE(device.submit({}, {waits.begin(), waits.size()}, to) == WYE_OK);
    };
    const auto ended = [&](wye_queue_object* of, std::uint64_t value) {
        return device.query(of, value, nullptr);
    };
    const auto told = [&](const char* rule, const char* text) {
        const std::vector<std::string> all = breaches(plugin);
        return !all.empty() && all.back().find(rule) != std::string::npos &&
               all.back().find(text) != std::string::npos;
    };
    wye_queue_object* const queue = device.queue;
    submit(queue, 2);
    CHECK(ended(queue, 2) == WYE_OK);
    submit(other, 3, {device.event(queue, 2)});
    CHECK(ended(other, 3) == WYE_OK);
    submit(queue, 4);
    wye_event order_only = device.event(queue, 4);
    order_only.flags = WYE_EVENT_ORDER_ONLY;
    submit(other, 5, {order_only});
    CHECK(ended(other, 5) == WYE_OK);
    CHECK(breaches(plugin).empty());

    submit(other, 8, {device.event(queue, 4)});
    CHECK(ended(other, 8) == WYE_OK);
    CHECK(breaches(plugin).size() == 1);
    CHECK(told("P-26: `query`",
               "the value 8 is reached, and the value 4, which it waits for, failed"));
    submit(queue, 11);
    submit(other, 12, {device.event(queue, 11)});
    CHECK(ended(other, 12) == WYE_OK);
    CHECK(breaches(plugin).size() == 2);
    CHECK(
        told("P-37: `query`", "the value 12 is reached, and the value 11, which it waits for, is"));
    submit(queue, 13);
    CHECK(ended(queue, 13) == WYE_OK);
    CHECK(breaches(plugin).size() == 3);
    CHECK(told("P-25: `query`", "13 is reached, and 11, submitted before it, is pending"));
    CHECK(ended(queue, 16) == WYE_INTERNAL);
    CHECK(ended(queue, 16) == WYE_NOT_READY);
    CHECK(breaches(plugin).size() == 4);
    CHECK(told("P-26: `query`", "the value 16 is pending, but failed before"));

    // The values of a destroyed queue count as reached, so work that waits for them may not fail or
    // hang.
    submit(queue, 22);
    submit(other, 25, {device.event(queue, 22)});
    submit(other, 27, {device.event(queue, 22)});
    submit(other, 31, {device.event(queue, 22)});
    device.queue_table->destroy(queue);
    CHECK(ended(other, 25) == WYE_OK);
    CHECK(breaches(plugin).size() == 4);
    CHECK(ended(other, 27) == WYE_INTERNAL);
    CHECK(breaches(plugin).size() == 5);
    CHECK(told("P-54: `query`", "the value 27 fails"));
    (void)device.await(other, 31, 0, nullptr);
    CHECK(told("P-54: `wait`", "the value 31 does not end"));
    device.queue = other;
}

TEST_CASE("the layer writes at most 20 breaches for each rule and slot, and counts all") {
    const Below below;
    Plugin plugin;
    {
        Device device(plugin);
        for (int i = 0; i < 50; ++i) CHECK(device.buffer(64, 0, 3) == nullptr);
    }
    plugin.close();
    CHECK(breaches(plugin).size() == 20);
    CHECK(logs(plugin.host, "50 breaches in "));
}

TEST_CASE("one side alone is looked at, if that is asked for; other words are refused") {
    choose(WYE_CPU_PLUGIN, {"validate"}, {{"layer.validate.of", "plugin"}});
    {
        Plugin plugin;
        Device device(plugin);
        REQUIRE(device.submit({}) == WYE_OK);
        device.newest = 0;
        (void)device.submit({});  // the host's breach
        device.newest = 1;
        CHECK(breaches(plugin).empty());
    }
    choose(WYE_CPU_PLUGIN, {"validate"}, {{"layer.validate.of", "nobody"}});
    const Plugin plugin;
    CHECK(plugin.status == WYE_INVALID_ARGUMENT);
    CHECK(plugin.failure.fix == "Fix: give host, plugin or both");
}
