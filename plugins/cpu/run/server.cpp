// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/server.hpp"

#include <new>

#include "cpu/run/float_state.hpp"
#include "wye/sdk/blocked_signals.hpp"

namespace wye::cpu {
namespace {

// The error for an exception, none of which may leave the queue's thread. If memory is short, the
// texts are short enough to need no allocation.
Error unexpected(const std::exception& e) {
    if (dynamic_cast<const std::bad_alloc*>(&e) == nullptr) try {
            return {Code::INTERNAL, std::string("the CPU plugin failed: ") + e.what(),
                    "Fix: report this to the plugin's author"};
        } catch (const std::bad_alloc&) {
        }
    return {Code::OUT_OF_MEMORY, "out of memory", "Fix: add memory"};
}

}  // namespace

Server::~Server() {
    std::thread thread;
    {
        const sdk::Lock lock(mutex_);
        ending_ = true;
        thread = std::move(thread_);
    }
    changed_.notify_all();
    if (thread.joinable()) thread.join();
}

void Server::enqueue(std::uint64_t value, std::shared_ptr<Batch> batch,
                     const sdk::WorkTimes& here) {
    const Pending pending{value, std::move(batch), here};
    if (timeline_.running.stop(value).requested()) pending.batch->cancel(value);
    try {
        const sdk::Lock lock(mutex_);
        if (!thread_.joinable()) {
            const sdk::BlockedSignals blocked;
            thread_ = std::thread([this] { serve(); });
        }
        pending_.push_back(pending);
    } catch (const std::exception& e) {
        end(pending, unexpected(e));
    }
    changed_.notify_all();
}

void Server::serve() {
    const FloatState floats;
    for (;;) {
        Pending next;
        {
            sdk::WaitingLock lock(mutex_);
            while (!ending_ && pending_.empty()) lock.wait(changed_);
            if (pending_.empty()) return;
            next = std::move(pending_.front());
            pending_.pop_front();
        }
        run(next);
    }
}

void Server::run(const Pending& pending) {
    std::optional<Error> error;
    try {
        Result<void> done = pending.batch->run(worker, pool_, pending.value);
        if (!done.ok()) error = std::move(done).error();
    } catch (const std::exception& e) {
        error = unexpected(e);
    }
    end(pending, std::move(error));
}

void Server::end(const Pending& pending, std::optional<Error> error) {
    pending.batch->end(std::move(error), pending.here);
    timeline_.publish(pending.value);
}

}  // namespace wye::cpu
