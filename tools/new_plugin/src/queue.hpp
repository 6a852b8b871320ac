// SPDX-License-Identifier: Apache-2.0
//
// A queue, and its timeline. A thread simulates the hardware: it takes submits one after the other,
// and runs their operations. For a real device, `submit` passes the operations to the driver's
// queue, and the timeline asks the driver's fences or events.
#pragma once

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "host.hpp"

namespace driver {

// An operation, with copies of everything that it needs, since the host's data is valid during the
// call only.
using Operation = std::function<void()>;

// Guards the values of all queues of a device, so that one call can wait for several queues.
struct Progress {
    std::mutex mutex;
    std::condition_variable changed;
};

class Timeline;

struct Wait {
    std::shared_ptr<const Timeline> timeline;
    std::uint64_t value;
    bool order_only;  // the wait also ends if the value fails
};

struct Submit {
    std::uint64_t value;
    std::vector<Wait> waits;
    std::vector<Operation> operations;
};

// The submits of a queue, and their values. A submit of another queue that waits for a value shares
// ownership of the timeline, since this queue may be destroyed before that submit begins. The
// caller must hold the lock of Progress.
class Timeline : public std::enable_shared_from_this<Timeline> {
  public:
    // Whether the value was reached. Throws the failure of a value that failed. A value that no
    // submit had is reached together with the value below it.
    [[nodiscard]] bool reached(std::uint64_t value) const {
        if (const auto failed = failed_.find(value); failed != failed_.end()) throw failed->second;
        return ended(value);
    }
    // Whether the value was reached or has failed.
    [[nodiscard]] bool ended(std::uint64_t value) const {
        return value <= (pending_.empty() ? newest_ : pending_.front().value - 1);
    }
    void add(Submit submit) {
        const std::uint64_t value = submit.value;
        pending_.push_back(std::move(submit));
        newest_ = value;
    }
    [[nodiscard]] bool empty() const { return pending_.empty(); }
    // The submit that runs. The reference stays valid while other submits are added.
    [[nodiscard]] Submit& first() { return pending_.front(); }
    void fail(const Failure& failure) { failed_.emplace(first().value, failure); }
    void end() { pending_.pop_front(); }
    // Forgets the failure of a value.
    void retire(std::uint64_t value) { failed_.erase(value); }

  private:
    std::deque<Submit> pending_;
    std::uint64_t newest_ = 0;  // the value of the newest submit
    std::map<std::uint64_t, Failure> failed_;
};

inline Timeline& timeline_of(wye_timeline_object* object) {
    return *reinterpret_cast<Timeline*>(object);
}

inline std::vector<Wait> waits_of(std::span<const wye_event> events) {
    std::vector<Wait> out;
    for (const wye_event& event : events)
        if (event.timeline != nullptr)
            out.push_back({timeline_of(event.timeline).shared_from_this(), event.value,
                           (event.flags & WYE_EVENT_ORDER_ONLY) != 0});
    return out;
}

class Queue {
  public:
    explicit Queue(Progress& progress) : progress_(progress), thread_([this] { run(); }) {}
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    // Waits for the end of everything that was submitted.
    ~Queue() {
        {
            const std::lock_guard lock(progress_.mutex);
            closing_ = true;
        }
        progress_.changed.notify_all();
        thread_.join();
    }
    [[nodiscard]] Timeline& timeline() { return *timeline_; }

    void submit(Submit submit) {
        {
            const std::lock_guard lock(progress_.mutex);
            timeline_->add(std::move(submit));
        }
        progress_.changed.notify_all();
    }

  private:
    void run() {
        // Blocks all signals, and uses the default floating-point mode: the signals and the mode of
        // the application do not concern this thread.
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        std::fesetenv(FE_DFL_ENV);

        std::unique_lock lock(progress_.mutex);
        while (true) {
            progress_.changed.wait(lock, [&] { return closing_ || !timeline_->empty(); });
            if (timeline_->empty()) return;
            Submit& submit = timeline_->first();
            try {
                progress_.changed.wait(lock, [&] { return all_reached(submit.waits); });
                lock.unlock();
                for (const Operation& operation : submit.operations) operation();
                lock.lock();
            } catch (const Failure& failure) {
                if (!lock.owns_lock()) lock.lock();
                timeline_->fail(failure);
            } catch (const std::bad_alloc&) {
                if (!lock.owns_lock()) lock.lock();
                timeline_->fail(Failure{WYE_OUT_OF_MEMORY, {}, {}, {}});
            }
            timeline_->end();
            progress_.changed.notify_all();
        }
    }

    static bool all_reached(std::span<const Wait> waits) {
        return std::all_of(waits.begin(), waits.end(), [](const Wait& wait) {
            return wait.order_only ? wait.timeline->ended(wait.value)
                                   : wait.timeline->reached(wait.value);
        });
    }

    Progress& progress_;
    // Guarded by progress_.mutex:
    const std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
    bool closing_ = false;

    std::thread thread_;  // the last member, since the thread uses the other members
};

inline Queue& queue_of(wye_queue_object* object) { return *reinterpret_cast<Queue*>(object); }

// Waits for all events, or for one event if `any`. Throws the failure of an event that failed. Sets
// `index` to the number of the failed event, or if `any` of the reached event, or else to the
// number of events.
inline void wait(Progress& progress, std::span<const wye_event> events, bool any,
                 std::uint64_t timeout_ns, std::uint64_t& index) {
    using std::chrono::nanoseconds;
    constexpr std::uint64_t kYear = std::uint64_t{365} * 24 * 3600 * 1'000'000'000;
    const auto until = std::chrono::steady_clock::now() +
                       nanoseconds(static_cast<std::int64_t>(std::min(timeout_ns, kYear)));
    const auto done = [&] {
        std::size_t count = 0;
        for (index = 0; index < events.size(); ++index) {  // `reached` throws for a failed event
            if (!timeline_of(events[index].timeline).reached(events[index].value)) continue;
            if (any) return true;
            ++count;
        }
        return count == events.size();
    };
    std::unique_lock lock(progress.mutex);
    if (timeout_ns == UINT64_MAX)
        progress.changed.wait(lock, done);
    else if (!progress.changed.wait_until(lock, until, done))
        throw Failure{WYE_TIMEOUT,
                      "the events were not reached within " + std::to_string(timeout_ns) + " ns",
                      "Fix: allow more time, or give the device less work",
                      {}};
}

}  // namespace driver
