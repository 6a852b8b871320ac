// SPDX-License-Identifier: Apache-2.0
//
// f32 results, compared with the system's f64 functions and, near ties and where the two differ,
// with MPFR. Functions of one argument get values that are hard to round, neighbours of special
// values, and one in 256 of all f32 (in set 1 one in 4096, since test_frozen.cpp tests its bits).
// Functions of two arguments get random pairs. WYE_MATH_ALL=sin,pow tries only these functions,
// each on every f32 or on 10^8 pairs (a minute or two each).
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "reference.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

namespace {

struct Judgement {
    double worst = 0;
    float worst_x = 0, worst_y = 0;
    unsigned long long misrounded = 0;
    unsigned long long count = 0;
};

// Whether the system's result is too close to the middle of two floats to be rounded safely.
bool near_tie(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t rest = bits & 0x1fffffffU;  // what f32 cannot hold
    const bool subnormal = std::fabs(value) < 0x1p-125;
    return subnormal || (rest > 0x10000000U - 16 && rest < 0x10000000U + 16);
}

void judge(const reference::Function& f, const std::vector<float>& x, const std::vector<float>& y,
           const std::vector<float>& r, Judgement& out) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double b = y.empty() ? 0 : static_cast<double>(y[i]);
        const double value = f.one != nullptr ? f.one(x[i]) : f.two(x[i], b);
        const auto expected = static_cast<float>(value);
        ++out.count;
        const bool equal =
            std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(r[i]);
        if ((equal || (std::isnan(expected) && std::isnan(r[i]))) &&
            (value == expected || !near_tie(value) || std::isnan(value)))
            continue;
        if (std::isnan(expected) && std::isnan(r[i])) continue;
        const double error = reference::error_f32(f, x[i], b, r[i]);
        if (reference::rounded_f32(f, x[i], b) != r[i]) ++out.misrounded;
        if (error <= out.worst) continue;
        out.worst = error;
        out.worst_x = x[i];
        out.worst_y = y.empty() ? 0 : y[i];
    }
}

void report(unsigned set, const reference::Function& f, const Judgement& j) {
    std::printf("set %u f32 %-5s %10llu values, %6llu not the nearest, worst %.6f ulp at %a %a\n",
                set, std::string(f.name).c_str(), j.count, j.misrounded, j.worst,
                static_cast<double>(j.worst_x), static_cast<double>(j.worst_y));
    CHECK_MESSAGE(j.worst <= 0.51, std::string(f.name));
    if (set == 2) CHECK_MESSAGE(j.misrounded == 0, std::string(f.name));
    CHECK(j.count > 0);
}

// The arguments of tests/golden/math/hard.txt for a function.
std::vector<float> hard_values(const reference::Function& f) {
    std::ifstream file(WYE_GOLDEN_MATH "/hard.txt");
    std::vector<float> out;
    std::string word;
    for (bool found = false; file >> word;) {
        if (word.size() != 8)
            found = word == f.name;
        else if (found)
            out.push_back(std::bit_cast<float>(
                static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16))));
    }
    return out;
}

// The functions to try: all of them, or those that are named.
const char* const kNames = std::getenv("WYE_MATH_ALL");
bool asked_for(const reference::Function& f) {
    return kNames == nullptr ||
           ("," + std::string(kNames) + ",").find("," + std::string(f.name) + ",") !=
               std::string::npos;
}

// Values around which definitions change, and the ends of ranges.
std::vector<float> special_values() {
    const float centres[] = {
        0.0F,       0x1p-149F, 0x1p-126F,   0x1p-24F,  0x1p-12F,       0.25F,      0.41421357F,
        0.5F,       0.55F,     0.70710677F, 1.0F,      1.4142135F,     1.5707964F, 2.0F,
        3.1415927F, 3.95F,     4.0F,        38.53184F, 44.85F,         45.15F,     88.72284F,
        87.33655F,  89.41599F, 103.97208F,  126.0F,    128.0F,         149.0F,     150.0F,
        0x1p20F,    0x1p23F,   0x1p24F,     0x1p127F,  0x1.fffffep127F};
    std::vector<float> out = {std::nanf(""), HUGE_VALF, -HUGE_VALF};
    for (const float centre : centres)
        for (int d = -300; d <= 300; ++d) {
            const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(centre)) + d;
            if (bits < 0 || bits > 0x7f800000) continue;
            const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
            out.push_back(value);
            out.push_back(-value);
        }
    for (float n = 2; n < 200; ++n) {  // where powers are exact
        out.push_back(n);
        out.push_back(-n);
        out.push_back(1 / n);
        out.push_back(n * n * n);
    }
    return out;
}

// Returns one of two arguments: any float, near `other`, near 1, or a multiple of 1/2.
float random_argument(support::Random& random, float other) {
    switch (random.below(6)) {
        case 0:
            return std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
        case 1:
            return other * (1 + static_cast<float>(random.between(-64, 64)) * 0x1p-23F);
        case 2:
            return static_cast<float>(random.between(-300, 300)) * 0.5F;
        case 3:
            return 1 + static_cast<float>(random.between(-100000, 100000)) * 0x1p-23F;
        default:
            return std::ldexp(static_cast<float>(static_cast<std::int32_t>(random.next())),
                              static_cast<int>(random.between(-36, -26)));
    }
}

// One argument: special values, and one value in `step` of all.
void try_one(test::Evaluator& cpu, unsigned set, const reference::Function& f, std::uint64_t step) {
    std::vector<float> r;
    Judgement judgement;
    std::vector<float> x = special_values();
    const std::vector<float> hard = hard_values(f);
    x.insert(x.end(), hard.begin(), hard.end());
    cpu.run(set, f.name, x, {}, r);
    judge(f, x, {}, r, judgement);
    constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
    x.resize(kChunk);
    for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += kChunk * step) {
        for (std::uint64_t i = 0; i < kChunk; ++i) {
            const std::uint64_t at = first + i * step;  // another offset in each stretch
            x[i] = std::bit_cast<float>(
                static_cast<std::uint32_t>(at + ((at >> 8U) * 0x9e3779b1U >> 8U) % step));
        }
        cpu.run(set, f.name, x, {}, r);
        judge(f, x, {}, r, judgement);
    }
    report(set, f, judgement);
}

void try_two(test::Evaluator& cpu, unsigned set, const reference::Function& f, int rounds) {
    support::Random random(7);
    Judgement judgement;
    std::vector<float> x(1000000), y(x.size()), r;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = random_argument(random, 1);
            y[i] = random_argument(random, x[i]);
        }
        cpu.run(set, f.name, x, y, r);
        judge(f, x, y, r, judgement);
    }
    report(set, f, judgement);
}

}  // namespace

TEST_CASE("f32: at most 0.51 ulp in math set 1, the nearest value in math set 2") {
    test::Evaluator cpu;
    for (const reference::Function& f : reference::functions()) {
        if (!asked_for(f)) continue;
        for (unsigned set = f.set; set <= 2; ++set) {
            const bool all = kNames != nullptr;
            if (f.arguments == 1)
                try_one(cpu, set, f, all ? 1 : set == 1 || support::kSanitized ? 4096 : 256);
            else
                try_two(cpu, set, f, all ? 100 : 1);
        }
    }
}
