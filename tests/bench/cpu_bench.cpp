// SPDX-License-Identifier: Apache-2.0
//
// The throughput of mix and saxpy: the CPU plugin compared with plain C on all cores.
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "programs.hpp"
#include "ratio_reporter.hpp"
#include "raw_kernels.hpp"
#include "support.hpp"
#include "wye/wye.hpp"

namespace {

using wye::bench::must;
using wye::bench::raw_best;

constexpr std::size_t kMixWords = std::size_t{16} << 20U;
constexpr std::size_t kSaxpyElements = std::size_t{64} << 20U;

// Splits the range into one piece for each core. The calling thread takes one of the pieces.
template <typename Body>
void on_all_cores(std::size_t count, Body body) {
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t piece = (count / threads + 63) / 64 * 64;
    std::vector<std::jthread> pool;
    for (std::size_t begin = piece; begin < count; begin += piece)
        pool.emplace_back([=] { body(begin, std::min(count, begin + piece)); });
    body(std::size_t{0}, std::min(count, piece));
}

struct Wye {
    wye::Context context = must(wye::Context::create());
    wye::Device device = must(context.open("cpu"));
    wye::Program mix = must(context.program_from_text(wye::bench::kMix, "mix.wye"));
    wye::Program saxpy = must(context.program_from_text(wye::bench::kSaxpy, "saxpy.wye"));
};

Wye& shared() {
    static Wye wye;
    return wye;
}

void mix_wye(benchmark::State& state) {
    wye::Buffer words = must(shared().device.buffer(kMixWords * 4));
    must(words.fill(0x9e3779b9U, 0, kMixWords * 4));
    wye::Dispatch dispatch(shared().mix, shared().device);
    dispatch.bind("words", words);
    for (auto _ : state) (void)must(dispatch.run());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kMixWords) * 4);
}

void mix_raw(benchmark::State& state) {
    std::vector<std::uint32_t> words(kMixWords, 0x9e3779b9U);
    const auto kernels = raw_best();
    for (auto _ : state)
        on_all_cores(kMixWords, [&](std::size_t begin, std::size_t end) {
            kernels.mix(words.data() + begin, end - begin);
        });
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kMixWords) * 4);
}

void saxpy_wye(benchmark::State& state) {
    auto& device = shared().device;
    wye::Buffer x = must(device.buffer(kSaxpyElements * 4));
    wye::Buffer y = must(device.buffer(kSaxpyElements * 4));
    wye::Buffer r = must(device.buffer(kSaxpyElements * 4));
    must(x.fill(0x3f800000U, 0, kSaxpyElements * 4));
    must(y.fill(0x40000000U, 0, kSaxpyElements * 4));
    // The output is written before the clock starts, as the plain C side does. Otherwise each
    // repetition would measure page faults of 256 MiB.
    must(r.fill(0, 0, kSaxpyElements * 4));
    wye::Dispatch dispatch(shared().saxpy, device);
    dispatch.param("a", 3.0F).bind("x", x).bind("y", y).bind("r", r);
    for (auto _ : state) (void)must(dispatch.run());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kSaxpyElements) * 12);
}

void saxpy_raw(benchmark::State& state) {
    std::vector<float> x(kSaxpyElements, 1.0F);
    std::vector<float> y(kSaxpyElements, 2.0F);
    std::vector<float> r(kSaxpyElements);
    const auto kernels = raw_best();
    for (auto _ : state)
        on_all_cores(kSaxpyElements, [&](std::size_t begin, std::size_t end) {
            kernels.saxpy(3.0F, x.data() + begin, y.data() + begin, r.data() + begin, end - begin);
        });
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kSaxpyElements) * 12);
}

}  // namespace

BENCHMARK(mix_wye)->Name("cpu_mix_64_rounds_16Mi/wye")->UseRealTime();
BENCHMARK(mix_raw)->Name("cpu_mix_64_rounds_16Mi/raw")->UseRealTime();
BENCHMARK(saxpy_wye)->Name("cpu_saxpy_64Mi/wye")->UseRealTime();
BENCHMARK(saxpy_raw)->Name("cpu_saxpy_64Mi/raw")->UseRealTime();

int main(int argc, char** argv) {
    std::printf("raw loops: %s\n", raw_best().isa);
    return wye::bench::run_benchmarks(
        argc, argv, {{"cpu_mix_64_rounds_16Mi", 6.0, 0}, {"cpu_saxpy_64Mi", 1.5, 0}});
}
