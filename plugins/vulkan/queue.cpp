// SPDX-License-Identifier: Apache-2.0
#include "vulkan/queue.hpp"

#include "vulkan/buffer.hpp"
#include "vulkan/command.hpp"
#include "vulkan/program.hpp"
#include "wye/sdk/queue_submit.hpp"

namespace wye::vulkan {

Result<std::unique_ptr<Queue>> Queue::create(Device& device, const wye_queue_desc& wanted) {
    SemaphoreHandle handle;
    sdk::QueueGrant granted;
    const VkResult status = device.context().make_queue(wanted, handle, granted);
    WYE_TRY(device.check(status, "vkCreateSemaphore"));
    return std::unique_ptr<Queue>(new Queue(device, std::move(handle), granted));
}

Result<void> Queue::begin() {
    submission_.begin(timed());
    return {};
}

Result<void> Queue::wait_for(Timeline& other, std::uint64_t value) {
    WYE_ASSIGN(const SegmentWait event, other.event_for(value));
    if (!event) return {};
    if (auto failure = event.of->failure(event.number)) return *std::move(failure);
    WYE_TRY(other.usable(value));  // another thread may have settled the failed submit meanwhile
    return submission_.wait_for(event);
}

Result<void> Queue::order_after(Timeline& other, std::uint64_t value) {
    WYE_ASSIGN(const SegmentWait event, other.event_for(value));
    if (!event) return {};
    return submission_.wait_for(event);
}

Result<void> Queue::wait_native(const wye_native_handle& event) {
    constexpr std::string_view kType = "VkSemaphore";
    const std::string& name = device_.info.name;
    WYE_ASSIGN(const auto semaphore, sdk::native_event_as<VkSemaphore>(event, kType, name));
    const wye_native_value* const owner = sdk::find_value(event, "VkDevice");
    if (owner != nullptr && owner->value != static_cast<std::uint64_t>(
                                                reinterpret_cast<std::uintptr_t>(device_.handle())))
        return sdk::event_of_other(kType, name);
    const wye_native_value* const value = sdk::find_value(event, "semaphore_value");
    if (value == nullptr)
        return sdk::event_unfit(kType, name, "the handle has no `semaphore_value`",
                                "give the value of the timeline semaphore to wait for");
    submission_.wait_for(SemaphoreWait{semaphore, value->value, nullptr});
    return {};
}

std::span<const wye_operation> Queue::plan(std::span<const wye_operation> operations) {
    return submission_.plan(operations);
}

Result<void> Queue::dispatch(const wye_dispatch_op& op) {
    return submission_.dispatch(program_of(op.program), op);
}

Result<void> Queue::copy(const wye_copy_op& op) {
    return submission_.copy(buffer_of(op.source), buffer_of(op.target), op);
}

Result<void> Queue::fill(const wye_fill_op& op) {
    return submission_.fill(buffer_of(op.target), op);
}

Result<void> Queue::upload(const wye_transfer_op& op) {
    return submission_.upload(buffer_of(op.buffer), op);
}

Result<void> Queue::download(const wye_transfer_op& op) {
    return submission_.download(buffer_of(op.buffer), op);
}

Result<void> Queue::execute(const wye_execute_op& op) {
    return submission_.execute(sdk::command_of<Command>(op.command), op);
}

[[gnu::always_inline]] inline bool Queue::replay(const wye_execute_op& op, std::uint64_t value) {
    Submit* submit = timeline_.draft_if_idle();
    Command& command = sdk::command_of<Command>(op.command);
    if (submit != nullptr) [[likely]] {
        if (!submission_.replay(command, op, *submit)) return false;
    } else {
        if (!timeline_.draft(submit).ok() || !submission_.replay_behind(command, op, *submit))
            return false;
    }
    timeline_.add_drafted(value, false);
    return true;
}

Result<void> Queue::end() {
    WYE_ASSIGN(Submit submit, submission_.end());
    if (timeline_.segments.idle()) {
        timeline_.add_ended(value(), {}, timed());
    } else {
        timeline_.add(value(), std::move(submit), timed());
    }
    return {};
}

void Queue::abandon() noexcept { submission_.abandon(); }

}  // namespace wye::vulkan

template class wye::sdk::InOrderQueue<wye::vulkan::Queue>;
template wye_status wye::sdk::QueueSlots<wye::vulkan::Queue>::submit(wye_queue_object*,
                                                                     const wye_submission*,
                                                                     wye_error**);
