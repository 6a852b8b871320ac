// SPDX-License-Identifier: Apache-2.0
//
// Pipelines through wye/pipeline.hpp, on the CPU or a real driver, compared with plain dispatches
// and plain C++.
#include "wye/pipeline.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opened.hpp"

namespace wye::test::test_pipeline {
namespace {

using api_test::need;
using api_test::take;

constexpr std::string_view kMix = R"(wye 1; program mix; workgroup 64 adjustable; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { r[i] = (x[i] ^ k) * 2654435761u + i; } })";

Words mixed(const Words& x, std::uint32_t k) {
    Words out;
    for (std::uint32_t i = 0; i < x.size(); ++i) out.push_back((x[i] ^ k) * 2654435761U + i);
    return out;
}

struct Opened : test::Opened {
    [[nodiscard]] wye::Pipeline pipeline(std::string_view text,
                                         const wye::PipelineOptions& options = {}) const {
        return take(wye::Pipeline::create(take(context.program_from_text(text)), device, options));
    }
};

Words words_of(std::span<const std::uint32_t> words) { return {words.begin(), words.end()}; }

}  // namespace

TEST_CASE("every form of dispatch through a pipeline gives the bytes of a plain one") {
    const Opened t;
    const Words x = counting(1000, 77), want = mixed(x, 9);
    std::optional<wye::Program> program(take(t.context.program_from_text(kMix)));
    Words plain(1000);
    take(wye::Dispatch(*program, t.device).param("k", 9U).input("x", x).output("r", plain).run());
    CHECK(plain == want);
    const auto pipeline = take(wye::Pipeline::create(*program, t.device));
    const std::string fingerprint(wye::detail::view(take(program->describe()).fingerprint));
    program.reset();
    const std::uint64_t compiled = take(t.context.counters()).programs_compiled;

    Words into(1000);
    wye::Dispatch dispatch(pipeline);
    dispatch.param("k", 9U).input("x", x).output("r", into);
    CHECK(take(dispatch.run()).compiled == 0);
    CHECK(into == want);
    wye::Dispatch own(pipeline);
    own.param("k", 9U).input("x", x);
    const auto owned = take(own.timed().run_owned());
    CHECK(words_of(take(owned.get<std::uint32_t>("r"))) == want);
    CHECK(owned.times().wall >= owned.times().enqueue);
    wye::OutputSlots slots;
    take(own.run_into(slots));
    CHECK(words_of(take(slots.get<std::uint32_t>("r"))) == want);
    const auto pending = take(own.submit());
    take(pending.wait());
    CHECK(words_of(take(pending.output<std::uint32_t>("r"))) == want);
    // With resident buffers: the first dispatch, and repeated dispatches.
    const wye::Buffer in = t.buffer(x), out = t.buffer(Words(1000));
    for (std::uint32_t k = 0; k < 4; ++k) {
        wye::Dispatch resident(pipeline);
        resident.param("k", k).bind("x", in).bind("r", out);
        const wye_report report = take(resident.run());
        CHECK(report.device == t.device.get());
        CHECK(report.bytes_uploaded + report.bytes_downloaded == 0);
        Words got(1000);
        need(out.download(got));
        CHECK(got == mixed(x, k));
    }
    const wye_pipeline_description about = take(pipeline.describe());
    CHECK(about.launches == 8);
    CHECK(take(t.context.counters()).programs_compiled == compiled);
    const std::string plugin(wye::detail::view(take(t.device.describe()).plugin));
    CHECK(wye::detail::view(about.id) == plugin + ":" + fingerprint);
}

TEST_CASE("the options of a pipeline decide its launches") {
    const Opened t;
    const Words x = counting(96);
    const auto pipeline = t.pipeline(kMix, {.workgroup = {32, 1, 1}});
    Words out(96);
    wye::Dispatch dispatch(pipeline);
    dispatch.param("k", 1U).input("x", x).output("r", out);
    const wye_report report = take(dispatch.run());
    CHECK(report.groups[0] == 3);
    CHECK(report.compiled == 0);
    CHECK(out == mixed(x, 1));
    dispatch.ulp_budget(4);
    const auto refused = dispatch.run();
    REQUIRE(!refused.ok());
    CHECK(refused.error().code == wye::Code::INVALID_ARGUMENT);
    CHECK(refused.error().message.find("`ulp_budget`") != std::string::npos);
}

namespace {

constexpr std::string_view kCheck = R"(wye 1; program check; workgroup 1;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { if x[i] == 0u { trap 7; } r[i] = 100u / x[i]; } })";

// Dispatches of `mix`, each with parameters and inputs of its own.
struct Items {
    Items(const wye::Pipeline& pipeline, std::size_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            inputs.push_back(counting(200 + i, i * 1000));
            all.push_back(std::make_unique<wye::Dispatch>(pipeline));
            all.back()->param("k", i).input("x", inputs.back());
        }
        for (const auto& one : all) list.push_back(one.get());
    }
    [[nodiscard]] Words want(std::uint32_t i) const { return mixed(inputs[i], i); }

    std::deque<Words> inputs;
    std::vector<std::unique_ptr<wye::Dispatch>> all;
    std::vector<wye::Dispatch*> list;
};

void check_completed(const wye::BatchResult& result, std::uint64_t count) {
    if (result.error) MESSAGE(result.error->text());
    CHECK(!result.error);
    CHECK(result.completed == count);
}

}  // namespace

TEST_CASE("a pipeline says what its kernel needs, as far as the driver knows") {
    constexpr std::string_view kShared = R"(wye 1; program swap; workgroup 64;
input x: u32[]; output r: u32[len(x)]; shared tile: u32[64]; grid elements len(x);
main {
    tile[local_id.x] = global_id.x;
    barrier;
    if global_id.x < len(x) { r[global_id.x] = x[global_id.x] + tile[63u - local_id.x]; }
})";
    const std::string selector = support::test_driver();
    const Opened t;
    const wye::Pipeline pipeline = t.pipeline(kShared);
    const auto made = take(pipeline.describe());
    CHECK(made.max_invocations >= 64);
    // Only CUDA's driver tells the number of registers, and how many workgroups run at once.
    const bool cuda = selector.starts_with("cuda");
    CHECK((made.registers > 0) == cuda);
    CHECK((made.resident_groups > 0) == cuda);
    if (!selector.starts_with("vulkan")) CHECK(made.shared_bytes >= 64 * 4);
    CHECK(made.reserved == 0);
}

TEST_CASE("pipelines of one layout share the driver's layout, where it has any") {
    const auto program_text = [](std::uint32_t k, int more) {
        std::string out = "wye 1; program p" + std::to_string(k) + "; workgroup 64;\n";
        for (int i = 0; i < more; ++i) out += "input m" + std::to_string(i) + ": u32[];\n";
        return out + "input x: u32[]; output r: u32[len(x)]; grid elements len(x);\n" +
               "main { let i = global_id.x; if i < len(x) { r[i] = x[i] * " + std::to_string(k) +
               "u; } }";
    };
    const std::string selector = support::test_driver();
    const Opened t;
    const std::uint64_t has_layouts = selector.starts_with("vulkan") ? 1 : 0;
    std::vector<wye::Pipeline> pipelines;
    std::string layout, backend;
    const auto before = take(t.device.counters());
    for (std::uint32_t k = 1; k <= 6; ++k) {
        // More buffers than the plugin itself uses when it tests a device, so the layout is new.
        pipelines.push_back(t.pipeline(program_text(k, 9)));
        const auto made = take(pipelines.back().describe());
        const std::string fingerprint(wye::detail::view(made.backend_layout_fingerprint));
        CHECK(made.layout_slot_count >= 2);
        if (k == 1) backend = fingerprint;
        if (k == 1) layout = wye::detail::view(made.program->layout_fingerprint);
        CHECK(fingerprint == backend);
        CHECK(wye::detail::view(made.program->layout_fingerprint) == layout);
    }
    const auto after = take(t.device.counters());
    const std::uint64_t programs = after.programs_compiled + after.programs_loaded -
                                   before.programs_compiled - before.programs_loaded;
    CHECK(programs >= 6);
    CHECK(after.layouts_made - before.layouts_made == has_layouts);
    CHECK(after.layouts_shared - before.layouts_shared == has_layouts * (programs - 1));

    // Still more buffers need a layout of their own.
    const wye::Pipeline other = t.pipeline(program_text(7, 17));
    const auto wide = take(other.describe());
    CHECK(wye::detail::view(wide.backend_layout_fingerprint) != backend);
    CHECK(take(t.device.counters()).layouts_made - after.layouts_made == has_layouts);

    // A caller may name the layouts that it was built for.
    const auto program = take(t.context.program_from_text(program_text(8, 9)));
    CHECK(
        wye::Pipeline::create(program, t.device,
                              {.layout_fingerprint = layout, .backend_layout_fingerprint = backend})
            .ok());
    const auto refused = wye::Pipeline::create(
        program, t.device, {.layout_fingerprint = layout, .backend_layout_fingerprint = layout});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::INVALID_ARGUMENT);
    CHECK(refused.error().subject == "backend_layout_fingerprint");
}

TEST_CASE("every form of batch gives the bytes of plain dispatches") {
    constexpr std::uint32_t kCount = 12;
    const Opened t;
    const auto pipeline = t.pipeline(kMix);
    Items into(pipeline, kCount);
    std::deque<Words> got;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        got.emplace_back(into.inputs[i].size());
        into.all[i]->output("r", got.back());
    }
    check_completed(pipeline.batch(into.list), kCount);
    Items own(pipeline, kCount);
    std::vector<wye::Outputs> outputs;
    check_completed(pipeline.batch_owned(own.list, outputs), kCount);
    REQUIRE(outputs.size() == kCount);
    Items slotted(pipeline, kCount);
    std::vector<wye::OutputSlots> slots(kCount);
    for (int round = 0; round < 2; ++round)
        check_completed(pipeline.batch_into(slotted.list, slots), kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) {
        CHECK(got[i] == into.want(i));
        CHECK(words_of(take(outputs[i].get<std::uint32_t>("r"))) == own.want(i));
        CHECK(words_of(take(slots[i].get<std::uint32_t>("r"))) == slotted.want(i));
        CHECK(slots[i].grown() == 1);
    }
    CHECK(take(pipeline.describe()).launches == 4 * kCount);
}

TEST_CASE("resident batches are one submit, move no byte to the host, and see one another") {
    const Opened t;
    const auto pipeline = t.pipeline(kMix);
    const Words x = counting(500, 3);
    std::deque<wye::Buffer> buffers;
    buffers.push_back(t.buffer(x));
    std::vector<std::unique_ptr<wye::Dispatch>> all;
    std::vector<wye::Dispatch*> list;
    Words want = x;
    for (std::uint32_t i = 0; i < 20; ++i) {  // each reads what the one before wrote
        buffers.push_back(t.buffer(Words(500)));
        all.push_back(std::make_unique<wye::Dispatch>(pipeline));
        all.back()->param("k", i).bind("x", buffers[i]).bind("r", buffers[i + 1]);
        list.push_back(all.back().get());
        want = mixed(want, i);
    }
    const wye_counters before = take(t.device.counters());
    const auto result = pipeline.batch(list);
    check_completed(result, 20);
    const wye_counters after = take(t.device.counters());
    CHECK(after.submits == before.submits + 1);
    CHECK(after.dispatches == before.dispatches + 20);
    CHECK(after.bytes_uploaded == before.bytes_uploaded);
    CHECK(after.bytes_downloaded == before.bytes_downloaded);
    Words got(500);
    need(buffers.back().download(got));
    CHECK(got == want);
}

TEST_CASE("batches of any length run every item, in order") {
    const Opened t;
    const auto pipeline = t.pipeline(kMix);
    for (const std::size_t count : {1U, 65U, 1024U, 1025U, 2001U}) {
        CAPTURE(count);
        const Words x = counting(70);
        const wye::Buffer a = t.buffer(x), b = t.buffer(Words(70));
        wye::Dispatch there(pipeline), back(pipeline);
        there.param("k", 3U).bind("x", a).bind("r", b);
        back.param("k", 11U).bind("x", b).bind("r", a);
        std::vector<wye::Dispatch*> list;
        Words want = x;
        for (std::size_t i = 0; i < count; ++i) {
            list.push_back(i % 2 == 0 ? &there : &back);
            want = mixed(want, i % 2 == 0 ? 3 : 11);
        }
        check_completed(pipeline.batch(list), count);
        Words got(70);
        need((count % 2 == 0 ? a : b).download(got));
        CHECK(got == want);
    }
}

TEST_CASE("rows give their outputs, which the next rows take") {
    const Opened t;
    const auto pipeline = t.pipeline(kMix);
    const Words first = counting(64), second = counting(64, 99);
    const wye::Buffer a = t.buffer(first), b = t.buffer(second);
    const wye::Buffer ra = t.buffer(Words(64)), rb = t.buffer(Words(64));
    const wye::Buffer rra = t.buffer(Words(64)), rrb = t.buffer(Words(64));
    wye::Dispatch shared(pipeline);
    shared.param("k", 6U);
    std::vector<const wye::Buffer*> outputs;
    const wye::Buffer* const rows[] = {&a, &ra, &b, &rb};
    check_completed(pipeline.rows(shared, rows, &outputs), 2);
    REQUIRE(outputs == std::vector<const wye::Buffer*>{&ra, &rb});
    const wye::Buffer* const more[] = {outputs[0], &rra, outputs[1], &rrb};
    check_completed(pipeline.rows(shared, more), 2);
    Words got(64);
    need(rra.download(got));
    CHECK(got == mixed(mixed(first, 6), 6));
    need(rrb.download(got));
    CHECK(got == mixed(mixed(second, 6), 6));
    const wye::Buffer* const twice[] = {&a, &ra, &b, &b};
    outputs.clear();
    const auto refused = pipeline.rows(shared, twice, &outputs);
    REQUIRE(refused.error);
    CHECK(refused.error->code == wye::Code::INVALID_ARGUMENT);
    CHECK(refused.error->message.starts_with("item 1 of the batch: "));
    CHECK(refused.completed == 1);
    CHECK(outputs == std::vector<const wye::Buffer*>{&ra});
    const auto uneven = pipeline.rows(shared, std::span(twice).first(3));
    REQUIRE(uneven.error);
    CHECK(uneven.error->message.starts_with("3 buffers are not whole rows of 2"));
}

TEST_CASE("a batch stops at the item that fails, and keeps those before it") {
    const Opened t;
    const auto pipeline = t.pipeline(kCheck);
    const std::vector<Words> inputs = {{1, 2}, {5, 10}, {4, 0}, {20, 50}};
    std::vector<std::unique_ptr<wye::Dispatch>> all;
    std::vector<wye::Dispatch*> list;
    std::deque<Words> got;
    for (const Words& in : inputs) {
        got.push_back({9, 9});
        all.push_back(std::make_unique<wye::Dispatch>(pipeline));
        all.back()->input("x", in).output("r", got.back());
        list.push_back(all.back().get());
    }
    const auto trapped = pipeline.batch(list);
    REQUIRE(trapped.error);
    CHECK(trapped.error->code == wye::Code::TRAPPED);
    CHECK(trapped.error->message.starts_with("item 2 of the batch: "));
    CHECK(trapped.completed == 2);
    CHECK(trapped.report.trap_code == 7);
    CHECK(got[0] == Words{100, 50});
    CHECK(got[1] == Words{20, 10});
    CHECK(got[2] == Words{9, 9});
    // A wrong name is found before any part of that item runs.
    wye::Dispatch wrong(pipeline);
    wrong.input("y", inputs[0]);
    got[0] = {9, 9};
    const auto refused = pipeline.batch(std::vector<wye::Dispatch*>{list[0], &wrong, list[1]});
    REQUIRE(refused.error);
    CHECK(refused.error->message == "item 1 of the batch: `y` is not a buffer of the program");
    CHECK(refused.completed == 1);
    CHECK(got[0] == Words{100, 50});
    const auto none = pipeline.batch({});
    REQUIRE(none.error);
    CHECK(none.error->code == wye::Code::INVALID_ARGUMENT);
}

}  // namespace wye::test::test_pipeline
