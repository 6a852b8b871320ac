// SPDX-License-Identifier: Apache-2.0
//
// The part of World that does steps, lists the possible ones, and describes the library's state.
#include "world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace wye::model {
namespace {

Fiber* stopped(const Fibers& fibers, int number) {
    int at = 0;
    for (const auto& fiber : fibers.all())
        if (fiber->state == Fiber::State::Stopped && at++ == number) return fiber.get();
    return nullptr;
}

}  // namespace

bool World::event(const Step& step) {
    if (step.kind == 'L') {
        if (device_.lost || handle_ == 0) return false;
        for (const Call& call : calls_)
            lost_again_ = lost_again_ || (call.fiber != nullptr && call.step.kind == 'R');
        device_.lose();
    } else if (step.kind == 'Q') {
        device_.refuses = true;
    } else if (step.kind == 'T') {
        if (!fibers_.time_can_pass()) return false;
        for (Call& call : calls_)
            if (call.fiber != nullptr) call.time_passed = true;
        pass_limits();
        fibers_.pass_time();
    } else if (step.kind == '>') {
        Fiber* const fiber = stopped(fibers_, step.number(0));
        if (fiber == nullptr || (step.stop != 0 && !fiber->is_line)) return false;
        fiber->stop_at = step.stop != 0 ? fiber->slots + step.stop : 0;
        fibers_.go(*fiber);
        const int stop_at = fiber->stop_at;
        settle();
        return stop_at == 0 || std::ranges::any_of(fibers_.all(), [&](const auto& one) {
                   return one->is_line && one->state == Fiber::State::Stopped &&
                          one->slots == stop_at;
               });
    } else if (step.kind == 'K' || step.kind == 'J') {
        if (device_.compile() == nullptr) return false;
        end_compile(step.kind == 'K');
    } else {
        const auto number = static_cast<std::size_t>(step.number(0));
        if (number >= device_.natives.size()) return false;
        Work* const work = Device::head(*device_.natives[number]);
        if (work == nullptr || (step.kind == 'X' && !work->cancel_asked)) return false;
        device_.end(*work, step.kind == 'E'   ? WYE_OK
                           : step.kind == 'F' ? WYE_DRIVER
                                              : WYE_CANCELLED);
    }
    settle();
    return true;
}

bool World::step(const Step& step) {
    if (traces_) std::printf("  %-8s", step.text().c_str());
    bool done = true;
    if (!is_call(step.kind)) {
        done = event(step);
    } else {
        const Call& call = start(step);
        settle();
        done = step.stop == 0 ||
               (call.fiber != nullptr && call.fiber->state == Fiber::State::Stopped &&
                call.fiber->slots == step.stop);
        if (traces_) {
            if (call.fiber == nullptr)
                std::printf("%s %s", wye_status_text(call.status), call.error.c_str());
            else
                std::printf("%s", call.fiber->state == Fiber::State::Stopped ? "stopped" : "waits");
        }
    }
    if (traces_) std::printf("%s\n", done ? "" : " (cannot be done)");
    return done;
}

std::vector<Step> World::enabled() const {
    std::vector<Step> out;
    const bool room = std::ranges::count_if(calls_, [](const Call& call) {
                          return call.fiber != nullptr;
                      }) < scope_.calls;
    // All unused buffers are alike, so only the first of them is tried.
    std::vector<char> buffers;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        if (buffers_[i].handle != 0) buffers.push_back(static_cast<char>('0' + i));
        if (!buffers_[i].used) break;
    }
    std::vector<char> queues = {'n'};
    bool free_queue = false;
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        if (queues_[i] != 0) queues.push_back(static_cast<char>('0' + i));
        free_queue = free_queue || queues_[i] == 0;
    }
    std::vector<char> pending, natives;
    for (std::size_t i = 0; i < pending_.size(); ++i)
        if (pending_[i].handle != 0) pending.push_back(static_cast<char>('0' + i));
    for (std::size_t i = 0; i < device_.natives.size(); ++i)
        if (Device::head(*device_.natives[i]) != nullptr)
            natives.push_back(static_cast<char>('0' + i));
    const bool more = static_cast<int>(pending_.size()) < scope_.pending;
    const auto can = [&](char kind) {
        if (is_call(kind) && (!room || context_ == nullptr || (handle_ == 0) != (kind == 'O')))
            return false;
        if (kind == '+') return free_queue;
        if (kAsynchronous.find(kind) != std::string_view::npos && !more) return false;
        if (kind == 'K' || kind == 'J') return device_.compile() != nullptr;
        if (kind == 'G') return graph_ == 0;
        if (kind == 'g' || kind == 'j' || kind == 'i') return graph_ != 0;
        if (kind == 'W') return !pending.empty();
        if (kind == 'R') return device_.lost;
        if (kind == 'Q') return !device_.refuses && handle_ != 0;
        if (kind == 'L') return !device_.lost && handle_ != 0;
        if (kind == 'T') return fibers_.time_can_pass();
        return true;
    };
    for (const char kind : scope_.letters) {
        if (!can(kind)) continue;
        std::vector<std::string> words = {""};
        const std::string_view arguments = letter_of(kind)->arguments;
        for (std::size_t at = 0; at < arguments.size(); ++at) {
            std::vector<std::string> longer;
            std::vector<char> choices = arguments[at] == 'q'   ? queues
                                        : arguments[at] == 'p' ? pending
                                        : arguments[at] == 'n' ? natives
                                        : arguments[at] == 'f' ? std::vector<char>()
                                                               : buffers;
            if (kind == '-') std::erase(choices, 'n');
            if (arguments[at] == 'f')
                for (char i = '0'; stopped(fibers_, i - '0') != nullptr; ++i) choices.push_back(i);
            for (const std::string& word : words)
                for (const char one : choices) longer.push_back(word + one);
            // The second of two buffers may also be the next unused one.
            if (arguments[at] == 'w' && at > 0 && !buffers.empty()) {
                const auto next = static_cast<std::size_t>(buffers.back() - '0') + 1;
                if (next < buffers_.size() && buffers_[next].handle != 0)
                    for (const std::string& word : words)
                        if (word.back() == buffers.back())
                            longer.push_back(word + static_cast<char>('0' + next));
            }
            words = std::move(longer);
        }
        for (const std::string& word : words) {
            const auto at = word.empty() ? 0U : static_cast<std::size_t>(word[0] - '0');
            if (kind == 'n' && buffers_[at].maps == 0) continue;
            if (kind == 'y' && buffers_[at].maps == 0) continue;
            if (kind == 'm' && buffers_[at].maps != 0) continue;
            if (kind == 'N' && pending_[at].notes != nullptr) continue;
            if ((kind == 'w' || kind == 'P') && pending_[at].told)
                continue;  // would return the same result again
            if (kind == 'c' && pending_[at].cancel_asked) continue;
            if (std::string_view("BGpvSb").find(kind) != std::string_view::npos &&
                word[word.size() - 1] == word[word.size() - 2])
                continue;
            if (kind == 'j' && (word[0] - '0' == graph_reads_ || word[0] - '0' == graph_writes_ ||
                                buffers_[static_cast<std::size_t>(graph_reads_)].handle == 0))
                continue;
            if (kind == 'X' && !Device::head(*device_.natives[at])->cancel_asked) continue;
            out.push_back({kind, word, 0});
        }
    }
    return out;
}

std::string World::state() const {
    std::string out = fmt::format("{}{}{}{}{};", handle_ == 0, device_.lost, device_.loss_seen,
                                  device_.session, device_.refuses);
    for (const auto& native : device_.natives)
        out += fmt::format("n{}.{}.{}.{};", native->alive, native->session, native->newest,
                           native->seen);
    for (const auto& work : device_.works) {
        out +=
            fmt::format("w{}.{}.{}.{}{}{}{}{}(", work->on->index, work->value, work->call,
                        work->ended, work->status, work->spread, work->cancel_asked, work->retired);
        for (const Operation& op : work->operations) {
            out += static_cast<char>('0' + op.kind);
            for (const Buffer* buffer : op.reads) out += fmt::format("r{}", buffer->index);
            for (const Buffer* buffer : op.writes) out += fmt::format("w{}", buffer->index);
        }
        out += ')';
    }
    for (const wye_queue queue : queues_) out += queue != 0 ? 'q' : '-';
    for (const BufferState& buffer : buffers_)
        out += fmt::format("b{}{}{}", buffer.handle != 0, buffer.maps, buffer.used);
    for (const PendingState& one : pending_)
        out += fmt::format("p{}{}{}{}", one.handle != 0, one.cancel_asked, one.told,
                           one.notes == nullptr ? 9 : one.notes->size());
    out += fmt::format("g{}{}{}p{}r{}", graph_ != 0, graph_reads_, graph_writes_, pipeline_ != 0,
                       refused_);
    for (const auto& fiber : fibers_.all())
        if (!fiber->library || fiber->state == Fiber::State::Stopped)
            out += fmt::format("f{}.{}.{}.{}.{}", fiber->call, static_cast<int>(fiber->state),
                               static_cast<int>(fiber->reason), fiber->slots,
                               fiber->deadline == UINT64_MAX);
    out += fmt::format("l{}{}{}", line_is_busy(), is_late_, failed_compiles_);
    for (const InLine& one : line_)
        out += fmt::format("i{}.{}{}{}{}", one.call, one.left, one.compile_ended,
                           one.compile_failed, one.outcome ? static_cast<int>(*one.outcome) : -1);
    for (const Call& call : calls_) out += call.time_passed ? 'T' : '-';
    for (const auto& one : device_.compiles) out += fmt::format("c{}{}", one->ended, one->owner);
    for (const Call& call : calls_)
        if (call.fiber != nullptr) out += call.step.text() + (call.time_passed ? "T" : "");
    return out;
}

}  // namespace wye::model
