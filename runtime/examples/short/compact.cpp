// SPDX-License-Identifier: Apache-2.0
//
// compact [SELECTOR]: one kernel keeps the multiples of 7, and counts the workgroups that the next
// kernel needs for them. The next kernel runs that number of workgroups, and the host does not wait
// in between. If the device cannot take the number of workgroups from a buffer, the host waits and
// reads the number back.
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "wye/wye.hpp"

namespace {

// `next` is {workgroups on x, 1, 1}. The order of the kept numbers may differ from run to run.
constexpr std::string_view kKeep = R"wye(
wye 1; program keep; workgroup 64;
input x: u32[]; input_output kept: u32[len(x)];
input_output count: u32[1]; input_output next: u32[3];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(x) && x[i] % 7u == 0u {
        let at = atomic_add(count[0], 1u);
        kept[at] = x[i];
        atomic_max(next[0], at / 64u + 1u);
    }
}
)wye";

// This program has no `grid`: each dispatch says how many workgroups it runs.
constexpr std::string_view kSquares = R"wye(
wye 1; program squares; workgroup 64;
input kept: u32[]; input count: u32[1]; input_output total: u32[1];
main { let i = global_id.x; if i < count[0] { atomic_add(total[0], kept[i] * kept[i]); } }
)wye";

wye::Result<void> run(std::string_view selector) {
    using Words = std::vector<std::uint32_t>;
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program keep, context.program_from_text(kKeep, "keep"));
    WYE_ASSIGN(const wye::Program squares, context.program_from_text(kSquares, "squares"));
    WYE_ASSIGN(const wye::Device device, context.open(selector, &keep));
    Words numbers(10000);
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    WYE_ASSIGN(wye::Buffer x, device.buffer(numbers.size() * 4, "x"));
    WYE_ASSIGN(wye::Buffer kept, device.buffer(numbers.size() * 4, "kept"));
    WYE_ASSIGN(wye::Buffer count, device.buffer(4, "count"));
    WYE_ASSIGN(wye::Buffer next, device.buffer(12, "next"));
    WYE_ASSIGN(wye::Buffer total, device.buffer(4, "total"));
    WYE_TRY(x.upload(numbers));
    WYE_TRY(count.upload(Words{0}));
    WYE_TRY(next.upload(Words{0, 1, 1}));
    WYE_TRY(total.upload(Words{0}));

    wye::Dispatch first(keep, device), second(squares, device);
    first.bind("x", x).bind("kept", kept).bind("count", count).bind("next", next);
    second.bind("kept", kept).bind("count", count).bind("total", total);
    WYE_ASSIGN(const wye::Pending keeping, first.submit());
    const auto fact = device.fact("indirect_dispatch");
    if (fact.ok() && fact->u != 0) {
        second.grid_from(next);
    } else {
        Words found(3);
        WYE_TRY(next.download(found));
        second.grid(found[0], found[1], found[2]);
    }
    WYE_TRY(second.run());

    Words number(1), ran(3), sum(1);
    WYE_TRY(count.download(number));
    WYE_TRY(next.download(ran));
    WYE_TRY(total.download(sum));
    std::printf("kept %u numbers, squared by %u workgroups: the sum is %u\n", number[0], ran[0],
                sum[0]);
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "compact: %s\n", done.error().text().c_str());
    return 1;
}
