// SPDX-License-Identifier: Apache-2.0
//
// Native handles: those of the plugin, or an error that says why there are none. Native memory and
// native events of the application.
#include "rig.hpp"
#include "wye/device.h"
#include "wye/native.h"

namespace wye::exec::test::test_native {
namespace {

struct Asked {
    Rig rig;
    wye_device device = 0;
    wye_buffer buffer = 0;
    wye_queue queue = 0;
    wye_native_handle found{};

    Asked() {
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 8;
        device = rig.device();
        buffer = rig.buffer(device, 16);
        wye_queue_create_desc desc;
        WYE_INIT(desc);
        check_ok(rig.create(device, desc, queue));
    }
    Outcome of_device() {
        return ask(
            [&](wye_error** e) { return wye_device_native(rig.context, device, &found, e); });
    }
    Outcome of_queue() {
        return ask([&](wye_error** e) { return wye_queue_native(rig.context, queue, &found, e); });
    }
    Outcome of_buffer() {
        return ask(
            [&](wye_error** e) { return wye_buffer_native(rig.context, buffer, &found, e); });
    }
    template <typename Call>
    Outcome ask(Call&& call) {
        WYE_INIT(found);
        return attempt(call);
    }
    [[nodiscard]] std::uint64_t value(const char* type) const {
        std::uint64_t out = 0;
        return wye_native_get(&found, type, &out) == 1 ? out : 0;
    }
};

TEST_CASE("native handles are those of the plugin's objects") {
    Asked t;
    check_ok(t.of_device());
    CHECK(t.value("fake_device") ==
          reinterpret_cast<std::uintptr_t>(t.rig.driver.newest[0].load()));
    check_ok(t.of_queue());
    CHECK(t.value("fake_queue") != 0);
    check_ok(t.of_buffer());
    CHECK(t.value("fake_queue") == 0);
    const std::vector<std::uint32_t> words = {1, 2, 3, 4};
    t.rig.upload(t.buffer, words);
    const auto* memory = reinterpret_cast<const std::uint32_t*>(t.value("void*"));
    REQUIRE(memory != nullptr);
    CHECK(std::vector<std::uint32_t>(memory, memory + 4) == words);
}

TEST_CASE("without native handles, and with broken ones, the error says so") {
    Asked t;
    t.rig.driver.native_values = 0;
    check_refused(t.of_device(), WYE_UNSUPPORTED, "the plugin of fake:0 gives no native handles");
    check_refused(t.of_queue(), WYE_UNSUPPORTED, "fake:0");
    check_refused(t.of_buffer(), WYE_UNSUPPORTED, "fake:0");
    CHECK(t.found.count == 0);
    for (const std::uint32_t values : {WYE_NATIVE_VALUES + 1U, 0x80000000U}) {
        t.rig.driver.native_values = values;
        check_refused(t.of_buffer(), WYE_PLUGIN_FAULT, std::to_string(values) + " values");
    }
    t.rig.driver.native_values = 2;  // the second value has no type
    check_refused(t.of_buffer(), WYE_PLUGIN_FAULT, "type of a native handle is empty");
    t.rig.driver.native_values = 1;
    check_ok(t.of_buffer());
    t.rig.driver.lose(0);
    check_refused(t.of_device(), WYE_DEVICE_LOST, "");
}

// A queue that waits for an event of the application.
struct Waiting {
    Rig rig;
    wye_device device = 0;
    wye_queue queue = 0;
    wye_native_handle event = wye_native_of("fake_event", 77);

    Waiting() {
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 8;
        device = rig.device();
        wye_queue_create_desc desc;
        WYE_INIT(desc);
        check_ok(rig.create(device, desc, queue));
    }
    Outcome wait() {
        return attempt(
            [&](wye_error** e) { return wye_queue_wait_native(rig.context, queue, &event, e); });
    }
    [[nodiscard]] std::uint64_t submits() const {
        wye_queue_description out;
        WYE_INIT(out);
        CHECK(wye_queue_describe(rig.context, queue, &out, nullptr) == WYE_OK);
        return out.submits;
    }
};

TEST_CASE("a native wait is a submit of its queue without operations, before later work") {
    Waiting t;
    check_ok(t.wait());
    CHECK(t.submits() == 1);
    const wye_buffer x = t.rig.buffer(t.device, 16);
    const wye_buffer r = t.rig.buffer(t.device, 16);
    Job job(t.rig.program(kAdd), t.device);
    job.desc.queue = t.queue;
    check_ok(job.param(5).resident(0, x).resident(1, r).run(t.rig));
    CHECK(t.submits() == 2);
    const auto& all = t.rig.driver.submitted;
    REQUIRE(all.size() >= 2);
    const FakeDriver::Submit& waiting = all[all.size() - 2];
    const FakeDriver::Submit& working = all.back();
    CHECK(waiting.native_event == 77);
    CHECK(working.native_event == 0);
    CHECK(waiting.queue == working.queue);
    CHECK(waiting.value < working.value);
}

TEST_CASE("wrong native waits are refused by name, and queue nothing") {
    Waiting t;
    const wye_native_handle good = t.event;
    for (const std::uint32_t count : {0U, WYE_NATIVE_VALUES + 1U, UINT32_MAX}) {
        t.event.count = count;
        check_refused(t.wait(), WYE_INVALID_ARGUMENT,
                      "`count` of wye_native_handle is " + std::to_string(count));
    }
    t.event = good;
    t.event.reserved = 3;
    check_refused(t.wait(), WYE_INVALID_ARGUMENT, "`reserved` is 3");
    t.event = good;
    t.event.values[0].type = {nullptr, 4};
    check_refused(t.wait(), WYE_INVALID_ARGUMENT, "type");
    t.event = good;
    t.rig.driver.waits_native = false;
    check_refused(t.wait(), WYE_UNSUPPORTED, "the plugin of fake:0 waits for no events");
    t.rig.driver.waits_native = true;
    t.rig.driver.fail_submit = true;
    check_refused(t.wait(), WYE_DRIVER, "refuses to submit");
    t.rig.driver.fail_submit = false;
    CHECK(t.submits() == 0);
    check_ok(t.wait());
    CHECK(t.submits() == 1);
    t.rig.driver.lose(0);
    check_refused(t.wait(), WYE_DEVICE_LOST, "");
    check_ok(attempt([&](wye_error** e) { return wye_queue_free(t.rig.context, t.queue, e); }));
    check_refused(t.wait(), WYE_STALE_HANDLE, "");
}

TEST_CASE("values are added to a native handle until it is full") {
    wye_native_handle handle = wye_native_of("a", 1);
    const char* const names[] = {"b", "c", "d", "e", "f"};
    for (std::uint64_t i = 0; i < 5; ++i) CHECK(wye_native_add(&handle, names[i], i + 2) == 1);
    CHECK(handle.count == WYE_NATIVE_VALUES);
    CHECK(wye_native_add(&handle, "g", 7) == 0);
    CHECK(handle.count == WYE_NATIVE_VALUES);
    std::uint64_t value = 0;
    CHECK(wye_native_get(&handle, "f", &value) == 1);
    CHECK(value == 6);
}

// A valid adoption of the application's memory. Each test makes one mistake in it.
struct Adopted {
    Rig rig;
    wye_device device = rig.device();
    alignas(16) std::uint32_t memory[4] = {1, 2, 3, 4};
    wye_native_handle handle = wye_native_of("void*", reinterpret_cast<std::uintptr_t>(memory));
    wye_buffer_adopt_desc desc;
    wye_buffer buffer = 0;

    Adopted() {
        WYE_INIT(desc);
        desc.memory = &handle;
        desc.size = sizeof memory;
        desc.label = wye_str("mine");
    }
    Outcome adopt() {
        return attempt([&](wye_error** e) {
            return wye_buffer_adopt(rig.context, device, &desc, &buffer, e);
        });
    }
};

TEST_CASE("adopted memory is used in place, belongs to the application, and is not counted") {
    Adopted t;
    t.rig.driver.kernel = add_kernel;
    check_ok(t.adopt());
    CHECK(t.rig.driver.registered == 1);
    CHECK(t.rig.driver.buffers == 0);
    wye_counters counters;
    WYE_INIT(counters);
    CHECK(wye_device_counters(t.rig.context, t.device, &counters, nullptr) == WYE_OK);
    CHECK(counters.buffer_bytes == 0);
    wye_buffer_info info;
    WYE_INIT(info);
    CHECK(wye_buffer_describe(t.rig.context, t.buffer, &info, nullptr) == WYE_OK);
    CHECK(info.size == 16);
    CHECK(info.usage == WYE_BUFFER_USAGE_DEVICE);
    CHECK(std::string_view(info.label.data, info.label.size) == "mine");
    const wye_buffer x = t.rig.buffer(t.device, 16);
    t.rig.upload(x, std::vector<std::uint32_t>{10, 20, 30, 40});
    Job job(t.rig.program(kAdd), t.device);
    check_ok(job.param(5).resident(0, x).resident(1, t.buffer).run(t.rig));
    CHECK(t.memory[3] == 45);
    check_ok(t.rig.free(t.buffer));
    CHECK(t.rig.driver.registered == 0);
    CHECK(t.memory[3] == 45);
    check_refused(t.rig.free(t.buffer), WYE_STALE_HANDLE, "");
}

TEST_CASE("wrong adoptions are refused by name, and without the plugin where it cannot help") {
    Adopted t;
    const wye_native_handle good = t.handle;
    t.desc.memory = nullptr;
    check_refused(t.adopt(), WYE_INVALID_ARGUMENT, "memory");
    t.desc.memory = &t.handle;
    for (const std::uint32_t count : {0U, WYE_NATIVE_VALUES + 1U, UINT32_MAX}) {
        t.handle.count = count;
        check_refused(t.adopt(), WYE_INVALID_ARGUMENT,
                      "`count` of wye_native_handle is " + std::to_string(count));
    }
    t.handle = good;
    t.handle.reserved = 7;
    check_refused(t.adopt(), WYE_INVALID_ARGUMENT, "`reserved` is 7");
    t.handle = good;
    t.handle.values[0].type.size = 0;
    check_refused(t.adopt(), WYE_INVALID_ARGUMENT, "no type");
    t.handle.values[0].type = {nullptr, 4};
    check_refused(t.adopt(), WYE_INVALID_ARGUMENT, "type");
    t.handle = good;
    t.handle.header.size = 8;
    check_refused(t.adopt(), WYE_INVALID_ARGUMENT, "wye_native_handle");
    t.handle = good;
    t.desc.flags = 4;
    check_refused(t.adopt(), WYE_INVALID_ARGUMENT, "is 0x4");
    t.desc.flags = 0;
    t.desc.size = UINT64_MAX;
    check_refused(t.adopt(), WYE_LIMIT_EXCEEDED, "18446744073709551615");
    t.desc.size = 16;
    CHECK(t.rig.driver.registered == 0);
    t.rig.driver.adopts = false;
    check_refused(t.adopt(), WYE_UNSUPPORTED, "the plugin of fake:0 adopts no memory");
    t.rig.driver.adopts = true;
    t.rig.driver.lose(0);
    check_refused(t.adopt(), WYE_DEVICE_LOST, "");
    CHECK(t.buffer == 0);
    CHECK(t.rig.driver.registered == 0);
}

TEST_CASE("adopted memory is let go when its device is closed") {
    Adopted t;
    check_ok(t.adopt());
    check_ok(attempt([&](wye_error** e) { return wye_device_close(t.rig.context, t.device, e); }));
    CHECK(t.rig.driver.registered == 0);
    check_refused(t.rig.free(t.buffer), WYE_STALE_HANDLE, "");
}

}  // namespace
}  // namespace wye::exec::test::test_native
