// SPDX-License-Identifier: Apache-2.0
//
// Line: a thread of a session that does what a call did not wait for. It gives each piece of work
// its turn, one after the other in the order of their calls: it compiles a program and submits the
// work, or submits the rounds of a fixpoint. Runs no code of the application. The thread is started
// at first use. Free-threaded. ORDER.md has the model.
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

    // Starts the thread, unless it runs. Called before `add`. OUT_OF_MEMORY if the system gives
    // none.
    [[nodiscard]] Result<void> start();
    // Adds work to the end of the line. It gets its turn (PendingWork::take_turn) after all work
    // before it. `one`: a list with the work as its only element, which is moved out.
    void add(std::list<WorkRef>& one) noexcept;
    // Waits until `in_line` is false; false at the deadline. Whoever clears it calls `left`.
    [[nodiscard]] bool await(const std::atomic<bool>& in_line,
                             std::optional<Clock::time_point> deadline);
    void left(std::atomic<bool>& in_line) noexcept;
    // Whether no work is in the line or has its turn. Waits until a turn ends, unless it compiles.
    [[nodiscard]] bool is_idle();
    void await_idle();
    // Ends the thread after the last turn.
    void stop() noexcept;

    // Marks the part of a turn that compiles: it may last much longer than work that is cancelled.
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
