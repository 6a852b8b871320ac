// SPDX-License-Identifier: Apache-2.0
//
// Steps with asynchronous dispatches: several are pending, and are polled, waited for, notified,
// cancelled and freed in any order.
#include <algorithm>

#include "worker.hpp"

namespace wye::stress {
namespace {

constexpr std::size_t kMostPending = 8;

void count(void* user, wye_status) { ++*static_cast<std::atomic<std::uint64_t>*>(user); }

}  // namespace

void Worker::submit_pending() {
    if (pending_.size() == kMostPending) return settle_pending();
    OwnPending one;
    one.place = pick(world_.places().size());
    Place& here = place(one.place);
    const std::size_t on = pick(here.devices.size());
    const wye_device device = here.devices[on];
    one.program = some_program(one.place);
    if (!one.program) return create_program();
    const Model& model = one.program->model;
    const Words x = words(1 + pick(kMostWords));
    std::uint64_t k = static_cast<std::uint32_t>(random_());
    if (model.kind == Model::Kind::Loop) k %= kShortLoop;
    if (model.kind == Model::Kind::Trap && pick(2) == 0) k = x[pick(x.size())];
    one.want = model.expected(x, static_cast<std::uint32_t>(k));
    one.traps = model.traps(x, static_cast<std::uint32_t>(k));
    wye_argument arguments[2] = {};
    arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_HOST;
    arguments[0].input = {x.data(), x.size() * 4};
    arguments[1].binding = 1;
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = one.program->handle;
    desc.device = device;
    desc.arguments = arguments;
    desc.argument_count = model.in_place() ? 1 : 2;
    desc.params = &k;
    desc.param_count = 1;
    desc.queue = some_queue(one.place, on);
    if (pick(4) == 0) desc.flags |= WYE_DISPATCH_TIMED;
    if (pick(8) == 0) desc.flags |= WYE_DISPATCH_AT_ONCE;
    const wye_status status =
        call("wye_dispatch_submit", {WYE_STALE_HANDLE, WYE_DEVICE_BUSY}, [&](wye_error** error) {
            return wye_dispatch_submit(here.context, &desc, &one.handle, error);
        });
    ++world_.dispatches;
    if (status == WYE_STALE_HANDLE && !one.program->freed)
        fail("wye_dispatch_submit: a live program was called stale");
    if (status != WYE_OK) return;
    one.binding = model.in_place() ? 0 : 1;
    if (pick(3) == 0)
        call("wye_pending_notify", {}, [&](wye_error** error) {
            return wye_pending_notify(here.context, one.handle, &count, &world_.notified, error);
        });
    pending_.push_back(std::move(one));
}

void Worker::settle_pending() {
    if (pending_.empty()) return submit_pending();
    const std::size_t at = pick(pending_.size());
    OwnPending& one = pending_[at];
    wye_context* context = place(one.place).context;
    const auto free = [&] {
        call("wye_pending_free", {},
             [&](wye_error** error) { return wye_pending_free(context, one.handle, error); });
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
    };
    if (pick(6) == 0) return free();  // the dispatch goes on, and its result is dropped
    if (pick(6) == 0) {
        one.cancelled = true;
        call("wye_pending_cancel", {WYE_UNSUPPORTED},
             [&](wye_error** error) { return wye_pending_cancel(context, one.handle, error); });
    }
    if (pick(4) == 0) {
        std::uint64_t index = 0;
        call("wye_pending_wait_any", {WYE_TIMEOUT}, [&](wye_error** error) {
            return wye_pending_wait_any(context, &one.handle, 1, pick(1'000'000), &index, error);
        });
    }
    const std::uint64_t limit = pick(2) == 0 ? UINT64_MAX : pick(2'000'000);
    wye_report report;
    WYE_INIT(report);
    const wye_status status =
        call("wye_pending_wait", {WYE_TIMEOUT, WYE_TRAPPED, WYE_CANCELLED, WYE_DEVICE_BUSY},
             [&](wye_error** error) {
                 return wye_pending_wait(context, one.handle, limit, &report, error);
             });
    if (status == WYE_DEVICE_BUSY) return free();  // the device was busy after compiling
    if (status == WYE_TIMEOUT) {
        if (limit == UINT64_MAX) fail("wye_pending_wait: a time-out without a limit");
        return;
    }
    if (status == WYE_CANCELLED && !one.cancelled)
        fail("wye_pending_wait: a dispatch that nobody cancelled");
    if (status == WYE_TRAPPED && report.trap_count != one.traps)
        fail("wye_pending_wait: another number of traps");
    if (status == WYE_OK) {
        if (one.traps != 0) fail("wye_pending_wait: a trap was not told");
        wye_bytes bytes{};
        call("wye_pending_output", {}, [&](wye_error** error) {
            return wye_pending_output(context, one.handle, one.binding, &bytes, error);
        });
        const auto* first = static_cast<const std::uint32_t*>(bytes.data);
        check("asynchronous dispatch", Words(first, first + bytes.size / 4), one.want);
    }
    free();
}

}  // namespace wye::stress
