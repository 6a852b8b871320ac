// SPDX-License-Identifier: Apache-2.0
//
// The reference model for the session's line: the queue of work that a thread of the library does
// after the call has returned. Says which work is in the line, which work must come after it, and
// what its outcome is.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "world.hpp"

namespace wye::model {

// The buffers that a call reads and writes, found by the arguments of its letter.
World::Uses World::uses_of(const Step& step) const {
    Uses out;
    const auto add = [&](int buffer, bool reads, bool writes) {
        if (reads) out.reads.push_back(native(buffer));
        if (writes) out.writes.push_back(native(buffer));
    };
    if (step.kind == 'g') {
        add(graph_reads_, true, false);
        add(graph_writes_, false, true);
        return out;
    }
    const std::string_view arguments = letter_of(step.kind)->arguments;
    const bool both = step.kind == 'r' || step.kind == 'B' || step.kind == 'y';
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (std::string_view("rwb").find(arguments[i]) != std::string_view::npos)
            add(step.number(i), both || arguments[i] != 'w', both || arguments[i] == 'w');
    return out;
}

bool World::has_work(int call) const {
    return std::ranges::find(device_.refused, call) != device_.refused.end() ||
           std::ranges::any_of(device_.works, [&](const auto& one) { return one->call == call; });
}

bool World::waits(const InLine& work) const {
    return work.left > 0 && !work.outcome &&
           std::ranges::find(device_.refused, work.call) == device_.refused.end() &&
           std::ranges::none_of(device_.works, [&](const auto& one) {
               return one->call == work.call && one->ended && one->status != WYE_OK;
           });
}

const World::InLine* World::in_line(int call) const {
    const auto found = std::ranges::find(line_, call, &InLine::call);
    return found == line_.end() ? nullptr : &*found;
}

bool World::conflict(const InLine& work, const Uses& uses, wye_queue queue) const {
    if (work.compiles_only) return false;
    if (queue != 0 && queue == work.queue) return true;
    const auto any = [](const auto& some, const auto& others) {
        return std::ranges::any_of(some, [&](const Buffer* one) {
            return std::ranges::find(others, one) != others.end();
        });
    };
    return any(work.uses.writes, uses.writes) || any(work.uses.writes, uses.reads) ||
           any(work.uses.reads, uses.writes);
}

bool World::must_follow(const Call& call) const {
    const Uses uses = uses_of(call.step);
    return std::ranges::any_of(line_, [&](const InLine& one) {
        return one.call != call.number && holds(one) && conflict(one, uses, call.queue);
    });
}

// Work that is cancelled between its two submits keeps its place until the first submit has ended.
bool World::holds(const InLine& work) const {
    return waits(work) ||
           (work.left > 0 && std::ranges::any_of(device_.works, [&](const auto& one) {
                return one->call == work.call && !one->ended;
            }));
}

// The line is idle if its thread waits to be woken, but not for a compilation, and all threads that
// it started have ended.
bool World::line_is_busy() const {
    const bool compiles = device_.compile() != nullptr;
    return std::ranges::any_of(fibers_.all(), [&](const auto& fiber) {
        if (!fiber->is_line) return fiber->of_line;
        if (fiber->state != Fiber::State::Blocked || fiber->reason != Reason::Wake) return true;
        return compiles && (fiber->compile_wait == nullptr || fiber->waits_on == nullptr ||
                            fiber->waits_on == fiber->compile_wait);
    });
}

bool World::is_stopped() const {
    return std::ranges::any_of(
        fibers_.all(), [](const auto& fiber) { return fiber->state == Fiber::State::Stopped; });
}

// Work that is cancelled before its submit is never submitted.
void World::note_return(Call& call) {
    call.returned = ++stamp_;
    if (call.step.kind != 'c' || call.status != WYE_OK) return;
    for (InLine& one : line_)
        if (one.call == pending_[static_cast<std::size_t>(call.step.number(0))].call && waits(one))
            one.outcome = WYE_CANCELLED;
}

// Called after an asynchronous call: work that the call has not submitted is in the line.
void World::note_in_line(const Call& call) {
    const char kind = call.step.kind;
    InLine work;
    work.call = call.number;
    work.compiles_only = kind == 'I';
    work.uses = uses_of(call.step);
    work.queue = call.queue;
    work.left = kind == 'r' ? 2 : 1;
    for (const auto& one : device_.works) work.left -= one->call == call.number ? 1 : 0;
    if (work.left <= 0 || has_work(call.number) != (work.left == 1 && kind == 'r')) return;
    const bool may = std::string_view("SbrI").find(kind) != std::string_view::npos;
    if (!may && scope_.calls == 1 && !must_follow(call))
        fail(fmt::format("{} ({}) is put in the line without need", call.step.text(),
                         letter_of(kind)->meaning));
    line_.push_back(std::move(work));
    // A compilation that has no owner yet may be the one for this work.
    if (Compile* const compile = device_.compile(); compile != nullptr && compile->owner < 0)
        judge_compile(*compile);
}

// Called when time has passed: ends the time limits of unfinished work whose calls did not wait.
void World::pass_limits() {
    for (Call& call : calls_) {
        if (call.step.kind != 'b' || call.status != WYE_OK) continue;
        const auto work = std::ranges::find(line_, call.number, &InLine::call);
        const bool early = work != line_.end() && waits(*work);
        if (!early && std::ranges::none_of(device_.works, [&](const auto& one) {
                return one->call == call.number && !one->ended;
            }))
            continue;
        call.time_passed = is_late_ = true;
        if (early && scope_.calls == 1) work->outcome = WYE_TIMEOUT;
    }
}

// Called when the line begins the work `begun`; null: when the line is empty. All earlier work has
// had its turn: if it was not submitted, it must have a known outcome.
void World::end_turns(const InLine* begun) {
    for (InLine& one : line_) {
        if (&one == begun) return;
        if (!waits(one)) continue;
        if (one.compile_failed)
            one.outcome = WYE_COMPILE_FAILED;
        else if (one.compiles_only)
            one.outcome = WYE_OK;
        else if (was_lost_)
            one.outcome = WYE_DEVICE_LOST;
        else if (is_late_)  // timed-out work keeps the device busy
            one.outcome = WYE_DEVICE_BUSY;
        else if (calls_[static_cast<std::size_t>(one.call)].time_passed)  // the call is in progress
            one.outcome = WYE_TIMEOUT;
        else if (begun == nullptr || scope_.calls == 1)
            fail(fmt::format("the work of {} had its turn in the line, and was not submitted",
                             calls_[static_cast<std::size_t>(one.call)].step.text()));
    }
}

void World::settle_line() {
    if (const Compile* const compile = device_.compile(); compile != nullptr && compile->of_line)
        for (const auto& fiber : fibers_.all())
            if (fiber->is_line && fiber->state == Fiber::State::Blocked)
                fiber->compile_wait = fiber->waits_on;
    if (line_.empty() || is_stopped()) return;
    for (InLine& one : line_) {
        if (!waits(one) || !one.compile_ended) continue;
        if (one.compile_failed) one.outcome = WYE_COMPILE_FAILED;
        if (!one.compile_failed && one.compiles_only) one.outcome = WYE_OK;
    }
    if (!line_is_busy()) end_turns(nullptr);
}

// Finds the call by its number, which each call writes to its buffer or gives to its kernel.
int World::owner_in_line(const wye_submission& submission) const {
    const auto word = [](const void* bytes) {
        std::uint32_t out = 0;
        std::memcpy(&out, bytes, sizeof out);
        return static_cast<int>(out & 0xff) - 1;
    };
    const wye_operation* first = nullptr;
    for (std::uint64_t i = 0; i < submission.operation_count; ++i) {
        const wye_operation& op = submission.operations[i];
        if (op.kind == WYE_OPERATION_DISPATCH) return word(op.u.dispatch.params);
        if (first == nullptr) first = &op;
    }
    if (first == nullptr) return -1;
    if (first->kind == WYE_OPERATION_UPLOAD) return word(first->u.transfer.source);
    if (first->kind == WYE_OPERATION_FILL) return word(&first->u.fill.pattern);
    const auto* const buffer = reinterpret_cast<const Buffer*>(first->u.transfer.buffer);
    for (const InLine& one : line_)
        if (waits(one) && calls_[static_cast<std::size_t>(one.call)].step.kind == 'l' &&
            one.uses.reads.front() == buffer)
            return one.call;
    return -1;
}

void World::judge_compile(Compile& compile) {
    if (!compile.of_line) return;
    for (const InLine& one : line_) {
        if (!waits(one) || one.compile_ended) continue;
        compile.owner = one.call;
        end_turns(&one);
        return;
    }
}

// Checks that a submit does not overtake conflicting work that was called earlier and is in the
// line.
void World::judge_submit(const Work& work) {
    if (work.call < 0 || work.call >= static_cast<int>(calls_.size())) return;
    const Call& call = calls_[static_cast<std::size_t>(work.call)];
    Uses uses;
    for (const Operation& op : work.operations) {
        uses.reads.insert(uses.reads.end(), op.reads.begin(), op.reads.end());
        uses.writes.insert(uses.writes.end(), op.writes.begin(), op.writes.end());
    }
    const auto own = std::ranges::find(line_, work.call, &InLine::call);
    if (own != line_.end()) {
        if (own->outcome || own->left <= 0)
            fail(fmt::format("the work of {} is submitted after it had ended", call.step.text()));
        end_turns(&*own);
        --own->left;
    }
    for (const InLine& one : line_) {
        if (one.call == work.call || !waits(one) || !conflict(one, uses, call.queue)) continue;
        const Call& before = calls_[static_cast<std::size_t>(one.call)];
        // Work whose time limit has passed, or that is being cancelled, may have left the line.
        const bool cancelled = std::ranges::any_of(pending_, [&](const PendingState& state) {
            return state.call == one.call && state.cancel_asked;
        });
        if (before.returned != 0 && before.returned < call.began && !before.time_passed &&
            !cancelled)
            fail(fmt::format(
                "{} ({}) is submitted before the work of {}, which was called before "
                "it and is in the line",
                call.step.text(), letter_of(call.step.kind)->meaning, before.step.text()));
    }
}

void World::end_compile(bool well) {
    Compile& compile = *device_.compile();
    compile.ended = true;
    compile.status = well ? WYE_OK : WYE_COMPILE_FAILED;
    failed_compiles_ += well ? 0 : 1;
    const auto owner = std::ranges::find(line_, compile.owner, &InLine::call);
    if (owner == line_.end()) return;
    owner->compile_ended = true;
    owner->compile_failed = !well;
}

// Whether `status` is the outcome of work in the line that was submitted in part or not at all.
// nullopt: the outcome is that of the submitted work.
std::optional<bool> World::fits_line(wye_status status, const InLine& work, bool cancel_asked,
                                     std::string& right) const {
    if (was_lost_ && status == WYE_DEVICE_LOST) return true;
    const bool races = scope_.calls > 1;  // calls in progress may end in any order
    if ((races || work.left > 0) && cancel_asked && status == WYE_CANCELLED && work.outcome)
        return true;
    if (races && work.compile_failed && status == WYE_COMPILE_FAILED) return true;
    if (work.outcome && has_work(work.call) && status != WYE_OK && status != *work.outcome)
        return std::nullopt;  // its first round failed
    if (work.outcome) {
        right = fmt::format("`{}`", wye_status_text(*work.outcome));
        return status == *work.outcome;
    }
    if (!waits(work)) return std::nullopt;
    right = "nothing, since it is in the line";
    return false;
}

// Whether a call may wait for another thread, such as the line's.
bool World::may_await_line(const Call& call) const {
    const char kind = call.step.kind;
    const auto is_one_of = [&](std::string_view kinds) {
        return kinds.find(kind) != std::string_view::npos;
    };
    const auto pending_waits = [&](const PendingState& one) {
        const InLine* const work = in_line(one.call);
        return work != nullptr && waits(*work);
    };
    if (is_one_of("wP"))
        return pending_waits(pending_[static_cast<std::size_t>(call.step.number(0))]);
    if (kind == 'W')
        return std::ranges::any_of(
            pending_, [&](const auto& one) { return one.handle != 0 && pending_waits(one); });
    if (is_one_of("YRZ")) return line_is_busy() || device_.compile() != nullptr;
    if (is_one_of("tv") && call.time_passed) return false;
    if (is_one_of("tv") && device_.compile() != nullptr) return true;
    if (is_one_of("detvBDyg") && must_follow(call)) return true;
    return is_one_of(kAsynchronous) && in_flight() >= scope_.pending_count;
}

std::int64_t World::in_flight() const {
    return std::ranges::count_if(device_.works,
                                 [](const auto& one) { return one->on->seen < one->value; }) +
           std::ranges::count_if(line_, [&](const InLine& one) { return waits(one); });
}

}  // namespace wye::model
