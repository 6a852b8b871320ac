// SPDX-License-Identifier: Apache-2.0
//
// native_variant [SELECTOR]: a program with a kernel written by hand for OpenCL devices. The kernel
// runs only where it fits and the dispatch allows it; everywhere else the portable body runs.
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

// The hand-written kernel takes the addresses of the buffers, then the element counts, then the
// parameters.
constexpr std::string_view kCount = R"wye(
wye 1; program count_bits; workgroup 64;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
variant "opencl-c" entry "count_bits" text """
kernel void count_bits(global const uint *x, global uint *r, ulong xs, ulong rs)
{ size_t i = get_global_id(0); if (i < rs) r[i] = popcount(x[i]); }
""";
main {
    let i = global_id.x;
    if i < len(r) { r[i] = popcount(x[i]); }
}
)wye";

wye::Result<void> run(std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kCount, "count_bits"));
    WYE_ASSIGN(const wye::Device device, context.open(selector, &program));
    const std::vector<std::uint32_t> x = {0, 1, 7, 0xff00ff00U};
    std::vector<std::uint32_t> native(x.size()), portable(x.size());
    WYE_ASSIGN(const wye_report report,
               wye::Dispatch(program, device).variants().input("x", x).output("r", native).run());
    WYE_TRY(wye::Dispatch(program, device).input("x", x).output("r", portable).run());

    if (report.variant == 0)
        std::puts("ran: the portable body");
    else
        std::printf("ran: native variant %u\n", report.variant - 1);
    std::printf("bits: %u %u %u %u\n", native[0], native[1], native[2], native[3]);
    if (native != portable)
        return wye::Error(wye::Code::INTERNAL, "variant and body differ", "Fix: mend the variant");
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "native_variant: %s\n", done.error().text().c_str());
    return 1;
}
