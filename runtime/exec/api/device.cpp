// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "exec/api/api.hpp"
#include "registry/facts.hpp"
#include "wye/sdk/plugin.hpp"

using namespace wye::exec;
namespace registry = wye::registry;
using registry::HandleKind;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::sdk::from_abi;
using wye::sdk::to_abi;

wye_status wye_device_open(wye_context* context, wye_string selector, uint64_t program,
                           wye_device* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_string(selector, "selector"));
        WYE_ASSIGN(*out, self->open_device(from_abi(selector), program));
        return {};
    });
}

wye_status wye_device_describe(wye_context* context, wye_device device, wye_device_description* out,
                               wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_header(out->header, sizeof *out, "wye_device_description"));
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(device, HandleKind::device));
        const DeviceSession& session = pin.as<DeviceSession>();
        out->selector = to_abi(session.info().selector);
        out->name = to_abi(session.info().name);
        out->plugin = to_abi(session.info().plugin);
        out->format = to_abi(session.format());
        out->reason = to_abi(session.reason());
        return {};
    });
}

wye_status wye_device_fact(wye_context* context, wye_device device, wye_string name, wye_fact* out,
                           wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_string(name, "name"));
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(device, HandleKind::device));
        const registry::DeviceInfo& info = pin.as<DeviceSession>().info();
        const registry::FactInfo* fact = registry::find_fact(from_abi(name));
        if (fact == nullptr)
            return Error(Code::UNKNOWN_KEY,
                         fmt::format("there is no device fact named `{}`", from_abi(name)),
                         "Fix: use a name that `wye info --json` prints",
                         std::string(from_abi(name)));
        if (info.facts.to_abi(fact->key, out)) return {};
        return Error(Code::UNSUPPORTED,
                     fmt::format("{} does not report `{}`", info.selector, fact->name),
                     "Fix: treat a capability as absent, and a limit as unknown", info.selector);
    });
}

wye_status wye_device_flush(wye_context* context, wye_device device, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(device, HandleKind::device));
        return pin.as<DeviceSession>().flush();
    });
}
