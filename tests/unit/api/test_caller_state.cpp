// SPDX-License-Identifier: Apache-2.0
//
// The floating-point state of the calling thread reaches no result, no driver, and no file that is
// kept: rounding modes, flushed subnormals, exceptions that are not masked, and the precision of
// x87. Each call leaves that state as it was.
#include <doctest/doctest.h>
#include <fpu_control.h>
#include <xmmintrin.h>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace {

using api_test::take;
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

struct State {
    const char* name;
    unsigned mxcsr;
    fpu_control_t x87;
};
constexpr unsigned kDefault = 0x1f80;
constexpr State kStates[] = {
    {"to nearest", kDefault, _FPU_DEFAULT},
    {"down", kDefault | _MM_ROUND_DOWN, _FPU_DEFAULT | _FPU_RC_DOWN},
    {"up", kDefault | _MM_ROUND_UP, _FPU_DEFAULT | _FPU_RC_UP},
    {"toward zero", kDefault | _MM_ROUND_TOWARD_ZERO, _FPU_DEFAULT | _FPU_RC_ZERO},
    {"flushed subnormals", kDefault | 0x8040, _FPU_DEFAULT},
    {"all exceptions unmasked", 0, _FPU_DEFAULT & ~0x3f},
    {"x87 in single precision", kDefault, (_FPU_DEFAULT & ~_FPU_EXTENDED) | _FPU_SINGLE},
};

// Sets a state for a scope.
struct Under {
    explicit Under(const State& state) : mxcsr(state.mxcsr), x87(state.x87) {
        _FPU_SETCW(x87);
        _mm_setcsr(mxcsr);
    }
    ~Under() {
        kept = (_mm_getcsr() & ~0x3fU) == mxcsr;
        fpu_control_t now;
        _FPU_GETCW(now);
        kept = kept && (now & 0x0f3f) == (x87 & 0x0f3f);
        std::fesetenv(FE_DFL_ENV);
        CHECK(kept);
    }
    const unsigned mxcsr;
    fpu_control_t x87;
    bool kept = false;
};

// Everything from the search for plugins on, under that state.
Floats run_under(const State& state, const std::string& selector, const Floats& x) {
    Floats r(x.size());
    const Under under(state);
    wye::Result<void> done = [&]() -> wye::Result<void> {
        WYE_ASSIGN(const wye::Context context,
                   wye::Context::create({.plugin_paths = {support::test_driver_folder()}}));
        WYE_ASSIGN(const wye::Device device, context.open(selector));
        WYE_ASSIGN(const wye::Program program, context.program_from_text(kText));
        WYE_TRY(wye::Dispatch(program, device).input("x", x).output("r", r).run());
        return {};
    }();
    const unsigned raised = _mm_getcsr();
    std::fesetenv(FE_DFL_ENV);
    take(std::move(done));
    _FPU_SETCW(const_cast<fpu_control_t&>(under.x87));
    _mm_setcsr(raised);
    return r;
}

}  // namespace

TEST_CASE("results do not depend on the floating-point state of the caller") {
    Floats x;
    for (int i = 0; i < 300; ++i) x.push_back(static_cast<float>(i - 150) * 0.37F);
    const Floats want = run_under(kStates[0], "cpu", x);
    for (const std::string& selector : {std::string("cpu"), support::test_driver()})
        for (const State& state : kStates) {
            CAPTURE(selector);
            CAPTURE(state.name);
            const Floats got = run_under(state, selector, x);
            CHECK(std::memcmp(got.data(), want.data(), x.size() * sizeof x[0]) == 0);
        }
}
