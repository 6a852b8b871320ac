// SPDX-License-Identifier: Apache-2.0
//
// An opened device: its tables and limits, and the independence of two devices.
#include "conformance/abi/rig.hpp"

using harness::QuietPlugin;
using harness::Rig;

TEST_SUITE_BEGIN("device");

TEST_CASE("a device is closed soon, before anything was done with it (P-29, P-58)") {
    const QuietPlugin plugin;
    wye_device_object* object = nullptr;
    const wye_device_table* table = nullptr;
    if (plugin.open(&object, &table, nullptr) != WYE_OK || object == nullptr || table == nullptr ||
        table->close == nullptr)
        return harness::not_applicable("no device could be opened; the next cases report why");
    table->close(object);
}

TEST_CASE("a device and a queue have all mandatory slots, and both or none of each pair (P-6)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    CHECK(table.header.size >= WYE_SIZE_TO(wye_device_table, close));
    CHECK((table.program_save == nullptr) == (table.program_load == nullptr));
    const bool records = table.command_create != nullptr;
    CHECK((table.command_destroy != nullptr) == records);
    CHECK((table.command_info != nullptr) == records);
    if (table.command_update != nullptr) CHECK(records);
    CHECK((table.query != nullptr));
    CHECK((table.wait != nullptr));
    const bool makes = table.timeline_create != nullptr;
    CHECK((table.timeline_destroy != nullptr) == makes);
    CHECK((table.timeline_signal != nullptr) == makes);
    CHECK((table.timeline_fail != nullptr) == makes);
    const wye_queue_table& queue = *rig.device.queue_table;
    CHECK(queue.header.size >= WYE_SIZE_TO(wye_queue_table, info));
    CHECK((queue.submit != nullptr));
    CHECK((queue.destroy != nullptr));
}

TEST_CASE("a call that succeeds gives an object (P-12)") {
    const QuietPlugin plugin;
    wye_device_object* object = nullptr;
    const wye_device_table* table = nullptr;
    REQUIRE(plugin.open(&object, &table, nullptr) == WYE_OK);
    REQUIRE((object != nullptr));
    REQUIRE((table != nullptr));
    wye_buffer_desc description{};
    description.header.size = sizeof description;
    description.size = 64;
    description.alignment = 16;
    wye_buffer_object* buffer = nullptr;
    CHECK(table->buffer_create(object, &description, &buffer, nullptr) == WYE_OK);
    CHECK((buffer != nullptr));
    wye_queue_desc queue_description{};
    queue_description.header.size = sizeof queue_description;
    wye_queue_object* queue = nullptr;
    wye_timeline_object* timeline = nullptr;
    const wye_queue_table* queues = nullptr;
    CHECK(table->queue_create(object, &queue_description, &queue, &timeline, &queues, nullptr) ==
          WYE_OK);
    REQUIRE((queue != nullptr && timeline != nullptr && queues != nullptr));
    queues->destroy(queue);
    if (buffer != nullptr) table->buffer_destroy(object, buffer);
    table->close(object);
}

TEST_CASE("limits are those of a device that programs can use (P-19)") {
    const QuietPlugin plugin;
    REQUIRE(plugin.devices >= 1);
    CHECK(plugin.info().state == WYE_DEVICE_USABLE);
    const wye_device_info info = plugin.info();
    if (!harness::add_sample({info.formats, info.format_count}))
        return harness::not_applicable("the kit has no program in a format of this device");
    CHECK(plugin.flag(WYE_FACT_KEY_BARRIER));
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS).u >= 64);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_WORKGROUP_SIZE).xyz[0] >= 64);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_SHARED_BYTES).u >= 16384);
    CHECK(plugin.fact(WYE_FACT_KEY_MAX_BUFFER_BYTES).u >= (std::uint64_t{1} << 27U));
    const std::uint64_t alignment = plugin.fact(WYE_FACT_KEY_BUFFER_ALIGNMENT).u;
    CHECK(alignment > 0);
    CHECK((alignment & (alignment - 1)) == 0);
}

TEST_CASE("tables of extensions have a header, and are the same in every call (P-59)") {
    Rig rig;
    const wye_device_table& device = *rig.device.table;
    if (device.get_extension == nullptr)
        return harness::not_applicable("the device has no get_extension");
    for (const std::string_view name : {"wye.native_handle", "wye.loss", "wye.layouts"}) {
        CAPTURE(name);
        const auto ask = [&] {
            return static_cast<const wye_header*>(
                device.get_extension(rig.device.object, {name.data(), name.size()}, 1));
        };
        const wye_header* table = ask();
        if (table == nullptr) continue;
        CHECK(table->size >= sizeof(wye_header) + sizeof(void*));
        CHECK(table->type == 0);
        CHECK((ask() == table));
    }
}

TEST_CASE("a fresh device is not lost, and knows its memory or says that it does not (P-19)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    if (table.device_lost != nullptr) CHECK(table.device_lost(rig.device.object) == 0);
    if (table.memory_info != nullptr) {
        wye_memory_info memory{};
        memory.header.size = sizeof memory;
        CHECK(table.memory_info(rig.device.object, &memory, nullptr) == WYE_OK);
        const std::uint64_t total = rig.plugin.fact(WYE_FACT_KEY_MEMORY_BYTES).u;
        if (total != 0) CHECK(memory.total_bytes == total);
        CHECK(memory.free_bytes > 0);
    }
    if (table.prepare != nullptr) CHECK(table.prepare(rig.device.object, nullptr) == WYE_OK);
    if (table.flush != nullptr) CHECK(table.flush(rig.device.object, nullptr) == WYE_OK);
    const std::string_view name = "org.example.not_there";
    if (table.get_extension != nullptr)
        CHECK(table.get_extension(rig.device.object, {name.data(), name.size()}, 1) == nullptr);
}

TEST_SUITE_END();
