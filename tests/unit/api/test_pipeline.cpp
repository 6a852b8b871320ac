// SPDX-License-Identifier: Apache-2.0
//
// Pipelines through wye/pipeline.hpp, on the CPU and a real driver, against plain dispatches and
// plain C++.
#include "wye/pipeline.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"

namespace {

using Words = std::vector<std::uint32_t>;

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

Words counting(std::uint32_t count, std::uint32_t first = 0) {
    Words out;
    for (std::uint32_t i = 0; i < count; ++i) out.push_back(first + i);
    return out;
}

struct Opened {
    explicit Opened(const std::string& selector)
        : context(take(wye::Context::create({.plugin_paths = {support::test_driver_folder()}}))),
          device(take(context.open(selector))) {}
    wye::Context context;
    wye::Device device;

    [[nodiscard]] wye::Buffer buffer(const Words& words) const {
        auto out = take(device.buffer(words.size() * 4));
        need(out.upload(words));
        return out;
    }
    [[nodiscard]] wye::Pipeline pipeline(std::string_view text,
                                         const wye::PipelineOptions& options = {}) const {
        return take(wye::Pipeline::create(take(context.program_from_text(text)), device, options));
    }
};

// The CPU of the library and the driver of this test.
std::vector<std::string> selectors() { return {"cpu", support::test_driver()}; }

Words words_of(std::span<const std::uint32_t> words) { return {words.begin(), words.end()}; }

}  // namespace

TEST_CASE("every form of dispatch through a pipeline gives the bytes of a plain one") {
    for (const std::string& selector : selectors()) {
        CAPTURE(selector);
        const Opened t(selector);
        const Words x = counting(1000, 77), want = mixed(x, 9);
        std::optional<wye::Program> program(take(t.context.program_from_text(kMix)));
        Words plain(1000);
        take(wye::Dispatch(*program, t.device)
                 .param("k", 9U)
                 .input("x", x)
                 .output("r", plain)
                 .run());
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
        // Resident, first and repeated.
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
}

TEST_CASE("the options of a pipeline decide its launches") {
    for (const std::string& selector : selectors()) {
        CAPTURE(selector);
        const Opened t(selector);
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
}
