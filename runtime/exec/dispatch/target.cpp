// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/device/buffer.hpp"
#include "exec/device/public_queue.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;

// Refuses options that the pipeline decides, so that no dispatch can contradict its pipeline.
Result<void> check_left_out(const wye_dispatch_desc& request, const Pipeline& pipeline) {
    const auto refuse = [&](std::string_view member, const char* fix) {
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("the dispatch names pipeline `{}`, but also sets `{}`, which "
                                 "the pipeline decides",
                                 pipeline.id(), member),
                     fix, "wye_dispatch_desc");
    };
    constexpr const char* kHandles = "Fix: name a pipeline, or a program and a device";
    constexpr const char* kOptions = "Fix: leave it 0, or make a pipeline with this option";
    if (request.program != 0) return refuse("program", kHandles);
    if (request.device != 0) return refuse("device", kHandles);
    if ((request.flags & WYE_DISPATCH_VARIANTS) != 0)
        return refuse("WYE_DISPATCH_VARIANTS", kOptions);
    if ((request.flags & WYE_DISPATCH_COOPERATIVE) != 0)
        return refuse("WYE_DISPATCH_COOPERATIVE", kOptions);
    if (std::ranges::any_of(request.workgroup, [](std::uint32_t size) { return size != 0; }))
        return refuse("workgroup", kOptions);
    if (request.ulp_budget != 0) return refuse("ulp_budget", kOptions);
    return {};
}

}  // namespace

Result<registry::Pin> Target::pin(const registry::HandleTable& handles,
                                  const wye_dispatch_desc& request) {
    return request.pipeline != 0 ? handles.find(request.pipeline, HandleKind::pipeline)
                                 : handles.find(request.program, HandleKind::program);
}

registry::Pin Target::pin_again(const registry::HandleTable& handles) const {
    auto again = handles.pin_again(program_);
    return again.ok() ? std::move(again).value() : registry::Pin();
}

Result<Target> Target::find(const registry::HandleTable& handles, const wye_dispatch_desc& request,
                            bool runs) {
    WYE_ASSIGN(registry::Pin program, pin(handles, request));
    if (request.device == 0 && request.pipeline == 0) [[unlikely]] {
        if (runs) return find_owner(handles, request, std::move(program));
        Target out(request);
        out.program_ = std::move(program);
        return out;
    }
    return find_again(handles, request, std::move(program));
}

namespace {

// The device that owns the first resident buffer; else the device of the grid's buffer; else the
// device of the queue. 0: the request has none of these. Buffers that are not live are skipped,
// since later steps refuse them.
Result<registry::Handle> owner_of(const registry::HandleTable& handles,
                                  const wye_dispatch_desc& request) {
    for (std::uint64_t i = 0; request.arguments != nullptr && i < request.argument_count; ++i) {
        const wye_argument& argument = request.arguments[i];
        if (argument.kind != WYE_ARGUMENT_RESIDENT) continue;
        const registry::Pin buffer = handles.try_find(argument.buffer, HandleKind::buffer);
        if (buffer) return buffer.as<BufferObject>().device;
    }
    if ((request.flags & WYE_DISPATCH_INDIRECT) != 0) {
        const registry::Pin grid = handles.try_find(request.grid_buffer, HandleKind::buffer);
        if (grid) return grid.as<BufferObject>().device;
    }
    if (request.queue == 0) return 0;
    WYE_ASSIGN(const registry::Pin queue, handles.find(request.queue, HandleKind::queue));
    return queue.as<PublicQueue>().device();
}

}  // namespace

Result<Target> Target::find_owner(const registry::HandleTable& handles,
                                  const wye_dispatch_desc& request, registry::Pin program) {
    Target out(request);
    out.program_ = std::move(program);
    WYE_ASSIGN(const registry::Handle owner, owner_of(handles, request));
    if (owner != 0) {
        WYE_ASSIGN(out.device_, handles.find(owner, HandleKind::device));
    }
    return out;
}

Result<Target> Target::find_again(const registry::HandleTable& handles,
                                  const wye_dispatch_desc& request, registry::Pin program) {
    Target out(request);
    out.program_ = std::move(program);
    if (request.pipeline == 0) {
        WYE_ASSIGN(out.device_, handles.find(request.device, HandleKind::device));
        return out;
    }
    const Pipeline& pipeline = out.program_.as<Pipeline>();
    WYE_TRY(check_left_out(request, pipeline));
    out.completed_ = pipeline.complete(request);
    return out;
}

}  // namespace wye::exec
