// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/bind.hpp"

#include <fmt/format.h>

#include "plan/admit.hpp"

namespace wye::exec {
namespace {

using Kind = BoundOperation::Kind;

constexpr std::uint64_t kMostDispatches = 65536;  // of a request with several iterations

void add_uploads(const plan::Launch& launch, BoundLaunch& out) {
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (bound.input == nullptr || bound.bytes == 0) continue;
        out.operations.push_back({Kind::Upload, i, 0, 0, bound.bytes, bound.input, nullptr});
        out.bytes_uploaded += bound.bytes;
    }
}

void find_moved(const plan::Launch& launch, const route::Limits& limits, bool runs,
                BoundLaunch& out) {
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        const bool misplaced = runs && bound.offset % limits.buffer_alignment != 0;
        out.moved[i] = bound.kind == plan::ArgumentKind::Resident && bound.bytes != 0 &&
                       (misplaced || (out.reads_apart && bound.is_read()));
    }
}

void add_copy(const plan::Launch& launch, Kind kind, std::uint32_t i, BoundLaunch& out) {
    const std::uint64_t bytes = launch.buffers[i].bytes;
    out.operations.push_back({kind, i, 0, 0, bytes, nullptr, nullptr});
    out.bytes_copied += bytes;
}

void add_copies_out(const plan::Launch& launch, BoundLaunch& out) {
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i)
        if (out.moved[i] && launch.buffers[i].writable) add_copy(launch, Kind::CopyOut, i, out);
}

// Adds the fills, and a copy to scratch memory for each moved range that is not filled.
void add_fills(const plan::ProgramPlan& plan, const plan::Launch& launch, bool all,
               BoundLaunch& out) {
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (!(all ? plan::starts_at_zero(plan, bound) : bound.zero)) {
            if (out.moved[i]) add_copy(launch, Kind::CopyIn, i, out);
            continue;
        }
        out.operations.push_back({Kind::Fill, i, 0, 0, bound.bytes, nullptr, nullptr});
        out.bytes_filled += bound.bytes;
    }
}

void add_dispatches(const Kernels& kernels, BoundLaunch& out) {
    const auto launches = kernels.launches();
    for (std::uint32_t n = 0; n < launches.size(); ++n)
        for (std::uint32_t box = 0; box < out.split.boxes; ++box)
            out.operations.push_back({Kind::Dispatch, n, box, 0, 0, nullptr, nullptr});
}

void add_read_backs(const plan::Launch& launch, BoundLaunch& out) {
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (!bound.is_read()) continue;
        out.operations.push_back(
            {Kind::ReadBack, i, 0, bound.read_offset, bound.read_size, nullptr, bound.output});
        out.bytes_downloaded += bound.read_size;
    }
}

}  // namespace

Result<void> bind(const plan::ProgramPlan& plan, const plan::Launch& launch,
                  const route::Limits& limits, const Kernels& kernels, bool reads_apart,
                  BoundLaunch& out) {
    out.split = {launch.groups, launch.groups, 1};
    if (kernels.form.folded) {
        WYE_ASSIGN(out.split, plan::split_grid(launch.groups, limits.max_groups));
        if (kernels.at_once() && out.split.boxes > 1)
            return Error(
                Code::LIMIT_EXCEEDED,
                fmt::format("a cooperative launch of {} by {} by {} workgroups would take "
                            "{} launches, since the device launches at most {} by {} by {}",
                            launch.groups[0], launch.groups[1], launch.groups[2], out.split.boxes,
                            limits.max_groups[0], limits.max_groups[1], limits.max_groups[2]),
                "Fix: launch fewer workgroups: all of them must run at once");
    }
    const std::size_t dispatches = kernels.launches().size() * out.split.boxes;
    if (launch.iterations > 1 && dispatches * launch.iterations > kMostDispatches)
        return Error(
            Code::LIMIT_EXCEEDED,
            fmt::format("{} fixpoint iterations would take {} launches, and a dispatch "
                        "has at most {}",
                        launch.iterations, dispatches * launch.iterations, kMostDispatches),
            "Fix: dispatch several times with fewer, on resident buffers");
    out.operations.clear();
    out.bytes_uploaded = out.bytes_downloaded = out.bytes_filled = out.bytes_copied = 0;
    out.operations.reserve(launch.buffer_count * std::size_t{3} + dispatches);
    out.reads_apart = reads_apart;
    find_moved(launch, limits, dispatches != 0, out);
    add_uploads(launch, out);
    out.fills = out.operations.size();
    add_fills(plan, launch, kernels.form.variant != ir::kNone, out);
    out.dispatches = out.operations.size();
    add_dispatches(kernels, out);
    out.copies_out = out.operations.size();
    add_copies_out(launch, out);
    out.read_backs = out.operations.size();
    add_read_backs(launch, out);
    return {};
}

}  // namespace wye::exec
