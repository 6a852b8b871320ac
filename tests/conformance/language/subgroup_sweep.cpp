// SPDX-License-Identifier: Apache-2.0
//
// Compares subgroup operations, for every type and every subgroup width of the device, with loops
// on the host that add in the order that the language defines.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "conformance/language/judge.hpp"
#include "conformance/language/suites.hpp"
#include "support/random.hpp"
#include "wye/program_format.h"

namespace conformance {
namespace {

constexpr std::size_t kSubgroupChunk = 65536;
constexpr std::size_t kWorkgroup = 128;
constexpr std::size_t kSubgroupOracle = 2 * kWorkgroup;  // inputs that the oracle evaluates too

template <typename T>
using Group = std::vector<T>;
using Lanes = std::vector<std::uint32_t>;

// Adds; integers wrap around.
template <typename T>
T sum(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    if constexpr (!std::is_floating_point_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                              static_cast<std::make_unsigned_t<T>>(b));
}

template <typename T>
T smaller_lane(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a)) return b;
        if (std::isnan(b)) return a;
        if (a == b) return std::signbit(a) ? a : b;
    }
    return b < a ? b : a;
}
template <typename T>
T larger_lane(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return -smaller_lane(-a, -b);
    return a < b ? b : a;
}

// Combines each lane with the lane at distance 1, then 2, 4 and so on up to half the width.
template <typename T, typename F>
Group<T> reduced(Group<T> v, F f) {
    for (std::size_t distance = 1; distance < v.size(); distance *= 2) {
        const Group<T> before = v;
        for (std::size_t k = 0; k < v.size(); ++k) v[k] = f(before[k], before[k ^ distance]);
    }
    return v;
}

template <typename T>
Group<T> scanned(Group<T> v) {
    for (std::size_t distance = 1; distance < v.size(); distance *= 2) {
        const Group<T> before = v;
        for (std::size_t k = distance; k < v.size(); ++k)
            v[k] = sum(before[k - distance], before[k]);
    }
    return v;
}

template <typename T>
struct SubgroupOperation {
    const char* text;  // an expression of x and lane
    Group<T> (*expected)(const Group<T>& x, const Lanes& lane);
};

template <typename T>
std::vector<SubgroupOperation<T>> operations() {
    std::vector<SubgroupOperation<T>> out = {
        {"subgroup_add(x)", [](const Group<T>& x, const Lanes&) { return reduced(x, sum<T>); }},
        {"subgroup_min(x)",
         [](const Group<T>& x, const Lanes&) { return reduced(x, smaller_lane<T>); }},
        {"subgroup_max(x)",
         [](const Group<T>& x, const Lanes&) { return reduced(x, larger_lane<T>); }},
        {"subgroup_inclusive_add(x)", [](const Group<T>& x, const Lanes&) { return scanned(x); }},
        {"subgroup_exclusive_add(x)",
         [](const Group<T>& x, const Lanes&) {
             Group<T> v = scanned(x);
             v.insert(v.begin(), T(0));
             v.pop_back();
             return v;
         }},
        {"subgroup_shuffle(x, lane)",
         [](const Group<T>& x, const Lanes& lane) {
             Group<T> v = x;
             for (std::size_t k = 0; k < v.size(); ++k) v[k] = x[lane[k] % x.size()];
             return v;
         }},
        {"subgroup_shuffle_xor(x, lane)",
         [](const Group<T>& x, const Lanes& lane) {
             Group<T> v = x;
             for (std::size_t k = 0; k < v.size(); ++k) v[k] = x[(k ^ lane[k]) % x.size()];
             return v;
         }},
        {"subgroup_broadcast(x, 7u)",
         [](const Group<T>& x, const Lanes&) { return Group<T>(x.size(), x[7 % x.size()]); }},
    };
    if constexpr (!std::is_floating_point_v<T>) {
        out.push_back({"subgroup_and(x)", [](const Group<T>& x, const Lanes&) {
                           return reduced(x, [](T a, T b) { return static_cast<T>(a & b); });
                       }});
        out.push_back({"subgroup_or(x)", [](const Group<T>& x, const Lanes&) {
                           return reduced(x, [](T a, T b) { return static_cast<T>(a | b); });
                       }});
        out.push_back({"subgroup_xor(x)", [](const Group<T>& x, const Lanes&) {
                           return reduced(x, [](T a, T b) { return static_cast<T>(a ^ b); });
                       }});
    }
    if constexpr (std::is_same_v<T, std::uint32_t>) {
        out.push_back({"subgroup_any(lane % 8u == 3u)", [](const Group<T>& x, const Lanes& lane) {
                           const bool any = std::any_of(lane.begin(), lane.end(),
                                                        [](auto l) { return l % 8 == 3; });
                           return Group<T>(x.size(), any ? 1U : 0U);
                       }});
        out.push_back({"subgroup_all(lane % 8u != 3u)", [](const Group<T>& x, const Lanes& lane) {
                           const bool all = std::none_of(lane.begin(), lane.end(),
                                                         [](auto l) { return l % 8 == 3; });
                           return Group<T>(x.size(), all ? 1U : 0U);
                       }});
    }
    return out;
}

template <typename T>
std::string text_of(const std::string& type, std::uint32_t width,
                    const std::vector<SubgroupOperation<T>>& all) {
    std::string text = "wye 1; program subgroups; workgroup " + std::to_string(kWorkgroup) +
                       "; subgroup " + std::to_string(width) + ";\ninput in_x: " + type +
                       "[]; input lanes: u32[len(in_x)]; output r: " + type + "[len(in_x) * " +
                       std::to_string(all.size()) +
                       "]; output ballots: u32x4[len(in_x)];\ngrid elements len(in_x);\n"
                       "main {\n    let i = global_id.x;\n    let n = len(in_x);\n"
                       "    let x = in_x[i];\n    let lane = lanes[i];\n"
                       "    let ballot = subgroup_ballot(lane % 3u == 1u);\n"
                       "    ballots[i] = ballot;\n";
    for (std::size_t k = 0; k < all.size(); ++k) {
        const std::string number = std::to_string(k);
        const bool vote = std::strstr(all[k].text, "lane %") != nullptr;
        text += "    let y" + number + " = " + all[k].text + ";\n    r[" + number +
                "u * n + i] = " + (vote ? "u32(y" + number + ")" : "y" + number) + ";\n";
    }
    return text + "}\n";
}

template <typename T>
std::vector<T> values(const std::vector<std::byte>& bytes) {
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

// The value that a store leaves in memory: all NaNs become the canonical one.
template <typename T>
T stored(T value) {
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
    return value;
}

// The first difference; empty: none.
template <typename T>
std::string compare(const std::vector<SubgroupOperation<T>>& all, std::uint32_t width,
                    const Launch& launch, const std::vector<std::vector<std::byte>>& got) {
    const auto x = values<T>(launch.buffers[0].bytes);
    const auto lanes = values<std::uint32_t>(launch.buffers[1].bytes);
    const auto r = values<T>(got[2]);
    const auto ballots = values<std::uint32_t>(got[3]);
    for (std::size_t first = 0; first < x.size(); first += width) {
        const auto begin = static_cast<std::ptrdiff_t>(first);
        const auto end = begin + static_cast<std::ptrdiff_t>(width);
        const Group<T> group(x.begin() + begin, x.begin() + end);
        const Lanes lane(lanes.begin() + begin, lanes.begin() + end);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const Group<T> wanted = all[k].expected(group, lane);
            for (std::size_t n = 0; n < width; ++n) {
                const T should_be = stored(wanted[n]);
                if (std::memcmp(&r[k * x.size() + first + n], &should_be, sizeof(T)) != 0)
                    return std::string("`") + all[k].text + "` differs at input " +
                           std::to_string(first + n);
            }
        }
        std::uint32_t votes[4] = {};
        for (std::size_t n = 0; n < width; ++n)
            if (lane[n] % 3 == 1) votes[n / 32] |= 1U << (n % 32);
        for (std::size_t n = 0; n < width; ++n)
            if (std::memcmp(&ballots[(first + n) * 4], votes, sizeof votes) != 0)
                return "`subgroup_ballot` differs at input " + std::to_string(first + n);
    }
    return {};
}

Launch inputs(unsigned kind, std::size_t bytes, std::size_t operations, std::uint64_t seed,
              std::size_t count) {
    support::Random random(seed);
    Launch launch;
    launch.buffers = {{"in_x", true, false, support::random_scalars(random, kind, count)},
                      {"lanes", true, false, support::random_scalars(random, WYE_KIND_U32, count)},
                      {"r", false, true, std::vector<std::byte>(count * bytes * operations)},
                      {"ballots", false, true, std::vector<std::byte>(count * 16)}};
    return launch;
}

template <typename T>
void sweep(const Device& device, const std::string& type, unsigned kind, std::uint32_t width,
           std::uint64_t wanted, Tally& tally) {
    const std::vector<SubgroupOperation<T>> all = operations<T>();
    const std::string what = "subgroups of " + std::to_string(width) + " on " + type;
    if (!tally.begin(what)) return;
    const auto judge = [&](const std::string& problem) { tally.end(problem); };
    const auto program = device.context().program_from_text(text_of(type, width, all), what);
    const auto wire = program.ok() ? program->lower("wire") : wye::Result<std::string>("");
    if (!program.ok() || !wire.ok())
        return judge(program.ok() ? wire.error().text() : program.error().text());
    const Launch small = inputs(kind, sizeof(T), all.size(), 0, kSubgroupOracle);
    const auto oracle = expected(*wire, {small});
    if (!oracle.ok()) return judge(oracle.error().text());
    const std::string odd = compare(all, width, small, *oracle);
    if (!odd.empty()) return judge("the oracle does not agree with the host: " + odd);
    for (std::uint64_t done = 0; done < wanted; done += kSubgroupChunk) {
        const Launch launch = inputs(kind, sizeof(T), all.size(), done + width, kSubgroupChunk);
        const auto got = device.run(*program, {launch}, false);
        if (!got.ok()) return judge(got.error().text());
        const std::string bad = compare(all, width, launch, *got);
        if (!bad.empty()) return judge(bad);
    }
    judge({});
}

}  // namespace

void sweep_subgroups(const Device& device, std::uint64_t wanted, Tally& tally) {
    const std::vector<std::uint32_t> widths = device.subgroup_sizes();
    if (widths.empty()) return tally.add_left_out("subgroups", "the device has none");
    const std::uint64_t each = wanted / widths.size() + 1;
    for (const std::uint32_t width : widths) {
        sweep<std::int32_t>(device, "i32", WYE_KIND_I32, width, each, tally);
        sweep<std::uint32_t>(device, "u32", WYE_KIND_U32, width, each, tally);
        if (device.has("int64")) {
            sweep<std::int64_t>(device, "i64", WYE_KIND_I64, width, each, tally);
            sweep<std::uint64_t>(device, "u64", WYE_KIND_U64, width, each, tally);
        }
        if (device.has("ieee_f32")) sweep<float>(device, "f32", WYE_KIND_F32, width, each, tally);
        if (device.has("f64") && device.has("ieee_f64"))
            sweep<double>(device, "f64", WYE_KIND_F64, width, each, tally);
        std::printf("subgroups of %u: %llu inputs of each type\n", width,
                    static_cast<unsigned long long>((each + kSubgroupChunk - 1) / kSubgroupChunk *
                                                    kSubgroupChunk));
    }
}

}  // namespace conformance
