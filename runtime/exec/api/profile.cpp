// SPDX-License-Identifier: Apache-2.0
#include "wye/profile.h"

#include "exec/api/api.hpp"
#include "exec/device/profile.hpp"

using namespace wye::exec;
namespace registry = wye::registry;
using registry::HandleKind;
using wye::Result;

namespace {

using Describe = registry::Json (*)(const registry::DeviceInfo&);

Result<void> describe(Context& context, wye_device device, Describe make, wye_blob** out) {
    WYE_NEED(out);
    WYE_ASSIGN(const registry::Pin pin, context.handles().find(device, HandleKind::device));
    *out = make_blob(make(pin.as<DeviceSession>().info()).dump(2));
    return {};
}

}  // namespace

wye_status wye_device_operations(wye_context* context, wye_device device, wye_blob** out,
                                 wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return describe(*self, device, operations_json, out);
    });
}

wye_status wye_device_profile(wye_context* context, wye_device device, wye_blob** out,
                              wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        return describe(*self, device, profile_json, out);
    });
}
