// SPDX-License-Identifier: Apache-2.0
//
// World: a CPU device with work in flight, on which one call at a time runs out of memory. Calls
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

// Where the work of a call runs. The clock has no say in it: see World::clock.
enum class Place : std::uint32_t {
    kCaller,    // on the calling thread
    kHandover,  // begun there and continued by the queue's thread
    kQueue,     // on the queue's thread
    kHelpers,   // there, with threads that help
};
inline constexpr const char* kPlaces[] = {"caller", "handover", "queue", "helpers"};

// What a buffer's elements may be, all of which began at 0.
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
    // How the caller's clock must run meanwhile, for faults_set_clock.
    [[nodiscard]] int clock() const;

    // Starts work that does not end before `open`: on a queue of its own, and with `behind` also
    // where work without a queue goes, if the place is a queue's thread.
    bool begin(bool behind);
    // Starts work of two rounds on `target`, of which the first does not end before `open`: until
    // then the second is in the session's line, and what uses `target` goes behind it.
    bool begin_rounds();
    // Once; the memory behind the mapping may be gone afterwards.
    void open();
    // Waits for the work of `begin` and `begin_rounds`, of which none may have failed if `exact`.
    // Returns whether none has.
    bool settle(bool exact);

    // A dispatch that adds 1 to each element of a buffer.
    [[nodiscard]] wye_dispatch_desc add(const wye_argument& argument, wye_program through) const;
    [[nodiscard]] wye_dispatch_desc add(const wye_argument& argument) const {
        return add(argument, program);
    }
    [[nodiscard]] static wye_argument resident(wye_buffer buffer);
    wye_buffer buffer(std::uint32_t usage = WYE_BUFFER_USAGE_DEVICE);
    // Checks the elements of a buffer.
    void check(const char* what, wye_buffer buffer, Expected expected);

    wye_context* context = nullptr;
    wye_device device = 0;
    wye_program program = 0, cold = 0;  // the same; `cold` is not compiled
    wye_buffer target = 0;              // what the call's work changes
    wye_buffer ones = 0, other = 0;     // full of 1; of 0
    std::vector<std::uint32_t> host;    // as large as a buffer
    std::vector<wye_pending> mine;      // made by the call, or for it
    wye_queue queue = 0, side = 0;      // one for the call; one that is busy
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
    Gate gates_[3];              // of the work in flight, and of the rounds
    wye_buffer behind_[2] = {};  // what the work in flight changes: by the side queue, by the other
    wye_buffer copied_ = 0;      // from behind_[0]
    std::vector<wye_pending> others_;
    bool blocked_[2] = {};
};

}  // namespace faults
