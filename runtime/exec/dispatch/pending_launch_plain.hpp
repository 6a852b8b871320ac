// SPDX-License-Identifier: Apache-2.0
//
// PendingLaunch::submit_plain. It is inline to be one function with wye_graph_submit, together with
// the parts of Graph, QueuePool and PendingList that it uses.
#pragma once

#include "exec/dispatch/pending_launch.hpp"

namespace wye::exec {

[[gnu::always_inline]] inline PendingLaunch* PendingLaunch::submit_plain(
    registry::Pin& pin, const wye_graph_run_desc& run, const Instant& start, Result<void>& failed) {
    Graph& graph = pin.as<Graph>();
    DeviceSession& session = graph.session();
    QueuePool& queues = session.queues();
    PendingList& list = session.pending();
    if ((run.flags & WYE_DISPATCH_TIMED) != 0 || run.queue != 0 || !session.is_ready() ||
        queues.is_traced()) [[unlikely]]
        return nullptr;
    PendingLaunch* out = nullptr;
    Graph::Plain work;
    registry::NativeQueue* native = nullptr;
    std::uint64_t value = 0;
    {
        const sdk::Lock lock(queues.mutex);
        list.assert_held();
        out = static_cast<PendingLaunch*>(list.reserve());
        if (out == nullptr) [[unlikely]]
            return nullptr;
        work = graph.choose(queues, run);
        if (work.instance == nullptr) [[unlikely]] {
            list.keep_back(*out);
            return nullptr;
        }
        value = queues.begin_first(work.uses());
        native = queues.first().get();
        out->ticket_.queue = queues.first();
    }
    try {
        failed = Graph::send_plain(work, *native);
    } catch (...) {
        out->fail_plain(work, value);
        throw;
    }
    if (!failed.ok()) [[unlikely]] {
        out->fail_plain(work, value);
        failed = session.noted(std::move(failed).error());
        return nullptr;
    }
    out->queued_.read();
    out->begun_ = start;
    out->graph_ = &graph;
    out->steps_ = work.steps;
    out->pin_ = std::move(pin);
    out->timed_ = false;
    out->ticket_.index = 0;
    out->ticket_.value = value;
    out->set_references(2);  // of the list and the handle
    out->submitted_.store(true, std::memory_order_relaxed);  // no other thread knows it yet
    session.counters().submitted();
    const sdk::Lock lock(queues.mutex);
    list.assert_held();
    queues.end_first();
    Graph::finish_plain(work, value);
    list.append(*out);
    return out;
}

}  // namespace wye::exec
