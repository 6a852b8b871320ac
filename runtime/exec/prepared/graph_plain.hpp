// SPDX-License-Identifier: Apache-2.0
//
// Graph::run_plain. It is inline to be one function with wye_graph_run.
#pragma once

#include <memory>

#include "exec/prepared/graph.hpp"

namespace wye::exec {

// Whether the value was reached. False also if it failed: waiting for it gives the error.
[[nodiscard]] inline bool has_reached(const registry::NativeQueue& queue, std::uint64_t value) {
    const Result<bool> reached = queue.reached(value);
    return reached.ok() && *reached;
}

[[gnu::always_inline]] inline bool Graph::run_plain(const wye_graph_run_desc& run,
                                                    std::uint32_t number, const Instant& start,
                                                    wye_report* report, Result<void>& failed) {
    DeviceSession& session = session_;
    QueuePool& queues = session.queues();
    if (!session.is_ready() || queues.is_traced()) [[unlikely]]
        return false;
    Plain work;
    std::shared_ptr<const registry::NativeQueue> queue;  // a loss may replace it in the pool
    {
        const sdk::Lock lock(queues.mutex);
        work = begin_plain(queues, run, number);
        if (work.instance == nullptr) [[unlikely]]
            return false;
        queue = queues.native(work.index);
    }
    const auto fail = [&] {
        const sdk::Lock lock(queues.mutex);
        fail_plain(queues, work);
    };
    try {
        if (!send_plain(work, failed)) [[unlikely]] {
            fail();
            failed = session.noted_plain(std::move(failed));
            return false;
        }
    } catch (...) {
        fail();
        throw;
    }
    Counters& counters = session.counters();
    const bool timed = report != nullptr;
    // If the work has mostly ended by now, asks before it reads the clock: then one reading gives
    // both times.
    const bool asks = timed && ends_at_once_.load(std::memory_order_relaxed);
    Instant queued, ended;
    if (timed && !asks) queued.read();
    wye_report about;
    {
        const sdk::Lock lock(queues.mutex);
        about = report_of(*work.steps);
        end_plain(queues, work);
        counters.ran();
    }
    const bool has_ended = asks && has_reached(*queue, work.value);
    Result<void> waited;
    if (asks) queued.read();
    if (has_ended) {
        ended = queued;
    } else {
        waited = queue->wait(work.value);
        if (timed) {
            ended.read();
            ends_at_once_.store(queued.until(ended) < kAtOnceNs, std::memory_order_relaxed);
        }
    }
    queues.ended({nullptr, work.index, work.value});
    if (!waited.ok()) [[unlikely]] {
        counters.repeat_failed(true);
        RunTimes unread;
        unread.wanted = false;
        failed = session.ended(std::move(waited), {std::move(queue), work.index, work.value}, false,
                               unread);
        return false;
    }
    counters.moved(about);
    if (!timed) return true;
    about.header = report->header;
    about.enqueue_ns = start.until(queued);
    about.wait_ns = queued.until(ended);
    about.wall_ns = about.enqueue_ns + about.wait_ns;
    about.device_ns = WYE_TIME_UNKNOWN;
    *report = about;
    return true;
}

}  // namespace wye::exec
