// SPDX-License-Identifier: Apache-2.0
#include "exec/device/counters.hpp"

#include "exec/api/api.hpp"

using namespace wye::exec;
namespace registry = wye::registry;
using wye::Result;

namespace {

// Writes the counters of an object with a function `count(wye_counters&)`. Keeps the caller's
// header.
template <typename Object>
void write(const Object& object, wye_counters& out) {
    wye_counters sum{};
    object.count(sum);
    sum.header = out.header;
    out = sum;
}

}  // namespace

wye_status wye_device_counters(wye_context* context, wye_device device, wye_counters* out,
                               wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_counters"));
        WYE_ASSIGN(const registry::Pin pin,
                   self->handles().find(device, registry::HandleKind::device));
        write(pin.as<DeviceSession>(), *out);
        return {};
    });
}

wye_status wye_context_counters(wye_context* context, wye_counters* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_counters"));
        write(*self, *out);
        return {};
    });
}
