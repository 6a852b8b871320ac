// SPDX-License-Identifier: Apache-2.0
//
// The life of a device through wye.hpp, on the CPU or a real driver: prepare, flush, a loss that
// the layer `faults` injects, recovery, shutdown. The layer `validate` watches the library and the
// plugin.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log_lines.hpp"
#include "support/driver.hpp"
#include "take.hpp"
#include "wye/graph.hpp"
#include "wye/pipeline.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_recovery {
namespace {

using Words = std::vector<std::uint32_t>;

using api_test::need;
using api_test::take;
using Log = api_test::LogLines;

// `rules`: the rules of the layer `faults`. If they are empty, that layer is left out.
wye::Context context_with(const std::string& rules, Log& log) {
    wye::ContextOptions options;
    options.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    options.plugin_paths = {support::test_driver_folder(), WYE_LAYERS_FOLDER};
    options.config = support::test_driver_config();
    options.config.emplace_back("layers", rules.empty() ? "validate" : "validate,faults");
    if (!rules.empty()) options.config.emplace_back("layer.faults.rules", rules);
    options.log = &Log::add;
    options.log_user = &log;
    return take(wye::Context::create(options));
}

bool computes(const std::string& selector) {
    return selector == "cpu" || support::test_driver_computes();
}

// Buffers, a graph and a queue of one device, and a function that uses them with a new program.
struct Work {
    std::optional<wye::Buffer> x, r;
    std::optional<wye::Graph> graph;
    std::optional<wye::Queue> queue;

    // Adds `k` to each word. `k` is part of the program's text, so each `k` needs a compilation.
    wye::Result<void> run(const wye::Context& context, const wye::Device& device, std::uint32_t k,
                          bool computes) {
        WYE_ASSIGN(queue, device.queue());
        WYE_ASSIGN(x, device.buffer(16));
        WYE_ASSIGN(r, device.buffer(16));
        const Words in = {1, 2, 3, 4};
        WYE_TRY(x->upload(in));
        const std::string text = "wye 1; program add" + std::to_string(k) +
                                 "; workgroup 64; input x: u32[]; output r: u32[len(x)];\n"
                                 "grid elements len(x);\n"
                                 "main { let i = global_id.x; if i < len(r) { r[i] = x[i] + " +
                                 std::to_string(k) + "u; } }";
        WYE_ASSIGN(const wye::Program program, context.program_from_text(text));
        WYE_ASSIGN(const wye::Pipeline pipeline, wye::Pipeline::create(program, device));
        wye::Dispatch dispatch(pipeline);
        dispatch.bind("x", *x).bind("r", *r);
        WYE_TRY(dispatch.run());
        WYE_ASSIGN(graph, wye::Graph::record(device, {&dispatch}));
        WYE_TRY(graph->run());
        WYE_TRY(device.flush());
        Words out(4), back(4);
        WYE_TRY(r->download(out));
        WYE_TRY(x->download(back));
        CHECK(back == in);
        for (std::uint32_t i = 0; computes && i < 4; ++i) CHECK(out[i] == in[i] + k);
        return {};
    }
};

// Checks the error of a call on a lost device.
void check_lost(const wye::Result<void>& result) {
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == wye::Code::DEVICE_LOST);
    CHECK(result.error().fix.starts_with("Fix: "));
}
template <typename T>
void check_lost(const wye::Result<T>& result) {
    REQUIRE_FALSE(result.ok());
    check_lost(wye::Result<void>(result.error()));
}

}  // namespace

TEST_CASE("an injected loss ends what a device has, and recovery gives one that works") {
    const std::string selector = support::test_driver();
    for (const std::string rule :
         {"submit:1:DEVICE_LOST", "submit:6:DEVICE_LOST", "wait:3:DEVICE_LOST",
          "buffer_create:9:DEVICE_LOST", "program_create:3:DEVICE_LOST",
          "queue_create:1:DEVICE_LOST", "command_create:2:DEVICE_LOST"}) {
        CAPTURE(rule);
        Log log;
        {
            const wye::Context context = context_with(rule, log);
            const wye::Device device = take(context.open(selector));
            Work work;
            std::optional<wye::Error> met;
            std::uint32_t k = 0;
            while (!met && k < 12) {
                auto ran = device.prepare();
                if (ran.ok()) ran = work.run(context, device, ++k, computes(selector));
                if (!ran.ok()) met = ran.error();
            }
            if (rule.starts_with("wait") && !met) continue;  // fewer than three waits
            REQUIRE(met);
            CAPTURE(met->message);
            check_lost(wye::Result<void>(*met));
            CHECK(take(device.lost()));

            // Every object of the device is lost. The application can free these objects without an
            // error.
            check_lost(device.prepare());
            check_lost(device.flush());
            check_lost(device.buffer(16));
            check_lost(device.queue());
            if (work.x) check_lost(work.x->upload(Words(4)));
            if (work.graph) check_lost(work.graph->run());
            if (work.graph) check_lost(work.graph->submit());
            if (work.queue) check_lost(work.queue->flush());

            const wye::Device again = take(device.recover());
            CHECK_FALSE(take(again.lost()));
            if (work.x) CHECK_FALSE(work.x->upload(Words(4)).ok());
            if (work.graph) CHECK_FALSE(work.graph->run().ok());
            Work fresh;
            need(again.prepare());
            need(fresh.run(context, again, 100, computes(selector)));
            need(fresh.run(context, again, 101, computes(selector)));
            CHECK(take(again.recover()).get() == again.get());  // not lost: the same device
        }
        CHECK(log.count("validate: P-") + log.count("validate: H-") == 0);
        CHECK(log.count(": 0 breaches in ") >= 1);
    }
}

TEST_CASE("a loss with work in flight ends that work, and the next device runs it") {
    const std::string selector = support::test_driver();
    Log log;
    {
        // The call of `run` makes five submits.
        const wye::Context context = context_with("submit:12:DEVICE_LOST", log);
        const wye::Device device = take(context.open(selector));
        Work work;
        need(work.run(context, device, 1, computes(selector)));
        std::vector<wye::Pending> pending;
        for (int i = 0; i < 40 && !take(device.lost()); ++i) {
            auto sent = work.graph->submit();
            if (sent.ok()) pending.push_back(*std::move(sent));
        }
        CHECK(take(device.lost()));
        REQUIRE_FALSE(pending.empty());
        for (const wye::Pending& one : pending) {  // work before the loss may have succeeded
            const auto ended = one.wait();
            if (!ended.ok()) CHECK(ended.error().code == wye::Code::DEVICE_LOST);
        }
        pending.clear();
        const wye::Device again = take(device.recover());
        Work fresh;
        need(fresh.run(context, again, 2, computes(selector)));
    }
    CHECK(log.count("validate: P-") + log.count("validate: H-") == 0);
}

TEST_CASE("a context that was shut down refuses every new call with SHUTTING_DOWN") {
    const std::string selector = support::test_driver();
    Log log;
    {
        const wye::Context context = context_with({}, log);
        const wye::Device device = take(context.open(selector));
        Work work;
        need(work.run(context, device, 7, computes(selector)));
        const wye::Pending pending = take(work.graph->submit());
        need(context.shut_down());
        const auto check_closed = [](const auto& result) {
            REQUIRE_FALSE(result.ok());
            CHECK(result.error().code == wye::Code::SHUTTING_DOWN);
            CHECK(result.error().fix.starts_with("Fix: "));
        };
        check_closed(context.open(selector));
        check_closed(device.prepare());
        check_closed(device.flush());
        check_closed(device.recover());
        check_closed(device.lost());
        check_closed(device.buffer(4));
        check_closed(work.x->upload(Words(4)));
        check_closed(work.graph->run());
    }
    CHECK(log.count("validate: P-") + log.count("validate: H-") == 0);
    CHECK(log.count(": 0 breaches in ") >= 1);
}

}  // namespace wye::test::test_recovery
