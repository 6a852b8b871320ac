// SPDX-License-Identifier: Apache-2.0
//
// PendingLaunch::submit_plain. It is inline to be one function with wye_graph_submit, together with
// the parts of Graph, QueuePool and PendingList that it uses.
#pragma once

#include "exec/prepared/pending_launch.hpp"

namespace wye::exec {

[[gnu::always_inline]] inline PendingLaunch* PendingLaunch::submit_plain(
    registry::Pin& pin, const wye_graph_run_desc& run, std::uint32_t number, const Instant& start,
    Result<void>& failed) {
    Graph& graph = pin.as<Graph>();
    DeviceSession& session = graph.session();
    QueuePool& queues = session.queues();
    PendingList& list = session.pending();
    if (!session.is_ready() || queues.is_traced()) [[unlikely]]
        return nullptr;
    PendingLaunch* out = nullptr;
    Graph::Plain work;
    {
        const sdk::Lock lock(queues.mutex);
        list.assert_held();
        out = static_cast<PendingLaunch*>(list.reserve());
        if (out == nullptr) [[unlikely]]
            return nullptr;
        work = graph.begin_plain(queues, run, number);
        if (work.instance == nullptr) [[unlikely]] {
            list.keep_back(*out);
            return nullptr;
        }
        Graph::refer(*work.steps);
        if (out->ticket_.queue.get() != work.native) [[unlikely]]
            out->ticket_.queue = queues.native(work.index);
    }
    out->begun_ = start;
    out->graph_ = &graph;
    out->steps_ = work.steps;
    out->pin_ = std::move(pin);
    out->timed_ = false;
    out->ticket_.index = work.index;
    out->ticket_.value = work.value;
    out->set_references(2);  // of the list and the handle
    try {
        if (!Graph::send_plain(work, failed)) [[unlikely]] {
            pin = out->fail_plain(work);
            failed = session.noted_plain(std::move(failed));
            return nullptr;
        }
    } catch (...) {
        pin = out->fail_plain(work);
        throw;
    }
    out->queued_.read();
    const sdk::Lock lock(queues.mutex);
    list.assert_held();
    session.counters().sent();
    Graph::end_plain(queues, work);
    list.append(*out);
    return out;
}

}  // namespace wye::exec
