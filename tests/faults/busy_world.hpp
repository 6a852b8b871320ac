// SPDX-License-Identifier: Apache-2.0
//
// World: a CPU device with pending work, on which one call at a time runs out of memory. All calls
// and waits are made on one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "faults/calls.hpp"
#include "wye/buffer.h"
#include "wye/device.h"
#include "wye/graph.h"
#include "wye/pipeline.h"

namespace faults {

// Where the work of a call runs. World::clock makes sure that this does not depend on the real
// time.
enum class Place : std::uint32_t {
    kCaller,    // on the calling thread
    kHandover,  // begins on the calling thread, ends on the queue's
    kQueue,     // on the queue's thread
    kHelpers,   // on the queue's thread, with helping threads
};
inline constexpr const char* kPlaces[] = {"caller", "handover", "queue", "helpers"};

// The range of the values that a buffer's elements may have. All elements begin at 0.
struct Expected {
    std::uint32_t least = 0, most = 0;
};

class World {
  public:
    World(Place place, const std::string& cache, Pass& pass);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] bool ready() const { return ready_; }
    // How the caller's clock must run during the call: an argument of faults_set_clock.
    [[nodiscard]] int clock() const;

    // Starts work that does not end before `open`: on the queue `side` and, with `behind`, also on
    // the device's own queue if the place is a queue's thread.
    bool begin(bool behind);
    // Starts work of two rounds on `target`. The first round does not end before `open`. Until then
    // the second round is in the session's line, and calls that use `target` come after it there.
    bool begin_rounds();
    // Lets the work end. To be called once; afterwards, the memory of the gates may be gone.
    void open();
    // Waits for the work of `begin` and `begin_rounds`. Returns whether all of it succeeded; with
    // `exact`, a failure is a defect.
    bool settle(bool exact);

    // A dispatch that adds 1 to each element of a buffer.
    [[nodiscard]] wye_dispatch_desc add(const wye_argument& argument, wye_program through) const;
    [[nodiscard]] wye_dispatch_desc add(const wye_argument& argument) const {
        return add(argument, program);
    }
    [[nodiscard]] static wye_argument resident(wye_buffer buffer);
    wye_buffer buffer(std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE);
    // Checks that the elements of a buffer are in the expected range.
    void check(const char* what, wye_buffer buffer, Expected expected);

    wye_context* context = nullptr;
    wye_device device = 0;
    wye_program program = 0, cold = 0;  // both compute the same; `cold` is not compiled
    wye_buffer target = 0;              // the buffer that the call's work changes
    wye_buffer ones = 0, other = 0;     // elements are 1; elements are 0
    std::vector<std::uint32_t> host;    // as many elements as a buffer has
    std::vector<wye_pending> mine;      // handles that the call made, or that it uses
    wye_queue queue = 0, side = 0;      // a queue for the call; a queue that is busy
    wye_graph graph = 0;
    wye_pipeline pipeline = 0;
    wye_buffer made = 0;
    std::atomic<std::uint32_t> notified{0};
    Calls calls;

  private:
    struct Gate {
        wye_buffer flag = 0;
        std::uint32_t* word = nullptr;
    };
    bool make();
    bool make_program(const char* text, wye_program& out);
    bool prepare(wye_program which);
    bool make_gate(Gate& gate);
    bool submit(const wye_dispatch_desc& desc);

    const Place place_;
    bool ready_ = false;
    std::size_t elements_ = 0;
    std::uint32_t groups_ = 1;
    wye_program gate_program_ = 0, rounds_program_ = 0;
    Gate gates_[3];              // of the pending work, and of the rounds
    wye_buffer behind_[2] = {};  // of the pending work: on `side`, on the device's own queue
    wye_buffer copied_ = 0;      // a copy of behind_[0]
    std::vector<wye_pending> others_;
    bool blocked_[2] = {};
};

}  // namespace faults
