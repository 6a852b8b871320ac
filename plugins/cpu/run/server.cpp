// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/server.hpp"

#include <new>
#include <utility>

#include "wye/sdk/blocked_signals.hpp"
#include "wye/sdk/float_state.hpp"

namespace wye::cpu {
namespace {

// The error for an exception. No exception may leave the queue's thread.
Error unexpected(const std::exception& e) noexcept {
    if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr)
        return sdk::errors::brief(Code::OUT_OF_MEMORY);
    return sdk::errors::made_or_brief(Code::OUT_OF_MEMORY, [&] {
        return Error(Code::INTERNAL, std::string("the CPU plugin failed: ") + e.what(),
                     "Fix: report this to the plugin's author");
    });
}

// The error of a batch whose thread could not be started.
Error no_thread(const std::exception& e) noexcept {
    return sdk::errors::made_or_brief(Code::OUT_OF_MEMORY, [&] {
        return Error(Code::OUT_OF_MEMORY,
                     std::string("the CPU plugin cannot start a queue's thread: ") + e.what(),
                     "Fix: end other threads, or raise the limit of threads (`ulimit -u`)");
    });
}

}  // namespace

void Server::stop() noexcept {
    if (!thread_.joinable()) return;
    {
        const sdk::Lock lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

Server::~Server() {
    for (Link* list : {idle_, ended_.take_all()})
        while (list != nullptr) delete static_cast<Batch*>(std::exchange(list, list->next));
}

std::unique_ptr<Batch> Server::batch() {
    if (idle_ == nullptr) idle_ = ended_.take_all();
    if (idle_ != nullptr)
        return std::unique_ptr<Batch>(static_cast<Batch*>(std::exchange(idle_, idle_->next)));
    auto out = std::make_unique<Batch>();
    made_.fetch_add(1, std::memory_order_relaxed);
    return out;
}

void Server::give_back(std::unique_ptr<Batch> batch) noexcept {
    batch->clear();
    batch->next = idle_;
    idle_ = batch.release();
}

void Server::enqueue(std::unique_ptr<Batch> batch) noexcept {
    Batch& added = *batch.release();
    if (timeline_.running.stop(added.value()).requested()) added.cancel();
    if (!thread_.joinable() && !start(added)) return;
    if (inbox_.put(added)) wake();
}

// Starts the thread. False: the thread could not be started, so the batch has failed.
bool Server::start(Batch& batch) noexcept {
    try {
        const sdk::BlockedSignals blocked;
        thread_ = std::thread([this] { serve(); });
        return true;
    } catch (const std::exception& e) {
        end(batch, no_thread(e));
        settle(batch, batch);
        return false;
    }
}

void Server::wake() {
    {
        const sdk::Lock lock(mutex_);
        woken_ = true;
    }
    changed_.notify_one();
}

// Waits until the thread is woken. Returns whether the server is being stopped.
bool Server::await_wake() {
    sdk::WaitingLock lock(mutex_);
    while (!woken_ && !ending_) lock.wait(changed_);
    woken_ = false;
    return ending_;
}

void Server::serve() {
    const sdk::FloatState floats;
    for (bool ending = false;;) {
        if (Link* const first = inbox_.take_all()) {
            run_all(static_cast<Batch*>(first));
        } else {
            if (ending) return;
            if (inbox_.fall_asleep()) ending = await_wake();
        }
    }
}

// Runs the batches of a list. Settles several small batches together, to lock the timeline less
// often, but settles all ended batches before it runs a batch that may take long.
void Server::run_all(Batch* next) noexcept {
    constexpr std::size_t kMost = 16;
    Batch* first = nullptr;  // the first ended batch that is not settled
    for (std::size_t count = 0; next != nullptr;) {
        Batch& batch = *next;
        next = static_cast<Batch*>(batch.next);
        if (first == nullptr) first = &batch;
        run(batch);
        ++count;
        if (next != nullptr && count < kMost && next->is_small()) continue;
        settle(*first, batch);
        first = nullptr;
        count = 0;
    }
}

void Server::run(Batch& batch) noexcept {
    std::optional<Error> error;
    try {
        Result<void> done = batch.run(worker, pool_);
        if (!done.ok()) error = std::move(done).error();
    } catch (const std::exception& e) {
        error = unexpected(e);
    }
    end(batch, std::move(error));
}

void Server::end(Batch& batch, std::optional<Error> error) noexcept {
    batch.end(std::move(error));
    timeline_.progress.end(batch.value());
}

// Settles the values of the ended batches in the list from `first` to `last`. Then nothing refers
// to these batches, and they are passed on for reuse.
void Server::settle(Batch& first, Batch& last) noexcept {
    timeline_.publish(last.value());
    Link* kept = nullptr;
    Link* newest = nullptr;
    const Link* const end = last.next;
    for (Link* link = &first; link != end;) {
        Batch& batch = static_cast<Batch&>(*std::exchange(link, link->next));
        if (made_.load(std::memory_order_relaxed) > kMostKept) {
            made_.fetch_sub(1, std::memory_order_relaxed);
            delete &batch;
            continue;
        }
        batch.clear();
        batch.next = kept;
        kept = &batch;
        if (newest == nullptr) newest = &batch;
    }
    if (kept != nullptr) ended_.put(*kept, *newest);
}

}  // namespace wye::cpu
