// SPDX-License-Identifier: Apache-2.0
// The pure steps of a dispatch: values in, values or errors out. No driver.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <memory_resource>

#include "exec/dispatch/bind.hpp"
#include "exec/dispatch/lower.hpp"
#include "exec/program/load.hpp"
#include "plan/admit.hpp"

namespace wye::exec::test::test_steps {
namespace {

using Kind = BoundOperation::Kind;

ProgramRef loaded(std::string_view text) {
    auto program = load_text(text, "test", {});
    if (!program.ok()) MESSAGE(program.error().text());
    REQUIRE(program.ok());
    return *program;
}

const route::Limits kLimits = [] {
    route::Limits out;
    out.max_groups = {65535, 1, 1};
    return out;
}();

// A launch with the one argument `r`, an output.
plan::Launch with_output(const ProgramRef& program, std::array<std::uint32_t, 8>& r) {
    std::byte* const words = reinterpret_cast<std::byte*>(r.data());
    const plan::Argument argument = {
        plan::ArgumentKind::Host, 0, nullptr, 0, words, sizeof r, false, 0, 0, 0, 0};
    plan::Request request;
    request.arguments = {&argument, 1};
    plan::Launch out;
    REQUIRE(plan::admit(program->plan(), request, out).ok());
    return out;
}

// Copies elements above 2 from `x` to `r`, which starts at zero.
constexpr std::string_view kCopy = R"(wye 1; program copy; workgroup 4;
    input x: u32[]; output r: u32[len(x)]; grid elements len(x);
    main { if x[global_id.x] > 2u { r[global_id.x] = x[global_id.x]; } })";

struct Copy {
    ProgramRef program = loaded(kCopy);
    std::array<std::uint32_t, 40> x{}, r{};
    plan::Launch launch;
    route::Limits limits = kLimits;
    Kernels kernels;
    std::array<std::byte, 4096> storage;
    std::pmr::monotonic_buffer_resource memory{storage.data(), storage.size(),
                                               std::pmr::null_memory_resource()};
    BoundLaunch bound{&memory};

    Copy() {
        const plan::Argument arguments[] = {
            {plan::ArgumentKind::Host, 0, reinterpret_cast<std::byte*>(x.data()), sizeof x, nullptr,
             0, false, 0, 0, 0, 0},
            {plan::ArgumentKind::Host, 1, nullptr, 0, reinterpret_cast<std::byte*>(r.data()),
             sizeof r, false, 0, 0, 0, 0},
        };
        plan::Request request;
        request.arguments = arguments;
        REQUIRE(plan::admit(program->plan(), request, launch).ok());
    }
    void decide(const route::Route& route = {WYE_FORMAT_OPENCL_C, ir::kNone}) {
        REQUIRE(lower(*program, launch, limits, route, {}, kernels).ok());
        REQUIRE(bind(program->plan(), launch, limits, kernels, false, bound).ok());
    }
    [[nodiscard]] std::vector<Kind> kinds() const {
        std::vector<Kind> out;
        for (const BoundOperation& operation : bound.operations) out.push_back(operation.kind);
        return out;
    }
};

TEST_CASE("bind writes uploads, fills, dispatches and read-backs, in this order") {
    Copy t;
    t.decide();
    CHECK(t.kinds() == std::vector{Kind::Upload, Kind::Fill, Kind::Dispatch, Kind::ReadBack});
    CHECK(t.bound.fills == 1);
    CHECK(t.bound.dispatches == 2);
    CHECK(t.bound.read_backs == 3);
    CHECK(t.bound.bytes_uploaded == 160);
    CHECK(t.bound.bytes_filled == 160);
    CHECK(t.bound.bytes_downloaded == 160);
    CHECK(t.bound.operations[0].source == reinterpret_cast<const std::byte*>(t.x.data()));
    CHECK(t.bound.operations[3].target == reinterpret_cast<std::byte*>(t.r.data()));
    CHECK(t.kernels.form == Form{.workgroup = {4, 1, 1}, .check_free = t.kernels.form.check_free});
}

TEST_CASE("a grid above the device's limit folds: one dispatch for each box") {
    Copy t;
    t.limits.max_groups = {4, 1, 1};  // the launch has 10 workgroups
    t.decide();
    CHECK(t.kernels.form.folded);
    CHECK(t.bound.split.boxes == 3);
    CHECK(t.bound.read_backs - t.bound.dispatches == 3);
    CHECK(t.bound.operations[4].box == 2);
    CHECK(t.bound.split[2].offset[0] == 8);
    CHECK(t.bound.split[2].groups[0] == 2);
}

TEST_CASE("a device that runs programs itself has one form, others choose by the launch") {
    Copy t;
    t.decide({WYE_FORMAT_PROGRAM, ir::kNone});
    CHECK(t.kernels.preconditions == nullptr);
    CHECK_FALSE(t.kernels.form.check_free);
    Copy other;
    other.decide();
    REQUIRE(other.kernels.preconditions != nullptr);
}

TEST_CASE("a native variant has all outputs filled, since it promises nothing") {
    const ProgramRef program = loaded(R"(wye 1; program ones; workgroup 4;
        output r: u32[8]; grid groups 2;
        main { r[global_id.x] = 1u; })");
    std::array<std::uint32_t, 8> r{};
    const plan::Launch launch = with_output(program, r);
    for (const bool variant : {false, true}) {
        Kernels kernels;
        BoundLaunch bound(std::pmr::new_delete_resource());
        const route::Route route{WYE_FORMAT_OPENCL_C, variant ? 0 : ir::kNone};
        REQUIRE(lower(*program, launch, kLimits, route, {}, kernels).ok());
        REQUIRE(bind(program->plan(), launch, kLimits, kernels, false, bound).ok());
        CHECK((bound.dispatches - bound.fills == 1) == variant);
    }
}

TEST_CASE("each run between two grid barriers is a launch of its own, each program a kernel once") {
    const ProgramRef program = loaded(R"(wye 1; program sweep; workgroup 4;
        output r: u32[8]; grid groups 2;
        main { for k in 0u..3u { r[global_id.x] = k; grid_barrier; } })");
    std::array<std::uint32_t, 8> r{};
    const plan::Launch launch = with_output(program, r);
    route::Limits limits = kLimits;
    Kernels kernels;
    REQUIRE(lower(*program, launch, limits, {WYE_FORMAT_OPENCL_C, ir::kNone}, {}, kernels).ok());
    CHECK_FALSE(kernels.is_whole());
    CHECK(kernels.kernels().size() == 1);
    REQUIRE(kernels.launches().size() == 3);
    for (std::uint32_t k = 0; k < 3; ++k) {
        std::uint32_t counter = 0;
        std::memcpy(&counter, kernels.launches()[k].params, sizeof counter);
        CHECK(counter == k);
    }
    // A cooperative launch waits for the grid on the device, if the device and the format can.
    for (const bool grid_sync : {true, false}) {
        limits.grid_sync = grid_sync;
        for (const std::string_view format : lower::formats()) {
            CAPTURE(format);
            const bool can = grid_sync && lower::has_grid_barriers(format);
            Kernels cooperative;
            REQUIRE(lower(*program, launch, limits, {format, ir::kNone}, {.cooperative = true},
                          cooperative)
                        .ok());
            CHECK(cooperative.is_whole() == can);
            CHECK(cooperative.at_once() == can);
            CHECK(cooperative.waits_for_grid() == can);
            CHECK(cooperative.launches().size() == (can ? 1 : 3));
        }
    }
}

}  // namespace
}  // namespace wye::exec::test::test_steps
