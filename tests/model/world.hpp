// SPDX-License-Identifier: Apache-2.0
//
// World: a context with the scripted device, the calls of a sequence, and the reference model,
// which says what each call may return and when a call may wait. The first fault ends a run.
//
// The promises: a read gets the last write before it. No running work uses a freed object. A
// pending dispatch gets the outcome of its own work. No call waits without need. After a recovery
// nothing of the lost session runs. An idle device can be closed. No object is left at the end.
// Work that is submitted only after its call has returned keeps its place in the order, gets its
// turn, and is never submitted after it was cancelled.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "fibers.hpp"
#include "scope.hpp"
#include "step.hpp"
#include "wye/buffer.h"
#include "wye/device.h"
#include "wye/graph.h"
#include "wye/pipeline.h"
#include "wye/wye.h"

namespace wye::model {

struct Call {
    int number = 0;
    Step step;
    Fiber* fiber = nullptr;       // null: the call has returned
    int began = 0, returned = 0;  // order of begins and returns; 0: not yet
    wye_queue queue = 0;          // the queue that the call names
    wye_status status = WYE_OK;
    std::string error;
    bool time_passed = false;  // a time limit has passed while the call was in progress
    bool alone = true;         // no other call was in progress meanwhile
    bool idle_before = true;   // no work ran when the call began
    bool was_lost = false;     // the device was lost when the call began, or during it
    bool opened = false;       // the call has opened the device, perhaps after a recovery
    wye_pending pending = 0;   // the handle that the call has made or was given
    std::vector<std::byte> bytes;
};

class World {
  public:
    // Opens the context.
    explicit World(const Scope& scope);
    // Opens the device again, for a new run.
    void begin();
    // Does a step. False: the step is not possible here, or the call returns before it comes to the
    // place where it must stop.
    bool step(const Step& step);
    // All steps that are possible next, without places to stop at.
    [[nodiscard]] std::vector<Step> enabled() const;
    // All that the library can have learnt so far. After two runs with equal states the library
    // behaves the same.
    [[nodiscard]] std::string state() const;
    // Ends all work, and checks and frees all that is left. To be called once, at the end of a run.
    void finish();
    // The first fault; empty: none.
    [[nodiscard]] const std::string& fault() const { return fault_; }
    // False once the context was destroyed; this World then cannot do another run.
    [[nodiscard]] bool is_alive() const { return context_ != nullptr; }
    // Whether to print each step and its result, for a replay.
    void trace(bool on) { traces_ = on; }
    // Whether a letter's call can be stopped at places.
    [[nodiscard]] static bool is_call(char kind);

  private:
    static constexpr std::string_view kAsynchronous = "SbrIsaphHuflg";
    struct BufferState {
        wye_buffer handle = 0;
        int maps = 0;
        bool used = false;  // by a step of this run
    };
    struct PendingState {
        wye_pending handle = 0;
        int call = 0;
        bool cancel_asked = false;
        bool told = false;                               // a call has returned the outcome
        std::shared_ptr<std::vector<wye_status>> notes;  // what the callback got; null: none
    };

    struct Uses {
        std::vector<const Buffer*> reads, writes;
    };
    // Work that was still in the session's line (line.cpp) when its call returned.
    struct InLine {
        int call = 0;
        bool compiles_only = false;
        Uses uses;
        wye_queue queue = 0;
        int left = 1;  // number of submits that are still to come
        bool compile_ended = false, compile_failed = false;
        std::optional<wye_status> outcome;  // the outcome, if it is known without a further submit
    };

    // calls.cpp: makes the calls of each step.
    wye_status perform(Call& call, wye_error** error);
    wye_status submit(Call& call, wye_error** error);
    void compile_programs();
    wye_status transfer(Call& call, wye_error** error);
    wye_status batch(Call& call, wye_error** error);
    wye_status graph(Call& call, wye_error** error);
    wye_queue queue(const Step& step) const;
    Call& start(Step step);
    void run(std::function<void()> work);  // runs `work` on a fiber until it ends
    void settle();
    bool event(const Step& step);

    // judge.cpp: what each call may return.
    void judge(Call& call);
    [[nodiscard]] bool fits(wye_status status, int owner, bool cancel_asked,
                            std::string& right) const;
    // Whether, in a scope with two calls at a time, the device still runs work after a time-out.
    [[nodiscard]] bool gave_up_meanwhile() const;
    void judge_pending(const Call& call, int owner, bool cancel_asked);
    void judge_block(const Work& work);
    void judge_locks();
    [[nodiscard]] bool is_busy() const;  // whether a call is in progress
    [[nodiscard]] bool in_use(int buffer) const;
    [[nodiscard]] const Buffer* native(int buffer) const;
    void expect(const Call& call, bool fits, const std::string& expected);
    void fail(std::string what) {
        if (fault_.empty() && !device_.is_ignored(what)) fault_ = std::move(what);
    }

    // line.cpp: the model of the session's line.
    [[nodiscard]] Uses uses_of(const Step& step) const;
    [[nodiscard]] bool has_work(int call) const;  // the device got or refused work of the call
    // Whether the work has a place in the line.
    [[nodiscard]] bool waits(const InLine& work) const;
    [[nodiscard]] bool holds(const InLine& work) const;   // whether later calls must follow it
    [[nodiscard]] const InLine* in_line(int call) const;  // null: was never in the line
    [[nodiscard]] bool conflict(const InLine& work, const Uses& uses, wye_queue queue) const;
    // Whether a call's work must come after some work in the line.
    [[nodiscard]] bool must_follow(const Call& call) const;
    [[nodiscard]] bool line_is_busy() const;
    [[nodiscard]] bool is_stopped() const;  // whether any fiber is stopped
    void note_return(Call& call);
    void note_in_line(const Call& call);
    void pass_limits();
    void end_turns(const InLine* begun);
    void settle_line();
    [[nodiscard]] int owner_in_line(const wye_submission& submission) const;
    void judge_compile(Compile& compile);
    void judge_submit(const Work& work);
    void end_compile(bool well);
    [[nodiscard]] std::optional<bool> fits_line(wye_status status, const InLine& work,
                                                bool cancel_asked, std::string& right) const;
    [[nodiscard]] bool may_await_line(const Call& call) const;
    [[nodiscard]] std::int64_t in_flight() const;  // pending works, as far as the host knows

    // finish.cpp
    void probe();
    void end_all();
    void free_all();
    void call_to_end(Step step);

    const Scope& scope_;
    Fibers fibers_;
    Device& device_ = the_device();
    wye_context* context_ = nullptr;
    // Programs: r[i] = f(x[i]); r[i] = f(r[i]); one that is compiled late; one that can trap.
    wye_program programs_[4] = {};

    // The state of a run.
    wye_device handle_ = 0;        // 0: closed
    std::vector<wye_device> old_;  // devices before their recovery
    wye_pipeline pipeline_ = 0;
    wye_graph graph_ = 0;
    int graph_reads_ = 0, graph_writes_ = 0;
    std::vector<wye_queue> queues_;  // by number; 0: no queue
    std::vector<BufferState> buffers_;
    std::vector<wye_buffer> old_buffers_;
    std::vector<PendingState> pending_;
    std::vector<const Buffer*> natives_;
    std::deque<Call> calls_;
    std::vector<InLine> line_;  // all work that was in the line, in the order of the calls
    int stamp_ = 0;
    int failed_compiles_ = 0;
    std::string fault_;
    int refused_ = 0;
    bool ending_ = false;
    bool was_lost_ = false;
    bool is_late_ = false;     // the time limit of work whose call did not wait has passed
    bool lost_again_ = false;  // the device was lost again during a recovery
    bool traces_ = false;
};

}  // namespace wye::model
