// SPDX-License-Identifier: Apache-2.0
//
// Counted loops on real drivers, compared with plain C++ that counts in 64 bits: ends and steps at
// the limits of the type, and every remainder of an unrolled loop. Loops with barriers have a form
// that does not count iterations, for launches in which nothing overflows.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_loops {
namespace {

using api_test::take;

// The result depends on the order of the iterations.
std::string text_of(const std::string& type, const std::string& step,
                    const std::string& last = "") {
    return "wye 1; program rounds; workgroup 1; param a: " + type + "; param b: " + type +
           "; param s: " + type +
           "; input x: u32[16]; output r: u32[2]; grid groups 1;\nmain { var h = 0u; var n = 0u; "
           "for i in a..b step " +
           step + " { let v = x[u32(i) & 15u]; h = (h ^ u32(i)) * 31u + v; n = n + 1u; " + last +
           " } r[0u] = h; r[1u] = n; }";
}

template <typename T>
struct Case {
    T a, b, s;
};

template <typename T>
std::vector<Case<T>> cases(const std::vector<T>& steps) {
    constexpr auto most = std::numeric_limits<T>::max();
    constexpr auto least = std::numeric_limits<T>::min();
    const T edges[] = {0,
                       1,
                       7,
                       100,
                       most,
                       most - 1,
                       most - 30,
                       most / 2,
                       most / 4,
                       most / 4 + 1,
                       least,
                       least + 1,
                       static_cast<T>(least + 30)};
    std::vector<Case<T>> out;
    for (const T s : steps)
        for (T count = 0; count < 14 && s > 0 && s < 100; ++count) {
            out.push_back({3, static_cast<T>(3 + s * count), s});
            out.push_back({static_cast<T>(most - s * count), most, s});
        }
    for (const T a : edges)
        for (const T b : edges)
            for (const T s : steps) {
                const std::int64_t step = s < 1 ? 1 : static_cast<std::int64_t>(s);
                const std::int64_t way =
                    static_cast<std::int64_t>(b) - static_cast<std::int64_t>(a);
                if (way / step < 200) out.push_back({a, b, s});
            }
    return out;
}

struct Ran {
    unsigned free = 0, checked = 0;
};

template <typename T>
void check(const wye::Context& context, const wye::Device& device, const std::string& text,
           const std::vector<T>& steps, Ran& ran) {
    const auto program = take(context.program_from_text(text));
    std::vector<std::uint32_t> x(16);
    for (std::uint32_t k = 0; k < 16; ++k) x[k] = k * k + 5;
    for (const Case<T>& c : cases<T>(steps)) {
        std::vector<std::uint32_t> r(2), expected(2);
        const std::int64_t step = c.s < 1 ? 1 : static_cast<std::int64_t>(c.s);
        for (std::int64_t i = c.a; i < static_cast<std::int64_t>(c.b); i += step) {
            const auto at = static_cast<std::uint32_t>(i);
            expected[0] = (expected[0] ^ at) * 31 + x[at & 15U];
            ++expected[1];
        }
        const wye_report report = take(wye::Dispatch(program, device)
                                           .param("a", c.a)
                                           .param("b", c.b)
                                           .param("s", c.s)
                                           .input("x", x)
                                           .output("r", r)
                                           .run());
        INFO(text, ": ", c.a, "..", c.b, " step ", c.s);
        CHECK(r == expected);
        ++(report.check_free != 0 ? ran.free : ran.checked);
    }
}

template <typename T>
void check_all(const wye::Context& context, const wye::Device& device, const std::string& type,
               const std::string& suffix) {
    constexpr T most = std::numeric_limits<T>::max();
    Ran ran;
    check<T>(
        context, device, text_of(type, "s"),
        {0, 1, 3, 5, 64, most, most / 4, most / 4 + 1, most / 5, std::numeric_limits<T>::min()},
        ran);
    const T steps[] = {1, 3, 64, 1000000007};
    for (const T step : steps)
        check<T>(context, device, text_of(type, std::to_string(step) + suffix), {step}, ran);
    CHECK(ran.free == 0);  // loops without a barrier always count iterations
    // A loop with a barrier: for each launch the library decides whether the steps overflow.
    for (const T step : steps)
        check<T>(context, device, text_of(type, std::to_string(step) + suffix, "barrier;"), {step},
                 ran);
    CHECK(ran.free > 100);
    CHECK(ran.checked > 300);
}

}  // namespace

TEST_CASE("loops take the steps of the language") {
    const auto context =
        take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                   .plugin_paths = {support::test_driver_folder()}}));
    const auto device = take(context.open(support::test_driver()));
    check_all<std::uint32_t>(context, device, "u32", "u");
    check_all<std::int32_t>(context, device, "i32", "");
}

}  // namespace wye::test::test_loops
