// SPDX-License-Identifier: Apache-2.0
//
// Fibers: all threads of a run as coroutines of one thread, so that the explorer alone decides
// which of them runs. The API's calls run on fibers, and so do the library's own threads:
// interpose.cpp replaces the system's functions for threads, locks and time. Time is virtual: it
// passes only when the explorer says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wye::model {

// What a blocked fiber waits for.
enum class Reason : std::uint8_t {
    None,
    Device,   // for work, in the device's slot `wait`
    Compile,  // for the explorer, in the device's slot `program_create`
    Lock,     // for a mutex
    Wake,     // for a condition variable, an atomic variable, or the end of a fiber
    Sleep,    // for a point in time
};

struct Fiber {
    enum class State : std::uint8_t { Ready, Blocked, Stopped, Ended };

    State state = State::Ready;
    Reason reason = Reason::None;
    bool library = false;                 // a thread that the library started
    bool is_line = false;                 // the thread of a session's line
    bool of_line = false;                 // started by the line's thread
    const void* waits_on = nullptr;       // the condition variable that the fiber waits for
    const void* compile_wait = nullptr;   // the variable for compilations (line's thread only)
    int call = -1;                        // the number of the call that it runs, or that started it
    std::function<bool()> can_go;         // of a blocked fiber: whether it may go on
    bool woken = false;                   // goes on because of `can_go`, not of the deadline
    std::uint64_t deadline = UINT64_MAX;  // of a blocked fiber, in virtual time
    bool holds_births = false;            // threads that it starts begin in the state Stopped
    int slots = 0;                        // number of places passed, see Fibers::place
    int stop_at = 0;                      // the place to stop at; 0: none

  private:
    friend class Fibers;
    std::function<void()> work;
    void* stack = nullptr;
    void* at = nullptr;             // the stack pointer, while the fiber does not run
    std::vector<std::byte> locals;  // the library's thread-local variables, while it does not run
};

class Fibers {
  public:
    Fibers();
    ~Fibers();
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;

    // The fibers that the replaced functions use; null before there are any.
    static Fibers* active;
    [[nodiscard]] static Fiber* current() { return active == nullptr ? nullptr : active->current_; }

    // Makes a fiber. It first runs at the next `settle`.
    Fiber& start(std::function<void()> work);
    // Runs fibers until none of them can go on.
    void settle();
    // Called on a fiber: runs other fibers until `can_go` is true. False: the deadline has passed
    // first.
    bool block(Reason reason, std::function<bool()> can_go, std::uint64_t deadline = UINT64_MAX);
    // Called on a fiber at each place where it can stop, such as the begin of a slot. Stops the
    // fiber at the place number `stop_at`.
    void place();
    // Called on the fiber of the line's thread at its begin, and after each wait for another
    // thread: stops the fiber if `holds_line` is true. The explorer then says when the fiber goes
    // on.
    void hold();
    std::function<bool()> holds_line;  // whether `hold` stops the fiber; null: no
    // Lets a stopped fiber go on.
    void go(Fiber& fiber) { fiber.state = Fiber::State::Ready; }

    [[nodiscard]] std::uint64_t now() const { return now_; }
    // Lets time pass until a blocked fiber reaches its deadline.
    void pass_time();
    [[nodiscard]] bool time_can_pass() const;

    // All fibers that have not ended, in the order of their start.
    [[nodiscard]] const std::vector<std::unique_ptr<Fiber>>& all() const { return fibers_; }
    // Removes all fibers. The stack of a fiber that has not ended is not unwound.
    void clear();

  private:
    static void enter();
    void resume(Fiber& fiber);
    void leave(Fiber& fiber);
    void swap_locals(Fiber& fiber);

    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<void*> stacks_;  // stacks of ended fibers
    Fiber* current_ = nullptr;
    void* main_ = nullptr;          // the explorer's stack pointer
    std::span<std::byte> locals_;   // the library's thread-local variables
    std::vector<std::byte> fresh_;  // the initial values of these variables in a new thread
    std::uint64_t now_ = std::uint64_t{1} << 40U;
};

}  // namespace wye::model
