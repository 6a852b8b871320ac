// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/later.hpp"

#include "exec/dispatch/decide.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {

void Later::copy_inputs(DeviceSession& session) {
    std::size_t size = 0;
    for (const wye_argument& argument : arguments_) size += HostMemory::padded(argument.input.size);
    if (size == 0) return;
    inputs_ = session.host_memory().take(size);
    std::byte* to = inputs_.data();
    for (wye_argument& argument : arguments_) {
        if (argument.input.size == 0) continue;
        session.copiers().copy(to, static_cast<const std::byte*>(argument.input.data),
                               static_cast<std::size_t>(argument.input.size));
        argument.input.data = to;
        to += HostMemory::padded(argument.input.size);
    }
}

Result<std::unique_ptr<Later>> Later::make(Context& context, Target& target, Flow& from) {
    auto out = std::make_unique<Later>();
    const wye_dispatch_desc& request = target.request();
    DeviceSession& session = from.session();
    RequestRules rules = from.rules;
    out->desc_ = request;
    out->arguments_.assign(request.arguments, request.arguments + request.argument_count);
    out->params_.assign(request.params, request.params + request.param_count);
    out->label_ = sdk::from_abi(request.label);
    out->profile_ = sdk::from_abi(request.profile);
    if (!from.has(WYE_DISPATCH_BORROW) && !rules.waits) {
        out->copy_inputs(session);
        rules.waits = true;  // the inputs are not copied again
    }
    out->desc_.arguments = out->arguments_.data();
    out->desc_.params = out->params_.data();
    out->desc_.label = sdk::to_abi(out->label_);
    out->desc_.profile = sdk::to_abi(out->profile_);
    if (request.pipeline == 0) out->desc_.device = from.routed.device;
    // The copy gets pins of its own. The caller still needs its pins, since the work may end before
    // it has a handle.
    WYE_ASSIGN(registry::Pin program, Target::pin(context.handles(), request));
    WYE_ASSIGN(Target found, Target::find_again(context.handles(), out->desc_, std::move(program)));
    out->target_.emplace(std::move(found));
    Flow& flow = out->flow_.emplace(*out->target_, rules);
    flow.counted = true;  // the end of the work counts the dispatch
    flow.routed = from.routed;
    flow.queue = std::move(from.queue);
    flow.keep = from.keep;
    WYE_TRY(decide(context, flow));
    return out;
}

}  // namespace wye::exec
