// SPDX-License-Identifier: Apache-2.0
//
// The slots of an opened device.
#include "cuda/program.hpp"
#include "cuda/queue.hpp"
#include "cuda/status.hpp"

namespace wye::cuda {
namespace {

// Runs a slot's body unless the device is lost.
template <typename Body>
wye_status on_device(wye_device_object* object, wye_error** error, Body&& body) {
    OpenDevice& device = device_of(object);
    return device.guard(error, [&]() -> Result<void> {
        if (auto loss = device.loss()) return *std::move(loss);
        return body(device);
    });
}

wye_status buffer_create(wye_device_object* object, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        const Current current(device);
        WYE_ASSIGN(const CUdeviceptr memory,
                   device.allocate(desc->size, sdk::from_abi(desc->label)));
        *out = reinterpret_cast<wye_buffer_object*>(new Buffer(device, memory, desc->size));
        return {};
    });
}

void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) { delete &buffer_of(buffer); }

wye_status program_create(wye_device_object* object, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        WYE_ASSIGN(auto program, BuiltProgram::build(device, *artifact));
        *out = reinterpret_cast<wye_program_object*>(program.release());
        return {};
    });
}

void program_destroy(wye_device_object*, wye_program_object* program) {
    delete &program_of(program);
}

wye_status program_save(wye_device_object* object, wye_program_object* program, wye_bytes* out,
                        wye_error** error) {
    return device_of(object).guard(error, [&]() -> Result<void> {
        const std::vector<std::byte>& image = program_of(program).image();
        *out = {image.data(), image.size()};
        return {};
    });
}

wye_status program_load(wye_device_object* object, const wye_artifact* artifact, wye_bytes saved,
                        wye_program_object** out, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        WYE_ASSIGN(auto program, BuiltProgram::load(device, *artifact, saved));
        *out = reinterpret_cast<wye_program_object*>(program.release());
        return {};
    });
}

wye_status queue_create(wye_device_object* object, const wye_queue_desc* desc,
                        wye_queue_object** out, const wye_queue_table** table, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        WYE_ASSIGN(auto queue, Queue::create(device, desc->timing != 0));
        *out = reinterpret_cast<wye_queue_object*>(queue.release());
        *table = &kQueueTable;
        return {};
    });
}

wye_status memory_info(wye_device_object* object, wye_memory_info* out, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        const Current current(device);
        std::size_t free = 0;
        std::size_t total = 0;
        const CUresult status = device.driver.cuMemGetInfo(&free, &total);
        if (status != CUDA_SUCCESS) return device.failed(status, "cuMemGetInfo", {});
        out->total_bytes = total;
        out->free_bytes = free;
        return {};
    });
}

std::uint32_t device_lost(wye_device_object* object) { return device_of(object).lost() ? 1 : 0; }

wye_status try_recover(wye_device_object* object, wye_error** error) {
    OpenDevice& device = device_of(object);
    return device.guard(error, [&] { return device.recover(); });
}

void close_device(wye_device_object* object) { delete &device_of(object); }

constexpr wye_device_table make_table() {
    wye_device_table table{};
    table.header = sdk::header_of(sizeof table);
    table.buffer_create = buffer_create;
    table.buffer_destroy = buffer_destroy;
    table.program_create = program_create;
    table.program_destroy = program_destroy;
    table.queue_create = queue_create;
    table.memory_info = memory_info;
    table.device_lost = device_lost;
    table.try_recover = try_recover;
    table.program_save = program_save;
    table.program_load = program_load;
    table.close = close_device;
    return table;
}

}  // namespace

constinit const wye_device_table kDeviceTable = make_table();

}  // namespace wye::cuda
