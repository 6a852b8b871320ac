// SPDX-License-Identifier: Apache-2.0
//
// A context on the fake driver, driven through the C API, and shorthand for its calls.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "fake_driver.hpp"
#include "unit/calls.hpp"
#include "wye/buffer.h"
#include "wye/graph.h"
#include "wye/pipeline.h"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec::test {

using calls::attempt;
using calls::check_ok;
using calls::check_refused;
using calls::Job;
using calls::Outcome;

struct Rig {
    FakeDriver driver;
    wye_context* context = nullptr;

    explicit Rig(registry::Config config = {}) {
        driver.config = std::move(config);
        context = driver.context();
        REQUIRE(context != nullptr);
    }
    ~Rig() {
        if (context != nullptr) wye_context_destroy(context);
        CHECK(driver.used_rooms == 0);
        CHECK(driver.wrong_hints == 0);
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    wye_device device(const char* selector = "fake:0") const {
        wye_device out = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_device_open(context, wye_str(selector), 0, &out, e);
        }));
        return out;
    }
    wye_program program(std::string_view text) const {
        wye_program_source source;
        WYE_INIT(source);
        source.text = {text.data(), text.size()};
        wye_program out = 0;
        check_ok(
            attempt([&](wye_error** e) { return wye_program_create(context, &source, &out, e); }));
        return out;
    }
    Outcome prepare(wye_device device, wye_program program) const {
        return attempt([&](wye_error** e) {
            return wye_program_prepare(context, program, device, nullptr, e);
        });
    }
    // A compiled program: a dispatch of it is submitted to the driver before the call returns.
    wye_program prepared(wye_device device, std::string_view text) const {
        const wye_program out = program(text);
        check_ok(prepare(device, out));
        return out;
    }
    wye_pipeline pipeline(wye_device device, wye_program program, std::uint32_t flags = 0) const {
        wye_pipeline_desc desc;
        WYE_INIT(desc);
        desc.program = program;
        desc.device = device;
        desc.flags = flags;
        wye_pipeline out = 0;
        check_ok(
            attempt([&](wye_error** e) { return wye_pipeline_create(context, &desc, &out, e); }));
        return out;
    }
    wye_pipeline_description describe(wye_pipeline pipeline) const {
        wye_pipeline_description out;
        WYE_INIT(out);
        check_ok(attempt(
            [&](wye_error** e) { return wye_pipeline_describe(context, pipeline, &out, e); }));
        return out;
    }
    Outcome create(wye_device device, const wye_buffer_create_desc& desc, wye_buffer& out) const {
        return attempt(
            [&](wye_error** e) { return wye_buffer_create(context, device, &desc, &out, e); });
    }
    wye_buffer buffer(wye_device device, std::uint64_t size, const char* label = "b") const {
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = size;
        desc.label = wye_str(label);
        wye_buffer out = 0;
        check_ok(create(device, desc, out));
        return out;
    }
    Outcome free(wye_buffer buffer) const {
        return attempt([&](wye_error** e) { return wye_buffer_free(context, buffer, e); });
    }
    // Records a graph of these dispatches. The descriptions point into jobs, so the jobs must still
    // exist.
    wye_graph graph(wye_device device, const std::vector<wye_dispatch_desc>& dispatches,
                    const char* label = nullptr) const {
        std::vector<wye_graph_step> steps;
        for (const wye_dispatch_desc& dispatch : dispatches) steps.push_back({&dispatch, nullptr});
        wye_graph_desc desc;
        WYE_INIT(desc);
        desc.device = device;
        desc.steps = steps.data();
        desc.step_count = steps.size();
        if (label != nullptr) desc.label = wye_str(label);
        wye_graph out = 0;
        check_ok(attempt([&](wye_error** e) { return wye_graph_create(context, &desc, &out, e); }));
        return out;
    }
    Outcome submit(Job job, wye_pending& out) const {
        return attempt(
            [&](wye_error** e) { return wye_dispatch_submit(context, &job.filled(), &out, e); });
    }
    wye_pending submitted(Job job) const {
        wye_pending out = 0;
        check_ok(submit(std::move(job), out));
        return out;
    }
    Outcome wait(wye_pending pending, std::uint64_t timeout_ns = UINT64_MAX,
                 wye_report* report = nullptr) const {
        return attempt([&](wye_error** e) {
            return wye_pending_wait(context, pending, timeout_ns, report, e);
        });
    }
    bool ended(wye_pending pending) const {
        std::uint32_t out = 2;
        check_ok(
            attempt([&](wye_error** e) { return wye_pending_poll(context, pending, &out, e); }));
        REQUIRE(out < 2);
        return out == 1;
    }
    Outcome free_pending(wye_pending pending) const {
        return attempt([&](wye_error** e) { return wye_pending_free(context, pending, e); });
    }
    Outcome cancel(wye_pending pending) const {
        return attempt([&](wye_error** e) { return wye_pending_cancel(context, pending, e); });
    }
    wye_bytes output(wye_pending pending, std::uint32_t binding = 1) const {
        wye_bytes out{};
        check_ok(attempt(
            [&](wye_error** e) { return wye_pending_output(context, pending, binding, &out, e); }));
        return out;
    }
    Outcome owned(Job job, wye_report* report, wye_pending& out) const {
        return attempt([&](wye_error** e) {
            return wye_dispatch_owned(context, &job.filled(), report, &out, e);
        });
    }
    Outcome run(wye_graph graph, const wye_graph_run_desc& run,
                wye_report* report = nullptr) const {
        return attempt(
            [&](wye_error** e) { return wye_graph_run(context, graph, &run, report, e); });
    }
    Outcome submit(wye_graph graph, const wye_graph_run_desc& run, wye_pending& out) const {
        return attempt(
            [&](wye_error** e) { return wye_graph_submit(context, graph, &run, &out, e); });
    }
    wye_pending submitted(wye_graph graph, const wye_graph_run_desc& run) const {
        wye_pending out = 0;
        check_ok(submit(graph, run, out));
        return out;
    }
    Outcome rebind(wye_graph graph, const wye_graph_rebinding* changes, std::uint64_t count) const {
        return attempt(
            [&](wye_error** e) { return wye_graph_rebind(context, graph, changes, count, e); });
    }
    Outcome batch(const wye_batch_desc& desc, std::uint64_t* completed, wye_report* report) const {
        return attempt([&](wye_error** e) {
            return wye_pipeline_batch(context, &desc, completed, report, e);
        });
    }
    Outcome transfer(const wye_transfer_desc& desc, wye_report* report = nullptr) const {
        return attempt(
            [&](wye_error** e) { return wye_buffer_transfer(context, &desc, report, e); });
    }
    Outcome submit(const wye_transfer_desc& desc, wye_pending& out) const {
        return attempt(
            [&](wye_error** e) { return wye_buffer_transfer_submit(context, &desc, &out, e); });
    }
    wye_pending submitted(const wye_transfer_desc& desc) const {
        wye_pending out = 0;
        check_ok(submit(desc, out));
        return out;
    }
    Outcome create(wye_device device, const wye_queue_create_desc& desc, wye_queue& out) const {
        return attempt(
            [&](wye_error** e) { return wye_queue_create(context, device, &desc, &out, e); });
    }
    Outcome flush(wye_device device) const {
        return attempt([&](wye_error** e) { return wye_device_flush(context, device, e); });
    }
    wye_counters counters(wye_device device) const {
        wye_counters out;
        WYE_INIT(out);
        check_ok(
            attempt([&](wye_error** e) { return wye_device_counters(context, device, &out, e); }));
        return out;
    }
    // The counters of the context.
    wye_counters counters() const {
        wye_counters out;
        WYE_INIT(out);
        check_ok(attempt([&](wye_error** e) { return wye_context_counters(context, &out, e); }));
        return out;
    }
    template <typename T>
    void upload(wye_buffer buffer, const std::vector<T>& values) const {
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_upload_range(context, buffer, 0,
                                           {values.data(), values.size() * sizeof(T)}, e);
        }));
    }
    template <typename T>
    std::vector<T> download(wye_buffer buffer, std::size_t count) const {
        std::vector<T> out(count);
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_download_range(context, buffer, 0, out.data(), count * sizeof(T), e);
        }));
        return out;
    }
};

// A base class of a fixture `Of` that has a member `rig`: shorthand for calls on pending work.
template <typename Of>
struct Calls {
    Outcome submit(Job job, wye_pending& out) const { return its().submit(std::move(job), out); }
    wye_pending submitted(Job job) const { return its().submitted(std::move(job)); }
    Outcome wait(wye_pending pending, std::uint64_t timeout_ns = UINT64_MAX,
                 wye_report* report = nullptr) const {
        return its().wait(pending, timeout_ns, report);
    }
    bool ended(wye_pending pending) const { return its().ended(pending); }
    Outcome free(wye_pending pending) const { return its().free_pending(pending); }

  private:
    const Rig& its() const { return static_cast<const Of*>(this)->rig; }
};

// r = x + k. On the fake driver, add_kernel() below does the work.
inline constexpr std::string_view kAdd = R"(wye 1; program add; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k; } })";

// This program is split at the grid barriers into one phase more than the value of `rounds`.
inline constexpr std::string_view kGridRounds = R"(wye 1; program rounds; workgroup 64;
param rounds: u32; input_output a: u32[]; grid elements len(a);
main { for i in 0u..rounds { a[global_id.x] = i; grid_barrier; a[global_id.x] = i + 1u; } })";

inline void add_kernel(const wye_dispatch_op& op) {
    const auto* x = FakeDriver::data<std::uint32_t>(op.bindings[0]);
    auto* r = FakeDriver::data<std::uint32_t>(op.bindings[1]);
    const std::uint32_t k = *static_cast<const std::uint32_t*>(op.params);
    for (std::uint64_t i = 0; i < op.bindings[1].elements; ++i) r[i] = x[i] + k;
}

// A dispatch of kAdd with host arguments.
struct HostWords {
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.program(kAdd);
    std::vector<std::uint32_t> x = {1, 2, 3}, r = {9, 9, 9};

    HostWords() { rig.driver.kernel = add_kernel; }
    Job job() { return Job(program, device).param(1).in(0, x.data(), 12).out(1, r.data(), 12); }
};

// A program that can trap.
inline constexpr std::string_view kTrap = R"(wye 1; program check; workgroup 1;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { if x[i] == 0u { trap 7; } r[i] = 100u / x[i]; } })";

}  // namespace wye::exec::test
