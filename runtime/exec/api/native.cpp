// SPDX-License-Identifier: Apache-2.0
//
// The C functions for native handles of devices, queues and buffers, and for native events.
#include <fmt/format.h>

#include <span>
#include <utility>

#include "exec/api/api.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/public_queue.hpp"
#include "wye/native.h"
#include "wye/sdk/plugin.hpp"

using namespace wye::exec;
namespace registry = wye::registry;
using registry::HandleKind;
using wye::Code;
using wye::Error;
using wye::Result;

namespace {

// Finds an object, and stores the native handle that `native` returns for it.
template <typename Native>
Result<void> answer(Context& context, registry::Handle handle, HandleKind kind,
                    wye_native_handle* out, Native&& native) {
    WYE_NEED(out);
    WYE_TRY(check_header(out->header, sizeof *out, "wye_native_handle"));
    WYE_ASSIGN(const registry::Pin pin, context.handles().find(handle, kind));
    WYE_ASSIGN(wye_native_handle found, native(pin));
    found.header = out->header;
    *out = found;
    return {};
}

// INVALID_ARGUMENT if the caller's handle has no values, or if a value has no type.
Result<void> check_handle(const wye_native_handle& handle) {
    WYE_TRY(check_header(handle.header, sizeof handle, "wye_native_handle"));
    const auto refused = [](std::string what) {
        return Error(Code::INVALID_ARGUMENT, std::move(what),
                     "Fix: make the handle with wye_native_of", "wye_native_handle");
    };
    if (handle.count == 0 || handle.count > WYE_NATIVE_VALUES || handle.reserved != 0)
        return refused(fmt::format("`count` of wye_native_handle is {}, and `reserved` is {}",
                                   handle.count, handle.reserved));
    for (const wye_native_value& one : std::span(handle.values, handle.count)) {
        WYE_TRY(check_string(one.type, "type"));
        if (one.type.size == 0) return refused("a value of wye_native_handle has no type");
    }
    return {};
}

// Records a device loss if `result` is one; returns `result`.
Result<wye_native_handle> noted(DeviceSession& session, Result<wye_native_handle> result) {
    if (result.ok()) return result;
    return session.noted(std::move(result).error());
}

}  // namespace

wye_status wye_device_native(wye_context* context, wye_device device, wye_native_handle* out,
                             wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return answer(*self, device, HandleKind::device, out,
                      [](const registry::Pin& pin) -> Result<wye_native_handle> {
                          DeviceSession& session = pin.as<DeviceSession>();
                          WYE_TRY(session.alive());
                          return noted(session, session.device()->native());
                      });
    });
}

wye_status wye_queue_native(wye_context* context, wye_queue queue, wye_native_handle* out,
                            wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return answer(*self, queue, HandleKind::queue, out,
                      [](const registry::Pin& pin) -> Result<wye_native_handle> {
                          const PublicQueue& found = pin.as<PublicQueue>();
                          DeviceSession& session = found.session();
                          WYE_TRY(session.alive());
                          const auto native = session.native_queue(found.number());
                          if (!native)
                              return Error(Code::NOT_READY,
                                           fmt::format("queue `{}` shares a native queue that "
                                                       "does not exist yet",
                                                       found.label()),
                                           "Fix: give it work first (wye_device_prepare)",
                                           found.label());
                          return noted(session, native->native());
                      });
    });
}

wye_status wye_queue_wait_native(wye_context* context, wye_queue queue,
                                 const wye_native_handle* event, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(event);
        WYE_TRY(check_handle(*event));
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(queue, HandleKind::queue));
        const PublicQueue& found = pin.as<PublicQueue>();
        return found.session().wait_native(found.number(), *event);
    });
}

wye_status wye_buffer_native(wye_context* context, wye_buffer buffer, wye_native_handle* out,
                             wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return answer(*self, buffer, HandleKind::buffer, out,
                      [](const registry::Pin& pin) -> Result<wye_native_handle> {
                          BufferObject& object = pin.as<BufferObject>();
                          WYE_TRY(object.session.alive());
                          return noted(object.session, object.native.native());
                      });
    });
}

wye_status wye_buffer_adopt(wye_context* context, wye_device device,
                            const wye_buffer_adopt_desc* desc, wye_buffer* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_header(desc->header, sizeof *desc, "wye_buffer_adopt_desc"));
        WYE_TRY(check_string(desc->label, "label"));
        if (desc->flags != 0 || desc->reserved != 0)
            return Error(
                Code::INVALID_ARGUMENT,
                fmt::format("`flags` of wye_buffer_adopt_desc is {:#x}, and `reserved` is {}",
                            desc->flags, desc->reserved),
                "Fix: set both to 0", "flags");
        WYE_NEED(desc->memory);
        WYE_TRY(check_handle(*desc->memory));
        WYE_ASSIGN(*out, self->adopt_buffer(device, *desc->memory, desc->size,
                                            wye::sdk::from_abi(desc->label)));
        return {};
    });
}
