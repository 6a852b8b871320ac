// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/grids.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "wye/sdk/samples.hpp"

namespace wye::layers::validate {
namespace {

constexpr std::uint32_t kOften = 65535;     // what drivers take at least
constexpr std::uint32_t kMost = 1U << 18U;  // which the layer tries
constexpr std::uint32_t kInvocations = 64;  // of a workgroup of the sample
constexpr std::uint32_t kWord = 7, kBy = 5;
constexpr std::uint64_t kPatience = 10'000'000'000;  // ns

// The most workgroups in x of the launches.
std::uint32_t most_groups(const wye_submission& submission) {
    std::uint32_t out = 0;
    for (const wye_operation& one : std::span(submission.operations, submission.operation_count))
        if (one.kind == WYE_OPERATION_DISPATCH && (one.u.dispatch.flags & WYE_LAUNCH_INDIRECT) == 0)
            out = std::max(out, one.u.dispatch.groups[0]);
    return out;
}

// Whether work may be pending that only the host lets go on: nothing may be waited for then.
bool may_wait_for_host(Objects& objects) {
    for (const auto& [at, timeline] : objects.timelines.all())
        for (const auto& [value, submit] : timeline.submits)
            if (!submit.waits.empty()) return true;
    return false;
}

// The objects of a launch. What cannot be made is null.
class Trial {
  public:
    Trial(DeviceNode& node, const wye_artifact& artifact, std::uint64_t bytes) : node_(node) {
        wye_buffer_desc buffer{};
        buffer.header.size = sizeof buffer;
        buffer.size = bytes;
        buffer.alignment = 1;
        buffer.usage = WYE_BUFFER_USAGE_DEVICE;
        wye_queue_desc queue{};
        queue.header.size = sizeof queue;
        queue.label = {"validate", 8};
        const wye_device_table& next = node_.next;
        made_ = next.program_create(node_.object, &artifact, &program, nullptr) == WYE_OK &&
                next.buffer_create(node_.object, &buffer, &x, nullptr) == WYE_OK &&
                next.buffer_create(node_.object, &buffer, &r, nullptr) == WYE_OK &&
                next.queue_create(node_.object, &queue, &queue_, &timeline_, &table_, nullptr) ==
                    WYE_OK;
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial() {
        const wye_device_table& next = node_.next;
        if (queue_ != nullptr) table_->destroy(queue_);
        if (r != nullptr) next.buffer_destroy(node_.object, r);
        if (x != nullptr) next.buffer_destroy(node_.object, x);
        if (program != nullptr) next.program_destroy(node_.object, program);
    }

    [[nodiscard]] bool run(std::span<const wye_operation> operations) {
        if (!made_) return false;
        wye_submission submission{};
        submission.header.size = sizeof submission;
        submission.operations = operations.data();
        submission.operation_count = operations.size();
        submission.value = 1;
        const wye_event end = {timeline_, 1, 0, 0};
        return table_->submit(queue_, &submission, nullptr) == WYE_OK &&
               node_.next.wait(node_.object, &end, 1, 0, kPatience, nullptr, nullptr) == WYE_OK;
    }

    wye_program_object* program = nullptr;
    wye_buffer_object *x = nullptr, *r = nullptr;

  private:
    DeviceNode& node_;
    wye_queue_object* queue_ = nullptr;
    wye_timeline_object* timeline_ = nullptr;
    const wye_queue_table* table_ = nullptr;
    bool made_ = false;
};

wye_operation filled(wye_buffer_object* target, std::uint64_t size, std::uint32_t word) {
    wye_operation out{};
    out.kind = WYE_OPERATION_FILL;
    out.u.fill = {target, 0, size, word, sizeof word, 0};
    return out;
}

}  // namespace

void check_grid(DeviceNode& node, const wye_submission& submission) {
    const std::uint32_t groups = std::min(most_groups(submission), kMost);
    Plugin& plugin = node.plugin().state();
    if (groups <= kOften || !plugin.breaches.looks_for(Side::plugin)) return;
    {
        const sdk::Lock lock(plugin.mutex);
        Device& device = node.state();
        if (device.tried_groups >= groups || may_wait_for_host(device.objects)) return;
        device.tried_groups = groups;
    }
    wye_device_info info{};
    info.header.size = sizeof info;
    const PluginNode& above = node.plugin();
    if (above.next.device_info(above.object, node.index, &info, nullptr) != WYE_OK) return;
    const auto sample = sdk::add_sample({info.formats, info.format_count});
    const std::uint64_t elements = std::uint64_t{groups} * kInvocations, bytes = elements * 4;
    const Limits& limits = node.state().limits;
    if (!sample || groups > limits.workgroups[0] || bytes > limits.buffer_bytes) return;

    Trial trial(node, *sample, bytes);
    const wye_binding bindings[] = {{trial.x, 0, bytes, elements, 0, 0, 0},
                                    {trial.r, 0, bytes, elements, 0, 0, 0}};
    wye_operation launch{};
    launch.kind = WYE_OPERATION_DISPATCH;
    wye_dispatch_op& op = launch.u.dispatch;
    op.program = trial.program;
    op.bindings = bindings;
    op.binding_count = 2;
    op.params = &kBy;
    op.params_size = sizeof kBy;
    for (auto* const axes : {op.groups, op.logical_groups}) {
        axes[0] = groups;
        axes[1] = axes[2] = 1;
    }
    std::uint32_t last = 0;
    wye_operation read{};
    read.kind = WYE_OPERATION_DOWNLOAD;
    read.u.transfer = {trial.r, bytes - sizeof last, sizeof last, nullptr, &last};
    const wye_operation operations[] = {filled(trial.x, bytes, kWord), filled(trial.r, bytes, 0),
                                        launch, read};
    if (!trial.run(operations) || last == kWord + kBy) return;
    plugin.breaches.add(Side::plugin, "P-19", "submit", node.object,
                        "a launch of the layer of " + number(groups) + " workgroups, of at most " +
                            number(limits.workgroups[0]) +
                            " that are claimed, left out the last one: its last word is " +
                            number(last) + ", not " + number(kWord + kBy));
}

}  // namespace wye::layers::validate
