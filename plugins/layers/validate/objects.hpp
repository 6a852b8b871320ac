// SPDX-License-Identifier: Apache-2.0
//
// The record of a device's objects: how they were made, and what became of them. The calls of the
// host and of the plugin are compared with this record. Not thread-safe; the plugin's mutex guards
// the record.
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

// For the timeline of each queue, the newest value whose work uses an object.
using Uses = std::map<wye_timeline_object*, std::uint64_t>;

struct Buffer {
    static constexpr std::string_view kNoun = "buffer";
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
    std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE;
    const void* mapped = nullptr;  // the address of the mapping; null: not mapped yet
    Uses uses;
    bool lost = false;  // whether the device was recovered since the buffer was made
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
    std::uint32_t most_pending = 0;  // 0 stands for any number
    std::vector<std::pair<std::uint32_t, wye_program_object*>> operations;  // kind and program
    std::set<wye_buffer_object*> buffers;    // buffers that the command names
    std::set<wye_program_object*> programs;  // programs that the command names
    std::string dead;  // the kind of a destroyed object that the command names; empty: none
    std::vector<wye_event> pending;  // executions that are not known to have ended
    std::thread::id busy;            // the thread that submits or updates the command
    Uses uses;
    bool lost = false;
};

// A mark at the end of a download's memory: the word that the layer wrote, and the word that was
// there before.
struct Mark {
    unsigned char* at = nullptr;
    std::uint64_t word = 0, before = 0;
};

// A submit that is not known to have ended.
struct Submit {
    std::vector<wye_event> waits;  // waits on timelines that are alive
    // Whether the submit has only small fills and copies. If such a submit fails or does not end,
    // the cause is the work that it waits for.
    bool small = false;
    // Outlived: a timeline that the submit waits for was destroyed after the awaited value was
    // reached. Excused: such a timeline was destroyed before the awaited value was reached.
    bool outlived = false, excused = false;
    std::vector<Mark> marks;
    std::vector<std::pair<const void*, std::uint64_t>> sources;  // memory of uploads, sizes
};

struct Timeline {
    static constexpr std::string_view kNoun = "timeline";
    bool of_queue = false;
    // The highest value that was submitted to the queue or, for a timeline of the host, that a
    // submit or the host signals.
    std::uint64_t signalled = 0;
    std::uint64_t reached = 0;  // the highest value that the plugin reported as reached
    std::map<std::uint64_t, wye_status> failed;  // values that the plugin reported as failed
    Uses uses;                                   // submits that signal the timeline
    std::map<std::uint64_t, Submit> submits;     // for a queue's timeline, by value
    int calls = 0;                               // running calls that name the timeline
    bool lost = false;
};

// The live objects of one kind, and those that were destroyed last.
template <typename Object, typename Pointer>
class Kind {
  public:
    // Returns false if an object at this address is alive.
    bool add(Pointer* at, Object object) {
        if (ended_.erase(at) != 0) std::erase(order_, at);
        return live_.emplace(at, std::move(object)).second;
    }
    // Returns null if the object is not alive.
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
    std::deque<Pointer*> order_;  // the members of `ended_`, oldest first
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

    // Returns the kind of the live object at this address, such as "a program"; empty: there is
    // none.
    [[nodiscard]] std::string kind_at(const void* at) const;
    // Counts the objects that were not destroyed, such as "2 buffers, 1 queue", or an empty text.
    [[nodiscard]] std::string left(std::uint64_t queues) const;
    // Marks the commands that name the destroyed program or buffer. Such commands may not be
    // executed any more.
    void end_commands_of(wye_buffer_object* at, std::string_view noun);
    void end_commands_of(wye_program_object* at, std::string_view noun);
    void end_commands_of(wye_command_object*, std::string_view) {}
    // Forgets which objects the work of a destroyed queue uses, and its pending executions of
    // commands.
    void forget_uses(wye_timeline_object* queue);
    // Marks all objects as unusable, since the device was recovered.
    void lose();
};

}  // namespace wye::layers::validate
