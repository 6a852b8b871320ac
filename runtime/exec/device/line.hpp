// SPDX-License-Identifier: Apache-2.0
//
// Line: a session's list of work that is submitted after its call has returned, and the thread that
// submits it. The pieces of work get their turns one after the other, in the order of their calls.
// In a turn the thread compiles the program of the work, submits the work, and submits the further
// iterations of a fixpoint. The thread runs no code of the application, and starts at first use.
// Free-threaded. ORDER.md has the model.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <optional>

#include "exec/device/pending_list.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/sdk/wide_stack.hpp"

namespace wye::exec {

class Line {
  public:
    Line() = default;
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    ~Line() { stop(); }

    // Starts the thread, unless it runs. Called before `add`. OUT_OF_MEMORY if the system cannot
    // start a thread.
    [[nodiscard]] Result<void> start();
    // Adds work to the end of the line. The work gets its turn (PendingWork::take_turn) after all
    // work before it. `one`: a list with the work as its only element, which is moved out.
    void add(std::list<WorkRef>& one) noexcept;
    // Waits until a piece of work has left the line. `in_line`: the flag of that work, which `left`
    // clears. False: the deadline passed first.
    [[nodiscard]] bool await(const std::atomic<bool>& in_line,
                             std::optional<Clock::time_point> deadline);
    void left(std::atomic<bool>& in_line) noexcept;
    // Whether the line is idle: no work waits in it or has its turn. If some work has its turn,
    // first waits until that turn ends, or until it begins to compile.
    [[nodiscard]] bool is_idle();
    void await_idle();
    // Ends the thread once all work in the line has had its turn.
    void stop() noexcept;

    // Marks the part of a turn that compiles. `is_idle` does not wait for that part, which may take
    // long even if the work is cancelled.
    class Compiling {
      public:
        explicit Compiling(Line& line) noexcept : line_(line) { line_.set_compiling(true); }
        Compiling(const Compiling&) = delete;
        Compiling& operator=(const Compiling&) = delete;
        ~Compiling() { line_.set_compiling(false); }

      private:
        Line& line_;
    };

  private:
    void run() noexcept;
    void set_compiling(bool compiling) noexcept;

    sdk::WaitMutex mutex_;
    std::condition_variable changed_;
    std::list<WorkRef> waiting_ WYE_GUARDED_BY(mutex_);
    bool busy_ WYE_GUARDED_BY(mutex_) = false;  // some work has its turn
    bool compiling_ WYE_GUARDED_BY(mutex_) = false;
    std::uint64_t turns_ WYE_GUARDED_BY(mutex_) = 0;
    bool stopping_ WYE_GUARDED_BY(mutex_) = false;
    bool started_ WYE_GUARDED_BY(mutex_) = false;
    sdk::WideThread thread_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::exec
