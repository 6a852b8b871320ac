// SPDX-License-Identifier: Apache-2.0
//
// Counted loops on real drivers against plain C++ that counts in 64 bits: ends and steps at the
// edges of the type, and every number of rounds that is left when some are done together.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "wye/wye.hpp"

namespace {

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) MESSAGE(result.error().text());
    REQUIRE(result.ok());
    return std::move(result).value();
}

// What each round adds depends on the order.
std::string text_of(const std::string& type) {
    return "wye 1; program rounds; workgroup 1; param a: " + type + "; param b: " + type +
           "; param s: " + type +
           "; input x: u32[16]; output r: u32[2]; grid groups 1;\nmain { var h = 0u; var n = 0u; "
           "for i in a..b step s { let v = x[u32(i) & 15u]; h = (h ^ u32(i)) * 31u + v; n = n + "
           "1u; "
           "} r[0u] = h; r[1u] = n; }";
}

template <typename T>
struct Case {
    T a, b, s;
};

template <typename T>
std::vector<Case<T>> cases() {
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
    for (T count = 0; count < 14; ++count) {
        out.push_back({3, static_cast<T>(3 + count), 1});
        out.push_back({3, static_cast<T>(3 + 5 * count), 5});
        out.push_back({static_cast<T>(most - count), most, 1});
    }
    for (const T a : edges)
        for (const T b : edges)
            for (const T s : {T{0}, T{1}, T{3}, T{64}, most, static_cast<T>(most / 4),
                              static_cast<T>(most / 4 + 1), static_cast<T>(most / 5), least}) {
                const std::int64_t step = s < 1 ? 1 : static_cast<std::int64_t>(s);
                const std::int64_t way =
                    static_cast<std::int64_t>(b) - static_cast<std::int64_t>(a);
                if (way / step < 200) out.push_back({a, b, s});
            }
    return out;
}

template <typename T>
void check(const wye::Context& context, const wye::Device& device, const std::string& type) {
    const auto program = take(context.program_from_text(text_of(type)));
    std::vector<std::uint32_t> x(16);
    for (std::uint32_t k = 0; k < 16; ++k) x[k] = k * k + 5;
    unsigned free = 0, checked = 0;  // loops that may overflow are counted another way
    for (const Case<T>& c : cases<T>()) {
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
        INFO(type, " ", c.a, "..", c.b, " step ", c.s);
        CHECK(r == expected);
        ++(report.check_free != 0 ? free : checked);
    }
    CHECK(free > 100);
    CHECK(checked > 100);
}

void check_device(const char* folder, std::string_view selector) {
    const auto context = take(
        wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT, .plugin_paths = {folder}}));
    const auto device = take(context.open(selector));
    check<std::uint32_t>(context, device, "u32");
    check<std::int32_t>(context, device, "i32");
}

}  // namespace

#ifdef WYE_OPENCL_FOLDER
TEST_CASE("OpenCL: loops take the steps of the language") {
    check_device(WYE_OPENCL_FOLDER, "opencl:0");
}
#endif

#ifdef WYE_VULKAN_FOLDER
TEST_CASE("Vulkan: loops take the steps of the language") {
    check_device(WYE_VULKAN_FOLDER, "vulkan:0");
}
#endif
