// SPDX-License-Identifier: Apache-2.0
#include "cuda/queue.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/program.hpp"
#include "cuda/status.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::cuda {

Result<std::unique_ptr<Queue>> Queue::create(OpenDevice& device, bool timing) {
    const Current current(device);
    CUstream stream = nullptr;
    const CUresult status = device.driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (status != CUDA_SUCCESS) return device.failed(status, "cuStreamCreate", {});
    return std::unique_ptr<Queue>(new Queue(device, stream, timing));
}

Queue::~Queue() {
    if (epoch_ != device_.epoch()) return;
    (void)timeline_.wait(timeline_.newest(), UINT64_MAX);
    if (device_.lost()) return;
    const Current current(device_);
    (void)device_.driver.cuStreamDestroy(stream_);
}

Result<void> Queue::done(CUresult status, std::string_view call) {
    if (status == CUDA_SUCCESS) return {};
    return device_.failed(status, call, {});
}

// There is no call for 8-byte patterns of two different halves: the first element is made, and then
// copied in doubling steps.
Result<void> Queue::fill(const wye_fill_op& op) {
    const Driver& driver = device_.driver;
    const CUdeviceptr at = buffer_of(op.target).memory + op.offset;
    const auto low = static_cast<unsigned>(op.pattern);
    const auto high = static_cast<unsigned>(op.pattern >> 32U);
    switch (op.pattern_size) {
        case 1:
            return done(
                driver.cuMemsetD8Async(at, static_cast<unsigned char>(low), op.size, stream_),
                "cuMemsetD8Async");
        case 2:
            return done(
                driver.cuMemsetD16Async(at, static_cast<unsigned short>(low), op.size / 2, stream_),
                "cuMemsetD16Async");
        case 4:
            return done(driver.cuMemsetD32Async(at, low, op.size / 4, stream_), "cuMemsetD32Async");
        default:
            break;
    }
    if (low == high)
        return done(driver.cuMemsetD32Async(at, low, op.size / 4, stream_), "cuMemsetD32Async");
    WYE_TRY(done(driver.cuMemsetD32Async(at, low, 1, stream_), "cuMemsetD32Async"));
    WYE_TRY(done(driver.cuMemsetD32Async(at + 4, high, 1, stream_), "cuMemsetD32Async"));
    for (std::uint64_t filled = 8; filled < op.size;) {
        const std::uint64_t more = std::min(filled, op.size - filled);
        WYE_TRY(
            done(driver.cuMemcpyDtoDAsync(at + filled, at, more, stream_), "cuMemcpyDtoDAsync"));
        filled += more;
    }
    return {};
}

Result<void> Queue::upload(const wye_transfer_op& op) {
    const CUdeviceptr at = buffer_of(op.buffer).memory + op.offset;
    const void* source = op.source;
    if (std::byte* staged = timeline_.stage(op.size)) {
        std::memcpy(staged, op.source, op.size);
        source = staged;
    }
    return done(device_.driver.cuMemcpyHtoDAsync(at, source, op.size, stream_),
                "cuMemcpyHtoDAsync");
}

Result<void> Queue::download(const wye_transfer_op& op) {
    const CUdeviceptr at = buffer_of(op.buffer).memory + op.offset;
    std::byte* staged = timeline_.stage(op.size);
    void* target = staged != nullptr ? staged : op.target;
    WYE_TRY(
        done(device_.driver.cuMemcpyDtoHAsync(target, at, op.size, stream_), "cuMemcpyDtoHAsync"));
    if (staged != nullptr) timeline_.deliver(staged, op.target, op.size);
    return {};
}

Result<void> Queue::enqueue(const wye_operation& op) {
    switch (op.kind) {
        case WYE_OPERATION_DISPATCH:
            return program_of(op.u.dispatch.program).launch(stream_, op.u.dispatch);
        case WYE_OPERATION_COPY: {
            const wye_copy_op& copy = op.u.copy;
            if (copy.size == 0) return {};
            return done(device_.driver.cuMemcpyDtoDAsync(
                            buffer_of(copy.target).memory + copy.target_offset,
                            buffer_of(copy.source).memory + copy.source_offset, copy.size, stream_),
                        "cuMemcpyDtoDAsync");
        }
        case WYE_OPERATION_FILL:
            return op.u.fill.size == 0 ? Result<void>() : fill(op.u.fill);
        case WYE_OPERATION_UPLOAD:
            return op.u.transfer.size == 0 ? Result<void>() : upload(op.u.transfer);
        case WYE_OPERATION_DOWNLOAD:
            return op.u.transfer.size == 0 ? Result<void>() : download(op.u.transfer);
        default:
            return Error(Code::UNSUPPORTED,
                         "the CUDA plugin does not know operation kind " + std::to_string(op.kind),
                         "Fix: hand it dispatches, copies, fills, uploads and downloads");
    }
}

// Only other queues are waited for: this one is in order.
Result<void> Queue::wait_for(std::span<const wye_event> waits) {
    for (const wye_event& wait : waits) {
        Queue& other = queue_of(wait.queue);
        if (&other == this) continue;
        WYE_ASSIGN(const EventRef event, other.timeline_.event_for(wait.value));
        if (!event) continue;
        WYE_TRY(done(device_.driver.cuStreamWaitEvent(stream_, event->get(), CU_EVENT_WAIT_DEFAULT),
                     "cuStreamWaitEvent"));
    }
    return {};
}

Result<std::uint64_t> Queue::submit(std::span<const wye_operation> operations,
                                    std::span<const wye_event> waits) {
    if (auto error = timeline_.failure(UINT64_MAX - 1)) return *std::move(error);
    if (auto error = device_.loss()) return *std::move(error);
    const Current current(device_);
    WYE_TRY(timeline_.begin());
    if (auto waited = wait_for(waits); !waited.ok()) {
        timeline_.abandon();
        return std::move(waited).error();
    }
    for (const wye_operation& op : operations) {
        auto queued = enqueue(op);
        if (queued.ok()) continue;
        Error error = std::move(queued).error();
        if (&op != operations.data()) {  // some of it runs: nothing after it may
            (void)device_.driver.cuStreamSynchronize(stream_);
            timeline_.poison(error);
        }
        timeline_.abandon();
        return error;
    }
    auto value = timeline_.end();
    if (!value.ok()) timeline_.poison(value.error());
    return value;
}

constinit const wye_queue_table kQueueTable = sdk::QueueSlots<Queue>::table();

}  // namespace wye::cuda
