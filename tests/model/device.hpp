// SPDX-License-Identifier: Apache-2.0
//
// The scripted device. Its buffers keep bytes, its queues keep submitted work, and nothing advances
// by itself: the explorer says which work ends next, and how. It checks the host: objects are alive
// and of the session that the device is in, conflicting work is ordered by what the host submitted
// or has seen, nothing is destroyed while work uses it, values that are asked for were submitted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wye/abi.h"
#include "wye/sdk/command.hpp"

namespace wye::model {

struct Buffer {
    int index = 0;  // in the order of creation
    std::uint64_t size = 0;
    int session = 0;  // of the device, which counts its recoveries
    bool alive = true;
    std::vector<std::byte> bytes;
};

struct Program {
    std::vector<std::uint32_t> access;  // by binding: 1 read, 2 write, 3 both
    std::uint32_t params_size = 0;
    int session = 0;
    bool alive = true;
};

struct Command {
    sdk::CommandList list;
    int session = 0;
    bool alive = true;
};

struct Native;

// A wait of a submission.
struct Wait {
    Native* on = nullptr;
    std::uint64_t value = 0;
    bool order_only = false;
};

// One operation of a submission, with copies of what it points to.
struct Operation {
    std::uint32_t kind = 0;
    std::vector<Buffer*> reads, writes;
    std::uint64_t from = 0, to = 0, size = 0;  // of a copy, a fill, an upload or a download
    std::uint64_t pattern = 0;
    std::vector<std::byte> bytes;  // of an upload; of a dispatch its parameters
    void* target = nullptr;        // of a download
};

struct Work {
    int index = 0;  // in the order of the submits
    Native* on = nullptr;
    std::uint64_t value = 0;
    int call = -1;  // the number of the call that submitted it
    std::vector<Operation> operations;
    std::vector<Program*> programs;
    std::vector<Command*> commands;
    std::vector<Wait> waits;
    std::uint64_t after = 0;  // bit mask of the works that end before it begins
    bool ended = false;
    wye_status status = WYE_OK;
    bool spread = false;  // its failure is that of work that it waited for
    bool cancel_asked = false;
    bool retired = false;  // its failure is forgotten

    [[nodiscard]] bool uses(const Buffer* buffer) const;
    [[nodiscard]] bool writes(const Buffer* buffer) const;
};

// A compile, which runs until the explorer ends it.
struct Compile {
    bool of_line = false;  // for work in the line
    int owner = -1;        // the number of that work's call
    bool ended = false;
    wye_status status = WYE_OK;
};

// A native queue with its timeline.
struct Native {
    int index = 0;
    int session = 0;
    bool alive = true;
    std::vector<Work*> works;
    std::uint64_t newest = 0;
    std::uint64_t seen = 0;  // the newest value that the host knows to have ended
};

struct DeviceOptions {
    int max_queues = 4;
    bool cancels = true;   // can cancel work
    bool recovers = true;  // can be recovered after a loss
};

class Device {
  public:
    // Its first fault is kept; the explorer asks for it.
    void breach(std::string what) {
        if (breach_.empty() && !is_ignored(what)) breach_ = std::move(what);
    }
    [[nodiscard]] bool is_ignored(const std::string& what) const {
        return std::ranges::any_of(
            ignored, [&](const std::string& text) { return what.find(text) != std::string::npos; });
    }
    [[nodiscard]] const std::string& found() const { return breach_; }

    // ---- What the explorer does --------------------------------------------------------------

    // The first work of a queue that has not ended, if what it waits for has; else null.
    [[nodiscard]] static Work* head(const Native& native);
    // Ends the work, and all that fails because of it.
    void end(Work& work, wye_status status);
    void lose();
    // The bytes that a buffer has if everything submitted so far takes effect in order, and whether
    // they are specified.
    struct Expected {
        std::vector<std::byte> bytes;
        bool known = true;
    };
    [[nodiscard]] Expected expected(const Buffer& buffer, const Work* until = nullptr) const;
    [[nodiscard]] bool is_used(const Buffer* buffer) const;
    [[nodiscard]] bool is_idle() const;
    // The oldest compile that has not ended; null: none.
    [[nodiscard]] Compile* compile() const;
    [[nodiscard]] int objects() const;  // alive: buffers, programs, commands, queues
    // Forgets all objects, which have been destroyed.
    void clear();

    // ---- What the slots do (slots.cpp) -------------------------------------------------------

    void submit(Native& native, const wye_submission& submission, int call);
    [[nodiscard]] static bool failed(const Native& native, std::uint64_t value, wye_status& status);
    // Failed work that the host has not let it forget; null: none.
    [[nodiscard]] const Work* kept() const;
    [[nodiscard]] static bool reached(const Native& native, std::uint64_t value);
    // Checks that the host may use the queue, or ask for the value.
    void check(const Native& native, const char* slot);
    void check(const Native& native, std::uint64_t value, const char* slot);
    void destroy(Buffer& buffer);
    void destroy(Program& program);
    void destroy(Command& command);
    void destroy(Native& native);
    [[nodiscard]] wye_status recover();
    void begin_session();

    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<std::unique_ptr<Program>> programs;
    std::vector<std::unique_ptr<Command>> commands;
    std::vector<std::unique_ptr<Native>> natives;
    std::vector<std::unique_ptr<Work>> works;  // in the order of the submits
    std::vector<std::unique_ptr<Compile>> compiles;
    bool compiles_wait = false;  // a compile that begins waits for the explorer
    DeviceOptions options;
    int session = 0;
    int opens = 0;             // opened and not closed: the host opens a recovered device again
    bool refuses = false;      // the next submit
    std::vector<int> refused;  // the calls whose submit it refused
    bool lost = false;
    bool loss_seen = false;            // a slot has told the host
    std::vector<std::string> ignored;  // faults with one of these texts are not kept
    // Called before a wait for this work lets other fibers go on.
    std::function<void(const Work&)> on_block;
    // Called after a submit, and when a compile begins that waits.
    std::function<void(const Work&)> on_submit;
    std::function<void(Compile&)> on_compile;
    // The number of the call that the line submits for.
    std::function<int(const wye_submission&)> owner_in_line;

  private:
    Operation read(const wye_operation& op, Work& work);
    void check_order(const Work& work);
    void spread();
    static void apply(const Operation& op, const std::function<std::byte*(Buffer*)>& at);

    std::string breach_;
};

// The device of the process, which the slots refer to.
Device& the_device();

// Whether a wait is only for the order: the outcome of what it waits for does not matter.
[[nodiscard]] inline bool orders_only(const wye_event& event) {
    return (event.flags & WYE_EVENT_ORDER_ONLY) != 0;
}

}  // namespace wye::model
