// SPDX-License-Identifier: Apache-2.0
//
// graph [SELECTOR]: records an upload, two dispatches and a download once, and runs them three
// times, each time as one submit, with other numbers and another parameter.
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "wye/graph.hpp"

namespace {

constexpr std::string_view kScale = R"wye(
wye 1; program scale; workgroup 64;
param factor: u32;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * factor; } }
)wye";

wye::Result<void> run(std::string_view selector) {
    WYE_ASSIGN(const wye::Context context, wye::Context::create());
    WYE_ASSIGN(const wye::Program program, context.program_from_text(kScale, "scale"));
    WYE_ASSIGN(const wye::Device device, context.open(selector, &program));
    std::vector<std::uint32_t> x(4), r(4);
    WYE_ASSIGN(const wye::Buffer a, device.buffer(16, "a"));
    WYE_ASSIGN(const wye::Buffer b, device.buffer(16, "b"));
    WYE_ASSIGN(const wye::Buffer c, device.buffer(16, "c"));

    wye::Dispatch first(program, device), second(program, device);
    first.param("factor", 1U).bind("x", a).bind("r", b);
    second.param("factor", 1U).bind("x", b).bind("r", c);
    WYE_ASSIGN(const wye::Graph graph,
               wye::Graph::record(
                   device, {wye::Step::upload(x, a), &first, &second, wye::Step::download(c, r)}));
    for (std::uint32_t turn = 1; turn <= 3; ++turn) {
        // Writes to the same memory as before, which the graph reads each time.
        x = {turn, turn + 1, turn + 2, turn + 3};
        const std::vector<std::uint64_t> factors = {10, turn};  // one factor for each dispatch
        WYE_TRY(graph.run(factors));
        std::printf("turn %u: %u %u %u %u\n", turn, r[0], r[1], r[2], r[3]);
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto done = run(argc > 1 ? argv[1] : "");
    if (done.ok()) return 0;
    std::fprintf(stderr, "graph: %s\n", done.error().text().c_str());
    return 1;
}
