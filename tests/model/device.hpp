// SPDX-License-Identifier: Apache-2.0
//
// Device: the scripted device. Its buffers keep bytes, its queues keep submitted work, and no work
// runs by itself: the explorer says which work ends next, and with which status. The device checks
// the host: objects are alive and belong to the device's present session, conflicting work is
// ordered by what the host submitted or has seen end, nothing is destroyed while work uses it, and
// values that are asked for were submitted.
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
    int index = 0;  // number in the order of creation
    std::uint64_t size = 0;
    int session = 0;  // the device's session; each recovery begins a new one
    bool alive = true;
    std::vector<std::byte> bytes;
};

struct Program {
    std::vector<std::uint32_t> access;  // of each binding: 1 read, 2 write, 3 both
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

// A wait of a submission for a value of a native queue.
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
    std::vector<std::byte> bytes;  // data of an upload, or parameters of a dispatch
    void* target = nullptr;        // of a download
};

struct Work {
    int index = 0;  // number in the order of the submits
    Native* on = nullptr;
    std::uint64_t value = 0;
    int call = -1;  // the number of the call that submitted the work
    std::vector<Operation> operations;
    std::vector<Program*> programs;
    std::vector<Command*> commands;
    std::vector<Wait> waits;
    std::uint64_t after = 0;  // bit mask of all work that ends before this work begins
    bool ended = false;
    wye_status status = WYE_OK;
    bool spread = false;  // failed only because work that it waited for has failed
    bool cancel_asked = false;
    bool retired = false;  // by the slot `retire`: the device may forget the failure

    [[nodiscard]] bool uses(const Buffer* buffer) const;
    [[nodiscard]] bool writes(const Buffer* buffer) const;
};

// A compilation, which runs until the explorer ends it.
struct Compile {
    bool of_line = false;  // made by the line's threads
    int owner = -1;        // the number of the call whose work needs the compilation
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
    std::uint64_t seen = 0;  // the newest value of which the host knows that it has ended
};

struct DeviceOptions {
    int max_queues = 4;
    bool cancels = true;   // can cancel work
    bool recovers = true;  // can be recovered after a loss
};

class Device {
  public:
    // Keeps the first fault of the host, which the explorer asks for.
    void breach(std::string what) {
        if (breach_.empty() && !is_ignored(what)) breach_ = std::move(what);
    }
    [[nodiscard]] bool is_ignored(const std::string& what) const {
        return std::ranges::any_of(
            ignored, [&](const std::string& text) { return what.find(text) != std::string::npos; });
    }
    [[nodiscard]] const std::string& found() const { return breach_; }

    // ---- What the explorer does --------------------------------------------------------------

    // The first work of a queue that has not ended; null: there is none, or it waits for other
    // work.
    [[nodiscard]] static Work* head(const Native& native);
    // Ends the work with this status, and fails all work that waits for a failed one.
    void end(Work& work, wye_status status);
    void lose();
    // The bytes of a buffer if all work submitted so far, up to `until`, takes effect in order.
    // `known`: whether the bytes are specified.
    struct Expected {
        std::vector<std::byte> bytes;
        bool known = true;
    };
    [[nodiscard]] Expected expected(const Buffer& buffer, const Work* until = nullptr) const;
    [[nodiscard]] bool is_used(const Buffer* buffer) const;
    [[nodiscard]] bool is_idle() const;
    // The oldest compile that has not ended; null: none.
    [[nodiscard]] Compile* compile() const;
    [[nodiscard]] int objects() const;  // number of live buffers, programs, commands and queues
    // Removes the records of all objects, after the host has destroyed the objects.
    void clear();

    // ---- What the slots do (slots.cpp) -------------------------------------------------------

    void submit(Native& native, const wye_submission& submission, int call);
    [[nodiscard]] static bool failed(const Native& native, std::uint64_t value, wye_status& status);
    // Failed work that the host has not retired; null: none.
    [[nodiscard]] const Work* kept() const;
    [[nodiscard]] static bool reached(const Native& native, std::uint64_t value);
    // Check that the host may use the queue, and may ask for the value.
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
    bool compiles_wait = false;  // a compilation waits until the explorer ends it
    DeviceOptions options;
    int session = 0;
    int opens = 0;             // opens less closes; a recovered device is opened again
    bool refuses = false;      // refuses the next submit
    std::vector<int> refused;  // the calls whose submits were refused
    bool lost = false;
    bool loss_seen = false;            // a slot has reported the loss to the host
    std::vector<std::string> ignored;  // faults with one of these texts are not kept
    // Called when a call waits for this work, before other fibers go on.
    std::function<void(const Work&)> on_block;
    // Called after each submit, and when a compilation begins that waits for the explorer.
    std::function<void(const Work&)> on_submit;
    std::function<void(Compile&)> on_compile;
    // Finds the number of the call whose work the line submits.
    std::function<int(const wye_submission&)> owner_in_line;

  private:
    Operation read(const wye_operation& op, Work& work);
    void check_order(const Work& work);
    void spread();
    static void apply(const Operation& op, const std::function<std::byte*(Buffer*)>& at);

    std::string breach_;
};

// The only device of the process, which all slots use.
Device& the_device();

// Whether a wait is only for the order, so that the outcome of the awaited work does not matter.
[[nodiscard]] inline bool orders_only(const wye_event& event) {
    return (event.flags & WYE_EVENT_ORDER_ONLY) != 0;
}

}  // namespace wye::model
