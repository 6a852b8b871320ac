// SPDX-License-Identifier: Apache-2.0
//
// The C functions for asynchronous dispatches.
#include "exec/dispatch/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "exec/api/api.hpp"
#include "exec/dispatch/target.hpp"
#include "exec/prepared/repeat.hpp"

using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::registry::HandleKind;
using wye::registry::Pin;

namespace {

// The deadline; none: there is no limit.
std::optional<Clock::time_point> deadline_of(std::uint64_t timeout_ns) {
    if (timeout_ns == UINT64_MAX) return std::nullopt;
    return after(now(), timeout_ns);
}

Error not_in_time(const Pending& pending, std::uint64_t timeout_ns) {
    return {Code::TIMEOUT,
            fmt::format("the {} on {} did not end within {:g} ms, and is still in progress",
                        pending.what(), pending.session().info().selector,
                        static_cast<double>(timeout_ns) / 1e6),
            "Fix: wait longer", pending.name()};
}

// Polls all dispatches, and waits briefly for the first one before it polls again. The wait is
// short, since dispatches on other queues or devices may end before the first one.
Result<std::uint64_t> wait_any(std::span<const Pin> pins, std::uint64_t timeout_ns) {
    constexpr std::chrono::microseconds kFirst{20}, kLongest{2000};
    const auto deadline = deadline_of(timeout_ns);
    for (std::chrono::microseconds slice = kFirst;; slice = std::min(slice * 2, kLongest)) {
        for (std::size_t i = 0; i < pins.size(); ++i)
            if (pins[i].as<Pending>().poll_result()) return i;
        const Clock::time_point start = now();
        if (deadline && start >= *deadline) return not_in_time(pins[0].as<Pending>(), timeout_ns);
        const Clock::time_point end = start + slice;
        (void)pins[0].as<Pending>().wait(deadline ? std::min(*deadline, end) : end);
    }
}

}  // namespace

wye_status wye_dispatch_submit(wye_context* context, const wye_dispatch_desc* desc,
                               wye_pending* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        const Clock::time_point start = now();
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        WYE_TRY(check_dispatch(*desc));
        WYE_TRY(self->handles().make_room());
        WYE_ASSIGN(Target target, Target::find(self->handles(), *desc));
        WYE_ASSIGN(auto pending, submit_dispatch(*self, target, Pending::kAsynchronous, start));
        WYE_ASSIGN(*out, Pending::add(std::move(pending), self->handles()));
        return {};
    });
}

wye_status wye_dispatch_owned(wye_context* context, const wye_dispatch_desc* desc,
                              wye_report* report, wye_pending* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        const Clock::time_point start = now();
        WYE_ENTER(self, context);
        WYE_NEED(desc);
        WYE_NEED(out);
        if (report != nullptr) WYE_TRY(check_header(report->header, sizeof *report, "wye_report"));
        WYE_TRY(check_dispatch(*desc));
        const std::uint64_t limit = desc->timeout_ns;
        WYE_TRY(self->handles().make_room());
        WYE_ASSIGN(Target target, Target::find(self->handles(), *desc));
        WYE_ASSIGN(auto pending,
                   submit_dispatch(*self, target,
                                   limit == 0 ? Pending::kOwned : Pending::kOwnedLimited, start));
        pending->wait_for_result();
        WYE_TRY(pending->outcome(report));
        WYE_ASSIGN(*out, Pending::add(std::move(pending), self->handles()));
        return {};
    });
}

wye_status wye_pending_poll(wye_context* context, wye_pending pending, uint32_t* ended,
                            wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(ended);
        WYE_ASSIGN(const Pin pin, self->handles().find(pending, HandleKind::pending));
        *ended = pin.as<Pending>().poll_result() ? 1 : 0;
        return {};
    });
}

wye_status wye_pending_wait(wye_context* context, wye_pending pending, uint64_t timeout_ns,
                            wye_report* report, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        if (report != nullptr) WYE_TRY(check_header(report->header, sizeof *report, "wye_report"));
        Pin pin = self->handles().try_find(pending, HandleKind::pending);
        if (!pin) [[unlikely]] {
            WYE_ASSIGN(pin, self->handles().find(pending, HandleKind::pending));
        }
        Pending& work = pin.as<Pending>();
        if (!work.wait_result(deadline_of(timeout_ns))) return not_in_time(work, timeout_ns);
        return work.outcome(report);
    });
}

wye_status wye_pending_wait_any(wye_context* context, const wye_pending* pending, uint64_t count,
                                uint64_t timeout_ns, uint64_t* index, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(index);
        if (count == 0)
            return Error(Code::INVALID_ARGUMENT, "there is no dispatch to wait for",
                         "Fix: pass at least one", "count");
        WYE_NEED(pending);
        std::vector<Pin> pins;
        for (std::uint64_t i = 0; i < count; ++i) {
            WYE_ASSIGN(Pin pin, self->handles().find(pending[i], HandleKind::pending));
            pins.push_back(std::move(pin));
        }
        WYE_ASSIGN(*index, wait_any(pins, timeout_ns));
        return {};
    });
}

wye_status wye_pending_output(wye_context* context, wye_pending pending, uint32_t binding,
                              wye_bytes* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_ASSIGN(const Pin pin, self->handles().find(pending, HandleKind::pending));
        Pending& work = pin.as<Pending>();
        if (!work.poll_result())
            return Error(Code::NOT_READY, fmt::format("the {} has not ended", work.what()),
                         "Fix: wait for it first", work.name());
        WYE_ASSIGN(const auto bytes, work.output(binding));
        *out = {bytes.data(), bytes.size()};
        return {};
    });
}

wye_status wye_pending_notify(wye_context* context, wye_pending pending, wye_pending_fn fn,
                              void* user, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(fn);
        WYE_ASSIGN(const Pin pin, self->handles().find(pending, HandleKind::pending));
        const WorkPtr<Pending> work(&pin.as<Pending>());
        return work->session().notifier().add(work, [=, door = self->callbacks()] {
            const auto status = static_cast<wye_status>(work->status());
            door->through([&] {
                const CallbackScope scope(context, CallbackScope::May::AllButDestroy);
                fn(user, status);
            });
        });
    });
}

wye_status wye_pending_cancel(wye_context* context, wye_pending pending, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_ASSIGN(const Pin pin, self->handles().find(pending, HandleKind::pending));
        return pin.as<Pending>().cancel();
    });
}

wye_status wye_pending_free(wye_context* context, wye_pending pending, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        Pin pin = self->handles().try_find(pending, HandleKind::pending);
        if (!pin) [[unlikely]] {
            WYE_ASSIGN(pin, self->handles().find(pending, HandleKind::pending));
        }
        Pending& work = pin.as<Pending>();
        if (work.borrows()) work.wait_for_end();
        return self->handles().retire(std::move(pin));
    });
}
