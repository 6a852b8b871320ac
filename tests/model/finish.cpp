// SPDX-License-Identifier: Apache-2.0
//
// The end of a run. First checks that a buffer in use cannot be freed, and that downloads wait for
// running work. Then all work ends, every outcome is asked for, all bytes are compared, and all
// objects are freed.
#include <fmt/format.h>

#include <algorithm>

#include "world.hpp"

namespace wye::model {

void World::probe() {
    if (context_ == nullptr || handle_ == 0 || was_lost_ || is_busy()) return;
    const bool abandoned =
        std::ranges::any_of(calls_, [](const Call& call) { return call.time_passed; });
    for (int i = 0; i < scope_.buffers && fault_.empty(); ++i)
        if (buffers_[static_cast<std::size_t>(i)].handle != 0 && in_use(i)) {
            start({'x', std::to_string(i), 0});
            settle();
        }
    if (abandoned || scope_.pending_count < 8) return;
    for (int i = 0; i < scope_.buffers && fault_.empty(); ++i)
        if (buffers_[static_cast<std::size_t>(i)].handle != 0) {
            start({'l', "n" + std::to_string(i), 0});
            settle();
        }
}

// Ends the work of the newest queues first. Work that should have waited for older queues then runs
// too early, and shows.
void World::end_all() {
    for (int round = 0; round < 200 && fault_.empty(); ++round) {
        Work* next = nullptr;
        for (auto native = device_.natives.rbegin();
             native != device_.natives.rend() && next == nullptr; ++native)
            next = Device::head(**native);
        if (next != nullptr)
            device_.end(*next, next->cancel_asked && !device_.options.cancels ? WYE_OK
                               : next->cancel_asked                           ? WYE_CANCELLED
                                                                              : WYE_OK);
        else if (device_.compile() != nullptr)
            end_compile(true);
        settle();
        if (next == nullptr && device_.is_idle() && device_.compile() == nullptr) break;
    }
    if (fault_.empty() && !device_.is_idle()) fail("work waits for other work without end");
    // All work has ended, so no call may still wait.
    for (const Call& call : calls_)
        if (call.fiber != nullptr)
            fail(fmt::format("{} ({}) does not return, though all work has ended", call.step.text(),
                             letter_of(call.step.kind)->meaning));
}

void World::call_to_end(Step step) {
    if (!fault_.empty()) return;
    const Call& call = start(std::move(step));
    settle();
    if (call.fiber != nullptr && fault_.empty()) end_all();
}

void World::free_all() {
    if (context_ == nullptr) return;
    for (const PendingState& one : pending_) {
        if (one.notes == nullptr) continue;
        std::string right;
        if (one.notes->size() != 1)
            fail(fmt::format("a callback was called {} times", one.notes->size()));
        else if (!fits(one.notes->front(), one.call, one.cancel_asked, right))
            fail(fmt::format("a callback got `{}` in place of {}",
                             wye_status_text(one.notes->front()), right));
    }
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        if (pending_[i].handle == 0) continue;
        call_to_end({'w', std::to_string(i), 0});
        call_to_end({'k', std::to_string(i), 0});
    }
    const bool lost = device_.lost;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        if (buffers_[i].handle == 0) continue;
        const std::string number = std::to_string(i);
        if (!lost) call_to_end({'D', number, 0});
        while (buffers_[i].maps > 0 && fault_.empty()) call_to_end({'n', number, 0});
        call_to_end({'x', number, 0});
    }
    if (graph_ != 0) call_to_end({'i', "", 0});
    run([this] {
        wye_error* error = nullptr;
        if (pipeline_ != 0) (void)wye_pipeline_free(context_, pipeline_, &error);
        for (const wye_buffer buffer : old_buffers_)
            (void)wye_buffer_free(context_, buffer, nullptr);
        for (const wye_device device : old_) (void)wye_device_close(context_, device, nullptr);
        wye_error_free(error);
    });
    // A dispatch that timed out may be asked for its outcome until the close: its failure is kept.
    const bool timed_out =
        std::ranges::any_of(calls_, [](const Call& call) { return call.time_passed; });
    if (const Work* const work = device_.kept(); work != nullptr && !was_lost_ && !timed_out)
        fail(
            fmt::format("the failure of value {} of native queue {} is kept without end: no call "
                        "can ask for it any more, and it is not retired",
                        work->value, work->on->index));
    if (handle_ != 0) call_to_end({'C', "", 0});  // a close frees public queues
}

void World::finish() {
    device_.refuses = false;
    const auto let_go = [this](bool line) {
        for (const auto& fiber : fibers_.all()) fiber->stop_at = 0;
        for (int round = 0; round < 100 && fault_.empty(); ++round) {
            const auto stopped = std::ranges::find_if(fibers_.all(), [&](const auto& fiber) {
                return fiber->state == Fiber::State::Stopped && (line || !fiber->is_line);
            });
            if (stopped == fibers_.all().end()) break;
            fibers_.go(**stopped);
            settle();
        }
    };
    let_go(scope_.calls > 1);
    if (fault_.empty()) probe();
    ending_ = true;
    let_go(true);
    if (fault_.empty()) end_all();
    if (fault_.empty()) free_all();
    if (!device_.found().empty()) fail("breach: " + device_.found());
    if (fault_.empty() && device_.opens != 0)
        fail(fmt::format("the device stays open, with {} objects", device_.objects()));
}

}  // namespace wye::model
