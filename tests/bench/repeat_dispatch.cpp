// SPDX-License-Identifier: Apache-2.0
//
// Runs tiny resident dispatches for instructions.py, which counts the instructions of the functions
// named measured_*. Some of these functions submit a recorded dispatch (a graph with one dispatch),
// with the same or new parameters, wait for it, or run it. Others repeat a request, directly or
// through a pipeline, or run a batch or rows of a pipeline. Caches are warm when the count begins.
//
//   repeat_dispatch DEVICE [FAKE_CUDA_DRIVER [NVRTC]]
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#ifdef WYE_BENCH_FAKE_CUDA
#include "cuda/fake_cuda.hpp"
#endif
#include "support.hpp"
#include "wye/graph.hpp"
#include "wye/pipeline.hpp"

namespace {

using wye::bench::must;

constexpr std::size_t kWords = 64;
constexpr int kWarm = 40;  // rounds before the count: they fill pools and caches
constexpr int kCounted = 15;
constexpr std::size_t kItems = 1000;  // items of a batch, or rows; instructions.py divides by this
constexpr std::size_t kBuffers = 8;   // number of buffers that the rows use in turn

constexpr std::string_view kStep = R"wye(
wye 1;
program advance;
workgroup 64;
input_output words: u32[];
grid elements len(words);
main {
    let i = global_id.x;
    if i < len(words) { words[i] = words[i] * 1664525u + 1013904223u; }
}
)wye";

constexpr std::string_view kAdd = R"wye(
wye 1;
program add;
workgroup 64;
param a: u32;
input_output words: u32[];
grid elements len(words);
main {
    let i = global_id.x;
    if i < len(words) { words[i] = words[i] + a; }
}
)wye";

void expect(wye_status status) {
    if (status == WYE_OK) return;
    std::fprintf(stderr, "a measured call gives %s\n", wye_status_text(status));
    std::exit(1);
}

}  // namespace

// Measured functions are not inlined and have C names, so that callgrind finds them. Each function
// makes one call of the API.
#define MEASURED extern "C" __attribute__((noinline)) void

MEASURED measured_submit(wye_context* context, wye_graph graph, const wye_graph_run_desc* desc,
                         wye_pending* out) {
    expect(wye_graph_submit(context, graph, desc, out, nullptr));
}
MEASURED measured_submit_params(wye_context* context, wye_graph graph,
                                const wye_graph_run_desc* desc, wye_pending* out) {
    expect(wye_graph_submit(context, graph, desc, out, nullptr));
}
MEASURED measured_wait_free(wye_context* context, wye_pending pending) {
    expect(wye_pending_wait(context, pending, UINT64_MAX, nullptr, nullptr));
    expect(wye_pending_free(context, pending, nullptr));
}
MEASURED measured_run(wye_context* context, wye_graph graph, const wye_graph_run_desc* desc) {
    expect(wye_graph_run(context, graph, desc, nullptr, nullptr));
}
MEASURED measured_dispatch(wye_context* context, const wye_dispatch_desc* desc) {
    expect(wye_dispatch(context, desc, nullptr, nullptr));
}
MEASURED measured_pipeline(wye_context* context, const wye_dispatch_desc* desc) {
    expect(wye_dispatch(context, desc, nullptr, nullptr));
}
MEASURED measured_batch(wye_context* context, const wye_batch_desc* desc) {
    expect(wye_pipeline_batch(context, desc, nullptr, nullptr, nullptr));
}
MEASURED measured_pointers(wye_context* context, const wye_batch_desc* desc) {
    expect(wye_pipeline_batch(context, desc, nullptr, nullptr, nullptr));
}
MEASURED measured_mixed(wye_context* context, const wye_batch_desc* desc) {
    expect(wye_pipeline_batch(context, desc, nullptr, nullptr, nullptr));
}
MEASURED measured_rows(wye_context* context, const wye_rows_desc* desc) {
    expect(wye_pipeline_rows(context, desc, nullptr, nullptr, nullptr));
}

namespace {

struct Prepared {
    template <typename... Run>  // a program and a device, or a pipeline
    explicit Prepared(const wye::Device& device, const Run&... run)
        : words(must(device.buffer(kWords * 4))), dispatch(run...) {
        must(words.fill(1, 0, kWords * 4));
        dispatch.bind("words", words);
    }
    [[nodiscard]] wye::Graph record(const wye::Device& device) {
        return must(wye::Graph::record(device, {&dispatch}));
    }

    wye::Buffer words;
    wye::Dispatch dispatch;
};

// Runs one dispatch through a pipeline many times: on the same buffer, and on several buffers in
// turn.
void measure_batches(const wye::Device& device, const wye::Pipeline& pipeline,
                     const wye_dispatch_desc& item) {
    const std::vector<wye_dispatch_desc> items(kItems, item);
    wye_batch_desc batch;
    WYE_INIT(batch);
    batch.pipeline = pipeline.get();
    batch.items = items.data();
    batch.item_count = items.size();

    std::vector<wye::Buffer> buffers;
    for (std::size_t i = 0; i < kBuffers; ++i) buffers.push_back(must(device.buffer(kWords * 4)));
    std::vector<wye_buffer> cells;
    for (std::size_t i = 0; i < kItems; ++i) cells.push_back(buffers[i % kBuffers].get());
    const std::vector<const wye_dispatch_desc*> same(kItems, &item);
    wye_batch_desc pointers = batch;
    pointers.flags = WYE_BATCH_POINTERS;
    pointers.pointers = same.data();
    std::vector<wye_argument> arguments(kBuffers, *item.arguments);
    std::vector<wye_dispatch_desc> several(kBuffers, item);
    for (std::size_t i = 0; i < kBuffers; ++i) {
        arguments[i].buffer = buffers[i].get();
        several[i].arguments = &arguments[i];
    }
    std::vector<const wye_dispatch_desc*> in_turn;
    for (std::size_t i = 0; i < kItems; ++i) in_turn.push_back(&several[i % kBuffers]);
    wye_batch_desc mixed = pointers;
    mixed.pointers = in_turn.data();

    wye_dispatch_desc common = item;
    common.arguments = nullptr;
    common.argument_count = 0;
    wye_rows_desc rows;
    WYE_INIT(rows);
    rows.pipeline = pipeline.get();
    rows.dispatch = &common;
    rows.buffers = cells.data();
    rows.row_size = 1;
    rows.row_count = cells.size();

    wye_context* const context = device.context();
    expect(wye_pipeline_batch(context, &batch, nullptr, nullptr, nullptr));
    expect(wye_pipeline_batch(context, &pointers, nullptr, nullptr, nullptr));
    expect(wye_pipeline_batch(context, &mixed, nullptr, nullptr, nullptr));
    expect(wye_pipeline_rows(context, &rows, nullptr, nullptr, nullptr));
    for (int i = 0; i < kCounted; ++i) {
        measured_batch(context, &batch);
        measured_pointers(context, &pointers);
        measured_mixed(context, &mixed);
        measured_rows(context, &rows);
    }
}

void measure(wye_context* context, wye_graph plain, wye_graph with_params,
             const wye_dispatch_desc& request, const wye_dispatch_desc& piped) {
    wye_graph_run_desc fixed, changed;
    WYE_INIT(fixed);
    WYE_INIT(changed);
    std::uint64_t value = 1;
    changed.params = &value;
    changed.param_count = 1;
    wye_pending pending = 0;
    for (int i = 0; i < kWarm + kCounted; ++i, ++value) {
        const bool counted = i >= kWarm;
        if (!counted) {
            expect(wye_graph_submit(context, plain, &fixed, &pending, nullptr));
            expect(wye_pending_wait(context, pending, UINT64_MAX, nullptr, nullptr));
            expect(wye_pending_free(context, pending, nullptr));
            expect(wye_graph_submit(context, with_params, &changed, &pending, nullptr));
            expect(wye_pending_wait(context, pending, UINT64_MAX, nullptr, nullptr));
            expect(wye_pending_free(context, pending, nullptr));
            expect(wye_graph_run(context, plain, &fixed, nullptr, nullptr));
            expect(wye_dispatch(context, &request, nullptr, nullptr));
            expect(wye_dispatch(context, &piped, nullptr, nullptr));
            continue;
        }
        measured_submit(context, plain, &fixed, &pending);
        measured_wait_free(context, pending);
        measured_submit_params(context, with_params, &changed, &pending);
        measured_wait_free(context, pending);  // otherwise part of the next call's count
        measured_run(context, plain, &fixed);
        measured_dispatch(context, &request);
        measured_pipeline(context, &piped);
    }
}

// Gives the fake driver a device, since the driver starts with no device.
bool reset_fake(const char* path) {
#ifdef WYE_BENCH_FAKE_CUDA
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) return false;
    const auto get =
        reinterpret_cast<const fake_cuda::Control* (*)()>(dlsym(library, "fake_cuda_control"));
    if (get == nullptr) return false;
    get()->reset(1, 90);
    return true;
#else
    (void)path;
    return false;
#endif
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 4) {
        std::fprintf(stderr, "usage: %s DEVICE [FAKE_CUDA_DRIVER [NVRTC]]\n", argv[0]);
        return 2;
    }
    wye::ContextOptions options;
    if (argc > 2) {
        if (!reset_fake(argv[2])) {
            std::fprintf(stderr, "%s is not the fake CUDA driver\n", argv[2]);
            return 1;
        }
        options.config = {{"cuda.library", argv[2]},
                          {"probe.mode", "off"}};  // the fake driver computes nothing
        if (argc > 3) options.config.emplace_back("cuda.nvrtc", argv[3]);
    }
    wye::Context context = must(wye::Context::create(options));
    wye::Device device = must(context.open(argv[1]));
    const wye::Program step = must(context.program_from_text(kStep, "advance.wye"));
    const wye::Program add = must(context.program_from_text(kAdd, "add.wye"));
    const auto pipeline = must(wye::Pipeline::create(step, device));
    Prepared fixed(device, step, device), changed(device, add, device);
    Prepared repeated(device, step, device), piped(device, pipeline);
    changed.dispatch.param("a", std::uint32_t{1});
    const wye::Graph plain = fixed.record(device), with_params = changed.record(device);
    (void)must(repeated.dispatch.run());
    (void)must(piped.dispatch.run());
    measure(context.get(), plain.get(), with_params.get(), repeated.dispatch.desc(),
            piped.dispatch.desc());
    measure_batches(device, pipeline, piped.dispatch.desc());
    return 0;
}
