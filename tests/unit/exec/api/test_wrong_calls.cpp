// SPDX-License-Identifier: Apache-2.0
//
// Every function of wye.h that takes a context, called with each mistake that all of them share.
// One table has a valid call of each function. Each test makes one part of that call wrong: a
// handle, a pointer, a header, the thread, the process or the moment.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "calls.hpp"
#include "wye/graph.h"

namespace wye::exec::test::test_wrong_calls {
namespace {

// The memory that World::memory registers, and a page that is not registered.
alignas(4096) std::byte pages[2][4096];

const std::vector<Handle> kDispatch = {&World::program, &World::device, &World::buffer,
                                       &World::other};

std::vector<Call> other_calls() {
    return {
        {"wye_context_report",
         [](const World& w, wye_error** e) {
             wye_blob* out = nullptr;
             const wye_status status =
                 wye_context_report(w.context, wye_str("fake:0"), w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {},
         {},
         true},
        {"wye_verdicts_report",
         [](const World& w, wye_error** e) {
             wye_blob* out = nullptr;
             const wye_status status = wye_verdicts_report(w.context, w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {},
         {},
         true},
        {"wye_verdict_trust",
         [](const World& w, wye_error** e) {
             return wye_verdict_trust(w.context, wye_str("fake"), e);
         }},
        {"wye_verdict_forget",
         [](const World& w, wye_error** e) {
             return wye_verdict_forget(w.context, wye_str("fake"), e);
         }},
        {"wye_device_open",
         [](const World& w, wye_error** e) {
             wye_device out = 0;
             return wye_device_open(w.context, wye_str("fake:0"), w.program, w.pointer(out), e);
         },
         {&World::program},
         {&World::program},
         true},
        {"wye_device_describe",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_device_description>();
             return wye_device_describe(w.context, w.device, w.pointer(out), e);
         },
         {&World::device},
         {},
         true,
         true},
        {"wye_device_fact",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_fact>();
             return wye_device_fact(w.context, w.device, wye_str("int64"), w.pointer(out), e);
         },
         {&World::device},
         {},
         true},
        {"wye_device_flush",
         [](const World& w, wye_error** e) { return wye_device_flush(w.context, w.device, e); },
         {&World::device},
         {},
         false,
         false,
         true},
        {"wye_device_counters",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_counters>();
             return wye_device_counters(w.context, w.device, w.pointer(out), e);
         },
         {&World::device},
         {},
         true,
         true},
        {"wye_context_counters",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_counters>();
             return wye_context_counters(w.context, w.pointer(out), e);
         },
         {},
         {},
         true,
         true},
        {"wye_queue_create",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_queue_create_desc>();
             wye_queue out = 0;
             const wye_status status =
                 wye_queue_create(w.context, w.device, &desc, w.pointer(out), e);
             if (out != 0) wye_queue_free(w.context, out, nullptr);
             return status;
         },
         {&World::device},
         {},
         true,
         true,
         true},
        {"wye_queue_describe",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_queue_description>();
             return wye_queue_describe(w.context, w.queue, w.pointer(out), e);
         },
         {&World::queue},
         {},
         true,
         true},
        {"wye_queue_flush",
         [](const World& w, wye_error** e) { return wye_queue_flush(w.context, w.queue, e); },
         {&World::queue},
         {},
         false,
         false,
         true},
        {"wye_queue_free",
         [](const World& w, wye_error** e) { return wye_queue_free(w.context, w.queue, e); },
         {&World::queue}},
        {"wye_program_create",
         [](const World& w, wye_error** e) {
             auto source = w.description<wye_program_source>();
             source.text = {kAdd.data(), kAdd.size()};
             wye_program out = 0;
             return wye_program_create(w.context, &source, w.pointer(out), e);
         },
         {},
         {},
         true,
         true},
        {"wye_program_free",
         [](const World& w, wye_error** e) { return wye_program_free(w.context, w.program, e); },
         {&World::program}},
        {"wye_program_describe",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_program_description>();
             return wye_program_describe(w.context, w.program, w.pointer(out), e);
         },
         {&World::program},
         {},
         true,
         true},
        {"wye_program_analysis",
         [](const World& w, wye_error** e) {
             wye_blob* out = nullptr;
             const wye_status status =
                 wye_program_analysis(w.context, w.program, w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {&World::program},
         {},
         true},
        {"wye_program_lower",
         [](const World& w, wye_error** e) {
             wye_blob* out = nullptr;
             const wye_status status = wye_program_lower(w.context, w.program, wye_str("text"),
                                                         w.device, w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {&World::program, &World::device},
         {&World::device},
         true},
        {"wye_program_lower_with",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_lower_desc>();
             desc.format = wye_str("text");
             desc.device = w.device;
             wye_blob* out = nullptr;
             const wye_status status =
                 wye_program_lower_with(w.context, w.program, &desc, w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {&World::program, &World::device},
         {&World::device},
         true,
         true},
        {"wye_program_prepare",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_prepare_report>();
             return wye_program_prepare(w.context, w.program, w.device, &out, e);
         },
         {&World::program, &World::device},
         {&World::device},
         false,
         true,
         true},
        {"wye_cache_report",
         [](const World& w, wye_error** e) {
             wye_blob* out = nullptr;
             const wye_status status = wye_cache_report(w.context, w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {},
         {},
         true},
        {"wye_cache_clear",
         [](const World& w, wye_error** e) { return wye_cache_clear(w.context, nullptr, e); }},
        {"wye_buffer_create",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_buffer_create_desc>();
             desc.size = 16;
             wye_buffer out = 0;
             return wye_buffer_create(w.context, w.device, &desc, w.pointer(out), e);
         },
         {&World::device},
         {},
         true,
         true,
         true},
        {"wye_memory_register",
         [](const World& w, wye_error** e) {
             wye_memory out = 0;
             const wye_status status = wye_memory_register(w.context, w.device, pages[1],
                                                           sizeof pages[1], w.pointer(out), e);
             if (out != 0) (void)wye_memory_unregister(w.context, out, nullptr);
             return status;
         },
         {&World::device},
         {},
         true,
         false,
         true},
        {"wye_memory_unregister",
         [](const World& w, wye_error** e) {
             return wye_memory_unregister(w.context, w.memory, e);
         },
         {&World::memory}},
        {"wye_buffer_free",
         [](const World& w, wye_error** e) { return wye_buffer_free(w.context, w.buffer, e); },
         {&World::buffer}},
        {"wye_buffer_size",
         [](const World& w, wye_error** e) {
             std::uint64_t out = 0;
             return wye_buffer_size(w.context, w.buffer, w.pointer(out), e);
         },
         {&World::buffer},
         {},
         true},
        {"wye_buffer_upload_range",
         [](const World& w, wye_error** e) {
             const std::uint32_t word = 0;
             return wye_buffer_upload_range(w.context, w.buffer, 0, {w.pointer(word), 4}, e);
         },
         {&World::buffer},
         {},
         true,
         false,
         true},
        {"wye_buffer_download_range",
         [](const World& w, wye_error** e) {
             std::uint32_t word = 0;
             return wye_buffer_download_range(w.context, w.buffer, 0, w.pointer(word), 4, e);
         },
         {&World::buffer},
         {},
         true,
         false,
         true},
        {"wye_buffer_copy",
         [](const World& w, wye_error** e) {
             return wye_buffer_copy(w.context, w.buffer, 0, w.other, 0, 4, e);
         },
         {&World::buffer, &World::other},
         {},
         false,
         false,
         true},
        {"wye_buffer_fill",
         [](const World& w, wye_error** e) {
             return wye_buffer_fill(w.context, w.buffer, 0, 4, 0, 4, e);
         },
         {&World::buffer},
         {},
         false,
         false,
         true},
        {"wye_buffer_transfer",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_transfer_desc>();
             desc.kind = WYE_TRANSFER_COPY;
             desc.queue = w.queue;
             desc.buffer = w.buffer;
             desc.source_buffer = w.other;
             desc.size = 4;
             return wye_buffer_transfer(w.context, w.pointer(desc), nullptr, e);
         },
         {&World::buffer, &World::other, &World::queue},
         {&World::queue},
         true,
         true,
         true},
        {"wye_buffer_transfer_submit",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_transfer_desc>();
             desc.kind = WYE_TRANSFER_FILL;
             desc.queue = w.queue;
             desc.buffer = w.buffer;
             desc.size = 4;
             desc.pattern_size = 4;
             wye_pending out = 0;
             return wye_buffer_transfer_submit(w.context, &desc, w.pointer(out), e);
         },
         {&World::buffer, &World::queue},
         {&World::queue},
         true,
         true,
         true},
        {"wye_dispatch",
         dispatching([](const World& w, wye_dispatch_desc& desc, wye_error** e) {
             return wye_dispatch(w.context, w.pointer(desc), nullptr, e);
         }),
         kDispatch,
         {&World::queue, &World::device},
         true,
         true,
         true},
        {"wye_dispatch_sizes",
         dispatching([](const World& w, wye_dispatch_desc& desc, wye_error** e) {
             std::uint64_t sizes[2];
             std::uint32_t groups[3];
             return wye_dispatch_sizes(w.context, &desc, w.pointer(sizes[0]), groups, e);
         }),
         kDispatch,
         {&World::queue, &World::device},
         true,
         true},
        {"wye_dispatch_submit",
         dispatching([](const World& w, wye_dispatch_desc& desc, wye_error** e) {
             wye_pending out = 0;
             return wye_dispatch_submit(w.context, &desc, w.pointer(out), e);
         }),
         kDispatch,
         {&World::queue, &World::device},
         true,
         true,
         true},
        {"wye_dispatch_owned",
         dispatching([](const World& w, wye_dispatch_desc& desc, wye_error** e) {
             wye_pending out = 0;
             return wye_dispatch_owned(w.context, &desc, nullptr, w.pointer(out), e);
         }),
         kDispatch,
         {&World::queue, &World::device},
         true,
         true,
         true},
        {"wye_pending_poll",
         [](const World& w, wye_error** e) {
             std::uint32_t out = 0;
             return wye_pending_poll(w.context, w.pending, w.pointer(out), e);
         },
         {&World::pending},
         {},
         true},
        {"wye_pending_wait",
         [](const World& w, wye_error** e) {
             auto report = w.description<wye_report>();
             return wye_pending_wait(w.context, w.pending, UINT64_MAX, &report, e);
         },
         {&World::pending},
         {},
         false,
         true},
        {"wye_pending_wait_any",
         [](const World& w, wye_error** e) {
             std::uint64_t index = 0;
             return wye_pending_wait_any(w.context, &w.pending, 1, UINT64_MAX, w.pointer(index), e);
         },
         {&World::pending},
         {},
         true},
        {"wye_pending_output",
         [](const World& w, wye_error** e) {
             wye_bytes out;
             return wye_pending_output(w.context, w.pending, 1, w.pointer(out), e);
         },
         {&World::pending},
         {},
         true},
        {"wye_pending_notify",
         [](const World& w, wye_error** e) {
             const wye_pending_fn fn = [](void*, wye_status) {};
             return wye_pending_notify(w.context, w.pending, w.null ? nullptr : fn, nullptr, e);
         },
         {&World::pending},
         {},
         true},
        {"wye_pending_cancel",
         [](const World& w, wye_error** e) { return wye_pending_cancel(w.context, w.pending, e); },
         {&World::pending}},
        {"wye_pending_free",
         [](const World& w, wye_error** e) { return wye_pending_free(w.context, w.pending, e); },
         {&World::pending}},
        {"wye_graph_create",
         [](const World& w, wye_error** e) {
             wye_argument arguments[2];
             const std::uint64_t k = 1;
             World plain = w;
             plain.queue = 0;
             plain.wrong_size = 0;
             const wye_dispatch_desc one = dispatch(plain, arguments, k);
             auto desc = w.description<wye_graph_desc>();
             desc.device = w.device;
             wye_graph_step recorded_step{&one, nullptr};
             desc.steps = &recorded_step;
             desc.step_count = 1;
             wye_graph out = 0;
             return wye_graph_create(w.context, &desc, w.pointer(out), e);
         },
         kDispatch,
         {&World::device},
         true,
         true,
         true},
        {"wye_graph_run",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_graph_run_desc>();
             desc.queue = w.queue;
             return wye_graph_run(w.context, w.graph, w.pointer(desc), nullptr, e);
         },
         {&World::graph},
         {&World::queue},
         true,
         true,
         true},
        {"wye_graph_rebind",
         [](const World& w, wye_error** e) {
             const wye_graph_rebinding change{w.buffer, w.buffer};
             return wye_graph_rebind(w.context, w.graph, w.null ? nullptr : &change, 1, e);
         },
         {&World::graph},
         {},
         true,
         false,
         true},
        {"wye_graph_submit",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_graph_run_desc>();
             desc.queue = w.queue;
             wye_pending out = 0;
             return wye_graph_submit(w.context, w.graph, &desc, w.pointer(out), e);
         },
         {&World::graph},
         {&World::queue},
         true,
         true,
         true},
        {"wye_graph_describe",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_graph_info>();
             return wye_graph_describe(w.context, w.graph, w.pointer(out), e);
         },
         {&World::graph},
         {},
         true,
         true},
        {"wye_graph_free",
         [](const World& w, wye_error** e) { return wye_graph_free(w.context, w.graph, e); },
         {&World::graph}},
    };
}

const std::vector<Call>& calls() {
    static const std::vector<Call> all = [] {
        std::vector<Call> out = other_calls();
        std::ranges::move(pipeline_calls(), std::back_inserter(out));
        std::ranges::move(resource_calls(), std::back_inserter(out));
        return out;
    }();
    return all;
}

Outcome run(const Call& call, const World& world) {
    return attempt([&](wye_error** e) { return call.run(world, e); });
}
bool frees(const Call& call) {
    const std::string_view name = call.name;
    return name.ends_with("_free") || name.ends_with("_unregister") || name.ends_with("_close");
}

// Objects of each kind in a context of the fake driver.
World make(wye_context* context) {
    World out;
    out.context = context;
    check_ok(attempt([&](wye_error** e) {
        return wye_device_open(context, wye_str("fake:0"), 0, &out.device, e);
    }));
    auto source = out.description<wye_program_source>();
    source.text = {kAdd.data(), kAdd.size()};
    check_ok(attempt(
        [&](wye_error** e) { return wye_program_create(context, &source, &out.program, e); }));
    auto buffer = out.description<wye_buffer_create_desc>();
    buffer.size = 16;
    for (const Handle one : {&World::buffer, &World::other})
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_create(context, out.device, &buffer, &(out.*one), e);
        }));
    buffer.usage = WYE_BUFFER_USAGE_SHARED;
    check_ok(attempt([&](wye_error** e) {
        return wye_buffer_create(context, out.device, &buffer, &out.shared, e);
    }));
    auto mapping = out.description<wye_buffer_mapping>();
    check_ok(
        attempt([&](wye_error** e) { return wye_buffer_map(context, out.shared, &mapping, e); }));
    const auto queue = out.description<wye_queue_create_desc>();
    check_ok(attempt([&](wye_error** e) {
        return wye_queue_create(context, out.device, &queue, &out.queue, e);
    }));
    check_ok(attempt([&](wye_error** e) {
        return wye_memory_register(context, out.device, pages[0], sizeof pages[0], &out.memory, e);
    }));
    auto pipeline = out.description<wye_pipeline_desc>();
    pipeline.program = out.program;
    pipeline.device = out.device;
    check_ok(attempt(
        [&](wye_error** e) { return wye_pipeline_create(context, &pipeline, &out.pipeline, e); }));
    wye_argument arguments[2];
    const std::uint64_t k = 1;
    wye_dispatch_desc one = dispatch(out, arguments, k);
    one.queue = 0;
    auto graph = out.description<wye_graph_desc>();
    graph.device = out.device;
    wye_graph_step recorded_step{&one, nullptr};
    graph.steps = &recorded_step;
    graph.step_count = 1;
    check_ok(
        attempt([&](wye_error** e) { return wye_graph_create(context, &graph, &out.graph, e); }));
    const std::uint32_t words[4] = {};
    arguments[0] = arguments[1] = wye_argument{};
    arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_HOST;
    arguments[1].binding = 1;
    arguments[0].input = {words, 16};
    check_ok(attempt([&](wye_error** e) {
        return wye_dispatch_owned(context, &one, nullptr, &out.pending, e);
    }));
    return out;
}

struct Ready {
    Ready() {
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 8;
        world = make(rig.context);
    }
    Rig rig;
    World world;
};

TEST_CASE("the table has every function that takes a context") {
    std::stringstream text;
    for (const auto& file : std::filesystem::directory_iterator(WYE_HEADERS))
        if (file.path().extension() == ".h") text << std::ifstream(file.path()).rdbuf();
    const std::string header = text.str();
    std::set<std::string> declared, tested;
    const std::regex declaration(R"(WYE_API wye_status (wye_\w+)\(wye_context\*)");
    for (std::sregex_iterator at(header.begin(), header.end(), declaration), end; at != end; ++at)
        declared.insert((*at)[1]);
    for (const Call& call : calls()) tested.insert(call.name);
    tested.insert("wye_context_destroy_within");  // in test_life.cpp
    tested.insert("wye_context_shutdown");        // in test_closing.cpp
    REQUIRE(declared.size() > 40);
    CHECK(declared == tested);
}

TEST_CASE("right calls succeed") {
    Ready t;
    for (const Call& call : calls()) {
        INFO(std::string(call.name));
        if (!frees(call)) check_ok(run(call, t.world));
    }
    // Work whose handle was freed by one of the calls may still run.
    check_ok(attempt(
        [&](wye_error** e) { return wye_device_flush(t.world.context, t.world.device, e); }));
    for (const Call& call : calls()) {
        INFO(std::string(call.name));
        if (frees(call)) check_ok(run(call, t.world));
    }
}

TEST_CASE("wrong handles: none, stale, freed, of another context and of another kind") {
    Ready t;
    wye_context* const second = t.rig.driver.context();
    const World foreign = make(second);
    for (const Call& call : calls()) {
        INFO(std::string(call.name));
        std::vector<Handle> handles = call.handles;
        for (const Handle one : call.optional)
            if (std::ranges::find(handles, one) == handles.end()) handles.push_back(one);
        for (const Handle handle : handles) {
            const bool optional = std::ranges::find(call.optional, handle) != call.optional.end();
            World wrong = t.world;
            if (!optional) {
                wrong.*handle = 0;
                check_refused(run(call, wrong), WYE_STALE_HANDLE, "");
            }
            wrong.*handle = t.world.*handle ^ (UINT64_C(1) << 24U);  // another generation
            check_refused(run(call, wrong), WYE_STALE_HANDLE, "");
            wrong.*handle = foreign.*handle;
            check_refused(run(call, wrong), WYE_WRONG_OWNER, "context");
            wrong.*handle = handle == &World::program ? t.world.device : t.world.program;
            check_refused(run(call, wrong), WYE_WRONG_KIND, "");
        }
    }
    wye_context_destroy(second);
}

TEST_CASE("null contexts, null pointers, and structures of another size") {
    Ready t;
    for (const Call& call : calls()) {
        INFO(std::string(call.name));
        World wrong = t.world;
        wrong.context = nullptr;
        check_refused(run(call, wrong), WYE_INVALID_ARGUMENT, "`context` is null");
        if (call.pointer) {
            wrong = t.world;
            wrong.null = true;
            check_refused(run(call, wrong), WYE_INVALID_ARGUMENT, "null");
        }
        if (!call.header) continue;
        for (const std::uint32_t by : {8U, ~7U}) {  // one member more, one less
            wrong = t.world;
            wrong.wrong_size = by;
            check_refused(run(call, wrong), WYE_INVALID_ARGUMENT, "header.size");
        }
    }
}

TEST_CASE("calls in the context's own log callback") {
    FakeDriver driver;
    driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 8;
    std::vector<Outcome> seen;
    World world;
    bool asked = false;
    driver.log = [&](std::uint32_t, std::string_view, std::string_view) {
        if (!std::exchange(asked, false)) return;
        for (const Call& call : calls()) seen.push_back(run(call, world));
    };
    wye_context* const context = driver.context();
    world = make(context);
    asked = true;
    check_ok(
        run(*std::ranges::find(calls(), std::string_view("wye_dispatch"), &Call::name), world));
    CHECK(seen.size() == calls().size());
    for (const Outcome& outcome : seen)
        check_refused(outcome, WYE_INVALID_ARGUMENT, "one of its own callbacks");
    wye_context_destroy(context);
}

TEST_CASE("calls while the context is destroyed on another thread") {
    Ready t;
    t.rig.driver.holds = true;
    wye_argument arguments[2];
    const std::uint64_t k = 1;
    const wye_dispatch_desc desc = dispatch(t.world, arguments, k);
    wye_pending held = 0;
    check_ok(attempt(
        [&](wye_error** e) { return wye_dispatch_submit(t.rig.context, &desc, &held, e); }));
    std::thread destroyer([context = t.rig.context] { wye_context_destroy(context); });
    t.rig.context = nullptr;
    const Call& first = calls().front();
    while (run(first, t.world).status != WYE_SHUTTING_DOWN) std::this_thread::yield();
    for (const Call& call : calls()) {
        INFO(std::string(call.name));
        check_refused(run(call, t.world), WYE_SHUTTING_DOWN, "destroyed");
    }
    t.rig.driver.holds = false;
    destroyer.join();
}

TEST_CASE("calls with the parent's context in a forked child") {
    Ready t;
    const pid_t child = fork();
    if (child == 0) {
        int wrong = 0;
        for (const Call& call : calls())
            wrong += call.run(t.world, nullptr) == WYE_WRONG_OWNER ? 0 : 1;
        _exit(wrong);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("calls on a lost device") {
    Ready t;
    t.rig.driver.lose(0);
    CHECK_FALSE(
        run(*std::ranges::find(calls(), std::string_view("wye_buffer_fill"), &Call::name), t.world)
            .ok());
    for (const Call& call : calls()) {
        INFO(std::string(call.name));
        if (frees(call)) continue;
        if (call.device)
            check_refused(run(call, t.world), WYE_DEVICE_LOST, "");
        else
            check_ok(run(call, t.world));
    }
    for (const Call& call : calls()) {
        INFO(std::string(call.name));
        if (frees(call)) check_ok(run(call, t.world));
    }
}

TEST_CASE("work in flight ends as usual when what it uses is freed") {
    Ready t;
    t.rig.driver.kernel = add_kernel;
    const std::vector<std::uint32_t> words = {1, 2, 3, 4};
    t.rig.upload(t.world.buffer, words);
    t.rig.driver.holds = true;
    wye_graph_run_desc how;
    WYE_INIT(how);
    how.queue = t.world.queue;
    const wye_pending running = t.rig.submitted(t.world.graph, how);
    check_refused(t.rig.free(t.world.buffer), WYE_BUFFER_IN_USE, "");
    for (const char* name : {"wye_graph_free", "wye_program_free", "wye_queue_free"}) {
        INFO(std::string(name));
        const auto call = std::ranges::find(calls(), std::string_view(name), &Call::name);
        check_ok(run(*call, t.world));
        check_refused(run(*call, t.world), WYE_STALE_HANDLE, "freed");
    }
    t.rig.driver.holds = false;
    check_ok(t.rig.wait(running));
    CHECK(t.rig.download<std::uint32_t>(t.world.other, 4) ==
          std::vector<std::uint32_t>{2, 3, 4, 5});
    check_ok(t.rig.free(t.world.buffer));
}

}  // namespace
}  // namespace wye::exec::test::test_wrong_calls
