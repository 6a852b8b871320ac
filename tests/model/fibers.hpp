// SPDX-License-Identifier: Apache-2.0
//
// Fibers: all threads of a run as coroutines of one thread, so that the explorer alone decides who
// goes on. Calls of the library run on fibers, and so do the library's own threads: interpose.cpp
// replaces the system's functions for threads, locks and time by functions on fibers. Time is
// virtual: it passes only when the explorer says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wye::model {

// What a fiber that does not go on waits for.
enum class Reason : std::uint8_t {
    None,
    Device,   // for work, in the device's slot `wait`
    Compile,  // for the end of a compile, in the device's slot `program_create`
    Lock,     // for a mutex
    Wake,     // for a condition variable, an atomic variable, or the end of a fiber
    Sleep,    // for a time
};

struct Fiber {
    enum class State : std::uint8_t { Ready, Blocked, Stopped, Ended };

    State state = State::Ready;
    Reason reason = Reason::None;
    bool library = false;                 // a thread that the library made
    bool is_line = false;                 // the thread of a session's line
    bool of_line = false;                 // made by that thread
    const void* waits_on = nullptr;       // the condition variable that it waits for
    const void* compile_wait = nullptr;   // of the line's thread: that of compiles, once known
    int call = -1;                        // the number of the call that it runs or was made by
    std::function<bool()> can_go;         // of a blocked one
    bool woken = false;                   // it goes on because it can, not at its deadline
    std::uint64_t deadline = UINT64_MAX;  // of a blocked one, in virtual time
    bool holds_births = false;            // the threads that it makes start as Stopped
    int slots = 0;                        // places passed, see Fibers::place
    int stop_at = 0;                      // the place to stop at; 0: none

  private:
    friend class Fibers;
    std::function<void()> work;
    void* stack = nullptr;
    void* at = nullptr;             // the stack pointer, while it does not run
    std::vector<std::byte> locals;  // the library's thread-local variables, while it does not run
};

class Fibers {
  public:
    Fibers();
    ~Fibers();
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;

    // The fibers that the interposed functions use; null before there are any.
    static Fibers* active;
    [[nodiscard]] static Fiber* current() { return active == nullptr ? nullptr : active->current_; }

    // Makes a fiber, which runs at the next `settle`.
    Fiber& start(std::function<void()> work);
    // Runs fibers until none can go on.
    void settle();
    // Called on a fiber: lets the others go on until `can_go`. False: the deadline has passed.
    bool block(Reason reason, std::function<bool()> can_go, std::uint64_t deadline = UINT64_MAX);
    // Called on a fiber at a boundary of a slot: stops it, if it is to stop at this place.
    void place();
    // Called on the line's fiber when it begins, and after each wait for another thread: stops it
    // if the explorer says when it goes on.
    void hold();
    std::function<bool()> holds_line;  // whether it does; null: no
    // Lets a stopped fiber go on.
    void go(Fiber& fiber) { fiber.state = Fiber::State::Ready; }

    [[nodiscard]] std::uint64_t now() const { return now_; }
    // Lets time pass until at least one blocked fiber has reached its deadline.
    void pass_time();
    [[nodiscard]] bool time_can_pass() const;

    // All that have not ended, in the order of their start.
    [[nodiscard]] const std::vector<std::unique_ptr<Fiber>>& all() const { return fibers_; }
    // Forgets ended fibers. Those that have not ended are dropped without being unwound.
    void clear();

  private:
    static void enter();
    void resume(Fiber& fiber);
    void leave(Fiber& fiber);
    void swap_locals(Fiber& fiber);

    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<void*> stacks_;  // unused ones
    Fiber* current_ = nullptr;
    void* main_ = nullptr;          // the stack pointer of the explorer
    std::span<std::byte> locals_;   // the library's thread-local variables
    std::vector<std::byte> fresh_;  // what a new thread has there
    std::uint64_t now_ = std::uint64_t{1} << 40U;
};

}  // namespace wye::model
