// SPDX-License-Identifier: Apache-2.0
//
// two_devices SELECTOR SELECTOR: splits an array between two devices, which work at the same time.
// Each has its own part of the input, so nothing has to be copied between them.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::string_view kCube = R"wye(
wye 1; program cube; workgroup 256;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * x[i] * x[i]; } }
)wye";

wye::Result<void> run(std::string_view one, std::string_view other) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kCube, "cube"));
    WYE_ASSIGN(const wye::Device first, context.open(one, &program));
    WYE_ASSIGN(const wye::Device second, context.open(other, &program));

    std::vector<std::uint32_t> x(1001);
    std::iota(x.begin(), x.end(), 0U);
    const auto low = std::span(x).first(x.size() / 2), high = std::span(x).subspan(low.size());
    // Neither submit() waits for its device.
    WYE_ASSIGN(const wye::Pending a, wye::Dispatch(program, first).input("x", low).submit());
    WYE_ASSIGN(const wye::Pending b, wye::Dispatch(program, second).input("x", high).submit());
    WYE_TRY(a.wait());
    WYE_TRY(b.wait());
    WYE_ASSIGN(const auto from_a, a.output<std::uint32_t>("r"));
    WYE_ASSIGN(const auto from_b, b.output<std::uint32_t>("r"));

    std::printf("%zu cubes from %s, %zu from %s\n", from_a.size(), one.data(), from_b.size(),
                other.data());
    std::printf("the last ones: %u and %u\n", from_a.back(), from_b.back());
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: two_devices SELECTOR SELECTOR\n", stderr);
        return 2;
    }
    const auto done = run(argv[1], argv[2]);
    if (done.ok()) return 0;
    std::fprintf(stderr, "two_devices: %s\n", done.error().text().c_str());
    return 1;
}
