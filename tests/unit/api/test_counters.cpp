// SPDX-License-Identifier: Apache-2.0
//
// Counters through wye.hpp, on the CPU or a real driver, against the sizes of the calls.
#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

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
    for (const std::string& selector : support::test_devices()) {
        CAPTURE(selector);
        const auto device = take(context.open(selector));
        constexpr std::uint64_t kBytes = 40'000;
        Words x(kBytes / 4, 7);
        Words r(x.size());
        REQUIRE(
            wye::Dispatch(program, device).param("k", 1U).input("x", x).output("r", r).run().ok());
        auto in = take(device.buffer(kBytes));
        auto out = take(device.buffer(kBytes));
        const auto before = take(device.counters());
        CHECK(before.dispatches == 1);
        CHECK(before.bytes_uploaded == kBytes);
        CHECK(before.bytes_downloaded == kBytes);
        CHECK(before.programs_compiled + before.programs_loaded == 1);
        CHECK(before.buffer_bytes >= 4 * kBytes);  // with the scratch of the dispatch

        REQUIRE(in.upload(x).ok());
        REQUIRE(out.fill(0, 0, kBytes).ok());
        constexpr int kRounds = 5;
        for (int i = 0; i < kRounds; ++i)
            REQUIRE(wye::Dispatch(program, device)
                        .param("k", 2U)
                        .bind("x", in)
                        .bind("r", out)
                        .run()
                        .ok());
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
    }
    CHECK(take(context.counters()).bytes_uploaded == uploaded);
}

}  // namespace
