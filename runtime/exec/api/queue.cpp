// SPDX-License-Identifier: Apache-2.0
//
// The C functions for queues.
#include <fmt/format.h>

#include "exec/api/api.hpp"
#include "exec/device/public_queue.hpp"
#include "wye/sdk/plugin.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;
using wye::sdk::from_abi;

namespace {

Result<void> check_queue(const wye_queue_create_desc& desc) {
    WYE_TRY(check_header(desc.header, sizeof desc, "wye_queue_create_desc"));
    WYE_TRY(check_string(desc.label, "label"));
    if (desc.kind > WYE_QUEUE_TRANSFER)
        return Error(Code::INVALID_ARGUMENT, fmt::format("a queue has no kind {}", desc.kind),
                     "Fix: use WYE_QUEUE_ANY, _COMPUTE or _TRANSFER", "kind");
    if ((desc.flags & ~WYE_QUEUE_OWN) != 0 || desc.reserved != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`flags` of wye_queue_create_desc is {:#x}, and `reserved` is {}",
                                 desc.flags, desc.reserved),
                     "Fix: use WYE_QUEUE_OWN only, and leave `reserved` 0", "flags");
    return {};
}

}  // namespace

wye_status wye_queue_create(wye_context* context, wye_device device,
                            const wye_queue_create_desc* desc, wye_queue* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_queue(*desc));
        WYE_ASSIGN(const Pin pin, self->handles().find(device, HandleKind::device));
        DeviceSession& session = pin.as<DeviceSession>();
        QueueRequest request;
        request.label = from_abi(desc->label);
        request.kind = desc->kind;
        request.priority = desc->priority;
        request.own = (desc->flags & WYE_QUEUE_OWN) != 0;
        std::string label = request.label;
        WYE_ASSIGN(auto queue, PublicQueue::create(device, session, std::move(request)));
        WYE_ASSIGN(*out, self->handles().add(HandleKind::queue, std::move(queue), session.owner(),
                                             std::move(label)));
        return {};
    });
}

wye_status wye_queue_describe(wye_context* context, wye_queue queue, wye_queue_description* out,
                              wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_queue_description"));
        WYE_ASSIGN(const Pin pin, self->handles().find(queue, HandleKind::queue));
        pin.as<PublicQueue>().describe(*out);
        return {};
    });
}

wye_status wye_queue_flush(wye_context* context, wye_queue queue, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const Pin pin, self->handles().find(queue, HandleKind::queue));
        const PublicQueue& object = pin.as<PublicQueue>();
        return object.session().flush(object.number());
    });
}

wye_status wye_queue_free(wye_context* context, wye_queue queue, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return self->handles().retire(queue, HandleKind::queue);
    });
}
