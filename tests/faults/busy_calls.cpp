// SPDX-License-Identifier: Apache-2.0
#include "faults/busy_calls.hpp"

namespace faults {
namespace {

constexpr std::uint64_t kMinute = 60'000'000'000;

wye_status keep(World& w, wye_status status, const wye_pending& made) {
    if (status == WYE_OK) w.mine.push_back(made);
    return status;
}

wye_status dispatch(World& w, wye_error** error, wye_queue queue = 0) {
    const wye_argument argument = World::resident(w.target);
    wye_dispatch_desc desc = w.add(argument);
    desc.queue = queue;
    return wye_dispatch(w.context, &desc, nullptr, error);
}

wye_status submit(World& w, wye_error** error, wye_queue queue = 0, wye_pipeline pipeline = 0,
                  bool cold = false) {
    const wye_argument argument = World::resident(w.target);
    wye_dispatch_desc desc = w.add(argument, cold ? w.cold : w.program);
    desc.queue = queue;
    if (pipeline != 0) {
        desc.program = desc.device = 0;
        desc.pipeline = pipeline;
    }
    wye_pending out = 0;
    return keep(w, wye_dispatch_submit(w.context, &desc, &out, error), out);
}

// A dispatch with input and output in host memory. `owned`: the library owns the output.
wye_dispatch_desc from_host(World& w, wye_argument& argument, bool owned) {
    argument = {};
    argument.kind = WYE_ARGUMENT_HOST;
    argument.input = {w.host.data(), w.host.size() * 4};
    if (!owned) {
        argument.output = w.host.data();
        argument.output_size = w.host.size() * 4;
    }
    return w.add(argument);
}

wye_transfer_desc transfer(World& w, std::uint32_t kind) {
    wye_transfer_desc out;
    WYE_INIT(out);
    out.kind = kind;
    out.buffer = kind == WYE_TRANSFER_DOWNLOAD ? w.ones : w.target;
    out.size = w.host.size() * 4;
    if (kind == WYE_TRANSFER_UPLOAD) out.source = w.host.data();
    if (kind == WYE_TRANSFER_COPY) out.source_buffer = w.ones;
    if (kind != WYE_TRANSFER_FILL) return out;
    out.pattern = 1;
    out.pattern_size = 4;
    return out;
}

template <std::uint32_t kKind>
wye_status transfer_now(World& w, wye_error** error) {
    wye_transfer_desc desc = transfer(w, kKind);
    if (kKind == WYE_TRANSFER_DOWNLOAD) desc.target = w.host.data();
    return wye_buffer_transfer(w.context, &desc, nullptr, error);
}

template <std::uint32_t kKind>
wye_status transfer_later(World& w, wye_error** error) {
    const wye_transfer_desc desc = transfer(w, kKind);
    wye_pending out = 0;
    return keep(w, wye_buffer_transfer_submit(w.context, &desc, &out, error), out);
}

// A graph: an addition, a copy of the target, another addition.
wye_status make_graph(World& w, wye_error** error) {
    const wye_argument argument = World::resident(w.target);
    const wye_dispatch_desc add = w.add(argument);
    wye_transfer_desc copy = transfer(w, WYE_TRANSFER_COPY);
    copy.source_buffer = w.target;
    copy.buffer = w.made;
    const wye_graph_step steps[] = {{&add, nullptr}, {nullptr, &copy}, {&add, nullptr}};
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = w.device;
    desc.steps = steps;
    desc.step_count = 3;
    return wye_graph_create(w.context, &desc, &w.graph, error);
}
bool has_graph(World& w) {
    w.made = w.buffer();
    return w.made != 0 && w.calls.ok("wye_graph_create", make_graph(w, w.calls.sink()));
}
bool has_run_graph(World& w) {
    wye_graph_run_desc run;
    WYE_INIT(run);
    return has_graph(w) && w.calls.ok("wye_graph_run", wye_graph_run(w.context, w.graph, &run,
                                                                     nullptr, w.calls.sink()));
}
wye_status submit_graph(World& w, wye_error** error, wye_queue queue = 0) {
    wye_graph_run_desc run;
    WYE_INIT(run);
    run.queue = queue;
    wye_pending out = 0;
    return keep(w, wye_graph_submit(w.context, w.graph, &run, &out, error), out);
}

wye_status make_pipeline(World& w, wye_error** error) {
    wye_pipeline_desc desc;
    WYE_INIT(desc);
    desc.program = w.program;
    desc.device = w.device;
    return wye_pipeline_create(w.context, &desc, &w.pipeline, error);
}
bool has_pipeline(World& w) {
    return w.calls.ok("wye_pipeline_create", make_pipeline(w, w.calls.sink()));
}

bool has_dispatched(World& w) {
    return w.calls.ok("wye_dispatch", dispatch(w, w.calls.sink())) &&
           w.calls.ok("wye_dispatch", dispatch(w, w.calls.sink()));
}
bool has_submitted(World& w) {
    return w.calls.ok("wye_dispatch_submit", submit(w, w.calls.sink()));
}
bool has_submitted_aside(World& w) {
    return w.calls.ok("wye_dispatch_submit", submit(w, w.calls.sink(), w.side));
}
bool has_rounds(World& w) { return w.begin_rounds(); }
bool has_submitted_behind(World& w) { return w.begin_rounds() && has_submitted(w); }
bool has_output(World& w) {
    wye_argument argument;
    const wye_dispatch_desc desc = from_host(w, argument, true);
    wye_pending out = 0;
    return w.calls.ok("wye_dispatch_submit",
                      keep(w, wye_dispatch_submit(w.context, &desc, &out, w.calls.sink()), out));
}
bool has_mapped(World& w) {
    wye_buffer_mapping mapping;
    WYE_INIT(mapping);
    w.made = w.buffer(WYE_BUFFER_USAGE_SHARED);
    return w.made != 0 && w.calls.ok("wye_buffer_map",
                                     wye_buffer_map(w.context, w.made, &mapping, w.calls.sink()));
}
bool has_made(World& w) {
    w.made = w.buffer(WYE_BUFFER_USAGE_SHARED);
    return w.made != 0;
}

void notify(void* user, wye_status) { static_cast<World*>(user)->notified.fetch_add(1); }

wye_status batch(World& w, wye_error** error, wye_pending* owners) {
    wye_argument argument = World::resident(w.target);
    wye_dispatch_desc item = owners == nullptr ? w.add(argument, 0) : from_host(w, argument, true);
    item.program = item.device = 0;
    item.pipeline = w.pipeline;
    const wye_dispatch_desc items[] = {item, item, item};
    wye_batch_desc desc;
    WYE_INIT(desc);
    desc.pipeline = w.pipeline;
    desc.items = items;
    desc.item_count = 3;
    std::uint64_t completed = 0;
    if (owners == nullptr) return wye_pipeline_batch(w.context, &desc, &completed, nullptr, error);
    return wye_pipeline_batch_owned(w.context, &desc, owners, &completed, nullptr, error);
}

using W = World;
using E = wye_error**;
using enum Effect;
using enum Call::State;

constexpr Call kCalls[] = {
    {"dispatch", kAdds, 1, kBusy, nullptr, nullptr, [](W& w, E e) { return dispatch(w, e); }},
    {"dispatch-again", kAdds, 1, kBusy, has_dispatched, nullptr,
     [](W& w, E e) { return dispatch(w, e); }, WYE_OK, {2, 2}},
    {"dispatch-queue", kAdds, 1, kBusy, nullptr, nullptr,
     [](W& w, E e) { return dispatch(w, e, w.queue); }},
    {"dispatch-host", kNone, 0, kBusy, nullptr, nullptr,
     [](W& w, E e) {
         wye_argument argument;
         const wye_dispatch_desc desc = from_host(w, argument, false);
         return wye_dispatch(w.context, &desc, nullptr, e);
     }},
    {"dispatch-owned", kNone, 0, kBusy, nullptr, nullptr,
     [](W& w, E e) {
         wye_argument argument;
         const wye_dispatch_desc desc = from_host(w, argument, true);
         wye_pending out = 0;
         return keep(w, wye_dispatch_owned(w.context, &desc, nullptr, &out, e), out);
     }},
    {"submit", kSubmitsAdd, 1, kBehind, nullptr, nullptr, [](W& w, E e) { return submit(w, e); }},
    {"submit-again", kSubmitsAdd, 1, kBehind, has_dispatched, nullptr,
     [](W& w, E e) { return submit(w, e); }, WYE_OK, {2, 2}},
    {"submit-queue", kSubmitsAdd, 1, kBehind, nullptr, nullptr,
     [](W& w, E e) { return submit(w, e, w.queue); }},
    {"submit-aside", kSubmitsAdd, 1, kBusy, nullptr, nullptr,
     [](W& w, E e) { return submit(w, e, w.side); }},
    {"submit-host", kNone, 0, kBehind, nullptr, nullptr,
     [](W& w, E e) {
         wye_argument argument;
         const wye_dispatch_desc desc = from_host(w, argument, true);
         wye_pending out = 0;
         return keep(w, wye_dispatch_submit(w.context, &desc, &out, e), out);
     }},
    // Compiled in the session's line, whose thread is not the caller's: failures there are of
    // flavour 1.
    {"submit-cold", kSubmitsAdd, 1, kBehind, nullptr, nullptr,
     [](W& w, E e) { return submit(w, e, w.queue, 0, true); }},
    {"submit-cold-host", kNone, 0, kBehind, nullptr, nullptr,
     [](W& w, E e) {
         wye_argument argument;
         wye_dispatch_desc desc = from_host(w, argument, true);
         desc.program = w.cold;
         desc.timeout_ns = kMinute;
         wye_pending out = 0;
         return keep(w, wye_dispatch_submit(w.context, &desc, &out, e), out);
     }},
    {"submit-in-line", kSubmitsAdd, 1, kBusy, nullptr, has_rounds,
     [](W& w, E e) { return submit(w, e); }, WYE_OK, {2, 2}},
    {"upload-in-line", kSubmitsSet, 1, kBusy, nullptr, has_rounds,
     transfer_later<WYE_TRANSFER_UPLOAD>, WYE_OK, {2, 2}},
    {"cancel-in-line", kNone, 1, kBusy, nullptr, has_submitted_behind,
     [](W& w, E e) { return wye_pending_cancel(w.context, w.mine.front(), e); }, WYE_OK, {2, 2}},
    {"close-in-line", kNone, 1, kBusy, nullptr, has_submitted_behind,
     [](W& w, E e) { return wye_device_close(w.context, w.device, e); }, WYE_DEVICE_BUSY, {2, 2}},
    {"prepare-submit", kNone, 0, kBusy, nullptr, nullptr,
     [](W& w, E e) {
         wye_pending out = 0;
         return keep(w, wye_program_prepare_submit(w.context, w.cold, w.device, 0, &out, e), out);
     }},
    {"upload", kSets, 1, kBusy, nullptr, nullptr, transfer_now<WYE_TRANSFER_UPLOAD>},
    {"download", kNone, 0, kBusy, nullptr, nullptr, transfer_now<WYE_TRANSFER_DOWNLOAD>},
    {"copy", kSets, 1, kBusy, nullptr, nullptr, transfer_now<WYE_TRANSFER_COPY>},
    {"fill", kSets, 1, kBusy, nullptr, nullptr, transfer_now<WYE_TRANSFER_FILL>},
    {"upload-submit", kSubmitsSet, 1, kBehind, nullptr, nullptr,
     transfer_later<WYE_TRANSFER_UPLOAD>},
    {"download-submit", kNone, 0, kBehind, nullptr, nullptr,
     transfer_later<WYE_TRANSFER_DOWNLOAD>},
    {"copy-submit", kSubmitsSet, 1, kBehind, nullptr, nullptr, transfer_later<WYE_TRANSFER_COPY>},
    {"fill-submit", kSubmitsSet, 1, kBehind, nullptr, nullptr, transfer_later<WYE_TRANSFER_FILL>},
    {"graph-create", kNone, 0, kBusy, has_made, nullptr, make_graph},
    {"graph-run", kAdds, 2, kBusy, has_graph, nullptr,
     [](W& w, E e) {
         wye_graph_run_desc run;
         WYE_INIT(run);
         return wye_graph_run(w.context, w.graph, &run, nullptr, e);
     }},
    {"graph-submit", kSubmitsAdd, 2, kBehind, has_graph, nullptr,
     [](W& w, E e) { return submit_graph(w, e); }},
    {"graph-submit-again", kSubmitsAdd, 2, kBehind, has_run_graph, nullptr,
     [](W& w, E e) { return submit_graph(w, e); }, WYE_OK, {2, 2}},
    {"graph-submit-queue", kSubmitsAdd, 2, kBehind, has_graph, nullptr,
     [](W& w, E e) { return submit_graph(w, e, w.queue); }},
    {"graph-rebind", kNone, 0, kBusy, has_run_graph, nullptr,
     [](W& w, E e) {
         const wye_graph_rebinding to{w.target, w.other};
         return wye_graph_rebind(w.context, w.graph, &to, 1, e);
     }, WYE_OK, {2, 2}},
    {"graph-free", kNone, 0, kBusy, has_run_graph, nullptr,
     [](W& w, E e) { return wye_graph_free(w.context, w.graph, e); }, WYE_OK, {2, 2}},
    {"pipeline-create", kNone, 0, kBusy, nullptr, nullptr, make_pipeline},
    {"pipeline-submit", kSubmitsAdd, 1, kBehind, has_pipeline, nullptr,
     [](W& w, E e) { return submit(w, e, 0, w.pipeline); }},
    {"pipeline-free", kNone, 0, kBusy, has_pipeline, nullptr,
     [](W& w, E e) { return wye_pipeline_free(w.context, w.pipeline, e); }},
    {"batch", kAdds, 3, kBusy, has_pipeline, nullptr,
     [](W& w, E e) { return batch(w, e, nullptr); }},
    {"batch-owned", kNone, 0, kBusy, has_pipeline, nullptr,
     [](W& w, E e) {
         wye_pending owners[3] = {};
         const wye_status status = batch(w, e, owners);
         for (const wye_pending one : owners)
             if (one != 0) w.mine.push_back(one);
         return status;
     }},
    {"rows", kAdds, 3, kBusy, has_pipeline, nullptr,
     [](W& w, E e) {
         const wye_argument argument{};
         wye_dispatch_desc each = w.add(argument, 0);
         each.device = 0;
         each.pipeline = w.pipeline;
         each.arguments = nullptr;
         each.argument_count = 0;
         const wye_buffer buffers[] = {w.target, w.target, w.target};
         wye_rows_desc desc;
         WYE_INIT(desc);
         desc.pipeline = w.pipeline;
         desc.dispatch = &each;
         desc.buffers = buffers;
         desc.row_count = 3;
         desc.row_size = 1;
         std::uint64_t completed = 0;
         return wye_pipeline_rows(w.context, &desc, &completed, nullptr, e);
     }},
    {"wait", kWaits, 1, kEnds, nullptr, has_submitted_aside,
     [](W& w, E e) {
         return wye_pending_wait(w.context, w.mine.front(), UINT64_MAX, nullptr, e);
     }},
    {"wait-limit", kNone, 1, kBehind, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_pending_wait(w.context, w.mine.front(), 1000, nullptr, e); },
     WYE_TIMEOUT},
    {"wait-any", kNone, 1, kEnds, nullptr, has_submitted_aside,
     [](W& w, E e) {
         std::uint64_t index = 0;
         return wye_pending_wait_any(w.context, w.mine.data(), w.mine.size(), kMinute, &index, e);
     }},
    {"poll", kNone, 1, kBehind, nullptr, has_submitted,
     [](W& w, E e) {
         std::uint32_t ended = 0;
         return wye_pending_poll(w.context, w.mine.front(), &ended, e);
     }},
    {"output", kNone, 0, kEnds, nullptr, has_output,
     [](W& w, E e) {
         const wye_status status =
             wye_pending_wait(w.context, w.mine.front(), UINT64_MAX, nullptr, e);
         wye_bytes bytes{};
         return status != WYE_OK ? status
                                 : wye_pending_output(w.context, w.mine.front(), 0, &bytes, e);
     }},
    {"notify", kNone, 1, kBehind, nullptr, has_submitted,
     [](W& w, E e) { return wye_pending_notify(w.context, w.mine.front(), notify, &w, e); }},
    {"cancel", kNone, 1, kBehind, nullptr, has_submitted,
     [](W& w, E e) { return wye_pending_cancel(w.context, w.mine.front(), e); }},
    {"cancel-aside", kNone, 1, kBusy, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_pending_cancel(w.context, w.mine.front(), e); }},
    {"free", kNone, 1, kBehind, nullptr, has_submitted,
     [](W& w, E e) {
         const wye_status status = wye_pending_free(w.context, w.mine.front(), e);
         if (status == WYE_OK) w.mine.clear();
         return status;
     }, WYE_OK, {0, 1}},
    {"map", kNone, 0, kBusy, has_made, nullptr,
     [](W& w, E e) {
         wye_buffer_mapping mapping;
         WYE_INIT(mapping);
         return wye_buffer_map(w.context, w.made, &mapping, e);
     }},
    {"sync", kNone, 0, kBusy, has_mapped, nullptr,
     [](W& w, E e) { return wye_buffer_sync(w.context, w.made, 0, 64, WYE_SYNC_TO_HOST, e); }},
    {"unmap", kNone, 0, kBusy, has_mapped, nullptr,
     [](W& w, E e) { return wye_buffer_unmap(w.context, w.made, e); }},
    {"buffer-create", kNone, 0, kBusy, nullptr, nullptr,
     [](W& w, E e) {
         wye_buffer_create_desc desc;
         WYE_INIT(desc);
         desc.size = 4096;
         return wye_buffer_create(w.context, w.device, &desc, &w.made, e);
     }},
    {"buffer-free", kNone, 0, kBusy, has_made, nullptr,
     [](W& w, E e) { return wye_buffer_free(w.context, w.made, e); }},
    {"buffer-free-used", kNone, 1, kBusy, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_buffer_free(w.context, w.target, e); }, WYE_BUFFER_IN_USE},
    {"queue-create", kNone, 0, kBusy, nullptr, nullptr,
     [](W& w, E e) {
         wye_queue_create_desc desc;
         WYE_INIT(desc);
         wye_queue out = 0;
         return wye_queue_create(w.context, w.device, &desc, &out, e);
     }},
    {"queue-flush", kNone, 1, kEnds, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_queue_flush(w.context, w.side, e); }},
    {"queue-free", kNone, 1, kBusy, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_queue_free(w.context, w.side, e); }},
    {"flush", kNone, 1, kEnds, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_device_flush(w.context, w.device, e); }},
    {"recover", kNone, 1, kBusy, nullptr, has_submitted_aside,
     [](W& w, E e) {
         wye_device out = 0;
         return wye_device_recover(w.context, w.device, &out, e);
     }},
    {"close-busy", kNone, 1, kBusy, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_device_close(w.context, w.device, e); }, WYE_DEVICE_BUSY},
    {"shutdown-limit", kNone, 1, kBusy, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_context_shutdown(w.context, 1'000'000, e); }, WYE_TIMEOUT, {}, true},
    {"shutdown", kNone, 1, kEnds, nullptr, has_submitted_aside,
     [](W& w, E e) { return wye_context_shutdown(w.context, kMinute, e); }, WYE_OK, {}, true},
};

}  // namespace

std::span<const Call> all_calls() { return kCalls; }

}  // namespace faults
