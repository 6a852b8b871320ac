// SPDX-License-Identifier: Apache-2.0
//
// Native handles: the extension wye.native_handle of a device. For a plugin without the extension
// these cases do not apply. Native events: only refusals, since the kit cannot make such events.
#include <set>

#include "conformance/abi/rig.hpp"

using harness::check_helpful;
using harness::Rig;
using harness::text_of;

TEST_SUITE_BEGIN("native");

namespace {

const wye_native_table* table_of(const Rig& rig, std::uint32_t version = 1) {
    const std::string_view name = WYE_EXTENSION_NATIVE_HANDLE;
    if (rig.device.table->get_extension == nullptr) return nullptr;
    return static_cast<const wye_native_table*>(
        rig.device.table->get_extension(rig.device.object, {name.data(), name.size()}, version));
}

// Checks the handle that a slot gives, and returns it. A slot without a handle must return
// UNSUPPORTED.
template <typename Ask>
wye_native_handle ask(Ask&& slot) {
    wye_native_handle out{};
    out.header.size = sizeof out;
    harness::Sink sink;
    const wye_status status = slot(&out, sink.out());
    if (status != WYE_OK) {
        check_helpful(sink.failure(), WYE_UNSUPPORTED);
        return {};
    }
    CHECK(out.count >= 1);
    REQUIRE(out.count <= WYE_NATIVE_VALUES);
    CHECK(out.reserved == 0);
    CHECK(out.header.size == sizeof out);
    std::set<std::string> types;
    for (std::uint32_t i = 0; i < out.count; ++i) {
        CHECK_FALSE(text_of(out.values[i].type).empty());
        CHECK(types.insert(text_of(out.values[i].type)).second);
    }
    CHECK(out.values[0].value != 0);
    return out;
}

bool equal(const wye_native_handle& a, const wye_native_handle& b) {
    if (a.count != b.count) return false;
    for (std::uint32_t i = 0; i < a.count; ++i)
        if (a.values[i].value != b.values[i].value ||
            text_of(a.values[i].type) != text_of(b.values[i].type))
            return false;
    return true;
}

// A critical chain entry that no native handle has.
constexpr wye_header kUnknown = {sizeof(wye_header), (WYE_FIRST_VENDOR - 2) | WYE_CHAIN_CRITICAL,
                                 nullptr};

}  // namespace

TEST_CASE("the table of native handles is whole, and of the version asked for (P-49)") {
    const Rig rig;
    CHECK((table_of(rig, 2) == nullptr));
    CHECK((table_of(rig, 0) == nullptr));
    const wye_native_table* table = table_of(rig);
    if (table == nullptr) return harness::not_applicable("the device has no wye.native_handle");
    CHECK(table->header.size >= WYE_SIZE_TO(wye_native_table, buffer));
    CHECK((table->device != nullptr));
    CHECK((table->queue != nullptr));
    CHECK((table->buffer != nullptr));
    CHECK((table_of(rig) == table));
}

TEST_CASE("each object has native handles of its own, the same while it lives (P-49)") {
    Rig rig;
    const wye_native_table* table = table_of(rig);
    if (table == nullptr) return harness::not_applicable("the device has no wye.native_handle");
    wye_device_object* const device = rig.device.object;
    const auto of_device = [&] {
        return ask([&](auto* out, auto** e) { return table->device(device, out, e); });
    };
    const auto of_queue = [&](wye_queue_object* queue) {
        return ask([&](auto* out, auto** e) { return table->queue(device, queue, out, e); });
    };
    const auto of_buffer = [&](wye_buffer_object* buffer) {
        return ask([&](auto* out, auto** e) { return table->buffer(device, buffer, out, e); });
    };
    wye_buffer_object* const one = rig.device.buffer(256);
    wye_buffer_object* const two = rig.device.buffer(256);
    REQUIRE((one != nullptr && two != nullptr));
    const wye_native_handle first = of_buffer(one), second = of_buffer(two);
    const wye_native_handle owner = of_device(), queue = of_queue(rig.device.queue);
    REQUIRE(first.count >= 1);  // each buffer must have a handle
    CHECK(text_of(first.values[0].type) == text_of(second.values[0].type));
    CHECK(first.values[0].value != second.values[0].value);
    // Work on a buffer changes no handle.
    REQUIRE(rig.device.run(harness::fill(one, 0, 256, 7, 4)) == WYE_OK);
    CHECK(equal(of_buffer(one), first));
    CHECK(equal(of_buffer(two), second));
    CHECK(equal(of_device(), owner));
    CHECK(equal(of_queue(rig.device.queue), queue));
}

// The second buffer is made of the memory of the first, as if the application had allocated that.
TEST_CASE("a buffer of native memory uses that memory, and does not free it (P-51, P-7)") {
    Rig rig;
    const wye_native_table* table = table_of(rig);
    if (table == nullptr) return harness::not_applicable("the device has no wye.native_handle");
    wye_device_object* const device = rig.device.object;
    constexpr std::uint64_t kBytes = 4096;
    wye_buffer_object* const owner = rig.device.buffer(kBytes);
    REQUIRE(owner != nullptr);
    harness::NativeBuffer native(
        kBytes, ask([&](auto* out, auto** e) { return table->buffer(device, owner, out, e); }));
    REQUIRE(native.handle.count >= 1);
    harness::Sink first;
    wye_buffer_object* adopted = nullptr;
    const wye_status status = native.create(rig.device, &adopted, first.out());
    if (status == WYE_UNSUPPORTED_EXTENSION)
        return harness::not_applicable("the device adopts no native memory");
    REQUIRE(status == WYE_OK);
    REQUIRE(adopted != nullptr);
    const auto word_of = [&](wye_buffer_object* buffer, std::uint64_t at) {
        return harness::values_of<std::uint32_t>(rig.device.download(buffer, kBytes)).at(at / 4);
    };
    REQUIRE(rig.device.run(harness::fill(owner, 0, kBytes, 11, 4)) == WYE_OK);
    CHECK(word_of(adopted, kBytes - 4) == 11);
    REQUIRE(rig.device.run(harness::fill(adopted, 8, 4, 22, 4)) == WYE_OK);
    CHECK(word_of(owner, 8) == 22);
    CHECK(word_of(owner, 12) == 11);
    rig.device.table->buffer_destroy(device, adopted);
    CHECK(word_of(owner, 8) == 22);
    REQUIRE(rig.device.run(harness::fill(owner, 0, kBytes, 33, 4)) == WYE_OK);
    CHECK(word_of(owner, 8) == 33);

    const auto refused = [&] {
        harness::Sink sink;
        wye_buffer_object* out = nullptr;
        const wye_status answer = native.create(rig.device, &out, sink.out());
        CHECK(out == nullptr);
        if (out != nullptr) rig.device.table->buffer_destroy(device, out);
        check_helpful(sink.failure(), answer);
        return answer;
    };
    wye_native_value& value = native.handle.values[0];
    const wye_native_value good = value;
    value.value = 0;
    CHECK(refused() == WYE_INVALID_ARGUMENT);
    value = good;
    value.type = {"no_such_type", 12};
    CHECK(refused() == WYE_INVALID_ARGUMENT);
    value = good;
    native.desc.size = 0;
    CHECK(refused() == WYE_INVALID_ARGUMENT);
    native.desc.size = kBytes;
    native.handle.header.next = &kUnknown;
    CHECK(refused() == WYE_UNSUPPORTED_EXTENSION);
}

TEST_CASE(
    "a submission with a native event is refused, if the event is not a right one (P-52, P-7)") {
    Rig rig;
    harness::Device& device = rig.device;
    wye_buffer_object* const x = rig.zeros(256);
    const wye_operation fill = harness::fill(x, 0, 256, 7, 4);
    wye_native_handle event{};
    event.header.size = sizeof event;
    event.count = 1;
    wye_native_wait wait{};
    wait.header = {sizeof wait, WYE_CHAIN_NATIVE_WAIT | WYE_CHAIN_CRITICAL, nullptr};
    wait.event = &event;
    wye_status wanted = rig.plugin.flag(WYE_FACT_KEY_NATIVE_WAIT) ? WYE_INVALID_ARGUMENT
                                                                  : WYE_UNSUPPORTED_EXTENSION;
    const auto check_refused = [&](std::string_view type, std::uint64_t value) {
        CAPTURE(type);
        event.values[0] = {{type.data(), type.size()}, value, {}};
        for (const std::uint64_t operations : {0, 1}) {
            wye_submission submission{};
            submission.header = {sizeof submission, 0, &wait};
            submission.operations = &fill;
            submission.operation_count = operations;
            submission.value = device.newest + 1;
            harness::Sink sink;
            const wye_status status =
                device.queue_table->submit(device.queue, &submission, sink.out());
            CHECK(status == wanted);
            check_helpful(sink.failure(), status);
        }
    };
    check_refused("no_such_type", 77);
    for (const char* type : {"CUevent", "cl_event", "VkSemaphore"}) check_refused(type, 0);
    event.header.next = &kUnknown;
    wanted = WYE_UNSUPPORTED_EXTENSION;
    check_refused("no_such_type", 77);
    // Nothing was queued, and the value may be used again.
    harness::check_same(rig.words(x, 64), std::vector<std::uint32_t>(64));
    REQUIRE(device.run(fill) == WYE_OK);
    harness::check_same(rig.words(x, 64), std::vector<std::uint32_t>(64, 7));
}

TEST_SUITE_END();
