// SPDX-License-Identifier: Apache-2.0
//
// On real drivers, the check-free form of a program gives the language's results in every launch,
// also if an earlier request is repeated with other parameters, buffers or another grid. Each bound
// range ends before its buffer does, so that a missing check shows in the results.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_check_free {
namespace {

using Words = std::vector<std::uint32_t>;

using api_test::take;

constexpr std::string_view kLook = R"(wye 1; program look; workgroup 4; param s: u32;
input a: u32[]; output r: u32[];
main { let i = global_id.x; if i < len(r) { r[i] = a[i + s] + 1u; } })";
constexpr std::string_view kPut = R"(wye 1; program put; workgroup 4; param s: u32;
input a: u32[]; input_output r: u32[];
main { let i = global_id.x; if i < len(a) { r[i + s] = a[i]; } })";

constexpr std::uint32_t kAll = 160;  // elements of each buffer

struct Launch {
    std::uint32_t s, groups, a_offset, a_count, r_count;
};

// Changes one member to a value from a small set, so that most of an earlier request is repeated.
void change_one(Launch& launch, std::mt19937& random) {
    const std::uint32_t shifts[] = {0, 0, 1, 4, 5, 9, 60, 0x80000000U, 0xfffffffdU};
    const std::uint32_t counts[] = {8, 12, 12, 13, 16};
    const auto one = [&](const auto& list) { return list[random() % std::size(list)]; };
    switch (random() % 8) {
        case 0:
            launch.groups = static_cast<std::uint32_t>(random() % 3 + 1);
            break;
        case 1:
            launch.a_offset = 64 - launch.a_offset;
            break;
        case 2:
            launch.a_count = one(counts);
            break;
        case 3:
            launch.r_count = one(counts);
            break;
        default:
            launch.s = one(shifts);
    }
}

struct Expected {
    Words r;       // the whole buffer after the launch
    bool outside;  // whether any index is out of range
};

Expected look(const Launch& l, const Words& a, Words r) {
    bool outside = false;
    for (std::uint32_t i = 0; i < l.r_count; ++i) {
        r[i] = 0;  // an output starts at zero
        if (i >= l.groups * 4) continue;
        const std::uint32_t at = i + l.s;
        r[i] = (at < l.a_count ? a[l.a_offset + at] : 0) + 1;
        outside = outside || at >= l.a_count;
    }
    return {r, outside};
}

Expected put(const Launch& l, const Words& a, Words r) {
    bool outside = false;
    for (std::uint32_t i = 0; i < std::min(l.a_count, l.groups * 4); ++i) {
        const std::uint32_t at = i + l.s;
        if (at < l.r_count) r[at] = a[l.a_offset + i];
        outside = outside || at >= l.r_count;
    }
    return {r, outside};
}

template <typename Reference>
void check(const wye::Context& context, wye::Device& device, std::string_view text,
           Reference&& reference) {
    const auto program = take(context.program_from_text(text));
    Words words(kAll);
    for (std::uint32_t i = 0; i < kAll; ++i) words[i] = 1000 + i;
    auto a = take(device.buffer(kAll * 4, "a"));
    auto r = take(device.buffer(kAll * 4, "r"));
    REQUIRE(a.upload(words).ok());
    const Words before(kAll, 7);
    std::mt19937 random(5);
    unsigned free = 0, checked = 0;
    Launch l{0, 2, 0, 12, 8};
    for (int round = 0; round < 400; ++round) {
        change_one(l, random);
        const int times = static_cast<int>(random() % 3) + 1;
        for (int n = 0; n < times; ++n) {
            REQUIRE(r.upload(before).ok());
            const wye_report report = take(wye::Dispatch(program, device)
                                               .param("s", l.s)
                                               .bind("a", a, l.a_offset * 4, l.a_count * 4)
                                               .bind("r", r, 0, l.r_count * 4)
                                               .grid(l.groups)
                                               .run());
            Words got(kAll);
            REQUIRE(r.download(got).ok());
            const Expected expected = reference(l, words, before);
            INFO("s ", l.s, ", groups ", l.groups, ", a ", l.a_offset, "+", l.a_count, ", r ",
                 l.r_count);
            CHECK(got == expected.r);
            // For these programs the library's interval of the index is exact, unless the index
            // wraps.
            CHECK((report.check_free != 0) == !expected.outside);
            ++(report.check_free != 0 ? free : checked);
        }
    }
    CHECK(free > 100);
    CHECK(checked > 100);
}

}  // namespace

TEST_CASE("a launch that may be out of range is checked, however it comes about") {
    const auto context =
        take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                   .plugin_paths = {support::test_driver_folder()}}));
    auto device = take(context.open(support::test_driver()));
    check(context, device, kLook, look);
    check(context, device, kPut, put);
}

}  // namespace wye::test::test_check_free
