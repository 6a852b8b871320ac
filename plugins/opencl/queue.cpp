// SPDX-License-Identifier: Apache-2.0
#include "opencl/queue.hpp"

#include <algorithm>

#include "opencl/buffer.hpp"
#include "opencl/command.hpp"
#include "opencl/program.hpp"
#include "wye/sdk/queue_submit.hpp"

namespace wye::opencl {

Result<std::unique_ptr<Queue>> Queue::create(Device& device, const wye_queue_desc& wanted) {
    QueueHandle handle;
    sdk::QueueGrant granted;
    const cl_int status = NativeQueues::make_first(device, wanted, handle, granted);
    WYE_TRY(device.check(status, "clCreateCommandQueue"));
    return std::unique_ptr<Queue>(new Queue(device, std::move(handle), granted));
}

Result<void> Queue::begin() {
    first_ = true;
    WYE_ASSIGN(const std::size_t pending,
               timeline_.mark_newest_of_few(timeline_.events.fewest_shared()));
    needs_event_ = timeline_.events.needs_one(pending, timed());
    WYE_TRY(handle_.choose(timed()));
    if (timed()) timeline_.match_clock(handle_.get());
    return {};
}

// Makes later commands wait for another queue, whose commands must be flushed first. The wait list
// keeps the other queue's events alive, even if that queue is destroyed. This queue's previous
// submit first gets an event of its own; otherwise it would seem to end only with the work that
// waits.
Result<void> Queue::wait_for(Timeline& other, std::uint64_t value) {
    WYE_TRY(timeline_.mark_newest());
    WYE_ASSIGN(EventHandle event, other.event_for(value));
    if (!event) return {};
    other.events.flush();
    waits_.add(std::move(event));
    return {};
}

// Like `wait_for`, for a wait that ignores failures. A command whose wait list has a failed event
// does not run, so the command waits for a marker behind the other queue's work (Timeline::end_of).
Result<void> Queue::order_after(Timeline& other, std::uint64_t value) {
    WYE_TRY(timeline_.mark_newest());
    WYE_ASSIGN(EventHandle event, other.end_of(value));
    if (!event) return {};
    other.events.flush();
    waits_.add(std::move(event));
    return {};
}

Result<void> Queue::wait_native(const wye_native_handle& event) {
    constexpr std::string_view kType = "cl_event";
    const std::string& name = device_.info.name;
    const Driver& driver = device_.driver;
    WYE_ASSIGN(const auto raw, sdk::native_event_as<cl_event>(event, kType, name));
    cl_context owner = nullptr;
    if (driver.clGetEventInfo(raw, CL_EVENT_CONTEXT, sizeof owner, &owner, nullptr) != CL_SUCCESS)
        return sdk::event_unfit(kType, name, "OpenCL does not know it",
                                "create it with OpenCL, and release it later");
    if (owner != device_.context().get()) return sdk::event_of_other(kType, name);
    WYE_TRY(timeline_.mark_newest());
    timeline_.follow_application();
    const cl_int status = driver.clEnqueueBarrierWithWaitList(handle_.get(), 1, &raw, nullptr);
    return device_.check(status, "clEnqueueBarrierWithWaitList");
}

// The number of driver commands of an operation.
std::uint64_t Queue::enqueues(const wye_operation& op) {
    if (sdk::is_empty(op)) return 0;
    if (op.kind == WYE_OPERATION_COPY) return StagedCopies::commands(op.u.copy);
    if (op.kind != WYE_OPERATION_EXECUTE) return 1;
    Command& command = sdk::command_of<Command>(op.u.execute.command);
    if (const auto known = command.enqueues()) return *known;
    std::uint64_t sum = 0;
    for (const wye_operation& one : command.resolve(op.u.execute)) sum += enqueues(one);
    command.count(sum);
    return sum;
}

// Returns the operations to queue now: those before the last operation that has driver commands.
// `end` queues that last operation.
std::span<const wye_operation> Queue::plan(std::span<const wye_operation> operations) {
    left_ = 0;
    while (!operations.empty() && enqueues(operations.back()) == 0)
        operations = operations.first(operations.size() - 1);
    last_ = operations.empty() ? nullptr : &operations.back();
    return operations.first(operations.size() - (last_ != nullptr ? 1 : 0));
}

// quirk pocl-empty-launch: a launch without workgroups is not queued.
[[gnu::always_inline]] inline Result<void> Queue::dispatch(const wye_dispatch_op& op) {
    if (sdk::is_empty(op)) return {};
    return queued(program_of(op.program).launch(handle_.get(), op, next(), this));
}

Result<void> Queue::copy(const wye_copy_op& op) {
    if (StagedCopies::concerns(op)) return staged_copies_.run(op, *this);
    const Order order = next();
    const cl_mem source = buffer_of(op.source).memory();
    const cl_mem target = buffer_of(op.target).memory();
    return took(device_.driver.clEnqueueCopyBuffer(handle_.get(), source, target, op.source_offset,
                                                   op.target_offset, op.size, order.wait_count,
                                                   order.waits, order.event),
                "clEnqueueCopyBuffer");
}

Result<void> Queue::fill(const wye_fill_op& op) {
    const Order order = next();
    const cl_mem target = buffer_of(op.target).memory();
    return took(device_.driver.clEnqueueFillBuffer(handle_.get(), target, &op.pattern,
                                                   op.pattern_size, op.offset, op.size,
                                                   order.wait_count, order.waits, order.event),
                "clEnqueueFillBuffer");
}

Result<void> Queue::upload(const wye_transfer_op& op) {
    const Order order = next();
    const cl_mem target = buffer_of(op.buffer).memory();
    return took(
        device_.driver.clEnqueueWriteBuffer(handle_.get(), target, CL_FALSE, op.offset, op.size,
                                            op.source, order.wait_count, order.waits, order.event),
        "clEnqueueWriteBuffer");
}

Result<void> Queue::download(const wye_transfer_op& op) {
    const Order order = next();
    const cl_mem source = buffer_of(op.buffer).memory();
    return took(
        device_.driver.clEnqueueReadBuffer(handle_.get(), source, CL_FALSE, op.offset, op.size,
                                           op.target, order.wait_count, order.waits, order.event),
        "clEnqueueReadBuffer");
}

Result<void> Queue::execute(const wye_execute_op& op) {
    Command& command = sdk::command_of<Command>(op.command);
    const std::span<const wye_operation> operations = command.resolve(op);
    for (std::uint64_t n = 0; n < operations.size(); n += command.run_from(n)) {
        const wye_operation& operation = operations[n];
        if (operation.kind != WYE_OPERATION_DISPATCH) {
            WYE_TRY(perform(operation));
            continue;
        }
        if (sdk::is_empty(operation)) continue;
        for (std::uint64_t left = command.run_from(n); left != 0; --left)
            WYE_TRY(queued(command.launch(n, operation.u.dispatch, handle_.get(), next())));
    }
    return {};
}

[[gnu::always_inline]] inline bool Queue::replay(const wye_execute_op& op, std::uint64_t value) {
    Submit* submit = timeline_.draft_if_idle();
    Command& command = sdk::command_of<Command>(op.command);
    std::size_t pending = 0;
    if (submit == nullptr) {
        pending = timeline_.draft_among(submit);
        if (pending < timeline_.events.fewest_shared()) return false;
    }
    if (!command.is_one_dispatch() || !handle_.choose(false).ok()) return false;
    const wye_dispatch_op& dispatch = command.resolve(op).front().u.dispatch;
    if (sdk::is_empty(dispatch)) return false;
    Order order;
    if (timeline_.events.needs_one(pending, false))
        order.event = submit->last.receive(device_.driver);
    else
        submit->queue = handle_.get();
    if (!command.launch(0, dispatch, handle_.get(), order).ok()) {
        *submit = {};
        return false;
    }
    handle_.sent();
    timeline_.add_drafted(value, false);
    return true;
}

Result<void> Queue::end() {
    if (last_ != nullptr) {
        left_ = enqueues(*last_);
        WYE_TRY(perform(*last_));
    } else {
        left_ = 1;
        needs_event_ = true;
        const Order order = next();
        WYE_TRY(took(device_.driver.clEnqueueMarkerWithWaitList(handle_.get(), order.wait_count,
                                                                order.waits, order.event),
                     "clEnqueueMarkerWithWaitList"));
    }
    handle_.sent();
    waits_.clear();
    timeline_.add(value(), std::move(submit_), timed());
    return {};
}

void Queue::abandon() noexcept {
    waits_.clear();
    submit_ = {};
}

void Queue::order_last(Order& out) {
    if (needs_event_)
        out.event = submit_.last.receive(device_.driver);
    else
        submit_.queue = handle_.get();
}

}  // namespace wye::opencl

template class wye::sdk::InOrderQueue<wye::opencl::Queue>;
template wye_status wye::sdk::QueueSlots<wye::opencl::Queue>::submit(wye_queue_object*,
                                                                     const wye_submission*,
                                                                     wye_error**);
