// SPDX-License-Identifier: Apache-2.0
//
// Steps with graphs. A graph is recorded from a program, is run and submitted with changing
// parameters, and is freed before or after its executions have ended.
#include <algorithm>

#include "worker.hpp"
#include "wye/graph.h"

namespace wye::stress {
namespace {

constexpr std::size_t kMostDispatches = 3, kMostRuns = 5;

}  // namespace

// A graph of dispatches, and all that is needed to compute how an execution changes the buffers.
struct Worker::Graph {
    std::size_t from = 0, to = 0;  // indices in own_
    std::shared_ptr<SharedProgram> program;
    std::size_t count = 0;              // words of `from`
    std::vector<std::uint64_t> params;  // of each dispatch
    wye_graph handle = 0;
};

void Worker::run_graph() {
    if (own_.size() < 2) return create_buffer();
    Graph graph;
    graph.from = pick(own_.size());
    const std::size_t at = own_[graph.from].place;
    Place& here = place(at);
    graph.program = some_program(at);
    if (!graph.program) return create_program();
    const Model& model = graph.program->model;
    graph.to = model.in_place() ? graph.from : pick(own_.size());
    OwnBuffer& from = own_[graph.from];
    OwnBuffer& to = own_[graph.to];
    if (!model.in_place() && graph.to == graph.from) return;
    if (to.place != from.place || to.device != from.device) return;
    graph.count = std::min(from.words.size(), to.words.size());
    if (!record(graph)) return;
    std::vector<Run> runs;
    for (std::size_t n = 1 + pick(kMostRuns); n > 0; --n) {
        Run run;
        if (pick(3) != 0)
            for (std::uint64_t& k : graph.params) k = draw(model, from.words, graph.count);
        else
            run.same = true;
        run.params = graph.params;
        execute(graph, run);
        if (run.status == WYE_STALE_HANDLE || run.status == WYE_DEVICE_BUSY) break;
        runs.push_back(std::move(run));
    }
    const auto free = [&] {
        call("wye_graph_free", {},
             [&](wye_error** error) { return wye_graph_free(here.context, graph.handle, error); });
    };
    const bool early = pick(2) == 0;
    if (early) free();
    for (Run& run : runs) finish(graph, run);
    if (!early) free();
    if (runs.empty()) return;
    Words got(to.words.size());
    if (call("wye_buffer_download", {WYE_DEVICE_BUSY, WYE_BUFFER_IN_USE}, [&](wye_error** error) {
            return wye_buffer_download_range(here.context, to.handle, 0, got.data(), got.size() * 4,
                                             error);
        }) == WYE_OK)
        check("graph", got, to.words);
}

std::uint32_t Worker::draw(const Model& model, const Words& x, std::size_t count) {
    auto k = static_cast<std::uint32_t>(random_());
    if (model.kind == Model::Kind::Loop) k %= kShortLoop;
    if (model.kind == Model::Kind::Trap && pick(4) == 0) k = x[pick(count)];
    return k;
}

bool Worker::record(Graph& graph) {
    const OwnBuffer& from = own_[graph.from];
    const OwnBuffer& to = own_[graph.to];
    const Model& model = graph.program->model;
    wye_argument arguments[2] = {};
    arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_RESIDENT;
    arguments[0].buffer = from.handle;
    arguments[0].size = graph.count * 4;
    arguments[1].binding = 1;
    arguments[1].buffer = to.handle;
    arguments[1].size = model.outputs(graph.count) * 4;
    wye_dispatch_desc dispatch;
    WYE_INIT(dispatch);
    dispatch.program = graph.program->handle;
    dispatch.device = place(from.place).devices[from.device];
    dispatch.arguments = arguments;
    dispatch.argument_count = model.in_place() ? 1 : 2;
    dispatch.param_count = 1;
    graph.params.resize(1 + pick(kMostDispatches));
    for (std::uint64_t& k : graph.params) k = draw(model, from.words, graph.count);
    std::vector<wye_dispatch_desc> all(graph.params.size(), dispatch);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].params = &graph.params[i];
    std::vector<wye_graph_step> steps;
    for (const wye_dispatch_desc& each : all) steps.push_back({&each, nullptr});
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = dispatch.device;
    desc.steps = steps.data();
    desc.step_count = steps.size();
    desc.label = wye_str("stress");
    const wye_status status =
        call("wye_graph_create", {WYE_STALE_HANDLE, WYE_DEVICE_BUSY}, [&](wye_error** error) {
            return wye_graph_create(place(from.place).context, &desc, &graph.handle, error);
        });
    if (status == WYE_STALE_HANDLE && !graph.program->freed)
        fail("wye_graph_create: a live program was called stale");
    return status == WYE_OK;
}

void Worker::execute(Graph& graph, Run& run) {
    wye_graph_run_desc desc;
    WYE_INIT(desc);
    desc.params = run.same ? nullptr : run.params.data();
    desc.param_count = run.same ? 0 : run.params.size();
    if (pick(4) == 0) desc.flags = WYE_DISPATCH_TIMED;
    const OwnBuffer& mine = own_[graph.from];
    wye_context* context = place(mine.place).context;
    desc.queue = some_queue(mine.place, mine.device);
    ++world_.dispatches;
    if (pick(2) == 0) {
        run.status = call("wye_graph_submit", {WYE_DEVICE_BUSY}, [&](wye_error** error) {
            return wye_graph_submit(context, graph.handle, &desc, &run.pending, error);
        });
        return;
    }
    run.status = call("wye_graph_run", {WYE_DEVICE_BUSY, WYE_TRAPPED}, [&](wye_error** error) {
        return wye_graph_run(context, graph.handle, &desc, nullptr, error);
    });
}

void Worker::finish(const Graph& graph, Run& run) {
    Words& from = own_[graph.from].words;
    Words& to = own_[graph.to].words;
    const Model& model = graph.program->model;
    std::uint32_t traps = 0;
    for (const std::uint64_t k : run.params) {
        const Words x(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(graph.count));
        Words want = model.expected(x, static_cast<std::uint32_t>(k));
        const std::uint32_t now = model.traps(x, static_cast<std::uint32_t>(k));
        for (std::size_t i = 0; now != 0 && i < x.size(); ++i)
            if (x[i] == k) want[i] = 0;
        traps += now;
        std::ranges::copy(want, to.begin());
    }
    if (run.pending != 0) {
        wye_context* context = place(own_[graph.from].place).context;
        run.status = call("wye_pending_wait", {WYE_TRAPPED}, [&](wye_error** error) {
            return wye_pending_wait(context, run.pending, UINT64_MAX, nullptr, error);
        });
        call("wye_pending_free", {},
             [&](wye_error** error) { return wye_pending_free(context, run.pending, error); });
    }
    if ((run.status == WYE_TRAPPED) != (traps != 0)) fail("graph: traps are told if there are any");
}

}  // namespace wye::stress
