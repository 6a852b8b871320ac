// SPDX-License-Identifier: Apache-2.0
//
// The definitions give the same bytes wherever they run: the scalar oracle, each build of the CPU
// plugin's kernels, OpenCL and Vulkan. The oracle knows no math function; it runs the expanded
// program.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "lower/lower.hpp"
#include "oracle/oracle.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "reference.hpp"
#include "support/random.hpp"

namespace {

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    const auto* data = reinterpret_cast<const std::byte*>(values.data());
    return {data, data + values.size() * sizeof(T)};
}

template <typename T>
std::vector<std::byte> from_oracle(std::string_view function, const std::vector<T>& x,
                                   const std::vector<T>& y) {
    auto parsed = wye::ir::parse(test::program_text<T>(function, !y.empty()));
    REQUIRE(parsed.ok());
    REQUIRE(wye::ir::validate(parsed.program).empty());
    const auto artifact = wye::lower::lower(parsed.program, WYE_FORMAT_PROGRAM, {});
    REQUIRE(artifact.ok());
    oracle::Launch launch;
    launch.buffers = {bytes_of(x)};
    if (!y.empty()) launch.buffers.push_back(bytes_of(y));
    launch.buffers.emplace_back(x.size() * sizeof(T));
    const oracle::Outcome outcome = oracle::run(artifact->code, launch);
    REQUIRE(outcome.error == "");
    return outcome.buffers.back();
}

// Random bits, and ordinary values.
template <typename T>
std::vector<T> arguments(support::Random& random, std::size_t count) {
    std::vector<T> out(count);
    const unsigned kind = sizeof(T) == 4 ? WYE_KIND_F32 : WYE_KIND_F64;
    for (T& value : out) {
        const std::uint64_t bits = random_scalar(random, kind);
        std::memcpy(&value, &bits, sizeof(T));
        if (random.chance(50))
            value = std::ldexp(static_cast<T>(random.between(-(1 << 24), 1 << 24)),
                               static_cast<int>(random.between(-30, -18)));
    }
    return out;
}

// The builds of the CPU plugin's kernels that this machine runs.
std::vector<std::string> builds() {
    std::vector<std::string> out = {"baseline"};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) out.emplace_back("avx2");
    if (__builtin_cpu_supports("avx512dq")) out.emplace_back("avx512");
#endif
    return out;
}

template <typename T>
void compare() {
    std::vector<test::Evaluator> devices;
    for (const std::string& build : builds()) devices.emplace_back("cpu", build);
#ifdef WYE_OPENCL_FOLDER
    devices.emplace_back("opencl:0");
#endif
#ifdef WYE_VULKAN_FOLDER
    devices.emplace_back("vulkan:0");
#endif
    support::Random random(11);
    for (const reference::Function& f : reference::functions()) {
        CAPTURE(std::string(f.name));
        const auto x = arguments<T>(random, 2000);
        const auto y = f.arguments == 2 ? arguments<T>(random, 2000) : std::vector<T>{};
        const auto expected = from_oracle(f.name, x, y);
        for (std::size_t d = 0; d < devices.size(); ++d) {
            CAPTURE(d);
            std::vector<T> r;
            devices[d].run(f.name, x, y, r);
            CHECK(bytes_of(r) == expected);
        }
    }
}

}  // namespace

TEST_CASE("f32: the same bytes from the oracle and every device") { compare<float>(); }

TEST_CASE("f64: the same bytes from the oracle and every device") { compare<double>(); }
