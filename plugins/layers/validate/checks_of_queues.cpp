// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "layers/validate/checks.hpp"
#include "layers/validate/marks.hpp"
#include "layers/validate/pending.hpp"
#include "layers/validate/trials.hpp"
#include "wye/sdk/native_slots.hpp"

namespace wye::layers::validate {
namespace {

std::vector<wye_command_object*> commands_of(const wye_submission& submission) {
    std::vector<wye_command_object*> out;
    for (const wye_operation& one : std::span(submission.operations, submission.operation_count))
        if (one.kind == WYE_OPERATION_EXECUTE) out.push_back(one.u.execute.command);
    return out;
}

// Calls use(object) for each object that an operation uses. `objects`: the device's objects.
template <typename Use>
void each_object(Objects& objects, const wye_operation& operation, Use&& use) {
    const auto use_all = [&](const wye_binding* bindings, std::uint32_t count) {
        if (bindings == nullptr) return;
        for (const wye_binding& binding : std::span(bindings, count)) use(binding.buffer);
    };
    switch (operation.kind) {
        case WYE_OPERATION_DISPATCH: {
            const wye_dispatch_op& op = operation.u.dispatch;
            use(op.program);
            use(op.trap.buffer);
            use(op.indirect.buffer);
            if (const Program* program = objects.programs.find(op.program))
                use_all(op.bindings, program->bindings);
            return;
        }
        case WYE_OPERATION_COPY:
            use(operation.u.copy.source);
            use(operation.u.copy.target);
            return;
        case WYE_OPERATION_FILL:
            return use(operation.u.fill.target);
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            return use(operation.u.transfer.buffer);
        case WYE_OPERATION_EXECUTE: {
            const wye_execute_op& op = operation.u.execute;
            use(op.command);
            const Command* command = objects.commands.find(op.command);
            if (command == nullptr) return;
            use_all(op.slots, command->slots);
            for (wye_buffer_object* buffer : command->buffers) use(buffer);
            for (wye_program_object* program : command->programs) use(program);
            return;
        }
        default:
            return;
    }
}

// Whether a submission is small in the sense of Submit::small.
bool is_small(const wye_submission& submission) {
    constexpr std::uint64_t kMost = 1 << 20;
    std::uint64_t bytes = 0;
    for (const wye_operation& one : std::span(submission.operations, submission.operation_count)) {
        const bool fill = one.kind == WYE_OPERATION_FILL;
        if (!fill && one.kind != WYE_OPERATION_COPY) return false;
        const std::uint64_t size = fill ? one.u.fill.size : one.u.copy.size;
        if (size > kMost - bytes) return false;
        bytes += size;
    }
    return true;
}

// Checks that an object has the same native handle in every call, with 1 to WYE_NATIVE_VALUES
// values (P-49).
void check_native(DeviceNode& node, std::string_view slot, const void* object, wye_status status,
                  const wye_native_handle& out) {
    if (status != WYE_OK) return;
    Plugin& plugin = node.plugin().state();
    const auto breach = [&](const std::string& text) {
        plugin.breaches.add(Side::plugin, "P-49", slot, object, text);
    };
    if (out.count == 0 || out.count > WYE_NATIVE_VALUES)
        return breach("it gives " + number(out.count) + " values");
    std::string now;
    for (const wye_native_value& value : std::span(out.values, out.count))
        now += std::string(sdk::from_abi(value.type)) + ' ' + number(value.value) + '\n';
    bool same = true;
    {
        const sdk::Lock lock(plugin.mutex);
        auto& known = node.state().native;
        same = known.try_emplace({std::string(slot), object}, now).first->second == now;
    }
    if (!same) breach("the handle is another than before");
}

}  // namespace

void after(slot::device::queue_create, DeviceNode& node, Frame&, wye_status status,
           const wye_queue_desc*, wye_queue_object** out, wye_timeline_object** timeline,
           const wye_queue_table** table, wye_error**) {
    if (status != WYE_OK || *out == nullptr || *timeline == nullptr || *table == nullptr) return;
    Plugin& plugin = node.plugin().state();
    const QueueNode& queue = sdk::layer::node_of<State>(*out);
    bool added = true;
    {
        const sdk::Lock lock(plugin.mutex);
        Timeline own;
        own.of_queue = true;
        added = node.state().objects.timelines.add(*timeline, std::move(own));
        plugin.handles.insert(&queue);
        ++node.state().queues;
    }
    const auto breach = [&](std::string_view rule, const char* text) {
        plugin.breaches.add(Side::plugin, rule, "queue_create", queue.object, text);
    };
    if (!added) breach("P-12", "the timeline of the new queue is one that is alive already");
    if (queue.next.submit == nullptr || queue.next.destroy == nullptr)
        breach("P-6", "the table of the queue has no `submit` or no `destroy`");
}

// ---- Submits -----------------------------------------------------------------------------------

Result<void> before(slot::queue::submit, QueueNode& node, Frame& frame,
                    const wye_submission* submission, wye_error**) {
    Plugin& plugin = node.plugin().state();
    const std::vector<wye_command_object*> commands = commands_of(*submission);
    settle(node.device(), commands);
    check_grid(node.device(), *submission);
    check_moves(node.device(), *submission);
    {
        const sdk::Lock lock(plugin.mutex);
        WYE_TRY(
            checks_of(plugin, node.device().state()).submission(*submission, node.state().newest));
        for (const wye_event& wait : std::span(submission->waits, submission->wait_count))
            name(plugin, node.device().state(), frame, wait.timeline);
        for (const wye_event& signal : std::span(submission->signals, submission->signal_count))
            name(plugin, node.device().state(), frame, signal.timeline);
        Device& device = node.device().state();
        if (plugin.breaches.looks_for(Side::plugin))
            mark_downloads(frame.submit, *submission, device.objects, device.marks);
    }
    enter(node.device(), frame, "submit", commands);
    return {};
}

void after(slot::queue::submit, QueueNode& node, Frame& frame, wye_status status,
           const wye_submission* submission, wye_error**) {
    const sdk::Lock lock(node.plugin().state().mutex);
    if (status != WYE_OK) return unmark(frame.submit);
    Objects& objects = node.device().state().objects;
    Queue& queue = node.state();
    queue.newest = submission->value;
    if ((submission->flags & WYE_SUBMISSION_TIMED) != 0) {
        constexpr std::size_t kMost = 256;  // a plugin keeps the times of this many submits
        queue.timed.insert(submission->value);
        if (queue.timed.size() > kMost) queue.timed.erase(queue.timed.begin());
    }
    if (Timeline* own = objects.timelines.find(node.timeline)) {
        constexpr std::size_t kMost = 4096;  // submits whose ends the layer compares
        own->signalled = submission->value;
        Submit& made = own->submits[submission->value] = std::move(frame.submit);
        made.small = is_small(*submission) && sdk::native_wait(submission->header) == nullptr;
        for (const wye_event& wait : std::span(submission->waits, submission->wait_count))
            if (wait.timeline != nullptr) made.waits.push_back(wait);
        if (own->submits.size() > kMost) own->submits.erase(own->submits.begin());
    }
    const auto use = [&](auto* at) {
        if (auto* object = objects.of(at).find(at)) object->uses[node.timeline] = submission->value;
    };
    for (const wye_event& signal : std::span(submission->signals, submission->signal_count)) {
        use(signal.timeline);
        if (Timeline* signalled = objects.timelines.find(signal.timeline))
            signalled->signalled = std::max(signalled->signalled, signal.value);
    }
    for (const wye_operation& one : std::span(submission->operations, submission->operation_count))
        each_object(objects, one, use);
    for (wye_command_object* at : commands_of(*submission))
        if (Command* command = objects.commands.find(at); command != nullptr)
            if (command->most_pending != 0)
                command->pending.push_back({node.timeline, submission->value, 0, 0});
}

// ---- Other slots -------------------------------------------------------------------------------

Result<void> before(slot::queue::timing, QueueNode& node, Frame&, std::uint64_t value, wye_timing*,
                    wye_error**) {
    if (is_pending(node.device(), {node.timeline, value, 0, 0}))
        return Error(Code::INVALID_ARGUMENT,
                     "the value " + number(value) + " is pending, and has no times yet",
                     "Fix: correct the call");
    return {};
}

void after(slot::queue::timing, QueueNode& node, Frame&, wye_status status, std::uint64_t,
           wye_timing* out, wye_error**) {
    if (status == WYE_OK && out->begin_ns != 0 && out->end_ns != 0 && out->end_ns < out->begin_ns)
        node.plugin().state().breaches.add(
            Side::plugin, "P-19", "timing", node.object,
            "the work ends at " + number(out->end_ns) + " and begins at " + number(out->begin_ns));
}

Result<void> before(slot::queue::cancel, QueueNode&, Frame&, std::uint64_t first,
                    std::uint64_t last, wye_error**) {
    if (first <= last) return {};
    return Error(Code::INVALID_ARGUMENT,
                 "the range from " + number(first) + " to " + number(last) + " has no value",
                 "Fix: correct the call");
}

void after(slot::queue::info, QueueNode& node, Frame&, wye_status status, wye_queue_info* out,
           wye_error**) {
    if (status != WYE_OK) return;
    Plugin& plugin = node.plugin().state();
    Queue& queue = node.state();
    const auto breach = [&](const std::string& text) {
        plugin.breaches.add(Side::plugin, "P-45", "info", node.object, text);
    };
    if (out->kind != WYE_QUEUE_ANY && out->kind != queue.kind)
        breach("the queue has the kind " + number(out->kind) + ", and " + number(queue.kind) +
               " was asked for");
    if (out->priority < std::min(0, queue.priority) || out->priority > std::max(0, queue.priority))
        breach("the queue has the priority " + std::to_string(out->priority) + ", and " +
               std::to_string(queue.priority) + " was asked for");
    bool same = true;
    {
        const sdk::Lock lock(plugin.mutex);
        if (!queue.info) queue.info = *out;
        same = queue.info->kind == out->kind && queue.info->priority == out->priority &&
               queue.info->native_index == out->native_index;
    }
    if (!same) breach("the queue is described otherwise than before");
}

Result<void> before(slot::queue::destroy, QueueNode& node, Frame&) {
    end_timeline(node.device(), "destroy", node.timeline);
    const sdk::Lock lock(node.plugin().state().mutex);
    Device& device = node.device().state();
    device.objects.forget_uses(node.timeline);
    std::erase_if(device.native, [&](const auto& one) { return one.first.second == &node; });
    if (device.queues != 0) --device.queues;
    return {};
}

// ---- Native handles ----------------------------------------------------------------------------

Result<void> before(slot::native::buffer, DeviceNode& node, Frame&, wye_buffer_object* buffer,
                    wye_native_handle*, wye_error**) {
    Plugin& plugin = node.plugin().state();
    const sdk::Lock lock(plugin.mutex);
    return checks_of(plugin, node.state()).usable(buffer);
}

void after(slot::native::buffer, DeviceNode& node, Frame&, wye_status status,
           wye_buffer_object* buffer, wye_native_handle* out, wye_error**) {
    check_native(node, "native_buffer", buffer, status, *out);
}
void after(slot::native::queue, DeviceNode& node, Frame&, wye_status status,
           wye_queue_object* queue, wye_native_handle* out, wye_error**) {
    check_native(node, "native_queue", queue, status, *out);
}
void after(slot::native::device, DeviceNode& node, Frame&, wye_status status,
           wye_native_handle* out, wye_error**) {
    check_native(node, "native_device", nullptr, status, *out);
}

}  // namespace wye::layers::validate
