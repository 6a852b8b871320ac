// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/trials.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "wye/sdk/samples.hpp"

namespace wye::layers::validate {
namespace {

constexpr std::uint32_t kOften = 65535;     // workgroups in x that every driver takes
constexpr std::uint32_t kMost = 1U << 18U;  // limit for the workgroups of a trial launch
constexpr std::uint32_t kInvocations = 64;  // invocations in a workgroup of the sample
constexpr std::uint32_t kWord = 7, kBy = 5;
constexpr std::uint64_t kFewBytes = 65535, kMostBytes = std::uint64_t{16} << 20U;
constexpr std::uint64_t kPatience = 10'000'000'000;  // ns

// The largest number of workgroups on the x axis among the direct launches of a submission.
std::uint32_t most_groups(const wye_submission& submission) {
    std::uint32_t out = 0;
    for (const wye_operation& one : std::span(submission.operations, submission.operation_count))
        if (one.kind == WYE_OPERATION_DISPATCH && (one.u.dispatch.flags & WYE_LAUNCH_INDIRECT) == 0)
            out = std::max(out, one.u.dispatch.groups[0]);
    return out;
}

// Whether pending work may wait for the host. If so, the layer must not wait for the device.
bool may_wait_for_host(Objects& objects) {
    for (const auto& [at, timeline] : objects.timelines.all())
        for (const auto& [value, submit] : timeline.submits)
            if (!submit.waits.empty()) return true;
    return false;
}

// The objects of a trial. An object that cannot be made is null.
class Trial {
  public:
    Trial(DeviceNode& node, std::uint64_t bytes, const wye_artifact* artifact) : node_(node) {
        wye_buffer_desc buffer{};
        buffer.header.size = sizeof buffer;
        buffer.size = bytes;
        buffer.alignment = 1;
        buffer.usage = WYE_BUFFER_USAGE_DEVICE;
        wye_queue_desc queue{};
        queue.header.size = sizeof queue;
        queue.label = {"validate", 8};
        const wye_device_table& next = node_.next;
        made_ = (artifact == nullptr ||
                 next.program_create(node_.object, artifact, &program, nullptr) == WYE_OK) &&
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

wye_operation moved(std::uint32_t kind, wye_buffer_object* buffer, std::vector<std::byte>& bytes) {
    wye_operation out{};
    out.kind = kind;
    out.u.transfer = {buffer, 0, bytes.size(), nullptr, nullptr};
    if (kind == WYE_OPERATION_UPLOAD)
        out.u.transfer.source = bytes.data();
    else
        out.u.transfer.target = bytes.data();
    return out;
}

// The bytes of the operation that moves the largest number of bytes.
std::uint64_t most_bytes(const wye_submission& submission) {
    std::uint64_t out = 0;
    for (const wye_operation& one : std::span(submission.operations, submission.operation_count)) {
        if (one.kind == WYE_OPERATION_UPLOAD || one.kind == WYE_OPERATION_DOWNLOAD)
            out = std::max(out, one.u.transfer.size);
        if (one.kind == WYE_OPERATION_COPY) out = std::max(out, one.u.copy.size);
        if (one.kind == WYE_OPERATION_FILL) out = std::max(out, one.u.fill.size);
    }
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

    Trial trial(node, bytes, &*sample);
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
                        "the layer's trial launch of " + number(groups) +
                            " workgroups (the device claims up to " + number(limits.workgroups[0]) +
                            ") left out the last one: its last word is " + number(last) + ", not " +
                            number(kWord + kBy));
}

void check_moves(DeviceNode& node, const wye_submission& submission) {
    constexpr std::uint64_t kWordBytes = sizeof kWord;
    const std::uint64_t asked = std::min(most_bytes(submission), kMostBytes);
    Plugin& plugin = node.plugin().state();
    if (asked <= kFewBytes || !plugin.breaches.looks_for(Side::plugin)) return;
    {
        const sdk::Lock lock(plugin.mutex);
        Device& device = node.state();
        if (asked / 2 < device.tried_bytes || may_wait_for_host(device.objects)) return;
        device.tried_bytes = asked;
    }
    const std::uint64_t size = (asked + kWordBytes - 1) / kWordBytes * kWordBytes;
    if (size > node.state().limits.buffer_bytes) return;

    Trial trial(node, size, nullptr);
    std::vector<std::byte> source(size), uploaded(size), copied(size), words(size);
    for (std::uint64_t i = 0; i < size; ++i)
        source[i] = static_cast<std::byte>((i * 0x9e3779b97f4a7c15U) >> 56U | 1U);
    wye_operation copy{};
    copy.kind = WYE_OPERATION_COPY;
    copy.u.copy = {trial.x, trial.r, 0, 0, size, 0, 0};
    const wye_operation operations[] = {filled(trial.x, size, 0),
                                        filled(trial.r, size, 0),
                                        moved(WYE_OPERATION_UPLOAD, trial.x, source),
                                        copy,
                                        moved(WYE_OPERATION_DOWNLOAD, trial.x, uploaded),
                                        moved(WYE_OPERATION_DOWNLOAD, trial.r, copied),
                                        filled(trial.x, size, kWord),
                                        moved(WYE_OPERATION_DOWNLOAD, trial.x, words)};
    if (!trial.run(operations)) return;
    std::vector<std::byte> filled_with(size);
    for (std::uint64_t i = 0; i < size; i += kWordBytes)
        std::memcpy(&filled_with[i], &kWord, kWordBytes);
    // Stops at the first wrong move, since the later ones depend on it.
    const std::tuple<const char*, const std::vector<std::byte>&, const std::vector<std::byte>&>
        moves[] = {{"upload or download", uploaded, source},
                   {"copy", copied, source},
                   {"fill", words, filled_with}};
    for (const auto& [what, found, right] : moves) {
        if (found == right) continue;
        const auto wrong = std::ranges::mismatch(found, right);
        plugin.breaches.add(Side::plugin, "P-55", "submit", node.object,
                            "the layer's " + std::string(what) + " of " + number(size) +
                                " bytes left byte " +
                                number(static_cast<std::uint64_t>(wrong.in1 - found.begin())) +
                                " at " + number(std::to_integer<std::uint64_t>(*wrong.in1)) +
                                ", not " + number(std::to_integer<std::uint64_t>(*wrong.in2)));
        return;
    }
}

}  // namespace wye::layers::validate
