// SPDX-License-Identifier: Apache-2.0
//
// Parses and validates a program of 10,000 nodes, from its text and from its wire form.
#include <string>

#include <fmt/format.h>

#include "ratio_reporter.hpp"
#include "support.hpp"
#include "wye/wye.hpp"

namespace {

using wye::bench::must;

// 1,250 statements of 8 nodes each: `let`, `and`, `or`, two locals and three literals.
std::string large_program() {
    std::string text =
        "wye 1;\nprogram large;\nworkgroup 64;\ninput_output data: u32[];\n"
        "grid elements len(data);\nmain {\n    let v0 = global_id.x;\n";
    constexpr int kStatements = 1250;
    for (int i = 1; i <= kStatements; ++i)
        text += fmt::format("    let v{} = (v{} * {}u + {}u) ^ (v{} >> 3u);\n", i, i - 1, i + 1, i,
                            i / 2);
    return text + fmt::format("    data[v0] = v{};\n}}\n", kStatements);
}

void from_text(benchmark::State& state) {
    const auto context = must(wye::Context::create({.flags = WYE_CONTEXT_NO_PLUGINS}));
    const std::string text = large_program();
    for (auto _ : state) benchmark::DoNotOptimize(must(context.program_from_text(text)));
}

void from_wire(benchmark::State& state) {
    const auto context = must(wye::Context::create({.flags = WYE_CONTEXT_NO_PLUGINS}));
    const std::string wire = must(must(context.program_from_text(large_program())).lower("wire"));
    for (auto _ : state)
        benchmark::DoNotOptimize(must(context.program_from_wire(std::as_bytes(std::span(wire)))));
}

}  // namespace

BENCHMARK(from_text)->Name("program_10k_nodes_text/wye")->UseRealTime();
BENCHMARK(from_wire)->Name("program_10k_nodes_wire/wye")->UseRealTime();

int main(int argc, char** argv) {
    return wye::bench::run_benchmarks(
        argc, argv, {{"program_10k_nodes_text", 0, 10e6}, {"program_10k_nodes_wire", 0, 10e6}});
}
