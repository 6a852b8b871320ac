// SPDX-License-Identifier: Apache-2.0
#include "cpu/queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>

#include "cpu/run/float_state.hpp"

namespace wye::cpu {
namespace {

// Below these a job runs on the caller: waking a thread and moving its data costs more.
constexpr std::uint64_t kSmallWork = 20000;     // in units of Routine::weight, for 64 lanes each
constexpr std::uint64_t kPatienceNs = 100'000;  // then the caller gets its thread back
constexpr std::uint64_t kSmallBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kSlice = std::uint64_t{16} << 20;  // moved between two looks at a stop

using Clock = std::chrono::steady_clock;

std::uint64_t since(Clock::time_point start) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

const Queue& queue_of(const wye_event& event) {
    return *reinterpret_cast<const Queue*>(event.queue);
}

Error cancelled_error(std::uint64_t value) {
    return {wye::Code::CANCELLED, "event " + std::to_string(value) + " was cancelled",
            "Fix: submit the work again, with more time if it was a timeout"};
}

Error no_registers() {
    return {wye::Code::OUT_OF_MEMORY, "no memory for the registers of a dispatch",
            "Fix: free memory or use a smaller workgroup"};
}

// Calls `move(offset, size)` for the slices of [0, size), in order or from the end. False: it was
// told to stop, and the rest is not moved. A slice takes some milliseconds at most.
template <typename Move>
bool sliced(std::uint64_t size, const Stop& stop, bool from_the_end, Move&& move) {
    for (std::uint64_t done = 0; done < size;) {
        if (stop.requested()) return false;
        const std::uint64_t now = std::min(size - done, kSlice);
        move(from_the_end ? size - done - now : done, now);
        done += now;
    }
    return true;
}

bool fill(const wye_fill_op& op, const Stop& stop) {
    std::byte* target = reinterpret_cast<Buffer*>(op.target)->data() + op.offset;
    std::byte pattern[8];
    std::memcpy(pattern, &op.pattern, sizeof pattern);
    const std::uint32_t bytes = std::clamp<std::uint32_t>(op.pattern_size, 1, 8);
    const bool same =
        std::all_of(pattern, pattern + bytes, [&](std::byte b) { return b == pattern[0]; });
    return sliced(op.size, stop, false, [&](std::uint64_t offset, std::uint64_t size) {
        std::byte* const at = target + offset;
        if (same) {
            std::memset(at, static_cast<int>(pattern[0]), size);
            return;
        }
        // One pattern, then copies of what is there, twice as long each time. Patterns do not cross
        // slices: their sizes divide a slice's.
        std::uint64_t done = std::min<std::uint64_t>(bytes, size);
        std::memcpy(at, pattern, done);
        while (done < size) {
            const std::uint64_t more = std::min(done, size - done);
            std::memcpy(at + done, at, more);
            done += more;
        }
    });
}

// `target` and `source` may overlap.
bool move_bytes(std::byte* target, const std::byte* source, std::uint64_t size, const Stop& stop) {
    const bool backwards = std::less<const std::byte*>()(source, target);
    return sliced(size, stop, backwards, [&](std::uint64_t offset, std::uint64_t now) {
        std::memmove(target + offset, source + offset, now);
    });
}

std::uint64_t bytes_of(const wye_operation& operation) {
    switch (operation.kind) {
        case WYE_OPERATION_COPY:
            return operation.u.copy.size;
        case WYE_OPERATION_FILL:
            return operation.u.fill.size;
        case WYE_OPERATION_UPLOAD:
        case WYE_OPERATION_DOWNLOAD:
            return operation.u.transfer.size;
        default:
            return 0;
    }
}

}  // namespace

Queue::~Queue() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool Queue::idle() const { return completed_.load(std::memory_order_acquire) == submitted_; }

bool Queue::all_reached(const wye_event* waits, std::uint64_t count) const {
    return std::all_of(waits, waits + count, [](const wye_event& event) {
        return event.queue == nullptr || queue_of(event).poll(event.value) != Answer::NotYet;
    });
}

bool Queue::small(const wye_operation* operations, std::uint64_t count) {
    std::uint64_t bytes = 0;
    for (std::uint64_t n = 0; n < count; ++n) {
        bytes += bytes_of(operations[n]);
        if (operations[n].kind != WYE_OPERATION_DISPATCH) continue;
        const wye_dispatch_op& op = operations[n].u.dispatch;
        const auto& size = reinterpret_cast<const Program*>(op.program)->workgroup();
        double lanes = 1;
        for (unsigned axis = 0; axis < 3; ++axis)
            lanes *= static_cast<double>(op.groups[axis]) * size[axis];
        const double weight =
            static_cast<double>(reinterpret_cast<const Program*>(op.program)->weight());
        if (lanes / kTile * weight > static_cast<double>(kSmallWork)) return false;
    }
    return bytes <= kSmallBytes;
}

Result<std::uint64_t> Queue::submit(const wye_operation* operations, std::uint64_t count,
                                    const wye_event* waits, std::uint64_t wait_count) {
    const std::uint64_t value = submitted_ + 1;
    for (std::uint64_t n = 0; n < count; ++n) {
        const wye_operation& operation = operations[n];
        if (operation.kind < WYE_OPERATION_DISPATCH || operation.kind > WYE_OPERATION_DOWNLOAD)
            return Error(
                wye::Code::UNSUPPORTED,
                "the cpu plugin has no operation of kind " + std::to_string(operation.kind),
                "Fix: submit dispatches, copies, fills and transfers");
    }
    if (idle() && all_reached(waits, wait_count) && small(operations, count)) {
        const auto failed = std::find_if(waits, waits + wait_count, [](const wye_event& event) {
            return event.queue != nullptr && queue_of(event).poll(event.value) == Answer::Failed;
        });
        submitted_ = value;
        if (failed != waits + wait_count) {
            end(value, queue_of(*failed).failure(failed->value), 0);
        } else {
            run_here(operations, count, value);
        }
        return value;
    }
    auto batch = copy(operations, count, waits, wait_count);
    batch->value = value;
    enqueue(std::move(batch));
    submitted_ = value;
    return value;
}

std::unique_ptr<Queue::Batch> Queue::copy(const wye_operation* operations, std::uint64_t count,
                                          const wye_event* waits, std::uint64_t wait_count) {
    auto batch = std::make_unique<Batch>();
    batch->operations.assign(operations, operations + count);
    batch->waits.assign(waits, waits + wait_count);
    for (wye_operation& operation : batch->operations) {
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& op = operation.u.dispatch;
        const auto* program = reinterpret_cast<const Program*>(op.program);
        auto& bindings = batch->bindings.emplace_back();
        bindings.assign(op.bindings, op.bindings + program->binding_count());
        op.bindings = bindings.data();
        const auto* params = static_cast<const std::byte*>(op.params);
        auto& block = batch->params.emplace_back();
        if (params != nullptr) block.assign(params, params + program->params_size());
        op.params = block.data();
    }
    return batch;
}

bool Queue::transfer(const wye_operation& operation, std::uint64_t value) const {
    const auto data = [](wye_buffer_object* buffer) {
        return reinterpret_cast<Buffer*>(buffer)->data();
    };
    const Stop stop{&cancelled_, value};
    switch (operation.kind) {
        case WYE_OPERATION_COPY: {
            const wye_copy_op& op = operation.u.copy;
            return move_bytes(data(op.target) + op.target_offset,
                              data(op.source) + op.source_offset, op.size, stop);
        }
        case WYE_OPERATION_FILL:
            return fill(operation.u.fill, stop);
        case WYE_OPERATION_UPLOAD: {
            const wye_transfer_op& op = operation.u.transfer;
            return move_bytes(data(op.buffer) + op.offset, static_cast<const std::byte*>(op.source),
                              op.size, stop);
        }
        case WYE_OPERATION_DOWNLOAD: {
            const wye_transfer_op& op = operation.u.transfer;
            return move_bytes(static_cast<std::byte*>(op.target), data(op.buffer) + op.offset,
                              op.size, stop);
        }
        default:
            return true;
    }
}

// On the caller. What turns out to be long goes on where it stopped, on the queue's thread.
void Queue::run_here(const wye_operation* operations, std::uint64_t count, std::uint64_t value) {
    if (poisoned_.load(std::memory_order_acquire) != kNever) return end(value, std::nullopt, 0);
    const FloatState floats;
    const auto start = Clock::now();
    for (std::uint64_t n = 0; n < count; ++n) {
        if (operations[n].kind != WYE_OPERATION_DISPATCH) {
            if (!transfer(operations[n], value))
                return end(value, cancelled_error(value), since(start));
            continue;
        }
        auto paused = try_dispatch(operations[n].u.dispatch, value);
        if (!paused.ok()) return end(value, std::move(paused).error(), since(start));
        if (!paused.value()) continue;
        try {
            auto batch = copy(operations + n, count - n, nullptr, 0);
            batch->value = value;
            batch->handover = paused.value();
            batch->spent_ns = since(start);
            enqueue(std::move(batch));
        } catch (const std::exception&) {
            end(value,
                Error(wye::Code::OUT_OF_MEMORY, "a long dispatch could not be handed over",
                      "Fix: free memory or threads"),
                since(start));
        }
        return;
    }
    end(value, std::nullopt, since(start));
}

// Where it stopped, if it did not come to its end.
Result<std::optional<Queue::Handover>> Queue::try_dispatch(const wye_dispatch_op& op,
                                                           std::uint64_t value) {
    using Stopped = std::optional<Handover>;
    WYE_ASSIGN(Launch launch, make_launch(op));
    launch.stop = {&cancelled_, value};
    try {
        worker_.prepare(launch);
    } catch (const std::bad_alloc&) {
        return no_registers();
    }
    const auto start = Clock::now();
    for (std::uint64_t block = 0; block < launch.blocks; ++block) {
        const Worker::State state = worker_.block(launch, block, false);
        if (state == Worker::State::Paused) return Stopped({block, true});
        if (state == Worker::State::Stopped) {
            worker_.finish(launch);
            return cancelled_error(value);
        }
        const bool last = block + 1 == launch.blocks;
        if (!last && since(start) > kPatienceNs) {
            worker_.finish(launch);
            return Stopped({block + 1, false});
        }
    }
    worker_.finish(launch);
    return Stopped();
}

Result<void> Queue::dispatch(const wye_dispatch_op& op, std::uint64_t value,
                             const std::optional<Handover>& handover) {
    WYE_ASSIGN(Launch launch, make_launch(op));
    launch.stop = {&cancelled_, value};
    std::uint64_t first = handover ? handover->block : 0;
    if (handover && handover->within) {
        // The worker's frame refers to nothing of the old launch.
        if (worker_.resume(launch, true) == Worker::State::Stopped) return cancelled_error(value);
        worker_.finish(launch);
        ++first;
    }
    try {
        if (!device_.plugin->pool->run(launch, first, worker_)) return cancelled_error(value);
    } catch (const std::bad_alloc&) {
        return no_registers();
    }
    return {};
}

Result<void> Queue::run_batch(Batch& batch) {
    for (const wye_event& event : batch.waits) {
        if (event.queue == nullptr) continue;
        auto& other = *reinterpret_cast<Queue*>(event.queue);
        Answer answer = Answer::NotYet;
        while (answer == Answer::NotYet) {
            constexpr std::uint64_t look_up_ns = 50'000'000;
            answer = other.wait(event.value, look_up_ns);
            if (answer == Answer::NotYet && cancelled_.load() >= batch.value)
                return cancelled_error(batch.value);
        }
        if (answer == Answer::Failed) return other.failure(event.value);
    }
    bool first = true;
    for (const wye_operation& operation : batch.operations) {
        if (cancelled_.load(std::memory_order_relaxed) >= batch.value)
            return cancelled_error(batch.value);
        if (operation.kind == WYE_OPERATION_DISPATCH) {
            WYE_TRY(
                dispatch(operation.u.dispatch, batch.value, first ? batch.handover : std::nullopt));
        } else {
            if (!transfer(operation, batch.value)) return cancelled_error(batch.value);
        }
        first = false;
    }
    return {};
}

void Queue::enqueue(std::unique_ptr<Batch> batch) {
    {
        const std::lock_guard lock(mutex_);
        if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
        pending_.push_back(std::move(batch));
    }
    changed_.notify_all();
}

namespace {

// Nothing may leave the thread that serves a queue: without memory the texts are so short that they
// need none.
Error unexpected(const std::exception& e) {
    if (dynamic_cast<const std::bad_alloc*>(&e) == nullptr) try {
            return {wye::Code::INTERNAL, std::string("the cpu plugin failed: ") + e.what(),
                    "Fix: report this to the plugin's author"};
        } catch (const std::bad_alloc&) {
        }
    return {wye::Code::OUT_OF_MEMORY, "out of memory", "Fix: add memory"};
}

}  // namespace

void Queue::serve() {
    const FloatState floats;
    for (;;) {
        std::unique_ptr<Batch> batch;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return ending_ || !pending_.empty(); });
            if (pending_.empty()) return;
            batch = std::move(pending_.front());
            pending_.pop_front();
        }
        if (poisoned_.load(std::memory_order_acquire) != kNever) {
            end(batch->value, std::nullopt, 0);
            continue;
        }
        const auto start = Clock::now();
        std::optional<Error> error;
        try {
            Result<void> result = run_batch(*batch);
            if (!result.ok()) error = std::move(result).error();
        } catch (const std::exception& e) {
            error = unexpected(e);
        }
        end(batch->value, std::move(error), batch->spent_ns + since(start));
    }
}

void Queue::end(std::uint64_t value, std::optional<Error> error, std::uint64_t spent_ns) {
    {
        const std::lock_guard lock(mutex_);
        times_[value % kTimes] = {value, spent_ns};
        if (error && !error_) {
            error_ = std::move(error);
            poisoned_.store(value, std::memory_order_release);
        }
        completed_.store(value, std::memory_order_release);
    }
    changed_.notify_all();
}

Queue::Answer Queue::poll(std::uint64_t value) const {
    if (value == 0) return Answer::Reached;
    if (completed_.load(std::memory_order_acquire) < value) return Answer::NotYet;
    return poisoned_.load(std::memory_order_acquire) <= value ? Answer::Failed : Answer::Reached;
}

Queue::Answer Queue::wait(std::uint64_t value, std::uint64_t timeout_ns) {
    const Answer now = poll(value);
    if (now != Answer::NotYet || timeout_ns == 0) return now;
    std::unique_lock lock(mutex_);
    const auto reached = [&] { return poll(value) != Answer::NotYet; };
    constexpr std::uint64_t a_century = 3'000'000'000'000'000'000;  // more would overflow the clock
    if (timeout_ns >= a_century) {
        changed_.wait(lock, reached);
    } else {
        changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), reached);
    }
    return poll(value);
}

Error Queue::failure(std::uint64_t value) const {
    const std::lock_guard lock(mutex_);
    if (error_) return *error_;
    return {wye::Code::INTERNAL, "event " + std::to_string(value) + " did not fail",
            "Fix: report this to the plugin's author"};
}

void Queue::cancel(std::uint64_t value) {
    std::uint64_t known = cancelled_.load(std::memory_order_relaxed);
    while (known < value &&
           !cancelled_.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
}

std::optional<std::uint64_t> Queue::device_ns(std::uint64_t value) const {
    const std::lock_guard lock(mutex_);
    const Time& time = times_[value % kTimes];
    if (time.value != value) return std::nullopt;
    return time.ns;
}

}  // namespace wye::cpu
