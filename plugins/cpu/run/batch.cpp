// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/batch.hpp"

#include "cpu/run/transfers.hpp"
#include "cpu/timeline.hpp"
#include "wye/sdk/queue.hpp"

namespace wye::cpu {
namespace {

// Runs the operations of a batch, one after the other.
struct Runner : sdk::InOrderQueue<Runner> {
    Runner(Worker& w, Pool& p, const Stop& s, std::optional<Handover> h)
        : worker(w), pool(p), stop(s), handover(h) {}
    using InOrderQueue::perform;
    static constexpr std::string_view kPlugin = Batch::kPlugin;
    static constexpr std::uint32_t kLaunchFlags = WYE_LAUNCH_INDIRECT;
    Worker& worker;
    Pool& pool;
    const Stop& stop;
    std::optional<Handover> handover;

    Result<void> dispatch(const wye_dispatch_op& op) {
        return run_dispatch(op, std::exchange(handover, std::nullopt), worker, pool, stop);
    }
    Result<void> copy(const wye_copy_op& op) { return run_copy(op, stop); }
    Result<void> fill(const wye_fill_op& op) { return run_fill(op, stop); }
    Result<void> upload(const wye_transfer_op& op) { return run_upload(op, stop); }
    Result<void> download(const wye_transfer_op& op) { return run_download(op, stop); }
};

}  // namespace

Result<void> Batch::keep(const wye_operation& operation) {
    if (operation.kind < WYE_OPERATION_DISPATCH || operation.kind > WYE_OPERATION_DOWNLOAD)
        return sdk::errors::unknown_operation(kPlugin, operation.kind);
    wye_operation& kept = operations_.emplace_back(operation);
    if (kept.kind != WYE_OPERATION_DISPATCH) return {};
    wye_dispatch_op& op = kept.u.dispatch;
    const Program& program = program_of(op.program);
    op.bindings = bindings_.emplace_back(op.bindings, op.bindings + program.binding_count()).data();
    const auto* params = static_cast<const std::byte*>(op.params);
    if (params == nullptr) return {};
    op.params = params_.emplace_back(params, params + program.params_size()).data();
    return {};
}

Result<void> Batch::run(Worker& worker, Pool& pool, std::uint64_t value) {
    const Stop stop{&cancelled_, value};
    WYE_TRY(await(stop));
    start_ns_ = sdk::monotonic_ns();
    Runner runner(worker, pool, stop, handover_);
    for (const wye_operation& operation : operations_) {
        if (stop.requested()) return sdk::errors::cancelled(stop.value);
        WYE_TRY(runner.perform(operation));
    }
    return {};
}

void Batch::end(std::optional<Error> error, const sdk::WorkTimes& here) {
    error_ = std::move(error);
    times_ = here;
    if (start_ns_ != 0) {
        times_.end_ns = sdk::monotonic_ns();
        times_.spent_ns += times_.end_ns - start_ns_;
        if (times_.begin_ns == 0) times_.begin_ns = start_ns_;
    }
    {
        const sdk::Lock lock(mutex_);
        ended_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
}

bool Batch::wait_end(std::uint64_t timeout_ns) {
    constexpr std::uint64_t kCentury = 3'000'000'000'000'000'000;  // more would overflow the clock
    const bool limited = timeout_ns < kCentury;
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(limited ? timeout_ns : 0);
    sdk::WaitingLock lock(mutex_);
    while (!ended()) {
        if (!limited)
            lock.wait(changed_);
        else if (!lock.wait_until(changed_, end))
            return ended();
    }
    return true;
}

Result<void> Batch::await(const Stop& stop) const {
    constexpr std::uint64_t kLookUpNs = 50'000'000;
    for (const Wait& wait : waits_)
        for (;;) {
            const Result<void> waited = wait.timeline->wait(wait.value, kLookUpNs);
            if (waited.ok()) break;
            if (waited.error().code != Code::TIMEOUT) return waited.error();
            if (stop.requested()) return sdk::errors::cancelled(stop.value);
        }
    return {};
}

}  // namespace wye::cpu
