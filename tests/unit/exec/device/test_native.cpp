// SPDX-License-Identifier: Apache-2.0
//
// Native handles: those of the plugin, or an error that says why there are none.
#include "rig.hpp"
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
        check_ok(attempt([&](wye_error** e) {
            return wye_queue_create(rig.context, device, &desc, &queue, e);
        }));
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
    CHECK(t.value("fake_device") == reinterpret_cast<std::uintptr_t>(t.rig.driver.newest[0]));
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
    t.rig.driver.native_values = 2;  // the second has no type
    check_refused(t.of_buffer(), WYE_PLUGIN_FAULT, "type of a native handle is empty");
    t.rig.driver.native_values = 1;
    check_ok(t.of_buffer());
    t.rig.driver.lose(0);
    check_refused(t.of_device(), WYE_DEVICE_LOST, "");
}

}  // namespace
}  // namespace wye::exec::test::test_native
