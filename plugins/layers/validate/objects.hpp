// SPDX-License-Identifier: Apache-2.0
//
// What a device's objects are, as the calls that made them said, and what became of them. The host
// and the plugin know the same; this is the record that both are compared with. Not thread-safe:
// the device's mutex guards it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "wye/abi.h"

namespace wye::layers::validate {

// Values of queues that use an object, the newest of each queue.
using Uses = std::map<wye_timeline_object*, std::uint64_t>;

struct Buffer {
    static constexpr std::string_view kNoun = "buffer";
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
    std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE;
    const void* mapped = nullptr;  // null: it was not mapped yet
    Uses uses;
    bool lost = false;  // its device was recovered since
};

struct Program {
    static constexpr std::string_view kNoun = "program";
    std::uint32_t bindings = 0;
    std::uint32_t params_size = 0;
    bool traps = false;
    Uses uses;
    bool lost = false;
};

struct Command {
    static constexpr std::string_view kNoun = "command";
    std::uint32_t slots = 0;
    std::uint32_t params_size = 0;
    std::uint32_t most_pending = 0;                                         // 0: any number
    std::vector<std::pair<std::uint32_t, wye_program_object*>> operations;  // kind, program
    std::set<const void*> names;                                            // programs and buffers
    std::string dead;                // what it names and was destroyed; empty: it may be executed
    std::vector<wye_event> pending;  // executions that were not seen to end
    std::thread::id busy;            // the thread that submits or updates it
    Uses uses;
    bool lost = false;
};

struct Timeline {
    static constexpr std::string_view kNoun = "timeline";
    bool of_queue = false;
    std::uint64_t signalled = 0;  // submitted, or to be signalled by a submit or the host
    std::uint64_t reached = 0;    // the highest value that the plugin called reached
    std::map<std::uint64_t, wye_status> failed;  // values that the plugin called failed
    Uses uses;                                   // by submits that signal it
    bool lost = false;
};

// The live objects of one kind, and the latest of those that were destroyed.
template <typename Object, typename Pointer>
class Kind {
  public:
    // False: an object at this address is alive.
    bool add(Pointer* at, Object object) {
        if (ended_.erase(at) != 0) std::erase(order_, at);
        return live_.emplace(at, std::move(object)).second;
    }
    // Null: it is not alive.
    [[nodiscard]] Object* find(Pointer* at) {
        const auto found = live_.find(at);
        return found == live_.end() ? nullptr : &found->second;
    }
    [[nodiscard]] bool has_ended(Pointer* at) const { return ended_.count(at) != 0; }
    void remove(Pointer* at) {
        if (live_.erase(at) == 0) return;
        constexpr std::size_t kMost = 4096;
        if (ended_.insert(at).second) order_.push_back(at);
        if (order_.size() <= kMost) return;
        ended_.erase(order_.front());
        order_.pop_front();
    }
    [[nodiscard]] std::size_t size() const { return live_.size(); }
    [[nodiscard]] std::unordered_map<Pointer*, Object>& all() { return live_; }

  private:
    std::unordered_map<Pointer*, Object> live_;
    std::set<Pointer*> ended_;
    std::deque<Pointer*> order_;  // of `ended_`
};

struct Objects {
    Kind<Buffer, wye_buffer_object> buffers;
    Kind<Program, wye_program_object> programs;
    Kind<Command, wye_command_object> commands;
    Kind<Timeline, wye_timeline_object> timelines;

    [[nodiscard]] auto& of(wye_buffer_object*) { return buffers; }
    [[nodiscard]] auto& of(wye_program_object*) { return programs; }
    [[nodiscard]] auto& of(wye_command_object*) { return commands; }
    [[nodiscard]] auto& of(wye_timeline_object*) { return timelines; }

    // "a program" if an object of another kind is at this address; else empty.
    [[nodiscard]] std::string kind_at(const void* at) const;
    // "2 buffers, 1 queue": what was not destroyed; empty: nothing.
    [[nodiscard]] std::string left(std::uint64_t queues) const;
    // A destroyed program or buffer: commands that name it may not be executed any more.
    void end_commands_of(const void* at, std::string_view noun);
    // A destroyed queue has no pending values.
    void forget_uses(wye_timeline_object* queue);
    // The device was recovered: none of them may be used any more.
    void lose();
};

}  // namespace wye::layers::validate
