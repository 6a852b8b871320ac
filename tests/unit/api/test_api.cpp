// SPDX-License-Identifier: Apache-2.0
//
// The C++ layer over libwye.so, on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "take.hpp"
#include "wye/graph.hpp"
#include "wye/pipeline.hpp"
#include "wye/wye.hpp"

namespace {

using wye::Code;

wye::Context context() {
    auto made =
        wye::Context::create({.flags = WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_IGNORE_ENVIRONMENT});
    REQUIRE(made.ok());
    return std::move(made).value();
}

using api_test::take;

constexpr std::string_view kSaxpy = R"(wye 1; program saxpy; workgroup 64; param a: f32;
input x: f32[]; input y: f32[len(x)]; output r: f32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = a * x[i] + y[i]; } })";

TEST_CASE("a program in six lines") {
    const auto ctx = context();
    const auto device = take(ctx.open("cpu"));
    const auto program = take(ctx.program_from_text(kSaxpy));
    const std::vector<float> x = {1, 2, 3};
    const std::array<float, 3> y = {10, 20, 30};
    std::vector<float> r(3);
    const auto report = take(wye::Dispatch(program, device)
                                 .param("a", 2.0F)
                                 .input("x", x)
                                 .input("y", y)
                                 .output("r", r)
                                 .run());
    CHECK(r == std::vector<float>{12, 24, 36});
    CHECK(report.bytes_uploaded == 24);
    CHECK(report.compiled == 1);
}

TEST_CASE("without a device the library chooses one, in every form of the C++ layer") {
    const auto ctx = context();
    const auto program = take(ctx.program_from_text(kSaxpy));
    const std::vector<float> x = {1, 2, 3}, y = {10, 20, 30}, expected = {12, 24, 36};
    std::vector<float> r(3);
    auto dispatch = wye::Dispatch(program).param("a", 2.0F).input("x", x).input("y", y);
    const auto check = [&](const wye_report& report) {
        CHECK(report.routed == WYE_ROUTED_CHOSEN);
        const wye::Choice choice = take(ctx.choice(report.choice));
        CHECK(choice.selector == "cpu:0");
        CHECK(choice.reason.starts_with("auto: the best usable device"));
        CHECK(choice.passed_over.empty());
        CHECK(take(wye::Device(program.shared_context(), report.device).describe()).selector.size ==
              5);
    };
    auto owned = take(dispatch.run_owned());
    check(owned.report);
    CHECK(std::ranges::equal(take(owned.get<float>("r")), expected));
    wye::OutputSlots slots;
    check(take(dispatch.run_into(slots)));
    auto pending = take(dispatch.submit());
    check(take(pending.wait()));
    check(take(dispatch.output("r", r).timed().run()));
    CHECK(r == expected);
    CHECK(!ctx.choice(0).ok());

    const auto pipeline = take(wye::Pipeline::create(program, {.profile = "chosen"}));
    check(take(
        wye::Dispatch(pipeline).param("a", 2.0F).input("x", x).input("y", y).output("r", r).run()));

    const auto device = take(ctx.open("cpu"));
    const auto a = take(device.buffer(12)), b = take(device.buffer(12)),
               c = take(device.buffer(12));
    auto resident = wye::Dispatch(program).param("a", 2.0F).bind("x", a).bind("y", b).bind("r", c);
    const auto graph = take(wye::Graph::record(
        {wye::Step::upload(x, a), wye::Step::upload(y, b), &resident, wye::Step::download(c, r)}));
    r.assign(3, 0);
    const auto report = take(graph.run());
    CHECK(report.routed == WYE_ROUTED_OWNER);
    CHECK(report.device == device.get());
    CHECK(r == expected);
    CHECK(take(graph.describe()).device == device.get());
    CHECK(take(resident.run()).routed == WYE_ROUTED_OWNER);
    CHECK(!wye::Graph::record(std::span<const wye::Step>{}).ok());
}

TEST_CASE("wrong names and types are told by name") {
    const auto ctx = context();
    const auto device = take(ctx.open("cpu"));
    const auto program = take(ctx.program_from_text(kSaxpy));
    std::vector<float> r(3);
    const auto refused = [&](auto change, std::string_view fragment,
                             std::string_view fix = "Fix: ") {
        wye::Dispatch dispatch(program, device);
        change(dispatch);
        const auto result = dispatch.run();
        REQUIRE(!result.ok());
        CHECK(result.error().code == Code::INVALID_ARGUMENT);
        CHECK(result.error().message.find(fragment) != std::string::npos);
        CHECK(result.error().fix.starts_with(fix));
    };
    refused([&](auto& d) { d.param("b", 1.0F); }, "`b` is not a parameter", "Fix: use one of `a`");
    refused([&](auto& d) { d.param("a", 1.0); }, "has type f32, got f64",
            "Fix: give a float, as in `2.0F`");
    refused([&](auto& d) { d.param("a", 1.0F).input("z", r); }, "`z` is not a buffer",
            "Fix: use one of `x`, `y`, `r`");
    const std::vector<double> wide(3);
    refused([&](auto& d) { d.param("a", 1.0F).input("x", wide); }, "has elements of type f32",
            "Fix: convert the values to f32, or declare the buffer with elements of f64");
    refused([&](auto& d) { d.input("x", r); }, "parameter `a` has no value",
            "Fix: give it one, with param(\"a\", ...)");
    refused([&](auto& d) { d.param("a", 1.0F).input("x", r); }, "`y` (binding 1) has no argument");
    refused([&](auto& d) { d.param("a", 1.0F).input("y", r).output("r", r).output("x", r); },
            "input `x` (binding 0) asks for an output, but is never read back",
            "Fix: give its values as input");
}

TEST_CASE("a buffer that was freed or moved from is told from others") {
    const auto ctx = context();
    const auto device = take(ctx.open("cpu"));
    const auto program = take(ctx.program_from_text(kSaxpy));
    auto x = take(device.buffer(4096, "x"));
    const auto y = take(device.buffer(4096, "y"));
    auto r = take(device.buffer(4096, "r"));
    const std::vector<float> ones(1024, 1.0F);
    REQUIRE(r.free().ok());
    const auto stale = wye::Dispatch(program, device)
                           .param("a", 2.0F)
                           .bind("x", x)
                           .bind("y", y)
                           .bind("r", r)
                           .run();
    REQUIRE(!stale.ok());
    CHECK(stale.error().code == Code::STALE_HANDLE);
    const auto freed = r.upload(ones);
    REQUIRE(!freed.ok());
    CHECK(freed.error().message.find("in C++ its object was freed or moved from") !=
          std::string::npos);
    const wye::Buffer moved = std::move(x);
    const auto empty = x.upload(ones);  // NOLINT(bugprone-use-after-move)
    REQUIRE(!empty.ok());
    CHECK(empty.error().fix.find("no object that was moved from") != std::string::npos);
}

TEST_CASE("two assignments may stand on one line") {
    const auto sum = []() -> wye::Result<int> {
        // clang-format off
        WYE_ASSIGN(const int a, wye::Result<int>(1)); WYE_ASSIGN(const int b, wye::Result<int>(2));
        // clang-format on
        return a + b;
    };
    CHECK(take(sum()) == 3);
}

TEST_CASE("diagnostics: all of them, rendered with file, line, column and caret") {
    const auto ctx = context();
    const auto bad = ctx.program_from_text(
        "wye 1; program p; workgroup 1;\noutput r: u32[1];\nmain {\n    r[0] = nothing;\n"
        "    let q = 1 +;\n}\n",
        "bad.wye");
    REQUIRE(!bad.ok());
    const std::string text = bad.error().text();
    CHECK(text.find("bad.wye:4:12: error:") != std::string::npos);
    CHECK(text.find("bad.wye:5:") != std::string::npos);
    CHECK(text.find("\n           ^") != std::string::npos);
    CHECK(bad.error().fix.starts_with("Fix: "));
}

TEST_CASE("variant files come from the caller's resolver") {
    const auto ctx = context();
    constexpr std::string_view text =
        "wye 1; program p; workgroup 1; output r: u32[1]; grid groups 1;\n"
        "variant \"cuda-c\" entry \"k\" for \"cuda:*\" file \"k.cu\";\nmain { r[0] = 7u; }\n";
    CHECK(!ctx.program_from_text(text).ok());
    const auto program = take(ctx.program_from_text(
        text, "p.wye", [](std::string_view name) -> wye::Result<std::vector<std::byte>> {
            CHECK(name == "k.cu");
            return std::vector<std::byte>(5, std::byte{'x'});
        }));
    const auto failing = ctx.program_from_text(
        text, "p.wye", [](std::string_view) -> wye::Result<std::vector<std::byte>> {
            return wye::Error(Code::IO, "cannot read k.cu", "Fix: put it there");
        });
    REQUIRE(!failing.ok());
    CHECK(failing.error().code == Code::IO);
    std::vector<std::uint32_t> r(1);
    const auto device = take(ctx.open("cpu"));
    wye::Dispatch dispatch(program, device);
    const auto ran = take(dispatch.variants().output("r", r).run());  // no variant fits this device
    CHECK(r[0] == 7);
    CHECK(ran.variant == 0);
}

// The code of the variant is another program, in a format that the device takes. So the result
// tells which of the two programs ran.
TEST_CASE("a native variant runs only when the request allows it, and the report names it") {
    const auto ctx = context();
    const auto device = take(ctx.open("cpu"));
    const auto other = take(ctx.program_from_text(
        "wye 1; program other; workgroup 4; param k: u32; input x: u32[]; output r: u32[len(x)];\n"
        "main { if global_id.x == 1u { r[1] = k + x[1] + u32(len64(x)); } }\n"));
    const std::string code = take(other.lower("wye-program"));
    const auto bytes = std::as_bytes(std::span(code));
    const std::vector<std::byte> wire(bytes.begin(), bytes.end());
    const auto with = [&](std::string_view filter) {
        return "wye 1; program p; workgroup 4; param k: u32; input x: u32[]; output r: "
               "u32[len(x)];\n"
               "grid elements len(x);\nvariant \"spirv-vulkan\" entry \"a\" file \"f\";\n"
               "variant \"wye-program\" entry \"main\" for \"" +
               std::string(filter) + "\" file \"f\";\n" +
               "main { let i = global_id.x; if i < len(x) { r[i] = x[i]; } }\n";
    };
    const auto resolve = [&](std::string_view) -> wye::Result<std::vector<std::byte>> {
        return wire;
    };
    const std::vector<std::uint32_t> x = {5, 6, 7, 8, 9};
    std::vector<std::uint32_t> r(5, 77);
    const auto run = [&](std::string_view filter, bool allowed) {
        const auto program = take(ctx.program_from_text(with(filter), "p.wye", resolve));
        wye::Dispatch dispatch(program, device);
        dispatch.param("k", 100U).input("x", x).output("r", r);
        if (allowed) dispatch.variants();
        return dispatch.run();
    };
    CHECK(take(run("cpu:*", false)).variant == 0);
    CHECK(r == x);
    CHECK(take(run("cpu:*", true)).variant == 2);
    CHECK(r == std::vector<std::uint32_t>{0, 111, 0, 0, 0});  // the other elements start at zero
    CHECK(take(run("opencl:*[f64]", true)).variant == 0);
    CHECK(r == x);
    CHECK(take(run("cpu:*[f64,memory>1MiB]", true)).variant == 2);
    CHECK(take(run("cpu:*[!f64]", true)).variant == 0);
    CHECK(take(run("*[compute_units<1]", true)).variant == 0);
    for (const char* filter : {"9", "cpu:*[anything]"}) {
        const auto bad = run(filter, true);
        REQUIRE(!bad.ok());
        CHECK(bad.error().code == Code::INVALID_ARGUMENT);
        CHECK(bad.error().message.find("variant `main`") != std::string::npos);
    }
}

TEST_CASE("each option of a dispatch has a setter, and is honoured or refused") {
    std::vector<std::string> log;
    const auto ctx = take(wye::Context::create(
        {.flags = WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_IGNORE_ENVIRONMENT,
         .log =
             [](void* user, std::uint32_t, wye_string, wye_string text) {
                 static_cast<std::vector<std::string>*>(user)->emplace_back(text.data, text.size);
             },
         .log_user = &log}));
    const auto device = take(ctx.open("cpu"));
    const auto program = take(ctx.program_from_text(
        "wye 1; program p; workgroup 64 adjustable; output r: u32[64]; grid elements 64;"
        "main { r[global_id.x] = r[global_id.x] + workgroup_size.x; }"));
    std::vector<std::uint32_t> r(64);
    const auto refused = [&](auto change, Code code, std::string_view fragment) {
        wye::Dispatch dispatch(program, device);
        change(dispatch.output("r", r));
        const auto report = dispatch.run();
        REQUIRE(!report.ok());
        CHECK(report.error().code == code);
        CHECK_MESSAGE(report.error().message.find(fragment) != std::string::npos,
                      report.error().message);
    };
    wye::Dispatch set(program, device);
    {
        const std::string label = "twelve", profile = "interactive";  // both are copied
        set.output("r", r).workgroup(4).fixpoint(3).label(label).profile(profile);
    }
    const auto report = take(set.max_output_bytes(256).run());
    CHECK(r == std::vector<std::uint32_t>(64, 3 * 4));
    CHECK(report.groups[0] == 16);
    CHECK(report.profile != 0);
    CHECK(std::ranges::any_of(log, [](const std::string& line) {
        return line.find("twelve") != std::string::npos &&
               line.find("interactive") != std::string::npos;
    }));
    refused([](auto& d) { d.workgroup(5000); }, Code::INVALID_ARGUMENT, "workgroup size 5000,1,1");
    refused([](auto& d) { d.max_output_bytes(255); }, Code::LIMIT_EXCEEDED, "limit of 255");
    refused([](auto& d) { d.fixpoint(0); }, Code::INVALID_ARGUMENT, "0 fixpoint iterations");
    CHECK((wye::Dispatch(program, device).cooperative().desc().flags & WYE_DISPATCH_COOPERATIVE) !=
          0);
}

TEST_CASE("sizes before storage") {
    const auto ctx = context();
    const auto device = take(ctx.open("cpu"));
    const auto program = take(ctx.program_from_text(kSaxpy));
    const std::vector<float> x(100);
    wye::Dispatch dispatch(program, device);
    std::vector<float> none;
    dispatch.param("a", 1.0F).input("x", x).input("y", x).output("r", none);
    CHECK(take(dispatch.sizes()) == std::vector<std::uint64_t>{400, 400, 400});
}

}  // namespace
