// SPDX-License-Identifier: Apache-2.0
//
// The state of the calling thread and its process reaches no result, no driver, and no file that is
// kept, from the search for plugins on; and each call leaves it as it was.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/caller_state.hpp"
#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace {

using Floats = std::vector<float>;

// Literals that are rounded in both directions, subnormals, and a function.
constexpr std::string_view kText = R"(wye 1; program literals; workgroup 64;
input x: f32[]; output r: f32[len(x)]; grid elements len(x);
main {
    let i = global_id.x;
    let a = x[i] * 0.1 + 1.1 - 3.3 / 7.7;
    let b = exp(a * 0.3) + f32(0.7f64 * f64(a)) + 16777217.7;
    r[i] = select((i & 1u) == 0u, b, x[i] * 1e-39);
})";

wye::Result<void> run(const std::string& selector, const Floats& x, Floats& r) {
    WYE_ASSIGN(const wye::Context context,
               wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
    WYE_ASSIGN(const wye::Device device, context.open(selector));
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kText));
    WYE_TRY(wye::Dispatch(program, device).input("x", x).output("r", r).run());
    return {};
}

}  // namespace

TEST_CASE("results do not depend on the state of the caller") {
    Floats x;
    for (int i = 0; i < 300; ++i) x.push_back(static_cast<float>(i - 150) * 0.37F);
    Floats want(x.size());
    api_test::take(run("cpu", x, want));
    for (const std::string& selector : {std::string("cpu"), support::test_driver()})
        for (const support::CallerState& state : support::caller_states()) {
            CAPTURE(selector);
            CAPTURE(state.name);
            Floats got(x.size());
            wye::Result<void> done;
            CHECK(state.run([&] { done = run(selector, x, got); }));
            api_test::take(std::move(done));
            CHECK(std::memcmp(got.data(), want.data(), x.size() * sizeof x[0]) == 0);
        }
}
