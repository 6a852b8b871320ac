// SPDX-License-Identifier: Apache-2.0
#include "exec/device/public_queue.hpp"

#include <fmt/format.h>

namespace wye::exec {

using registry::HandleKind;

Result<std::shared_ptr<PublicQueue>> PublicQueue::create(registry::Handle device,
                                                         DeviceSession& session,
                                                         QueueRequest request) {
    WYE_ASSIGN(const QueueGrant grant, session.take_queue(request));
    try {
        return std::make_shared<PublicQueue>(device, session, std::move(request), grant);
    } catch (...) {
        session.queues().release_public(grant.number);
        throw;
    }
}

void PublicQueue::describe(wye_queue_description& out) const {
    out.device = device_;
    out.label = {request_.label.data(), request_.label.size()};
    out.kind = request_.kind;
    out.priority = request_.priority;
    out.granted_kind = grant_.info.kind;
    out.granted_priority = grant_.info.priority;
    out.native_index = grant_.info.native_index;
    out.shared = grant_.shared ? 1 : 0;
    out.submits = session_.queues().submits_of(grant_.number);
}

Result<NamedQueue> NamedQueue::find(const registry::HandleTable& handles, registry::Handle queue,
                                    const DeviceSession& session, bool dispatches) {
    NamedQueue out;
    if (queue == 0) return out;
    WYE_ASSIGN(out.pin_, handles.find_owned(queue, HandleKind::queue, session.owner()));
    const PublicQueue& found = out.pin_.as<PublicQueue>();
    if (dispatches && !found.takes_dispatches())
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("queue `{}` is for transfers, and takes no dispatch", found.label()),
            "Fix: name a queue of kind WYE_QUEUE_ANY or WYE_QUEUE_COMPUTE, or none", found.label());
    return out;
}

bool NamedQueue::try_find(const registry::HandleTable& handles, registry::Handle queue,
                          const DeviceSession& session) noexcept {
    pin_ = handles.try_find(queue, HandleKind::queue);
    if (!pin_) return false;
    const PublicQueue& found = pin_.as<PublicQueue>();
    return &found.session() == &session && found.takes_dispatches();
}

}  // namespace wye::exec
