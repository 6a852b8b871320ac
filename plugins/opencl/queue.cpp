// SPDX-License-Identifier: Apache-2.0
#include "opencl/queue.hpp"

#include "opencl/program.hpp"
#include "opencl/status.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::opencl {
namespace {

// An operation on no bytes, or a launch of no workgroups: OpenCL refuses those, so nothing is
// queued for them. PoCL 3.1 takes such a launch, and compiles the kernel for a workgroup of no
// size, which is of use to no other launch.
bool empty(const wye_operation& op) {
    switch (op.kind) {
        case WYE_OPERATION_DISPATCH:
            return op.u.dispatch.groups[0] == 0;
        case WYE_OPERATION_COPY:
            return op.u.copy.size == 0;
        case WYE_OPERATION_FILL:
            return op.u.fill.size == 0;
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            return op.u.transfer.size == 0;
        default:
            return false;
    }
}

}  // namespace

Result<std::unique_ptr<Queue>> Queue::create(OpenDevice& device, bool timing) {
    cl_int status = CL_SUCCESS;
    CommandQueue queue(device.driver, device.driver.clCreateCommandQueue(
                                          device.context.get(), device.info.id,
                                          timing ? CL_QUEUE_PROFILING_ENABLE : 0, &status));
    if (status != CL_SUCCESS) return cl_error(status, "clCreateCommandQueue", device.info.name);
    return std::unique_ptr<Queue>(new Queue(device, std::move(queue), timing));
}

Queue::~Queue() { device_.driver.clFinish(queue_.get()); }

[[gnu::always_inline]] inline Result<void> Queue::enqueue(const wye_operation& op,
                                                          cl_uint wait_count, const cl_event* waits,
                                                          cl_event* event) {
    const Driver& driver = device_.driver;
    cl_int status = CL_SUCCESS;
    std::string_view call;
    switch (op.kind) {
        case WYE_OPERATION_DISPATCH:
            return program_of(op.u.dispatch.program)
                .launch(queue_.get(), op.u.dispatch, wait_count, waits, event);
        case WYE_OPERATION_COPY: {
            const wye_copy_op& copy = op.u.copy;
            call = "clEnqueueCopyBuffer";
            status =
                driver.clEnqueueCopyBuffer(queue_.get(), buffer_of(copy.source).memory.get(),
                                           buffer_of(copy.target).memory.get(), copy.source_offset,
                                           copy.target_offset, copy.size, wait_count, waits, event);
            break;
        }
        case WYE_OPERATION_FILL: {
            const wye_fill_op& fill = op.u.fill;
            call = "clEnqueueFillBuffer";
            status = driver.clEnqueueFillBuffer(queue_.get(), buffer_of(fill.target).memory.get(),
                                                &fill.pattern, fill.pattern_size, fill.offset,
                                                fill.size, wait_count, waits, event);
            break;
        }
        case WYE_OPERATION_UPLOAD: {
            const wye_transfer_op& up = op.u.transfer;
            call = "clEnqueueWriteBuffer";
            status = driver.clEnqueueWriteBuffer(queue_.get(), buffer_of(up.buffer).memory.get(),
                                                 CL_FALSE, up.offset, up.size, up.source,
                                                 wait_count, waits, event);
            break;
        }
        case WYE_OPERATION_DOWNLOAD: {
            const wye_transfer_op& down = op.u.transfer;
            call = "clEnqueueReadBuffer";
            status = driver.clEnqueueReadBuffer(queue_.get(), buffer_of(down.buffer).memory.get(),
                                                CL_FALSE, down.offset, down.size, down.target,
                                                wait_count, waits, event);
            break;
        }
        default:
            return Error(
                Code::UNSUPPORTED,
                "the OpenCL plugin does not know operation kind " + std::to_string(op.kind),
                "Fix: hand it dispatches, copies, fills, uploads and downloads");
    }
    if (status != CL_SUCCESS) return cl_error(status, call, device_.info.name);
    return {};
}

// Only other queues are waited for: this one is in order. Their commands must have left the host
// before another queue may wait for them.
Result<void> Queue::gather(std::span<const wye_event> waits, Waits& out) {
    for (const wye_event& wait : waits) {
        Queue& other = queue_of(wait.queue);
        if (&other == this) continue;
        if (other.timeline_.poisoned(wait.value)) return other.timeline_.failure();
        WYE_ASSIGN(Event event, other.timeline_.event_for(wait.value));
        if (!event) continue;
        device_.driver.clFlush(other.queue_.get());
        out.raw.push_back(event.get());
        out.held.push_back(std::move(event));
    }
    return {};
}

[[gnu::hot]] Result<std::uint64_t> Queue::submit(std::span<const wye_operation> operations,
                                                 std::span<const wye_event> waits) {
    if (timeline_.poisoned(UINT64_MAX - 1)) return timeline_.failure();
    const Driver& driver = device_.driver;
    Waits before;
    if (!waits.empty()) WYE_TRY(gather(waits, before));
    auto waiting = static_cast<cl_uint>(before.raw.size());
    const cl_event* raw = waiting != 0 ? before.raw.data() : nullptr;

    const wye_operation* last = nullptr;  // the last operation that queues something
    for (const wye_operation& op : operations)
        if (!empty(op)) last = &op;
    cl_event first_event = nullptr;
    cl_event last_event = nullptr;
    bool queued = false;
    for (const wye_operation& op : operations) {
        if (empty(op)) continue;
        cl_event* event = &op == last ? &last_event : timing_ && !queued ? &first_event : nullptr;
        Result<void> done;
        try {
            done = enqueue(op, waiting, raw, event);
        } catch (...) {  // no memory: what was queued uses memory of the caller
            const Event first(driver, first_event);
            if (queued) {
                driver.clFinish(queue_.get());
                timeline_.poison(Error(Code::OUT_OF_MEMORY, "a submit ran out of host memory",
                                       "Fix: add memory"));
            }
            throw;
        }
        if (!done.ok()) {
            const Event first(driver, first_event);
            if (queued) {  // some of it runs: nothing after it may
                driver.clFinish(queue_.get());
                timeline_.poison(done.error());
            }
            return std::move(done).error();
        }
        queued = true;
        waiting = 0;
        raw = nullptr;
    }
    if (!queued) {
        const cl_int status =
            driver.clEnqueueMarkerWithWaitList(queue_.get(), waiting, raw, &last_event);
        if (status != CL_SUCCESS)
            return cl_error(status, "clEnqueueMarkerWithWaitList", device_.info.name);
    }
    driver.clFlush(queue_.get());
    return timeline_.add(Event(driver, first_event), Event(driver, last_event));
}

constinit const wye_queue_table kQueueTable = sdk::QueueSlots<Queue>::table();

}  // namespace wye::opencl
