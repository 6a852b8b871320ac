// SPDX-License-Identifier: Apache-2.0
#include "cuda/queue.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/buffer.hpp"
#include "cuda/command.hpp"
#include "cuda/program.hpp"
#include "wye/sdk/queue_submit.hpp"

namespace wye::cuda {

Result<std::unique_ptr<Queue>> Queue::create(Device& device, const wye_queue_desc& wanted) {
    StreamHandle handle;
    sdk::QueueGrant granted;
    const CUresult status = device.context().make_queue(wanted, handle, granted);
    WYE_TRY(device.check(status, "cuStreamCreateWithPriority"));
    return std::unique_ptr<Queue>(new Queue(device, std::move(handle), granted));
}

Result<void> Queue::begin() {
    WYE_ASSIGN(const bool pending, timeline_.draft(submit_));
    timeline_.events.begin(pending || timed());
    arguments_.forget();
    if (!timed()) return {};
    timeline_.match_clock();
    return timeline_.events.record_time(submit_->first);
}

// The stream waits for the work that the event has recorded at the time of this call. The event may
// then be destroyed with its queue, or recorded again.
Result<void> Queue::wait_for(CUevent event) {
    const CUresult status =
        device_.driver.cuStreamWaitEvent(handle_.get(), event, CU_EVENT_WAIT_DEFAULT);
    WYE_TRY(device_.check(status, "cuStreamWaitEvent"));
    return timed() ? timeline_.events.record_time(submit_->first) : Result<void>();
}

Result<void> Queue::wait_for(Timeline& other, std::uint64_t value) {
    WYE_ASSIGN(const EventRef event, other.event_for(value));
    if (!event) return {};
    return wait_for(event->handle.get());
}

Result<void> Queue::wait_native(const wye_native_handle& event) {
    constexpr std::string_view kType = "CUevent";
    const std::string& name = device_.info.name;
    WYE_ASSIGN(const auto raw, sdk::native_event_as<CUevent>(event, kType, name));
    const CUresult state = device_.driver.cuEventQuery(raw);
    if (state == CUDA_ERROR_INVALID_HANDLE)
        return sdk::event_unfit(kType, name, "CUDA does not know it",
                                "create it with cuEventCreate, and destroy it later");
    if (state == CUDA_ERROR_CAPTURED_EVENT)  // a wait would make the stream part of the capture
        return sdk::event_unfit(kType, name, "a stream capture has recorded it",
                                "record it outside of captures");
    if (state != CUDA_ERROR_NOT_READY) return device_.check(state, "cuEventQuery");
    return wait_for(raw);
}

std::span<const wye_operation> Queue::plan(std::span<const wye_operation> operations) {
    return operations;
}

[[gnu::always_inline]] inline Result<void> Queue::dispatch(const wye_dispatch_op& op) {
    const Program& program = program_of(op.program);
    if (!program.is_plain(op)) [[unlikely]]
        return dispatch_checked(op);
    return queued(program.launched(program.launch_plain(handle_.get(), op, arguments_)));
}

[[gnu::noinline]] Result<void> Queue::dispatch_checked(const wye_dispatch_op& op) {
    const Program& program = program_of(op.program);
    CUdeviceptr barrier = 0;
    if (program.has_grid_barrier()) {
        WYE_ASSIGN(barrier, grid_barrier());
    }
    return queued(program.launch(handle_.get(), op, barrier, arguments_));
}

Result<CUdeviceptr> Queue::grid_barrier() {
    WYE_TRY(grid_barrier_.make(device_, 1));
    WYE_TRY(grid_barrier_.prepare(device_, handle_.get()));
    return grid_barrier_.words(0);
}

Result<void> Queue::copy(const wye_copy_op& op) {
    const CUdeviceptr source = buffer_of(op.source).memory() + op.source_offset;
    const CUdeviceptr target = buffer_of(op.target).memory() + op.target_offset;
    return took(device_.driver.cuMemcpyAsync(target, source, op.size, handle_.get()),
                "cuMemcpyAsync");
}

Result<void> Queue::fill(const wye_fill_op& op) {
    const Driver& driver = device_.driver;
    const CUdeviceptr target = buffer_of(op.target).memory() + op.offset;
    const auto low = static_cast<unsigned>(op.pattern);
    const auto high = static_cast<unsigned>(op.pattern >> 32U);
    switch (op.pattern_size) {
        case 1:
            return took(driver.cuMemsetD8Async(target, static_cast<unsigned char>(low), op.size,
                                               handle_.get()),
                        "cuMemsetD8Async");
        case 2:
            return took(driver.cuMemsetD16Async(target, static_cast<unsigned short>(low),
                                                op.size / 2, handle_.get()),
                        "cuMemsetD16Async");
        case 4:
            return fill_words(target, low, low, op.size);
        default:
            return fill_words(target, low, high, op.size);
    }
}

Result<void> Queue::upload(const wye_transfer_op& op) {
    const CUdeviceptr target = buffer_of(op.buffer).memory() + op.offset;
    const void* source = op.source;
    if (std::byte* staged = stage(op.size)) {
        std::memcpy(staged, op.source, op.size);
        source = staged;
    }
    return took(device_.driver.cuMemcpyHtoDAsync(target, source, op.size, handle_.get()),
                "cuMemcpyHtoDAsync");
}

Result<void> Queue::download(const wye_transfer_op& op) {
    const CUdeviceptr source = buffer_of(op.buffer).memory() + op.offset;
    void* target = op.target;
    if (std::byte* staged = stage(op.size)) {
        submit_->copies.push_back({op.target, staged, op.size});
        target = staged;
    }
    return took(device_.driver.cuMemcpyDtoHAsync(target, source, op.size, handle_.get()),
                "cuMemcpyDtoHAsync");
}

Result<void> Queue::execute(const wye_execute_op& op) {
    return queued(sdk::command_of<Command>(op.command).launch(handle_.get(), op));
}

[[gnu::always_inline]] inline bool Queue::replay(const wye_execute_op& op, std::uint64_t value) {
    Submit* const submit = timeline_.draft_if_idle();
    Command& command = sdk::command_of<Command>(op.command);
    if (submit == nullptr || !command.try_launch(handle_.get(), op)) return false;
    submit->mark = timeline_.events.write_mark();
    timeline_.add_drafted(value, false);
    return true;
}

Result<void> Queue::end() {
    if (timed()) WYE_TRY(timeline_.events.record_time(submit_->last));
    timeline_.events.write_mark(*submit_);
    timeline_.staging.mark(value());
    timeline_.add_drafted(value(), timed());
    submit_ = nullptr;
    return {};
}

void Queue::abandon() noexcept {
    timeline_.staging.drop();
    if (submit_ != nullptr) submit_->clear();
    submit_ = nullptr;
}

std::byte* Queue::stage(std::uint64_t size) {
    return timeline_.staging.take(size, [&](std::uint64_t value) { (void)timeline_.poll(value); });
}

// quirk cuda-fill-8: fills the first element, then copies it, doubling the size each time.
Result<void> Queue::fill_words(CUdeviceptr at, unsigned low, unsigned high, std::uint64_t size) {
    const Driver& driver = device_.driver;
    if (low == high)
        return took(driver.cuMemsetD32Async(at, low, size / 4, handle_.get()), "cuMemsetD32Async");
    WYE_TRY(took(driver.cuMemsetD32Async(at, low, 1, handle_.get()), "cuMemsetD32Async"));
    WYE_TRY(took(driver.cuMemsetD32Async(at + 4, high, 1, handle_.get()), "cuMemsetD32Async"));
    for (std::uint64_t filled = 8; filled < size; filled *= 2) {
        const std::uint64_t more = std::min(filled, size - filled);
        WYE_TRY(took(driver.cuMemcpyDtoDAsync(at + filled, at, more, handle_.get()),
                     "cuMemcpyDtoDAsync"));
    }
    return {};
}

}  // namespace wye::cuda

template class wye::sdk::InOrderQueue<wye::cuda::Queue>;
template wye_status wye::sdk::QueueSlots<wye::cuda::Queue>::submit(wye_queue_object*,
                                                                   const wye_submission*,
                                                                   wye_error**);
