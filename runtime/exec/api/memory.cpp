// SPDX-License-Identifier: Apache-2.0
#include "exec/device/registered.hpp"

#include "exec/api/api.hpp"
#include "wye/buffer.h"

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
