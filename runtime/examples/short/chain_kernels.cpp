// SPDX-License-Identifier: Apache-2.0
//
// chain_kernels [SELECTOR]: squares numbers and adds them up with two kernels. The output of the
// first kernel stays on the device, where the second one reads it. Only the sum is copied back.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::string_view kSquare = R"wye(
wye 1; program square; workgroup 256;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * x[i]; } }
)wye";
constexpr std::string_view kSum = R"wye(
wye 1; program sum; workgroup 256;
input x: u32[]; output total: u32[1];
grid elements len(x);
main { let i = global_id.x; if i < len(x) { atomic_add(total[0u], x[i]); } }
)wye";

wye::Result<void> run(std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program square, context.program_from_text(kSquare, "square"));
    WYE_ASSIGN(const wye::Program sum, context.program_from_text(kSum, "sum"));
    WYE_ASSIGN(const wye::Device device, context.open(selector));

    std::vector<std::uint32_t> x(1000), total(1);
    std::iota(x.begin(), x.end(), 1U);
    WYE_ASSIGN(const wye::Buffer squares, device.buffer(x.size() * sizeof x[0], "squares"));
    WYE_TRY(wye::Dispatch(square, device).input("x", x).bind("r", squares).run());
    WYE_ASSIGN(const wye_report report,
               wye::Dispatch(sum, device).bind("x", squares).output("total", total).run());

    std::printf("sum of squares: %u\n", total[0]);
    std::printf("bytes to and from the device for the second kernel: %u, %u\n",
                static_cast<unsigned>(report.bytes_uploaded),
                static_cast<unsigned>(report.bytes_downloaded));
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "chain_kernels: %s\n", done.error().text().c_str());
    return 1;
}
