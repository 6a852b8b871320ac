// SPDX-License-Identifier: Apache-2.0
//
// Graph: steps on resident buffers of one device (dispatches and transfers), checked, compiled and
// bound once, and executed many times as one submit. The steps are a Recording, which the plugin
// keeps as a native object of the driver if it can. If the plugin allows one pending execution of
// that object, others in flight have such objects of their own (instances of the recording), up to
// a limit; beyond it the list of operations is submitted instead.
//
// A graph keeps its programs alive, but not its buffers: an execution checks that they are still
// live if any buffer was freed since the last check. While an execution uses buffers, their
// histories keep them from being freed. Executions are ordered by the buffers that they use. If a
// program can trap, each execution in flight has its own trap words. Recorded buffers may be
// replaced while no execution is in flight. Free-threaded. The session outlives it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/context.hpp"
#include "exec/device/session.hpp"
#include "exec/prepared/work.hpp"
#include "registry/hold/ownership.hpp"
#include "wye/graph.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class Graph;

// One execution in flight. Move-only.
class Execution {
  public:
    Execution() = default;
    Execution(Execution&& other) noexcept { *this = std::move(other); }
    Execution& operator=(Execution&& other) noexcept {
        std::swap(workspace, other.workspace);
        std::swap(words, other.words);
        std::swap(borrowed_, other.borrowed_);
        std::swap(instance_, other.instance_);
        return *this;
    }
    ~Execution() { release(); }
    // Called when the execution has ended: gives the trap words back.
    void release() noexcept {
        if (words == nullptr) [[likely]]
            return;
        words = nullptr;
        if (borrowed_ != nullptr) give_back();
        workspace.release();
    }

    WorkspaceLease workspace;              // provides the trap words, unless the graph does
    const std::uint32_t* words = nullptr;  // trap words that were read back; null: it cannot trap

  private:
    friend class Graph;
    void give_back() noexcept;
    Graph* borrowed_ = nullptr;                // the graph whose trap words it uses, or null
    Recording::Instance* instance_ = nullptr;  // of that graph, with these trap words
};

class Graph : public std::enable_shared_from_this<Graph> {
  public:
    // Records a graph. Errors are those of its steps and name the step's index.
    // `device` gets a pin, which keeps the device until the graph has a handle.
    [[nodiscard]] static Result<std::shared_ptr<Graph>> record(Context& context,
                                                               const wye_graph_desc& desc,
                                                               registry::Pin& device);
    using Use = Recording::Use;
    // Builds a graph piece by piece: begin makes an empty graph, add adds a dispatch, finish must
    // be called before the first execution. Errors do not name the dispatch; a refused dispatch
    // leaves the graph unchanged.
    [[nodiscard]] static Result<std::shared_ptr<Graph>> begin(DeviceSession& session,
                                                              const Routed& routed,
                                                              std::string_view label, Use use);
    [[nodiscard]] Result<void> add(Context& context, const wye_dispatch_desc& desc);
    // As Recording::repeat.
    [[nodiscard]] bool repeat(const registry::HandleTable& handles, const wye_argument* arguments,
                              const std::uint64_t* params) {
        return recording_->repeat(handles, arguments, params);
    }
    void add_again(std::uint64_t count) { recording_->add_again(count); }
    // As the functions of Recording. `restart` needs the submit of the execution to have ended; the
    // next submit must follow `finish`.
    void reserve(std::uint64_t steps) { recording_->reserve(steps); }
    void set_warm() { recording_->set_warm(); }
    void restart() { recording_->restart(); }
    [[nodiscard]] Result<void> finish();
    // Whether executions have nothing to do and need not be submitted. Called after `finish`.
    [[nodiscard]] bool is_idle() const;
    Graph(DeviceSession& session, std::string_view label) : session_(session), label_(label) {}
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    // Replaces buffers that the steps name; the steps are checked and bound as if recorded again,
    // and parameters keep their values. DEVICE_BUSY while an execution is in flight; NOT_FOUND for
    // a buffer that no step names. On an error the graph is unchanged. Only for a graph made by
    // `record`.
    [[nodiscard]] Result<void> rebind(Context& context,
                                      std::span<const wye_graph_rebinding> changes);

    // Outputs of `submit`. The members of the report that are known before the end are written to
    // `report`, with an empty header. If `referred` is not null, it gets the recording instead, for
    // report_of at the end; but not a recording with Use::Once, which is emptied after the submit.
    struct Submitted {
        Execution& execution;
        Ticket& ticket;
        RunTimes& times;
        wye_report& report;
        Recording** referred;
    };
    // Submits one execution. STALE_HANDLE for a buffer that was freed; INVALID_ARGUMENT for a wrong
    // number of parameters; UNSUPPORTED for changed parameters that decide sizes, the form of a
    // kernel or whether a launch is deterministic.
    [[nodiscard]] Result<void> submit(const registry::HandleTable& handles,
                                      const wye_graph_run_desc& run, Clock::time_point start,
                                      const Submitted& out);

    // The fast path of `submit`, in three steps like those of QueuePool: begin_plain, send_plain,
    // and end_plain or fail_plain. It waits for no other queue, and has no device times and no
    // trace. It does not refer to its recording.
    struct Plain {
        Recording* steps = nullptr;
        Recording::Instance* instance = nullptr;  // null: `submit` must be called
        registry::NativeQueue* native = nullptr;
        std::uint32_t index = 0;   // of the queue in the pool
        std::uint32_t number = 0;  // of the public queue; 0: none
        std::uint64_t value = 0;
    };
    // `number`: that of the public queue that `run` names.
    [[nodiscard, gnu::always_inline]] Plain begin_plain(QueuePool& queues,
                                                        const wye_graph_run_desc& run,
                                                        std::uint32_t number)
        WYE_REQUIRES(queues.mutex) {
        Recording& steps = *recording_;
        if (!steps.warm_ || steps.traps_ || steps.frees_ != queues.frees()) [[unlikely]]
            return {};
        Recording::Instance& one = *steps.instances_.front();
        if (one.sending || !one.may_run(queues)) return {};
        const std::uint32_t index = queues.next_in_line(steps.uses_, number);
        if (index == QueuePool::kNoQueue) return {};
        if (one.version != steps.version_ || Recording::has_params(run)) [[unlikely]]
            if (!steps.try_params(run, one)) return {};
        const std::uint64_t value = queues.begin_in_line(index, steps.uses_);
        one.sending = true;
        note_newest(steps, one, index, value);
        return {&steps, &one, queues.native(index).get(), index, number, value};
    }
    [[nodiscard, gnu::always_inline]] static bool send_plain(const Plain& work,
                                                             Result<void>& failed) {
        return work.native->send_plain(work.instance->execute, failed);
    }
    static void end_plain(QueuePool& queues, const Plain& work) WYE_REQUIRES(queues.mutex) {
        work.instance->sending = false;
        queues.end_in_line(work.index, work.number, work.value);
    }
    [[gnu::cold]] static void fail_plain(QueuePool& queues, Plain work) WYE_REQUIRES(queues.mutex);

    // The report members that are known before the end, for an execution that refers to `referred`.
    [[nodiscard]] static const wye_report& report_of(const Recording& referred) {
        return referred.report_;
    }
    // Make and end a reference of an execution to its recording. The queues' mutex must be held.
    static void refer(Recording& steps) { ++steps.referred_; }
    static void settle(Recording& referred) { --referred.referred_; }
    // As submit, and waits. `report` may be null, and `start` is then read only if the context
    // reads times; its members except the header are written on success and for TRAPPED.
    [[nodiscard]] Result<void> run(const Context& context, const wye_graph_run_desc& run,
                                   Clock::time_point start, wye_report* report);
    // The fast path of `run`, inline, under the conditions of begin_plain. `report` has a valid
    // header, or is null, and `start` is then not read. False: `failed` has the error, or `run`
    // must be called.
    [[nodiscard]] bool run_plain(const wye_graph_run_desc& run, std::uint32_t number,
                                 const Instant& start, wye_report* report, Result<void>& failed);
    // Called when an execution has ended. Returns TRAPPED if it trapped, with code and count in the
    // report.
    [[nodiscard]] Result<void> check_traps(const Execution& execution, wye_report& report) const {
        if (execution.words == nullptr) [[likely]]
            return {};
        return read_traps(execution, report);
    }

    // Waits until no work in the session's line must come before an execution. At the deadline
    // TIMEOUT; DEVICE_BUSY with WYE_DISPATCH_AT_ONCE.
    [[nodiscard]] Result<void> await_place(const registry::HandleTable& handles,
                                           const wye_graph_run_desc& run,
                                           Clock::time_point deadline);
    [[nodiscard]] DeviceSession& session() const noexcept { return session_; }
    [[nodiscard]] const std::string& label() const noexcept { return label_; }
    // Fills all members except the header.
    [[nodiscard]] Result<void> describe(wye_graph_info& out) const;

  private:
    friend class Execution;

    // A copy of a step's description, so that the step can be recorded again.
    struct Step {
        explicit Step(const wye_dispatch_desc& desc);
        explicit Step(const wye_transfer_desc& desc) : transfer(desc) {}
        void replace(std::span<const wye_graph_rebinding> changes);

        bool dispatches = false;
        wye_dispatch_desc dispatch{};  // without pointers
        std::vector<wye_argument> arguments;
        std::string profile;
        wye_transfer_desc transfer{};
    };

    // The work of an execution, and the instance that its submit holds.
    struct Work {
        QueuePool::Sending sending;
        Recording* steps = nullptr;
        Recording::Instance* instance = nullptr;
        bool apart = false;  // no instance: operations with trap words of their own
        bool warm = false;
    };

    [[nodiscard]] Result<void> read_traps(const Execution& execution, wye_report& report) const;
    [[nodiscard]] Result<void> submit_work(const registry::HandleTable& handles,
                                           const wye_graph_run_desc& run, SubmitOptions options,
                                           const Submitted& out);
    // Chooses an instance and begins the submit.
    [[nodiscard]] Result<void> begin_work(const registry::HandleTable& handles, QueuePool& queues,
                                          const wye_graph_run_desc& run, SubmitOptions options,
                                          Work& out) WYE_REQUIRES(queues.mutex);
    // Called if no instance is idle. Null: the mutex was unlocked meanwhile, so try again.
    [[nodiscard]] Recording::Instance* other_instance(QueuePool& queues, bool& apart)
        WYE_REQUIRES(queues.mutex);
    [[nodiscard]] Result<void> send(QueuePool& queues, Work& work, Execution& out);
    // Sends an execution as operations, with its own trap words.
    [[nodiscard]] Result<void> send_apart(QueuePool& queues, Work& work, Execution& out);
    void finish_work(QueuePool& queues, Work& work, bool sent, const Submitted& out)
        WYE_REQUIRES(queues.mutex);
    // Notes the newest execution of an instance.
    static void note_newest(Recording& steps, Recording::Instance& one, std::uint32_t queue,
                            std::uint64_t value) {
        steps.newest_[queue] = value;
        one.sent(queue, value);
    }
    [[nodiscard]] Result<void> check_changes(std::span<const wye_graph_rebinding> changes) const;
    [[nodiscard]] Result<void> check_idle(QueuePool& queues) const WYE_REQUIRES(queues.mutex);
    // Records the steps again, with the programs and parameters of the current recording.
    [[nodiscard]] Result<std::unique_ptr<Recording>> record_again(Context& context,
                                                                  std::span<const Step> steps)
        WYE_REQUIRES(rebinding_);

    DeviceSession& session_;
    const std::string label_;
    Routed routed_;
    // `ends_at_once_`: the last wait of run_plain took less than kAtOnceNs. Work of the CPU plugin
    // mostly ends within its submit; work of a GPU never ends that soon.
    static constexpr std::uint64_t kAtOnceNs = 300;
    std::atomic<bool> ends_at_once_ = false;
    sdk::Mutex rebinding_;  // allows one rebind at a time; locked before the queues' lock
    std::vector<Step> steps_ WYE_GUARDED_BY(rebinding_);
    // Guarded by the mutex of the session's queues.
    std::unique_ptr<Recording> recording_;
    std::vector<std::unique_ptr<Recording>> replaced_;  // old ones that executions refer to
};

}  // namespace wye::exec
