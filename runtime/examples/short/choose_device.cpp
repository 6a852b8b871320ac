// SPDX-License-Identifier: Apache-2.0
//
// choose_device [SELECTOR]: opens the best device that can run a program, and says why the others
// were passed over. A device that the selector names is preferred.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

// Only devices with 64-bit floating point can run this program.
constexpr std::string_view kHalve = R"wye(
wye 1; program halve; workgroup 64;
input x: f64[]; output r: f64[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * f64(0.5); } }
)wye";

std::string text(wye_string from) { return {from.data, from.size}; }

wye::Result<void> run(std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kHalve, "halve"));
    WYE_ASSIGN(const wye::Device device, context.choose(selector, WYE_POLICY_PREFER, &program));

    WYE_ASSIGN(const wye_device_description chosen, device.describe());
    std::printf("chosen: %s, because: %s\n", text(chosen.selector).c_str(),
                text(chosen.reason).c_str());
    WYE_ASSIGN(const std::vector<wye_passed_over> others, device.passed_over());
    for (const wye_passed_over& other : others)
        std::printf("passed over: %s, because: %s\n", text(other.selector).c_str(),
                    text(other.reason).c_str());

    const std::vector<double> x = {1, 2, 3, 4};
    std::vector<double> r(x.size());
    WYE_TRY(wye::Dispatch(program, device).input("x", x).output("r", r).run());
    std::printf("halves: %g %g %g %g\n", r[0], r[1], r[2], r[3]);
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "choose_device: %s\n", done.error().text().c_str());
    return 1;
}
