// SPDX-License-Identifier: Apache-2.0
//
// The device's and the queue's slots. Nothing but translation between the ABI and the objects.
#include "cpu/device.hpp"

#include <unistd.h>

#include <new>
#include <string>

#include "cpu/program.hpp"
#include "cpu/queue.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::cpu {
namespace {

Device& of(wye_device_object* device) { return *reinterpret_cast<Device*>(device); }
Queue& of(wye_queue_object* queue) { return *reinterpret_cast<Queue*>(queue); }
const wye_host_table& host_of(wye_device_object* device) { return *of(device).plugin->host; }

wye_status buffer_create(wye_device_object* device, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    return sdk::guard(host_of(device), error, [&]() -> Result<void> {
        auto buffer = Buffer::create(desc->size, desc->alignment);
        if (!buffer)
            return Error(wye::Code::DEVICE_MEMORY,
                         "no memory for a buffer of " + std::to_string(desc->size) + " bytes",
                         "Fix: free buffers, or work on less data at a time",
                         std::string(sdk::from_abi(desc->label)));
        *out = reinterpret_cast<wye_buffer_object*>(buffer.release());
        return {};
    });
}

void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) {
    delete reinterpret_cast<Buffer*>(buffer);
}

wye_status program_create(wye_device_object* device, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    return sdk::guard(host_of(device), error, [&]() -> Result<void> {
        if (sdk::from_abi(artifact->format) != WYE_FORMAT_PROGRAM)
            return Error(wye::Code::UNSUPPORTED,
                         "the cpu plugin does not take artifacts of format \"" +
                             std::string(sdk::from_abi(artifact->format)) + "\"",
                         "Fix: hand it the program itself, format \"wye-program\"",
                         std::string(sdk::from_abi(artifact->label)));
        WYE_ASSIGN(auto program, Program::create(*artifact, *of(device).plugin->kernels));
        *out = reinterpret_cast<wye_program_object*>(program.release());
        return {};
    });
}

void program_destroy(wye_device_object*, wye_program_object* program) {
    delete reinterpret_cast<Program*>(program);
}

wye_status queue_create(wye_device_object* device, const wye_queue_desc*, wye_queue_object** out,
                        const wye_queue_table** table, wye_error** error) {
    return sdk::guard(host_of(device), error, [&]() -> Result<void> {
        *out = reinterpret_cast<wye_queue_object*>(new Queue(of(device)));
        *table = &queue_table();
        return {};
    });
}

wye_status memory_info(wye_device_object* device, wye_memory_info* out, wye_error**) {
    const long pages = sysconf(_SC_AVPHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    out->total_bytes = of(device).plugin->facts.memory_bytes;
    out->free_bytes = pages < 0 || page < 0
                          ? UINT64_MAX
                          : static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
    return WYE_OK;
}

void close(wye_device_object* device) { delete reinterpret_cast<Device*>(device); }

wye_status submit(wye_queue_object* queue, const wye_operation* operations, std::uint64_t count,
                  const wye_event* waits, std::uint64_t wait_count, std::uint64_t* out_value,
                  wye_error** error) {
    return sdk::guard(of(queue).host(), error, [&]() -> Result<void> {
        WYE_ASSIGN(*out_value, of(queue).submit(operations, count, waits, wait_count));
        return {};
    });
}

wye_status answer(Queue& queue, std::uint64_t value, Queue::Answer answer, wye_status not_yet,
                  wye_error** error) {
    if (answer == Queue::Answer::Reached) return WYE_OK;
    if (answer == Queue::Answer::NotYet) return not_yet;
    return sdk::guard(queue.host(), error, [&]() -> Result<void> { return queue.failure(value); });
}

wye_status poll(wye_queue_object* queue, std::uint64_t value, wye_error** error) {
    return answer(of(queue), value, of(queue).poll(value), WYE_NOT_READY, error);
}

wye_status wait(wye_queue_object* queue, std::uint64_t value, std::uint64_t timeout_ns,
                wye_error** error) {
    return answer(of(queue), value, of(queue).wait(value, timeout_ns), WYE_TIMEOUT, error);
}

wye_status timing(wye_queue_object* queue, std::uint64_t value, wye_timing* out, wye_error**) {
    out->device_ns = of(queue).device_ns(value).value_or(0);
    return WYE_OK;
}

wye_status cancel(wye_queue_object* queue, std::uint64_t value, wye_error**) {
    of(queue).cancel(value);
    return WYE_OK;
}

void destroy(wye_queue_object* queue) { delete reinterpret_cast<Queue*>(queue); }

constexpr wye_queue_table make_queue_table() {
    wye_queue_table table{};
    table.header.size = sizeof table;
    table.submit = submit;
    table.poll = poll;
    table.wait = wait;
    table.timing = timing;
    table.cancel = cancel;
    table.destroy = destroy;
    return table;
}

constexpr wye_device_table make_device_table() {
    wye_device_table table{};
    table.header.size = sizeof table;
    table.buffer_create = buffer_create;
    table.buffer_destroy = buffer_destroy;
    table.program_create = program_create;
    table.program_destroy = program_destroy;
    table.queue_create = queue_create;
    table.memory_info = memory_info;
    table.close = close;
    return table;
}

constexpr wye_queue_table kQueueTable = make_queue_table();
constexpr wye_device_table kDeviceTable = make_device_table();

}  // namespace

const wye_device_table& device_table() { return kDeviceTable; }
const wye_queue_table& queue_table() { return kQueueTable; }

}  // namespace wye::cpu
