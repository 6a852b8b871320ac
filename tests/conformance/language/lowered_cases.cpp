// SPDX-License-Identifier: Apache-2.0
#include "conformance/language/lowered_cases.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <span>

#include "lower/passes/strict.hpp"
#include "oracle/oracle.hpp"
#include "program/wire/encode.hpp"
#include "support/examples.hpp"
#include "support/random.hpp"

namespace harness::cases {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The first difference of two buffers of equal length, such as "byte 8: 00 not 80".
std::string difference(const std::vector<std::byte>& got, const std::vector<std::byte>& right) {
    const auto hex = [](std::byte b) {
        const auto value = std::to_integer<unsigned>(b);
        return std::string{"0123456789abcdef"[value >> 4U], "0123456789abcdef"[value & 15U]};
    };
    std::string out;
    unsigned shown = 0;
    for (std::size_t i = 0; i < got.size() && i < right.size() && shown < 16; ++i)
        if (got[i] != right[i]) {
            out +=
                "byte " + std::to_string(i) + ": " + hex(got[i]) + " not " + hex(right[i]) + "; ";
            ++shown;
        }
    return out;
}

}  // namespace

void examples_are_right(Plugin& plugin, Device& device) {
    for (const std::string& name : support::example_programs()) {
        const auto program = valid_program(support::example_text(name));
        for (const support::Example& example : support::examples(name, 7)) {
            Launch launch;
            for (const auto& buffer : example.buffers) launch.buffers.push_back(buffer.before);
            for (const auto& params : example.dispatches) {
                launch.params = params;
                launch.buffers = run_lowered(plugin, device, program, launch).buffers;
            }
            for (std::size_t b = 0; b < example.buffers.size(); ++b)
                if (example.buffers[b].output)
                    CHECK_MESSAGE(launch.buffers[b] == example.buffers[b].expected, name, ", ",
                                  example.what, ": ", example.buffers[b].name);
        }
    }
}

void is_what_the_oracle_gives(Plugin& plugin, Device& device, const wye::ir::Program& program,
                              const Launch& launch, const std::vector<bool>& outputs,
                              const std::string& what) {
    const auto wire = wye::ir::encode(program, wye::ir::Notes::Drop);
    REQUIRE(wire.ok());
    oracle::Launch expected;
    expected.params = launch.params;
    expected.groups = *launch.groups;
    expected.buffers = launch.buffers;
    const auto right = oracle::run(*wire, expected);
    REQUIRE_MESSAGE(right.ok(), right.error);
    const auto got = run_lowered(plugin, device, program, launch);
    CHECK(got.trap_code == right.trap.code);
    CHECK(got.trap_count == right.trap.count);
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
        if (outputs.empty() || outputs[b])
            CHECK_MESSAGE(got.buffers[b] == right.buffers[b], what, ", buffer ", b,
                          std::string(launch.folded ? " (folded): " : ": "),
                          difference(got.buffers[b], right.buffers[b]), "\n", got.source);
}

void open_loops_are_right(Plugin& plugin, Device& device) {
    // Start, end and step of loops that have few iterations both as u32 and as i32. A step below 1
    // counts as 1.
    const std::vector<std::uint32_t> edges = {
        0,           100,         1,            // one at a time
        0,           100,         7,            // not a multiple of the step
        3,           67,          8,            // a multiple of the step
        5,           5,           3,            // empty
        10,          3,           1,            //
        0,           9,           0,            //
        0,           50,          0xffffffffU,  // -1
        0xffffff00U, 0xffffffffU, 17,           // up to the end of u32
        0xffffffe0U, 0xfffffffeU, 1,            //
        0,           0xffffffffU, 0x10000000U,  // 8 steps do not overflow
        0,           0xffffffffU, 0x1fffffffU,  // 8 steps just do not overflow
        1,           0xffffffffU, 0x20000000U,  // 8 steps just overflow
        0x80000000U, 0x7fffffffU, 0x10000000U,  // all of i32
        0x80000000U, 0x7fffffffU, 0x0fffffffU,  //
        0x7fffff80U, 0x7fffffffU, 5,            // up to the end of i32
        0x80000000U, 0x80000040U, 3};
    std::vector<std::uint32_t> x(64);
    for (std::uint32_t i = 0; i < 64; ++i) x[i] = i * 2654435761U;
    const auto program = valid_program(
        "wye 1; program open; workgroup 16; input edges: u32[48]; input x: u32[64]; "
        "output r: u32[16]; output q: u32[16]; output h: u32[16]; main { let l = local_index; "
        "let first = edges[l * 3u]; let end = edges[l * 3u + 1u]; let by = edges[l * 3u + 2u]; "
        "var sum = 0u; for i in first..end step by { sum = sum * 31u + (x[i % 64u] ^ i); } "
        "r[l] = sum; sum = 0u; "
        "for i in bitcast<i32>(first)..bitcast<i32>(end) step bitcast<i32>(by) { "
        "let u = bitcast<u32>(i); sum = sum * 31u + (x[u % 64u] ^ u); } q[l] = sum; "
        "for i in first..end step by { atomic_add(h[l], x[i % 64u] ^ i); } }");
    Launch launch;
    launch.groups = {1, 1, 1};
    const std::vector<std::byte> nothing(64);
    const auto from = bytes_of(edges), data = bytes_of(x);
    launch.buffers = {
        {from.begin(), from.end()}, {data.begin(), data.end()}, nothing, nothing, nothing};
    is_what_the_oracle_gives(plugin, device, program, launch, {}, "open loops");
}

void roots_are_right(Plugin& plugin, Device& device) {
    const auto program = valid_program(
        "wye 1; program roots; workgroup 64; input x: f32[]; input y: f32[]; "
        "output r: f32[len(x)]; output s: f32[len(x)]; output q: f32[len(x)]; "
        "grid elements len(x); main { let i = global_id.x; if i < len(x) { r[i] = rsqrt(x[i]); "
        "s[i] = sqrt(x[i]); q[i] = x[i] / y[i]; } }");
    support::Random random(41);
    std::vector<float> x(1U << 17U), y(x.size());
    std::array<std::vector<float>, 3> right;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto any = [&] {
            const std::uint64_t bits = support::random_scalar(random, WYE_KIND_F32);
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        };
        const auto ordinary = [&] {
            const auto bits = static_cast<std::uint32_t>(random.next());
            return std::bit_cast<float>((bits & 0x0fffffffU) + 0x38000000U);  // 2^-15 to 2^17
        };
        x[i] = i % 4 == 0 ? any() : ordinary();
        y[i] = i % 4 == 0 ? any() : ordinary();
        const auto canonical = [](float v) {
            return std::isnan(v) ? std::bit_cast<float>(0x7fc00000U) : v;
        };
        const double wide = x[i];
        right[0].push_back(canonical(static_cast<float>(1 / std::sqrt(wide))));
        right[1].push_back(canonical(std::sqrt(x[i])));
        right[2].push_back(canonical(x[i] / y[i]));
    }
    Launch launch;
    const auto given = [&](const std::vector<float>& values) {
        const auto bytes = std::as_bytes(std::span(values));
        launch.buffers.emplace_back(bytes.begin(), bytes.end());
    };
    given(x);
    given(y);
    for (int k = 0; k < 3; ++k) launch.buffers.emplace_back(x.size() * sizeof(float));
    for (const bool alone : {false, true}) {
        launch.f32_alone = alone;
        const auto got = run_lowered(plugin, device, program, launch);
        constexpr const char* kNames[] = {"rsqrt", "sqrt", "/"};
        for (std::size_t k = 0; k < 3; ++k) {
            const auto* words =
                reinterpret_cast<const std::uint32_t*>(got.buffers.at(2 + k).data());
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < x.size(); ++i)
                if (words[i] != std::bit_cast<std::uint32_t>(right[k][i]) && ++wrong < 4)
                    CHECK_MESSAGE(false, kNames[k], " of ", x[i], ", ", y[i], " is ", words[i]);
            CHECK_MESSAGE(wrong == 0, kNames[k], alone ? " without f64" : "");
        }
    }
}

void functions_need_nothing_wide(Plugin& plugin, Device& device) {
    support::Random random(43);
    const std::vector<std::byte> x = support::random_scalars(random, WYE_KIND_F32, 1U << 12U);
    for (const char* function : {"exp(x[i])", "log(x[i])", "sin(x[i])", "pow(x[i], x[i ^ 1u])"}) {
        const auto program = valid_program(
            "wye 1; math 2; program one; workgroup 64; input x: f32[]; output r: f32[len(x)]; "
            "grid elements len(x); main { let i = global_id.x; if i < len(x) { r[i] = " +
            std::string(function) + "; } }");
        Launch launch;
        launch.buffers = {x, std::vector<std::byte>(x.size())};
        const auto wide = run_lowered(plugin, device, program, launch);
        launch.f32_alone = true;
        const auto alone = run_lowered(plugin, device, program, launch);
        CHECK_MESSAGE(alone.buffers[1] == wide.buffers[1], function, ": ",
                      difference(alone.buffers[1], wide.buffers[1]));
        CHECK(alone.source.find("double") == std::string::npos);
    }
}

void random_programs_are_right(Plugin& plugin, Device& device, std::uint64_t first_seed,
                               std::uint64_t step,
                               support::RandomProgramOptions (*options)(std::uint64_t,
                                                                        const Plugin&)) {
    const std::uint64_t first = number_from("WYE_RANDOM_SEED", first_seed);
    const std::uint64_t count = number_from("WYE_RANDOM_PROGRAMS", 24);
    for (std::uint64_t seed = first; seed < first + count; seed += step) {
        const auto random = support::random_program(seed, options(seed, plugin));
        auto program = valid_program(random.text);
        if (wye::lower::uses_math(program)) {
            auto expanded = wye::lower::expand_math(program);
            REQUIRE(expanded.ok());
            program = std::move(expanded).value();
        }
        Launch launch;
        launch.params = random.values;
        launch.groups = random.groups;
        launch.folded = seed % 3 == 0;
        std::vector<bool> outputs;
        for (const auto& buffer : random.buffers) {
            launch.buffers.push_back(buffer.before);
            outputs.push_back(buffer.output);
        }
        is_what_the_oracle_gives(plugin, device, program, launch, outputs,
                                 "seed " + std::to_string(seed) + "\n" + random.text);
    }
}

}  // namespace harness::cases
