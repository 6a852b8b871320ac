// SPDX-License-Identifier: Apache-2.0
//
// Every form of call that runs a program, on the CPU and a real driver, with each mistake that all
// forms have in common. The error has the right code and names the wrong value, nothing runs, and a
// correct call works afterwards.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "unit/calls.hpp"
#include "wye/graph.hpp"
#include "wye/pipeline.h"
#include "wye/wye.hpp"

namespace wye::test::test_wrong_forms {
namespace {

using Words = std::vector<std::uint32_t>;

using api_test::need;
using api_test::take;
using calls::attempt;
using calls::Outcome;

// The outputs have twice as many elements as `x`, so a handle in the wrong place has the wrong
// size.
constexpr std::string_view kSplit = R"(wye 1; program split; workgroup 64; param k: u32;
input x: u32[]; output wide: u32[len(x) * 2]; output sum: u32[len(x) * 2]; grid elements len(x);
main { let i = global_id.x; if i < len(x) {
    wide[2u * i] = x[i]; wide[2u * i + 1u] = k;
    sum[2u * i] = x[i] + k; sum[2u * i + 1u] = k; } })";

// A program that runs long and can trap.
constexpr std::string_view kSlow = R"(wye 1; program slow; workgroup 1; param rounds: u32;
input_output x: u32[]; grid groups 1;
main { if len(x) < 4u { trap 3; } var v = x[0]; var i = 0u;
    while i < rounds { v = v * 3u + i; i = i + 1u; } x[0] = v; })";

constexpr std::uint32_t kCount = 100;
constexpr std::uint32_t kUntouched = 9;

struct World {
    explicit World(const std::string& selector)
        : context(take(wye::Context::create({.plugin_paths = {support::test_driver_folder()},
                                             .config = support::test_driver_config()}))),
          device(take(context.open(selector))),
          elsewhere(take(context.open(selector == "cpu" ? support::test_driver() : "cpu"))),
          queue(take(elsewhere.queue())),
          program(take(context.program_from_text(kSplit))) {
        wye_pipeline_desc desc;
        WYE_INIT(desc);
        desc.program = program.get();
        desc.device = device.get();
        REQUIRE(wye_pipeline_create(context.get(), &desc, &pipeline, nullptr) == WYE_OK);
        for (std::uint32_t i = 0; i < 3; ++i) {
            x.push_back(buffer(device, kCount));
            wide.push_back(buffer(device, 2 * kCount));
            sum.push_back(buffer(device, 2 * kCount));
        }
        foreign.push_back(buffer(elsewhere, kCount));
        foreign.push_back(buffer(elsewhere, 2 * kCount));
        auto gone = buffer(device, 2 * kCount);
        freed = gone.get();
        need(gone.free());
    }
    [[nodiscard]] static wye::Buffer buffer(const wye::Device& device, std::uint32_t count) {
        auto out = take(device.buffer(std::uint64_t{count} * 4));
        need(out.fill(kUntouched, 0, std::uint64_t{count} * 4));
        return out;
    }
    [[nodiscard]] bool computes() const {
        return support::test_driver_computes() ||
               wye::detail::view(take(device.describe()).plugin) == "cpu";
    }

    wye::Context context;
    wye::Device device, elsewhere;
    wye::Queue queue;  // of `elsewhere`
    wye::Program program;
    wye_pipeline pipeline = 0;              // of `program`
    std::vector<wye::Buffer> x, wide, sum;  // of three dispatches
    std::vector<wye::Buffer> foreign;
    wye_buffer freed = 0;
};

// A dispatch of `split` on the buffers number `index`.
struct Job : calls::Job {
    Job(const World& w, std::size_t index) : calls::Job(w.program.get(), w.device.get()) {
        resident(0, w.x[index].get()).resident(1, w.wide[index].get());
        resident(2, w.sum[index].get()).param(5);
    }
    void use_pipeline(const World& w) {
        desc.program = 0;
        desc.device = 0;
        desc.pipeline = w.pipeline;
    }
};

// ---- The forms ----------------------------------------------------------------------------

struct Form {
    const char* name;
    // Runs the job. A form of several dispatches runs three, of which the job is the second.
    Outcome (*run)(const World& w, Job& job);
    const char* where;        // the message begins with this
    bool runs_first = false;  // the dispatch before the job runs
};

Outcome free_when_made(const World& w, wye_pending pending, Outcome outcome) {
    if (outcome.status != WYE_OK) {
        CHECK(pending == 0);
        return outcome;
    }
    CHECK(wye_pending_wait(w.context.get(), pending, UINT64_MAX, nullptr, nullptr) == WYE_OK);
    CHECK(wye_pending_free(w.context.get(), pending, nullptr) == WYE_OK);
    return outcome;
}

Outcome blocking(const World& w, Job& job) {
    return attempt(
        [&](wye_error** e) { return wye_dispatch(w.context.get(), &job.filled(), nullptr, e); });
}
Outcome owned(const World& w, Job& job) {
    wye_pending pending = 0;
    const Outcome out = attempt([&](wye_error** e) {
        return wye_dispatch_owned(w.context.get(), &job.filled(), nullptr, &pending, e);
    });
    return free_when_made(w, pending, out);
}
Outcome submitted(const World& w, Job& job) {
    wye_pending pending = 0;
    const Outcome out = attempt([&](wye_error** e) {
        return wye_dispatch_submit(w.context.get(), &job.filled(), &pending, e);
    });
    return free_when_made(w, pending, out);
}
template <Outcome (*kForm)(const World&, Job&)>
Outcome piped(const World& w, Job& job) {
    job.use_pipeline(w);
    return kForm(w, job);
}

// Three dispatches. The second is the job.
struct Three {
    Three(const World& w, Job& job) : first(w, 0), last(w, 2) {
        if (job.desc.pipeline == 0) return;
        first.use_pipeline(w);
        last.use_pipeline(w);
    }
    Job first, last;
};

template <bool kOwned>
Outcome batch(const World& w, Job& job) {
    job.use_pipeline(w);
    Three three(w, job);
    const std::array items = {three.first.filled(), job.filled(), three.last.filled()};
    wye_batch_desc desc;
    WYE_INIT(desc);
    desc.pipeline = w.pipeline;
    desc.items = items.data();
    desc.item_count = items.size();
    std::uint64_t completed = 77;
    std::array<wye_pending, 3> owners = {77, 77, 77};
    const Outcome out = attempt([&](wye_error** e) {
        return kOwned ? wye_pipeline_batch_owned(w.context.get(), &desc, owners.data(), &completed,
                                                 nullptr, e)
                      : wye_pipeline_batch(w.context.get(), &desc, &completed, nullptr, e);
    });
    CHECK(completed == (out.status == WYE_OK ? 3 : 1));
    for (std::size_t i = 0; kOwned && i < 3; ++i) {
        CHECK((owners[i] != 0) == (i < completed));
        if (owners[i] != 0) CHECK(wye_pending_free(w.context.get(), owners[i], nullptr) == WYE_OK);
    }
    return out;
}

Outcome recorded(const World& w, Job& job) {
    Three three(w, job);
    const wye_graph_step steps[] = {{&three.first.filled(), nullptr},
                                    {&job.filled(), nullptr},
                                    {&three.last.filled(), nullptr}};
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = w.device.get();
    desc.steps = steps;
    desc.step_count = 3;
    desc.label = wye_str("g");
    wye_graph graph = 0;
    Outcome out =
        attempt([&](wye_error** e) { return wye_graph_create(w.context.get(), &desc, &graph, e); });
    CHECK((graph != 0) == (out.status == WYE_OK));
    if (graph == 0) return out;
    wye_graph_run_desc run;
    WYE_INIT(run);
    CHECK(wye_graph_run(w.context.get(), graph, &run, nullptr, nullptr) == WYE_OK);
    CHECK(wye_graph_free(w.context.get(), graph, nullptr) == WYE_OK);
    return out;
}

constexpr Form kForms[] = {
    {"wye_dispatch", blocking, ""},
    {"wye_dispatch_owned", owned, ""},
    {"wye_dispatch_submit", submitted, ""},
    {"wye_dispatch of a pipeline", piped<blocking>, ""},
    {"wye_dispatch_owned of a pipeline", piped<owned>, ""},
    {"wye_dispatch_submit of a pipeline", piped<submitted>, ""},
    {"wye_pipeline_batch", batch<false>, "item 1 of the batch: ", true},
    {"wye_pipeline_batch_owned", batch<true>, "item 1 of the batch: ", true},
    {"wye_graph_create", recorded, "step 1 of graph `g`"},
    {"wye_graph_create of a pipeline", piped<recorded>, "step 1 of graph `g`"},
};

// ---- The wrong calls ----------------------------------------------------------------------

struct Wrong {
    const char* name;
    void (*change)(const World& w, Job& job);
    wye_status status;
    const char* says;       // a part of the message
    bool in_graphs = true;  // false: a graph refuses any value of the member
};

constexpr Wrong kWrong[] = {
    {"one handle too few", [](const World&, Job& j) { j.arguments.pop_back(); },
     WYE_INVALID_ARGUMENT, "`sum`"},
    {"one handle too many", [](const World& w, Job& j) { j.resident(3, w.x[2].get()); },
     WYE_INVALID_ARGUMENT, "3"},
    {"no handles", [](const World&, Job& j) { j.arguments.clear(); }, WYE_INVALID_ARGUMENT, "`x`"},
    {"a binding twice", [](const World& w, Job& j) { j.resident(1, w.x[2].get()); }, WYE_DUPLICATE,
     "`wide`"},
    {"handles in another order",
     [](const World&, Job& j) { std::swap(j.arguments[0].buffer, j.arguments[1].buffer); },
     WYE_INVALID_ARGUMENT, "`wide`"},
    {"an output used twice",
     [](const World&, Job& j) { j.arguments[2].buffer = j.arguments[1].buffer; },
     WYE_INVALID_ARGUMENT, "overlap"},
    {"an input that is part of an output",
     [](const World& w, Job& j) {
         j.arguments[0].buffer = w.sum[1].get();
         j.arguments[0].size = std::uint64_t{kCount} * 4;
     },
     WYE_INVALID_ARGUMENT, "overlap"},
    {"an input of another device",
     [](const World& w, Job& j) { j.arguments[0].buffer = w.foreign[0].get(); }, WYE_WRONG_OWNER,
     "input 0"},
    {"an output of another device",
     [](const World& w, Job& j) { j.arguments[1].buffer = w.foreign[1].get(); }, WYE_WRONG_OWNER,
     "output 0"},
    {"a freed buffer", [](const World& w, Job& j) { j.arguments[2].buffer = w.freed; },
     WYE_STALE_HANDLE, "freed"},
    {"no buffer", [](const World&, Job& j) { j.arguments[2].buffer = 0; }, WYE_STALE_HANDLE, ""},
    {"a handle of another kind",
     [](const World& w, Job& j) { j.arguments[1].buffer = w.program.get(); }, WYE_WRONG_KIND,
     "program"},
    {"an unknown kind of argument", [](const World&, Job& j) { j.arguments[1].kind = 9; },
     WYE_INVALID_ARGUMENT, "9"},
    {"a range outside its buffer", [](const World&, Job& j) { j.arguments[0].offset = 4096; },
     WYE_INVALID_ARGUMENT, "4096"},
    {"a range whose end overflows",
     [](const World&, Job& j) {
         j.arguments[0].offset = UINT64_MAX - 3;
         j.arguments[0].size = 8;
     },
     WYE_INVALID_ARGUMENT, "18446744073709551612"},
    {"a range of part of an element", [](const World&, Job& j) { j.arguments[0].size = 6; },
     WYE_INVALID_ARGUMENT, "6 bytes"},
    {"a grid that overflows",
     [](const World&, Job& j) {
         j.desc.flags |= WYE_DISPATCH_GRID;
         std::fill_n(j.desc.grid, 3, UINT32_MAX);
     },
     WYE_LIMIT_EXCEEDED, "4294967295"},
    {"a grid buffer without its flag",
     [](const World& w, Job& j) { j.desc.grid_buffer = w.x[2].get(); }, WYE_INVALID_ARGUMENT,
     "without WYE_DISPATCH_INDIRECT"},
    {"a grid offset without its flag", [](const World&, Job& j) { j.desc.grid_offset = 4; },
     WYE_INVALID_ARGUMENT, "without WYE_DISPATCH_INDIRECT"},
    {"a grid and a grid buffer",
     [](const World& w, Job& j) {
         j.desc.flags |= WYE_DISPATCH_INDIRECT | WYE_DISPATCH_GRID;
         j.desc.grid_buffer = w.x[2].get();
     },
     WYE_INVALID_ARGUMENT, "and a grid buffer"},
    {"a grid buffer that ends too early",
     [](const World& w, Job& j) {
         j.desc.flags |= WYE_DISPATCH_INDIRECT;
         j.desc.grid_buffer = w.x[2].get();
         j.desc.grid_offset = 392;
     },
     WYE_INVALID_ARGUMENT, "12 bytes at offset 392 of a buffer of 400 bytes"},
    {"a grid buffer of another device",
     [](const World& w, Job& j) {
         j.desc.flags |= WYE_DISPATCH_INDIRECT;
         j.desc.grid_buffer = w.foreign[0].get();
     },
     WYE_WRONG_OWNER, "(of the grid)"},
    {"a freed grid buffer",
     [](const World& w, Job& j) {
         j.desc.flags |= WYE_DISPATCH_INDIRECT;
         j.desc.grid_buffer = w.freed;
     },
     WYE_STALE_HANDLE, "(of the grid)"},
    {"a parameter too few", [](const World&, Job& j) { j.params.clear(); }, WYE_INVALID_ARGUMENT,
     "gives 0"},
    {"a parameter too many", [](const World&, Job& j) { j.params.push_back(1); },
     WYE_INVALID_ARGUMENT, "2"},
    {"a parameter that overflows",
     [](const World&, Job& j) { j.params[0] = std::uint64_t{1} << 40U; }, WYE_INVALID_ARGUMENT,
     "`k`"},
    {"zero fixpoints", [](const World&, Job& j) { j.desc.flags |= WYE_DISPATCH_FIXPOINT; },
     WYE_INVALID_ARGUMENT, "fixpoint"},
    {"an unknown flag", [](const World&, Job& j) { j.desc.flags |= UINT32_C(1) << 31U; },
     WYE_INVALID_ARGUMENT, "80000000"},
    {"a flag that is reserved", [](const World&, Job& j) { j.desc.flags |= 16; }, WYE_UNSUPPORTED,
     "speculation"},
    {"a reserved member", [](const World&, Job& j) { j.desc.reserved = 3; }, WYE_INVALID_ARGUMENT,
     "reserved"},
    {"an unknown member", [](const World&, Job& j) { j.desc.header.size += 8; },
     WYE_INVALID_ARGUMENT, "wye_dispatch_desc"},
    {"a member missing", [](const World&, Job& j) { j.desc.header.size -= 8; },
     WYE_INVALID_ARGUMENT, "wye_dispatch_desc"},
    {"a workgroup override of a program that fixes it",
     [](const World&, Job& j) { std::fill_n(j.desc.workgroup, 3, 1); }, WYE_INVALID_ARGUMENT,
     "workgroup"},
    {"a queue of another kind", [](const World& w, Job& j) { j.desc.queue = w.x[0].get(); },
     WYE_WRONG_KIND, "buffer", false},
    {"a queue of another device", [](const World& w, Job& j) { j.desc.queue = w.queue.get(); },
     WYE_WRONG_OWNER, "queue", false},
};

// Whether the output buffers of a dispatch have their first contents.
bool untouched(const World& w, std::size_t index) {
    Words wide(2 * kCount), sum(2 * kCount);
    need(w.wide[index].download(wide));
    need(w.sum[index].download(sum));
    const auto same = [](std::uint32_t word) { return word == kUntouched; };
    return std::ranges::all_of(wide, same) && std::ranges::all_of(sum, same);
}

std::vector<std::string> selectors() { return {"cpu", support::test_driver()}; }

}  // namespace

TEST_CASE("each wrong call of each form has a named error, and runs nothing") {
    for (const std::string& selector : selectors()) {
        CAPTURE(selector);
        for (const Form& form : kForms) {
            CAPTURE(std::string(form.name));
            const World w(selector);
            for (const Wrong& wrong : kWrong) {
                CAPTURE(std::string(wrong.name));
                Job job(w, 1);
                wrong.change(w, job);
                const Outcome out = form.run(w, job);
                CAPTURE(out.message);
                const bool fits = form.run != recorded && form.run != piped<recorded>;
                CHECK(out.status ==
                      (fits || wrong.in_graphs ? wrong.status : WYE_INVALID_ARGUMENT));
                CHECK(out.message.starts_with(form.where));
                if (fits || wrong.in_graphs)
                    CHECK(out.message.find(wrong.says) != std::string::npos);
                CHECK(out.fix.starts_with("Fix: "));
                CHECK(untouched(w, 1));
                CHECK(untouched(w, 2));
            }
            if (w.computes()) CHECK(untouched(w, 0) != form.runs_first);
            Job right(w, 1);
            const Outcome out = form.run(w, right);
            CAPTURE(out.message);
            REQUIRE(out.status == WYE_OK);
            Words sum(2 * kCount);
            need(w.sum[1].download(sum));
            if (!w.computes()) continue;
            for (std::uint32_t i = 0; i < kCount; ++i) {
                CHECK(sum[2 * i] == kUntouched + 5);
                CHECK(sum[2 * i + 1] == 5);
            }
        }
    }
}

// ---- Mistakes of one form -----------------------------------------------------------------

namespace {

struct WrongRows {
    const char* name;
    std::vector<wye_buffer> (*buffers)(const World& w);
    wye_status status;
    const char* says;
};

std::vector<wye_buffer> row(const World& w, std::size_t index) {
    return {w.x[index].get(), w.wide[index].get(), w.sum[index].get()};
}
std::vector<wye_buffer> with(std::vector<wye_buffer> out, std::size_t at, wye_buffer buffer) {
    out[at] = buffer;
    return out;
}

constexpr WrongRows kWrongRows[] = {
    {"another order",
     [](const World& w) {
         return std::vector{w.wide[1].get(), w.x[1].get(), w.sum[1].get()};
     },
     WYE_INVALID_ARGUMENT, "`wide`"},
    {"an output used twice", [](const World& w) { return with(row(w, 1), 2, w.wide[1].get()); },
     WYE_INVALID_ARGUMENT, "overlap"},
    {"an output of another device",
     [](const World& w) { return with(row(w, 1), 1, w.foreign[1].get()); }, WYE_WRONG_OWNER,
     "output 0"},
    {"an input of another device",
     [](const World& w) { return with(row(w, 1), 0, w.foreign[0].get()); }, WYE_WRONG_OWNER,
     "input 0"},
    {"a freed buffer", [](const World& w) { return with(row(w, 1), 2, w.freed); }, WYE_STALE_HANDLE,
     "freed"},
    {"a handle of another kind", [](const World& w) { return with(row(w, 1), 2, w.program.get()); },
     WYE_WRONG_KIND, "program"},
};

}  // namespace

TEST_CASE("wrong rows stop the batch at their index, and a wrong size of rows is refused") {
    for (const std::string& selector : selectors()) {
        CAPTURE(selector);
        const World w(selector);
        Job job(w, 0);
        job.arguments.clear();
        job.use_pipeline(w);
        std::uint64_t completed = 0;
        std::vector<wye_buffer> outputs(6);
        const auto run = [&](const std::vector<wye_buffer>& buffers, std::uint32_t size) {
            wye_rows_desc desc;
            WYE_INIT(desc);
            desc.pipeline = w.pipeline;
            desc.dispatch = &job.filled();
            desc.buffers = buffers.data();
            desc.row_size = size;
            desc.row_count = buffers.size() / size;
            outputs.assign(6, 0);
            desc.outputs = outputs.data();
            return attempt([&](wye_error** e) {
                return wye_pipeline_rows(w.context.get(), &desc, &completed, nullptr, e);
            });
        };
        for (const WrongRows& wrong : kWrongRows) {
            CAPTURE(std::string(wrong.name));
            std::vector<wye_buffer> buffers = row(w, 0);
            for (const auto& more : {wrong.buffers(w), row(w, 2)})
                buffers.insert(buffers.end(), more.begin(), more.end());
            const Outcome out = run(buffers, 3);
            CAPTURE(out.message);
            CHECK(out.status == wrong.status);
            CHECK(out.message.starts_with("item 1 of the batch: "));
            CHECK(out.message.find(wrong.says) != std::string::npos);
            CHECK(out.fix.starts_with("Fix: "));
            CHECK(completed == 1);
            CHECK(outputs == std::vector<wye_buffer>{w.wide[0].get(), w.sum[0].get(), 0, 0, 0, 0});
            CHECK(untouched(w, 1));
            CHECK(untouched(w, 2));
        }
        for (const std::uint32_t size : {1U, 2U, 4U}) {
            std::vector<wye_buffer> buffers(size, w.x[0].get());
            const Outcome out = run(buffers, size);
            CHECK(out.status == WYE_INVALID_ARGUMENT);
            CHECK(out.message.find(std::to_string(size)) != std::string::npos);
            CHECK(completed == 0);
        }
    }
}

TEST_CASE("a pipeline of other layouts, or with unknown flags, is not made") {
    for (const std::string& selector : selectors()) {
        CAPTURE(selector);
        const World w(selector);
        const auto create = [&](auto&& change) {
            wye_pipeline_desc desc;
            WYE_INIT(desc);
            desc.program = w.program.get();
            desc.device = w.device.get();
            change(desc);
            wye_pipeline made = 0;
            const Outcome out = attempt([&](wye_error** e) {
                return wye_pipeline_create(w.context.get(), &desc, &made, e);
            });
            CHECK(made == 0);
            CHECK(out.fix.starts_with("Fix: "));
            return out;
        };
        const std::string other(32, 'a');
        const auto layout = create([&](auto& desc) {
            desc.layout_fingerprint = {other.data(), other.size()};
        });
        CHECK(layout.status == WYE_INVALID_ARGUMENT);
        CHECK(layout.message.find(other) != std::string::npos);
        const auto backend = create([&](auto& desc) {
            desc.backend_layout_fingerprint = {other.data(), other.size()};
        });
        CHECK(backend.status == WYE_INVALID_ARGUMENT);
        CHECK(backend.message.find(other) != std::string::npos);
        CHECK(backend.message != layout.message);
        const auto flag = create([&](auto& desc) { desc.flags = UINT32_C(1) << 31U; });
        CHECK(flag.status == WYE_INVALID_ARGUMENT);
        CHECK(flag.message.find("80000000") != std::string::npos);
        CHECK(create([&](auto& desc) { desc.reserved = 1; }).status == WYE_INVALID_ARGUMENT);
        CHECK(create([&](auto& desc) { desc.device = w.x[0].get(); }).status == WYE_WRONG_KIND);
        CHECK(create([&](auto& desc) { desc.program = w.device.get(); }).status == WYE_WRONG_KIND);
        CHECK(create([&](auto& desc) { std::fill_n(desc.workgroup, 3, 2); }).status ==
              WYE_INVALID_ARGUMENT);
    }
}

TEST_CASE("a graph that runs takes no other buffer until it has been waited for") {
    for (const std::string& selector : selectors()) {
        CAPTURE(selector);
        const World w(selector);
        const wye::Program slow = take(w.context.program_from_text(kSlow));
        const wye::Buffer x = World::buffer(w.device, 8), other = World::buffer(w.device, 8);
        wye::Dispatch dispatch(slow, w.device);
        dispatch.param("rounds", 60'000U).bind("x", x);
        auto graph = take(wye::Graph::record(w.device, {&dispatch}));
        const wye::Pending pending = take(graph.submit());
        const auto refused = graph.rebind(x, other);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().code == wye::Code::DEVICE_BUSY);
        CHECK(refused.error().fix.starts_with("Fix: "));
        (void)take(pending.wait());
        need(graph.rebind(x, other));
        (void)take(graph.run(std::array{std::uint64_t{2}}));
        Words found(8);
        need(other.download(found));
        // Two iterations of v = 3 v + i.
        if (w.computes()) CHECK(found[0] == (kUntouched * 3 + 0) * 3 + 1);
    }
}

TEST_CASE("a graph run with wrong parameters, flags or a foreign queue is refused") {
    for (const std::string& selector : selectors()) {
        CAPTURE(selector);
        const World w(selector);
        wye::Dispatch dispatch(w.program, w.device);
        dispatch.param("k", 5U).bind("x", w.x[0]).bind("wide", w.wide[0]).bind("sum", w.sum[0]);
        const auto graph = take(wye::Graph::record(w.device, {&dispatch}));
        const std::array<std::uint64_t, 2> params = {5, std::uint64_t{1} << 40U};
        const auto run = [&](auto&& change) {
            wye_graph_run_desc desc;
            WYE_INIT(desc);
            change(desc);
            const Outcome ran = attempt([&](wye_error** e) {
                return wye_graph_run(w.context.get(), graph.get(), &desc, nullptr, e);
            });
            wye_pending pending = 0;
            const Outcome sent = attempt([&](wye_error** e) {
                return wye_graph_submit(w.context.get(), graph.get(), &desc, &pending, e);
            });
            CHECK(pending == 0);
            CHECK(sent.status == ran.status);
            CHECK(ran.fix.starts_with("Fix: "));
            return ran.status;
        };
        CHECK(run([&](auto& d) {
                  d.params = params.data();
                  d.param_count = 2;
              }) == WYE_INVALID_ARGUMENT);
        CHECK(run([&](auto& d) {
                  d.params = params.data() + 1;
                  d.param_count = 1;
              }) == WYE_INVALID_ARGUMENT);
        CHECK(run([&](auto& d) { d.param_count = 1; }) == WYE_INVALID_ARGUMENT);
        CHECK(run([&](auto& d) { d.flags = UINT32_C(1) << 31U; }) == WYE_INVALID_ARGUMENT);
        CHECK(run([&](auto& d) { d.reserved = 1; }) == WYE_INVALID_ARGUMENT);
        CHECK(run([&](auto& d) { d.header.size += 8; }) == WYE_INVALID_ARGUMENT);
        CHECK(run([&](auto& d) { d.queue = w.queue.get(); }) == WYE_WRONG_OWNER);
        CHECK(run([&](auto& d) { d.queue = w.x[0].get(); }) == WYE_WRONG_KIND);
        CHECK(untouched(w, 0));
        (void)take(graph.run());
        if (w.computes()) CHECK_FALSE(untouched(w, 0));
    }
}

}  // namespace wye::test::test_wrong_forms
