// SPDX-License-Identifier: Apache-2.0
//
// Counters through wye.hpp, on the CPU or a real driver. They are compared with the sizes of the
// calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_counters {
namespace {

using Words = std::vector<std::uint32_t>;

using api_test::take;

constexpr std::string_view kAdd = R"(wye 1; program add; workgroup 64; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k; } })";

TEST_CASE("counters have the numbers and sizes of the calls") {
    const auto context =
        take(wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
    const auto program = take(context.program_from_text(kAdd));
    std::uint64_t uploaded = 0;
    const std::string selector = support::test_driver();
    const auto device = take(context.open(selector));
    constexpr std::uint64_t kBytes = 40'000;
    Words x(kBytes / 4, 7);
    Words r(x.size());
    REQUIRE(wye::Dispatch(program, device).param("k", 1U).input("x", x).output("r", r).run().ok());
    auto in = take(device.buffer(kBytes));
    auto out = take(device.buffer(kBytes));
    const auto before = take(device.counters());
    CHECK(before.dispatches == 1);
    CHECK(before.bytes_uploaded == kBytes);
    CHECK(before.bytes_downloaded == kBytes);
    CHECK(before.programs_compiled + before.programs_loaded == 1);
    CHECK(before.buffer_bytes >= 4 * kBytes);  // includes scratch memory of the dispatch

    REQUIRE(in.upload(x).ok());
    REQUIRE(out.fill(0, 0, kBytes).ok());
    constexpr int kRounds = 5;
    for (int i = 0; i < kRounds; ++i)
        REQUIRE(
            wye::Dispatch(program, device).param("k", 2U).bind("x", in).bind("r", out).run().ok());
    REQUIRE(in.copy_from(out, 0, 0, kBytes / 2).ok());
    REQUIRE(in.download(r).ok());
    CHECK(r.front() == 9);
    CHECK(r.back() == 7);
    const auto after = take(device.counters());
    CHECK(after.dispatches == 1 + kRounds);
    CHECK(after.dispatches_failed == 0);
    CHECK(after.dispatches_repeated == kRounds - 1);
    CHECK(after.submits - before.submits == kRounds + 4);
    CHECK(after.waits - before.waits == kRounds + 4);
    CHECK(after.bytes_uploaded == 2 * kBytes);
    CHECK(after.bytes_downloaded == 2 * kBytes);
    CHECK(after.bytes_copied == kBytes / 2);
    CHECK(after.bytes_filled == kBytes);
    REQUIRE(in.free().ok());
    CHECK(take(device.counters()).buffer_bytes == after.buffer_bytes - kBytes);
    CHECK(take(device.counters()).peak_buffer_bytes == after.peak_buffer_bytes);
    uploaded += after.bytes_uploaded;
    CHECK(take(context.counters()).bytes_uploaded == uploaded);
}

TEST_CASE("a device keeps to its limit, says who holds its memory, and is trimmed") {
    const auto context = take(wye::Context::create({.plugin_paths = {support::test_driver_folder()},
                                                    .config = {{"memory.device_limit", "8MiB"}}}));
    const auto program = take(context.program_from_text(kAdd));
    constexpr std::uint64_t kMiB = 1U << 20U;
    const std::string selector = support::test_driver();
    const auto device = take(context.open(selector));
    const Words x(kMiB / 4, 7);
    Words r(x.size());
    const auto add = [&] {
        std::ranges::fill(r, 0U);
        return wye::Dispatch(program, device).param("k", 1U).input("x", x).output("r", r).run();
    };
    REQUIRE(add().ok());
    const auto first = take(device.memory());
    CHECK(first.limit == 8 * kMiB);
    CHECK(first.buffers == 0);
    CHECK(first.scratch >= 2 * kMiB);
    CHECK(first.scratch_idle == first.scratch);
    CHECK(first.programs == 1);
    CHECK(take(device.counters()).buffer_bytes == first.scratch);

    const auto large = take(device.buffer(7 * kMiB, "large"));  // replaces the scratch memory
    CHECK(take(device.memory()).scratch == 0);
    CHECK(take(device.counters()).buffer_bytes == 7 * kMiB);
    const auto refused = add();
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::DEVICE_MEMORY);
    CHECK(refused.error().message.find("`large` 7340032") != std::string::npos);
    CHECK(r == Words(x.size(), 0));
    CHECK_FALSE(device.buffer(kMiB + 1).ok());
    REQUIRE(device.limit_memory(10 * kMiB).ok());
    REQUIRE(add().ok());
    CHECK(r == Words(x.size(), 8));
    const auto before = take(device.memory());
    CHECK(take(device.trim()) >= before.scratch_idle + before.staging_idle);
    const auto after = take(device.memory());
    CHECK(after.buffers == 7 * kMiB);
    CHECK(after.scratch + after.staging == 0);
    CHECK(after.trims > before.trims);
    REQUIRE(add().ok());
    CHECK(r == Words(x.size(), 8));
    REQUIRE(device.limit_memory(0).ok());
    REQUIRE(context.limit_memory(1).ok());
    const auto none = device.buffer(16);
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().fix.find("memory.context_limit") != std::string::npos);
}

}  // namespace

}  // namespace wye::test::test_counters
