// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/batch.hpp"

#include <cstring>

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

void Batch::Release::operator()(Timeline* timeline) const noexcept { timeline->release(); }

void Batch::wait_for(Timeline& timeline, std::uint64_t value, bool order_only) {
    timeline.keep();
    waits_.push_back({std::unique_ptr<Timeline, Release>(&timeline), value, order_only});
}

template <typename T>
const T* Batch::copy_of(const T* from, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes == 0) return from;
    return static_cast<const T*>(
        std::memcpy(memory_.allocate(bytes, alignof(std::uint64_t)), from, bytes));
}

Result<void> Batch::keep(const wye_operation& operation) {
    if (operation.kind < WYE_OPERATION_DISPATCH || operation.kind > WYE_OPERATION_DOWNLOAD)
        return sdk::errors::unknown_operation(kPlugin, operation.kind);
    wye_operation& kept = operations_.emplace_back(operation);
    kept.next = nullptr;
    if (kept.kind != WYE_OPERATION_DISPATCH) return {};
    wye_dispatch_op& op = kept.u.dispatch;
    const Program& program = program_of(op.program);
    op.bindings = copy_of(op.bindings, program.binding_count());
    if (op.params != nullptr)
        op.params = copy_of(static_cast<const std::byte*>(op.params), program.params_size());
    return {};
}

Result<void> Batch::run(Worker& worker, Pool& pool) {
    const Stop stop{&cancelled_, value_};
    WYE_TRY(await(stop));
    if (timed_) start_ns_ = sdk::monotonic_ns();
    Runner runner(worker, pool, stop, handover_);
    for (const wye_operation& operation : operations_) {
        if (stop.requested()) return sdk::errors::cancelled();
        WYE_TRY(runner.perform(operation));
    }
    return {};
}

void Batch::end(std::optional<Error> error) noexcept {
    error_ = std::move(error);
    if (start_ns_ == 0) return;
    times_.end_ns = sdk::monotonic_ns();
    times_.spent_ns += times_.end_ns - start_ns_;
    if (times_.begin_ns == 0) times_.begin_ns = start_ns_;
}

void Batch::clear() noexcept {
    waits_.clear();
    if (operations_.capacity() <= kKeptOperations)
        operations_.clear();
    else
        operations_ = {};
    memory_.release();
    handover_.reset();
    cancelled_.store(0, std::memory_order_relaxed);
    error_.reset();
    start_ns_ = 0;
}

Result<void> Batch::await(const Stop& stop) const {
    constexpr std::uint64_t kLookUpNs = 50'000'000;
    for (const Wait& wait : waits_)
        for (;;) {
            Result<void> waited = wait.timeline->wait(wait.value, kLookUpNs);
            if (waited.ok()) break;
            // Any error but TIMEOUT is the value's failure, even if `has_failed` returns false: the
            // host may have retired the value meanwhile, and a retired value counts as reached.
            const Code code = waited.error().code;
            if (code != Code::TIMEOUT || wait.timeline->has_failed(wait.value)) {
                if (wait.order_only && code != Code::DEVICE_LOST) break;
                return waited;
            }
            if (stop.requested()) return sdk::errors::cancelled();
        }
    return {};
}

}  // namespace wye::cpu
