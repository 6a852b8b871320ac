// SPDX-License-Identifier: Apache-2.0
//
// repeat_dispatch DEVICE COUNT [graph]: repeats one tiny resident dispatch COUNT times, or a graph
// of it, for instructions.sh.
#include <cstdio>
#include <cstdlib>

#include "support.hpp"
#include "wye/graph.hpp"

namespace {

using wye::bench::must;

constexpr std::size_t kWords = 64;

constexpr std::string_view kStep = R"wye(
wye 1;
program advance;
workgroup 64;
input_output words: u32[];
grid elements len(words);
main {
    let i = global_id.x;
    if i < len(words) { words[i] = words[i] * 1664525u + 1013904223u; }
}
)wye";

}  // namespace

int main(int argc, char** argv) {
    const bool as_graph = argc == 4 && std::string_view(argv[3]) == "graph";
    if (argc != 3 && !as_graph) {
        std::fprintf(stderr, "usage: %s DEVICE COUNT [graph]\n", argv[0]);
        return 2;
    }
    wye::Context context = must(wye::Context::create());
    wye::Device device = must(context.open(argv[1]));
    wye::Program step = must(context.program_from_text(kStep, "advance.wye"));
    wye::Buffer words = must(device.buffer(kWords * 4));
    must(words.fill(1, 0, kWords * 4));
    wye::Dispatch dispatch(step, device);
    dispatch.bind("words", words);
    if (as_graph) {
        const wye::Graph graph = must(wye::Graph::record(device, {&dispatch}));
        for (int i = std::atoi(argv[2]); i > 0; --i) (void)must(graph.run());
        return 0;
    }
    for (int i = std::atoi(argv[2]); i > 0; --i) (void)must(dispatch.run());
    return 0;
}
