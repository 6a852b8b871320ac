// SPDX-License-Identifier: Apache-2.0
//
// The reference model: what each call may return, and for which work a call may wait.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "world.hpp"

namespace wye::model {
namespace {

bool is_one_of(char kind, std::string_view kinds) {
    return kinds.find(kind) != std::string_view::npos;
}

}  // namespace

void World::expect(const Call& call, bool fits, const std::string& expected) {
    if (fits) return;
    fail(fmt::format("{} ({}) returns `{}` in place of {}: {}", call.step.text(),
                     letter_of(call.step.kind)->meaning, wye_status_text(call.status), expected,
                     call.error));
}

bool World::is_busy() const {
    return std::ranges::any_of(calls_, [](const Call& call) { return call.fiber != nullptr; });
}

const Buffer* World::native(int buffer) const {
    const auto at = static_cast<std::size_t>(buffer);
    return at < natives_.size() ? natives_[at] : nullptr;
}

bool World::in_use(int buffer) const {
    const Uses writes{{}, {native(buffer)}};
    return device_.is_used(native(buffer)) || std::ranges::any_of(line_, [&](const InLine& one) {
               return waits(one) && conflict(one, writes, 0);
           });
}

// Whether `status` is the outcome of a call's work: the status with which the device ended
// the work. A failure that has spread from other work does not count.
bool World::fits(wye_status status, int owner, bool cancel_asked, std::string& right) const {
    const Call& call = calls_[static_cast<std::size_t>(owner)];
    if (call.step.kind == 'b' && call.time_passed && status == WYE_TIMEOUT) return true;
    if (const InLine* const work = in_line(owner))
        if (const auto known = fits_line(status, *work, cancel_asked, right)) return *known;
    if (std::ranges::find(device_.refused, owner) != device_.refused.end()) {
        right = "its refusal by the device";
        return status == WYE_DEVICE_MEMORY || (cancel_asked && status == WYE_CANCELLED) ||
               (was_lost_ && status == WYE_DEVICE_LOST);
    }
    bool runs = false, failed = false, matches = false;
    for (const auto& work : device_.works) {
        if (work->call != owner) continue;
        runs = runs || !work->ended;
        if (!work->ended || work->status == WYE_OK || work->spread) continue;
        failed = true;
        matches = matches || work->status == status;
    }
    right = failed ? "the error of its work" : "the success of its work";
    if (was_lost_ && status == WYE_DEVICE_LOST) return true;
    if (cancel_asked && !device_.options.cancels && status == WYE_CANCELLED) return true;
    return failed ? matches : status == WYE_OK && !runs;
}

bool World::gave_up_meanwhile() const {
    return scope_.calls > 1 && !device_.is_idle() &&
           std::ranges::any_of(calls_, [](const Call& one) { return one.time_passed; });
}

void World::judge_pending(const Call& call, int owner, bool cancel_asked) {
    std::string right;
    const bool good = fits(call.status, owner, cancel_asked, right);
    expect(call, good, right);
}

void World::judge(Call& call) {
    const char kind = call.step.kind;
    const wye_status status = call.status;
    if (status != WYE_OK) ++refused_;
    const auto number = call.step.arguments.empty() || call.step.arguments[0] == 'n'
                            ? 0U
                            : static_cast<std::size_t>(call.step.number(0));
    if (call.opened) {
        natives_.clear();
        for (BufferState& buffer : buffers_) {
            if (buffer.handle != 0) old_buffers_.push_back(buffer.handle);
            buffer = {};
            wye_buffer_create_desc desc;
            WYE_INIT(desc);
            desc.size = 16;
            desc.usage = WYE_BUFFER_USAGE_SHARED;
            run([&] {
                wye_error* error = nullptr;
                const wye_status made =
                    wye_buffer_create(context_, handle_, &desc, &buffer.handle, &error);
                // If the device was lost again meanwhile, DEVICE_LOST is right, even if another
                // recovery has opened the device since.
                const bool is_old = lost_again_ && made == WYE_DEVICE_LOST;
                if (made != WYE_OK && !device_.lost && !is_old)
                    fail("a buffer of an opened device is refused");
                wye_error_free(error);
            });
            natives_.push_back(buffer.handle != 0 ? device_.buffers.back().get() : nullptr);
        }
        std::ranges::fill(queues_, 0);
        pipeline_ = graph_ = 0;
    }
    if ((status == WYE_OK && is_one_of(kind, "CZ")) || kind == 'z') {  // all handles are stale
        for (BufferState& buffer : buffers_) buffer.handle = 0;
        for (PendingState& one : pending_) one.handle = 0;
        std::ranges::fill(queues_, 0);
        pipeline_ = graph_ = 0;
    }
    if (kind == 'g' && status == WYE_STALE_HANDLE &&
        (buffers_[static_cast<std::size_t>(graph_reads_)].handle == 0 ||
         buffers_[static_cast<std::size_t>(graph_writes_)].handle == 0))
        return;
    if (is_one_of(kind, kAsynchronous) && status == WYE_OK) {
        pending_.push_back({call.pending, call.number, false, false, nullptr});
        note_in_line(call);
    }
    if (status == WYE_DEVICE_MEMORY &&
        std::ranges::find(device_.refused, call.number) != device_.refused.end())
        return;
    // A device that is lost again between its recovery and its opening is not recovered.
    if (kind == 'R' && status == WYE_UNSUPPORTED && lost_again_) return;
    // Calls on a lost device, or with objects of a lost device, return DEVICE_LOST.
    if ((call.was_lost || was_lost_) && status == WYE_DEVICE_LOST) return;
    // Another call has freed an object that this call uses.
    if (!call.alone && status == WYE_STALE_HANDLE) return;
    if (was_lost_ && is_one_of(kind, "-kn") && status == WYE_STALE_HANDLE) return;
    if (status == WYE_OK && (kind == 'Z' || kind == 'z')) handle_ = 0;
    if (kind == 'z' && status == WYE_TIMEOUT) {
        handle_ = 0;
        return;
    }
    if (is_one_of(kind, "wPo")) {
        PendingState& one = pending_[number];
        if (kind == 'P' && call.time_passed && status == WYE_TIMEOUT) return;
        if (kind == 'o') return expect(call, status == WYE_OK, "ok");
        one.told = true;
        return judge_pending(call, one.call, one.cancel_asked);
    }
    if (is_one_of(kind, "tv") && call.time_passed && status == WYE_TIMEOUT) return;
    if (is_one_of(kind, "detBD")) {
        // The device is busy while work that timed out still runs. With two threads, such work may
        // have begun during the call.
        if (status == WYE_DEVICE_BUSY && (!call.idle_before || gave_up_meanwhile())) return;
        return judge_pending(call, call.number, false);
    }
    if (kind == 'v') {
        if (status == WYE_DEVICE_BUSY) return;
        if (status == WYE_COMPILE_FAILED && failed_compiles_ > 0) return;
        return judge_pending(call, call.number, false);
    }
    if (kind == 'a' && status == WYE_DEVICE_BUSY) return;
    if (is_one_of(kind, "xC")) {
        const bool used =
            kind == 'x' ? in_use(static_cast<int>(number)) || buffers_[number].maps != 0
                        : !device_.is_idle() || line_is_busy() || device_.compile() != nullptr ||
                              std::ranges::any_of(buffers_,
                                                  [](const BufferState& b) { return b.maps != 0; });
        // The buffers of a refused submit count as used by the work that was pending at that time.
        if (kind == 'x' && status == WYE_BUFFER_IN_USE && !device_.refused.empty() &&
            !device_.is_idle())
            return;
        if (status != WYE_OK && (used || !call.alone || is_busy())) return;
        return expect(call, status == WYE_OK && (!used || kind == 'x'), used ? "a refusal" : "ok");
    }
    if (kind == 'j' && status == WYE_DEVICE_BUSY) return;
    if (status == WYE_DEVICE_BUSY && (!call.idle_before || !call.alone)) {
        // A dispatch that timed out and still runs keeps the device busy.
        if (std::ranges::any_of(calls_, [](const Call& one) { return one.time_passed; })) return;
    }
    if (kind == 'b' && status == WYE_DEVICE_BUSY && gave_up_meanwhile()) return;
    if (kind == 'R' && status == WYE_DEVICE_BUSY && is_busy()) return;
    expect(call, status == WYE_OK, "ok");
}

// Checks a wait for work. Called before the call waits.
void World::judge_block(const Work& work) {
    const Fiber* const fiber = Fibers::current();
    if (fiber == nullptr || fiber->call < 0 || fiber->library || ending_) return;
    const Call& call = calls_[static_cast<std::size_t>(fiber->call)];
    const char kind = call.step.kind;
    const auto runs = [&](int owner) {
        return std::ranges::any_of(
            device_.works, [&](const auto& one) { return one->call == owner && !one->ended; });
    };
    if (runs(call.number)) return;  // the call's own work
    const auto number = call.step.arguments.empty() || call.step.arguments[0] == 'n'
                            ? 0U
                            : static_cast<std::size_t>(call.step.number(0));
    bool may = is_one_of(kind, "RYZ");
    if (kind == 'w' || kind == 'P') may = runs(pending_[number].call);
    if (kind == 'W')
        may = std::ranges::all_of(pending_, [&](const PendingState& one) {
            const InLine* const work = in_line(one.call);
            return one.handle == 0 || runs(one.call) || (work != nullptr && waits(*work));
        });
    if (kind == 'y') may = in_use(static_cast<int>(number));
    if (is_one_of(kind, "tv")) {
        const auto busy = std::ranges::count_if(device_.natives, [&](const auto& native) {
            return native->alive &&
                   std::ranges::any_of(native->works, [](const Work* one) { return !one->ended; });
        });
        may = busy >= scope_.native || in_use(call.step.number(1)) || in_use(call.step.number(2));
    }
    if (is_one_of(kind, kAsynchronous)) may = in_flight() >= scope_.pending_count;
    if (!may)
        fail(fmt::format("{} ({}) waits for value {} of native queue {}, which it does not need",
                         call.step.text(), letter_of(kind)->meaning, work.value, work.on->index));
}

// Fails if a call waits for a lock or a thread without need. With two calls in progress, nothing is
// checked while a fiber is stopped, since that fiber may hold a lock. With one call, only the
// line's thread can be stopped, and holds no lock then.
void World::judge_locks() {
    if (scope_.calls > 1 && is_stopped()) return;
    for (const auto& fiber : fibers_.all()) {
        if (fiber->library || fiber->state != Fiber::State::Blocked || fiber->call < 0) continue;
        if (fiber->reason == Reason::Device) continue;
        const Call& call = calls_[static_cast<std::size_t>(fiber->call)];
        if (call.step.kind == 'Z') continue;  // may wait for calls in progress
        // A recovery waits for another recovery.
        if (call.step.kind == 'R' && fiber->reason == Reason::Lock && !call.alone) continue;
        if (fiber->reason == Reason::Wake && may_await_line(call)) continue;
        fail(fmt::format("{} ({}) waits for {}, though no call is stopped", call.step.text(),
                         letter_of(call.step.kind)->meaning,
                         fiber->reason == Reason::Lock ? "a lock" : "another thread"));
    }
}

}  // namespace wye::model
