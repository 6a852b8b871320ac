// SPDX-License-Identifier: Apache-2.0
//
// error_budget [SELECTOR]: computes sines exactly as defined, with the same bytes on every device;
// then with a budget of 4 ulp, which allows the device's own sine function, often a faster one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::string_view kSine = R"wye(
wye 1; program sine; workgroup 256;
input x: f32[]; output r: f32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = sin(x[i]); } }
)wye";

// The largest error, in distances between neighbouring numbers (units in the last place).
double largest_error(const std::vector<float>& x, const std::vector<float>& r) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = std::sin(static_cast<double>(x[i]));
        const float near = std::fabs(static_cast<float>(exact));
        const double ulp = std::nextafter(near, std::numeric_limits<float>::max()) - near;
        largest = std::max(largest, std::fabs(static_cast<double>(r[i]) - exact) / ulp);
    }
    return largest;
}

wye::Result<void> run(std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kSine, "sine"));
    WYE_ASSIGN(const wye::Device device, context.open(selector, &program));
    std::vector<float> x(1000), r(1000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.001F * static_cast<float>(i + 1);
    for (const std::uint32_t budget : {0U, 4U}) {
        WYE_ASSIGN(
            const wye_report report,
            wye::Dispatch(program, device).ulp_budget(budget).input("x", x).output("r", r).run());
        std::printf("budget %u: largest error %.2f ulp, native:", budget, largest_error(x, r));
        for (std::uint32_t bit = 0; bit < 64; ++bit)
            if ((report.native_functions >> bit & 1) != 0)
                std::printf(" %s", wye_native_function_name(bit));
        std::puts(report.native_functions == 0 ? " none" : "");
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "error_budget: %s\n", done.error().text().c_str());
    return 1;
}
