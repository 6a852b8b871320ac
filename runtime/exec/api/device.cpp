// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "exec/api/api.hpp"
#include "registry/open/facts.hpp"
#include "wye/device.h"
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

wye_status wye_device_choose(wye_context* context, const wye_device_choice* choice, wye_device* out,
                             wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(choice);
        WYE_NEED(out);
        WYE_TRY(check_header(choice->header, sizeof *choice, "wye_device_choice"));
        WYE_TRY(check_string(choice->selector, "selector"));
        if (choice->policy > WYE_POLICY_AUTO || choice->reserved != 0)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the policy {} is unknown, or `reserved` is not 0 but {}",
                                     choice->policy, choice->reserved),
                         "Fix: use enum wye_device_policy, and WYE_INIT for the structure");
        WYE_ASSIGN(*out, self->open_device(from_abi(choice->selector), choice->program,
                                           static_cast<registry::Policy>(choice->policy)));
        return {};
    });
}

// The enumerations of the API and the registry have the same values.
static_assert(WYE_POLICY_AUTO == static_cast<unsigned>(registry::Policy::automatic) &&
              WYE_POLICY_PREFER == static_cast<unsigned>(registry::Policy::prefer) &&
              WYE_PASSED_UNFIT == static_cast<unsigned>(registry::PassedOver::Why::unfit) &&
              WYE_PASSED_NOT_TRIED == static_cast<unsigned>(registry::PassedOver::Why::not_tried));

// The object behind wye_choice: a reference to a choice that the context has recorded.
struct wye_choice {
    ChoiceRef of;
};

namespace {

// Writes one device that was passed over. `whose`: the selector of the device chosen instead.
Result<void> passed_over(const std::vector<registry::PassedOver>& list, const std::string& whose,
                         std::uint64_t index, wye_passed_over* out) {
    WYE_NEED(out);
    WYE_TRY(check_header(out->header, sizeof *out, "wye_passed_over"));
    if (index >= list.size())
        return Error(
            Code::NOT_FOUND,
            fmt::format("index {} is out of range: the list of what was passed over for {} "
                        "has {} entries",
                        index, whose, list.size()),
            "Fix: count from 0, and stop at this error", whose);
    const registry::PassedOver& one = list[index];
    out->selector = to_abi(one.subject);
    out->reason = to_abi(one.reason);
    out->fix = to_abi(one.fix);
    out->why = static_cast<std::uint32_t>(one.why);
    return {};
}

}  // namespace

wye_status wye_choice_find(wye_context* context, uint32_t number, wye_choice** out,
                           wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        ChoiceRef found = self->choices().at(number);
        if (!found)
            return Error(Code::NOT_FOUND,
                         fmt::format("there is no choice {}, or it is not among the newest {}",
                                     number, Choices::kMostKept),
                         "Fix: take the member `choice` of a recent report whose `routed` is "
                         "WYE_ROUTED_CHOSEN",
                         "choice");
        *out = new wye_choice{std::move(found)};
        return {};
    });
}

wye_string wye_choice_selector(const wye_choice* choice) {
    return choice == nullptr ? wye_string{} : to_abi(choice->of->selector);
}

wye_string wye_choice_reason(const wye_choice* choice) {
    return choice == nullptr ? wye_string{} : to_abi(choice->of->reason);
}

wye_status wye_choice_passed_over(const wye_choice* choice, uint64_t index, wye_passed_over* out,
                                  wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(choice);
        return passed_over(choice->of->passed_over, choice->of->selector, index, out);
    });
}

void wye_choice_free(wye_choice* choice) { delete choice; }

wye_status wye_device_passed_over(wye_context* context, wye_device device, uint64_t index,
                                  wye_passed_over* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(device, HandleKind::device));
        const DeviceSession& session = pin.as<DeviceSession>();
        return passed_over(session.passed_over(), session.info().selector, index, out);
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
        WYE_TRY(check_header(out->header, sizeof *out, "wye_fact"));
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
                     "Fix: if it is a capability, treat it as absent; if it is a limit, as unknown",
                     info.selector);
    });
}

wye_status wye_device_flush(wye_context* context, wye_device device, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const registry::Pin pin, self->handles().find(device, HandleKind::device));
        return pin.as<DeviceSession>().flush();
    });
}
