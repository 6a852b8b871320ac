// SPDX-License-Identifier: Apache-2.0
//
// The C functions for registered memory, and for the memory of a device.
#include "exec/api/api.hpp"
#include "exec/device/registered.hpp"
#include "wye/buffer.h"
#include "wye/device.h"

using namespace wye::exec;
namespace registry = wye::registry;
using wye::Result;

wye_status wye_memory_register(wye_context* context, wye_device device, void* memory, uint64_t size,
                               wye_memory* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_ASSIGN(const registry::Pin pin,
                   self->handles().find(device, registry::HandleKind::device));
        WYE_ASSIGN(*out, register_memory(self->handles(), pin.as<DeviceSession>(), memory, size));
        return {};
    });
}

wye_status wye_memory_unregister(wye_context* context, wye_memory memory, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return unregister_memory(self->handles(), memory);
    });
}

wye_status wye_device_memory(wye_context* context, wye_device device, wye_memory_use* out,
                             wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_memory_use"));
        WYE_ASSIGN(const registry::Pin pin,
                   self->handles().find(device, registry::HandleKind::device));
        wye_memory_use use = pin.as<DeviceSession>().memory_use();
        use.header = out->header;
        *out = use;
        return {};
    });
}

wye_status wye_device_trim(wye_context* context, wye_device device, uint64_t* freed_bytes,
                           wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const registry::Pin pin,
                   self->handles().find(device, registry::HandleKind::device));
        const std::uint64_t freed = pin.as<DeviceSession>().trim();
        if (freed_bytes != nullptr) *freed_bytes = freed;
        return {};
    });
}

wye_status wye_memory_limit(wye_context* context, wye_device device, uint64_t bytes,
                            wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        if (device == 0) {
            self->memory().limit(bytes);
            return {};
        }
        WYE_ASSIGN(const registry::Pin pin,
                   self->handles().find(device, registry::HandleKind::device));
        pin.as<DeviceSession>().limit_memory(bytes);
        return {};
    });
}
