// SPDX-License-Identifier: Apache-2.0
//
// World: a context with the scripted device, the calls of a sequence, and the reference model,
// which says what each call may return and when it may wait. The first fault ends a run.
//
// The promises: a read gets the last write before it; a freed object is used by no running work; a
// pending dispatch gets the outcome of its own work; no call waits without cause; nothing of a lost
// session runs after its recovery; an idle device can be closed; objects return to their start.
// Work that is submitted later than its call returns has its place in the order all the same, gets
// its turn, and is never submitted after it was cancelled.
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
    Fiber* fiber = nullptr;       // null: it has returned
    int began = 0, returned = 0;  // ascending; 0: not yet
    wye_queue queue = 0;          // that it names
    wye_status status = WYE_OK;
    std::string error;
    bool time_passed = false;  // while it was in progress
    bool alone = true;         // no other call was in progress
    bool idle_before = true;   // nothing ran when it began
    bool was_lost = false;     // the device was lost when it began, or meanwhile
    bool opened = false;       // it has opened the device, perhaps after a recovery
    wye_pending pending = 0;   // that it made, or concerns
    std::vector<std::byte> bytes;
};

class World {
  public:
    // Opens the context.
    explicit World(const Scope& scope);
    // Opens the device anew, for a run.
    void begin();
    // False: the step cannot be done here, or the call does not come to the place to stop at.
    bool step(const Step& step);
    // The steps that can be done next, without places to stop at.
    [[nodiscard]] std::vector<Step> enabled() const;
    // What the library can have learnt so far: two runs with equal states go on alike.
    [[nodiscard]] std::string state() const;
    // Ends everything and checks what is left; called once, at the end of a run.
    void finish();
    // The first fault; empty: none.
    [[nodiscard]] const std::string& fault() const { return fault_; }
    // False once the context was destroyed, after which there is no further run.
    [[nodiscard]] bool is_alive() const { return context_ != nullptr; }
    // Steps and what came of them, for a replay.
    void trace(bool on) { traces_ = on; }
    // Whether a letter's call can be stopped at places.
    [[nodiscard]] static bool is_call(char kind);

  private:
    static constexpr std::string_view kAsynchronous = "SbrIsaphHuflg";
    struct BufferState {
        wye_buffer handle = 0;
        int maps = 0;
        bool used = false;  // by a step so far
    };
    struct PendingState {
        wye_pending handle = 0;
        int call = 0;
        bool cancel_asked = false;
        bool told = false;                               // a call has returned its outcome
        std::shared_ptr<std::vector<wye_status>> notes;  // what its callback got; null: none
    };

    struct Uses {
        std::vector<const Buffer*> reads, writes;
    };
    // Work that its call left to the line.
    struct InLine {
        int call = 0;
        bool compiles_only = false;
        Uses uses;
        wye_queue queue = 0;
        int left = 1;  // submits that are to come
        bool compile_ended = false, compile_failed = false;
        std::optional<wye_status> outcome;  // that it has without a submit, or between two
    };

    // calls.cpp: how each step is done.
    wye_status perform(Call& call, wye_error** error);
    wye_status submit(Call& call, wye_error** error);
    void compile_programs();
    wye_status transfer(Call& call, wye_error** error);
    wye_status batch(Call& call, wye_error** error);
    wye_status graph(Call& call, wye_error** error);
    wye_queue queue(const Step& step) const;
    Call& start(Step step);
    void run(std::function<void()> work);  // on a fiber, to its end
    void settle();
    bool event(const Step& step);

    // judge.cpp: what each call may return.
    void judge(Call& call);
    [[nodiscard]] bool fits(wye_status status, int owner, bool cancel_asked,
                            std::string& right) const;
    // Whether work that timed out, and that the device cannot stop, runs beside calls in progress.
    [[nodiscard]] bool gave_up_meanwhile() const;
    void judge_pending(const Call& call, int owner, bool cancel_asked);
    void judge_block(const Work& work);
    void judge_locks();
    [[nodiscard]] bool is_busy() const;  // a call is in progress
    [[nodiscard]] bool in_use(int buffer) const;
    [[nodiscard]] const Buffer* native(int buffer) const;
    void expect(const Call& call, bool fits, const std::string& expected);
    void fail(std::string what) {
        if (fault_.empty() && !device_.is_ignored(what)) fault_ = std::move(what);
    }

    // line.cpp
    [[nodiscard]] Uses uses_of(const Step& step) const;
    [[nodiscard]] bool has_work(int call) const;  // the device got some, or refused it
    // Whether it has its place in the line.
    [[nodiscard]] bool waits(const InLine& work) const;
    [[nodiscard]] bool holds(const InLine& work) const;   // as far as calls after it can tell
    [[nodiscard]] const InLine* in_line(int call) const;  // null: its work was never there
    [[nodiscard]] bool conflict(const InLine& work, const Uses& uses, wye_queue queue) const;
    // Whether a call's work must come after work in the line.
    [[nodiscard]] bool must_follow(const Call& call) const;
    [[nodiscard]] bool line_is_busy() const;
    [[nodiscard]] bool is_stopped() const;  // some fiber
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
    [[nodiscard]] std::int64_t in_flight() const;  // pieces of asynchronous work, as far as known

    // finish.cpp
    void probe();
    void end_all();
    void free_all();
    void call_to_end(Step step);

    const Scope& scope_;
    Fibers fibers_;
    Device& device_ = the_device();
    wye_context* context_ = nullptr;
    // r[i] = f(x[i]); r[i] = f(r[i]); one that is not compiled yet; one that can trap
    wye_program programs_[4] = {};

    // Of a run.
    wye_device handle_ = 0;        // 0: closed
    std::vector<wye_device> old_;  // recovered
    wye_pipeline pipeline_ = 0;
    wye_graph graph_ = 0;
    int graph_reads_ = 0, graph_writes_ = 0;
    std::vector<wye_queue> queues_;  // by number; 0: none
    std::vector<BufferState> buffers_;
    std::vector<wye_buffer> old_buffers_;
    std::vector<PendingState> pending_;
    std::vector<const Buffer*> natives_;
    std::deque<Call> calls_;
    std::vector<InLine> line_;  // in the order of the calls, also what is no more there
    int stamp_ = 0;
    int failed_compiles_ = 0;
    std::string fault_;
    int refused_ = 0;
    bool ending_ = false;
    bool was_lost_ = false;
    bool is_late_ = false;     // the time limit of work has passed whose call did not wait
    bool lost_again_ = false;  // during a recovery
    bool traces_ = false;
};

}  // namespace wye::model
