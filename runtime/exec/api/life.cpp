// SPDX-License-Identifier: Apache-2.0
//
// The C functions that prepare, recover and close devices.
#include "exec/api/api.hpp"
#include "wye/device.h"

using namespace wye::exec;
namespace registry = wye::registry;
using registry::HandleKind;
using wye::Result;

wye_status wye_device_prepare(wye_context* context, wye_device device, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(device, HandleKind::device));
        return pin.as<DeviceSession>().prepare();
    });
}

wye_status wye_device_is_lost(wye_context* context, wye_device device, uint32_t* lost,
                              wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(lost);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(device, HandleKind::device));
        *lost = pin.as<DeviceSession>().ask_lost() ? 1 : 0;
        return {};
    });
}

wye_status wye_device_recover(wye_context* context, wye_device device, wye_device* out,
                              wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_ASSIGN(*out, self->recover_device(device));
        return {};
    });
}

wye_status wye_device_close(wye_context* context, wye_device device, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return self->close_device(device);
    });
}
