// SPDX-License-Identifier: Apache-2.0
//
// Programs and requests for the tests of planning: values only, no driver.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plan/admit.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"

namespace wye::plan::test {

struct Planned {
    std::unique_ptr<ir::Program> program;
    ProgramPlan plan;
};

inline Planned planned(std::string_view text) {
    ir::ParseResult parsed = ir::parse(text);
    for (const ir::Diagnostic& d : parsed.diagnostics) MESSAGE(ir::render(d, "test", text));
    REQUIRE(parsed.ok());
    auto program = std::make_unique<ir::Program>(std::move(parsed.program));
    for (const ir::Diagnostic& d : ir::validate(*program)) {
        MESSAGE(ir::render(d, "test", text));
        REQUIRE_MESSAGE(false, "the test's program is invalid");
    }
    auto plan = plan_program(*program);
    REQUIRE(plan.ok());
    return {std::move(program), std::move(plan).value()};
}

// A request under construction; memory of host arguments is never read by planning.
struct Ask {
    std::vector<Argument> arguments;
    std::vector<std::uint64_t> params;
    Request request;

    static std::byte* memory(std::uint32_t binding) {
        return reinterpret_cast<std::byte*>(std::uintptr_t{0x10000000} * (binding + 1));
    }
    Ask& in(std::uint32_t binding, std::uint64_t size) {
        Argument a{
            ArgumentKind::Host, binding, memory(binding), size, nullptr, 0, false, 0, 0, 0, 0};
        arguments.push_back(a);
        return *this;
    }
    Ask& out(std::uint32_t binding, std::uint64_t size) {
        Argument a{
            ArgumentKind::Host, binding, nullptr, 0, memory(binding), size, false, 0, 0, 0, 0};
        arguments.push_back(a);
        return *this;
    }
    Ask& inout(std::uint32_t binding, std::uint64_t size) {
        in(binding, size);
        arguments.back().output = memory(binding);
        arguments.back().output_size = size;
        return *this;
    }
    Ask& resident(std::uint32_t binding, std::uint64_t handle, std::uint64_t buffer_size,
                  std::uint64_t offset = 0, std::uint64_t size = 0) {
        Argument a{ArgumentKind::Resident,
                   binding,
                   nullptr,
                   0,
                   nullptr,
                   0,
                   false,
                   handle,
                   offset,
                   buffer_size,
                   size};
        arguments.push_back(a);
        return *this;
    }
    Ask& discard(std::uint32_t binding, std::uint64_t size = 0) {
        Argument a{ArgumentKind::Discard, binding, nullptr, 0, nullptr, 0, false, 0, 0, 0, size};
        arguments.push_back(a);
        return *this;
    }
    Ask& param(std::uint64_t bits) {
        params.push_back(bits);
        return *this;
    }
    Ask& elements(std::uint64_t count) {
        request.has_elements = true;
        request.elements = count;
        return *this;
    }
    Ask& grid(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
        request.has_grid = true;
        request.grid = {x, y, z};
        return *this;
    }
    // The grid is in a buffer.
    Ask& indirect(std::uint64_t buffer_size = 64, std::uint64_t offset = 0) {
        request.indirect = true;
        request.grid_buffer = 99;
        request.grid_buffer_size = buffer_size;
        request.grid_offset = offset;
        return *this;
    }
    Result<void> run(const Planned& planned, Launch& launch) {
        request.arguments = arguments;
        request.params = params;
        return admit(planned.plan, request, launch);
    }
};

// Checks that the request is refused with this code, a sentence that contains `fragment`, and a
// remedy.
inline void refused(const Planned& planned, Ask ask, Code code, std::string_view fragment) {
    auto launch = std::make_unique<Launch>();
    const auto result = ask.run(planned, *launch);
    INFO(fragment);
    REQUIRE(!result.ok());
    INFO(result.error().message);
    CHECK(result.error().code == code);
    CHECK(result.error().message.find(fragment) != std::string::npos);
    CHECK(result.error().fix.starts_with("Fix: "));
}

inline std::unique_ptr<Launch> admitted(const Planned& planned, Ask ask) {
    auto launch = std::make_unique<Launch>();
    const auto result = ask.run(planned, *launch);
    if (!result.ok()) MESSAGE(result.error().text());
    REQUIRE(result.ok());
    return launch;
}

inline constexpr std::string_view kSaxpy = R"(wye 1; program saxpy; workgroup 256;
param a: f32;
input x: f32[]; input y: f32[len(x)]; output r: f32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = a * x[i] + y[i]; } })";

}  // namespace wye::plan::test
