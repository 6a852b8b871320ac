// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/self_test.hpp"

#include "vulkan/self_test/bench.hpp"
#include "vulkan/self_test/probe_modules.hpp"
#include "vulkan/self_test/probe_verdict.hpp"
#include "vulkan/setup/float_modes.hpp"
#include "wye/sdk/f64_rate.hpp"

namespace wye::vulkan {
namespace {

template <typename Float>
Result<FloatVerdict> try_float(Bench& bench, const ProbeModes& modes, bool widen) {
    const std::vector<ProbeOp> ops = probe_ops(sizeof(Float) == 4, widen);
    const HostArithmetic arithmetic;
    ProbeInputs<Float> in = probe_inputs<Float>();
    std::vector<Float> results(ops.size() * kProbeCount);
    const Bench::Argument arguments[] = {
        {bytes_of(in.a)}, {bytes_of(in.b)}, {bytes_of(in.c)}, {bytes_of(results), true}};
    WYE_TRY(bench.run(float_module(bench.workgroup, sizeof(Float) * 8, modes, ops), arguments,
                      kProbeCount / bench.workgroup));
    FloatVerdict out{true, true, true, true, true, true, false};
    for (std::size_t o = 0; o < ops.size(); ++o) {
        bool exact = true;
        for (std::uint32_t i = 0; i < kProbeCount && exact; ++i)
            exact = gives(ops[o], in.a[i], in.b[i], in.c[i], results[o * kProbeCount + i]);
        if (!exact) deny(out, ops[o]);
    }
    return out;
}

Result<bool> try_convert(Bench& bench, const ProbeModes& modes) {
    const HostArithmetic arithmetic;
    // Tests one in eight bit patterns of f16, and the f32 inputs. Every second f32 input is
    // replaced by a value of f16, or a value of slightly larger magnitude.
    std::vector<float> singles = probe_inputs<float>().a;
    for (std::uint32_t i = 0; i < kProbeCount; i += 2)
        singles[i] = float_of(static_cast<std::uint16_t>(i * 8)) * (1.0F + 0x1p-12F * (i % 5));
    std::vector<std::uint16_t> halves(kProbeCount);
    for (std::uint32_t i = 0; i < kProbeCount; ++i)
        halves[i] = static_cast<std::uint16_t>(i * 8 + i % 8);
    std::vector<std::uint16_t> to_half(kProbeCount);
    std::vector<float> to_single(kProbeCount);
    std::vector<float> rounded(kProbeCount);
    const Bench::Argument arguments[] = {{bytes_of(singles)},
                                         {bytes_of(to_half), true},
                                         {bytes_of(halves)},
                                         {bytes_of(to_single), true},
                                         {bytes_of(rounded), true}};
    WYE_TRY(bench.run(convert_module(bench.workgroup, modes), arguments,
                      kProbeCount / bench.workgroup));
    for (std::uint32_t i = 0; i < kProbeCount; ++i) {
        if (!same_bits(to_single[i], float_of(halves[i]))) return false;
        // Compared as f32, all NaNs are equal.
        const float wanted = float_of(half_of(singles[i]));
        if (!same_bits(float_of(to_half[i]), wanted) || !same_bits(rounded[i], wanted))
            return false;
    }
    return true;
}

Result<std::uint64_t> try_loop(Bench& bench) {
    std::vector<std::uint32_t> words = {kTriedRounds, 0};
    const Bench::Argument arguments[] = {{bytes_of(words), true}};
    WYE_TRY(bench.run(loop_module(bench.workgroup), arguments, 1));
    return words[1] == kTriedRounds ? std::uint64_t{0} : std::uint64_t{words[1]};
}

// The shortest of three times, in nanoseconds, of one workgroup that computes `rounds` products of
// each chain.
template <typename Float>
Result<double> time_of_products(Bench& bench, std::uint32_t rounds) {
    std::vector<std::uint32_t> words = {rounds};
    std::vector<Float> floats(1 + bench.workgroup, Float{1});
    const Bench::Argument arguments[] = {{bytes_of(words)}, {bytes_of(floats)}};
    WYE_ASSIGN(const auto least,
               bench.run(product_module(bench.workgroup, sizeof(Float) * 8), arguments, 1, 3));
    return static_cast<double>(least.count());
}

}  // namespace

Result<Verdict> self_test(Plugin& plugin, const DeviceInfo& device) {
    WYE_ASSIGN(const auto opened, Device::create(plugin, device));
    WYE_ASSIGN(const auto bench, Bench::create(*opened));
    const FloatModes modes = float_modes(device);
    const bool f64 = device.features.core.shaderFloat64 == VK_TRUE;
    Verdict out;
    ProbeModes f32{false, modes.f32_sign_nan, modes.f32_nearest};
    WYE_ASSIGN(out.f32_plain, try_float<float>(*bench, f32, f64));
    if (!out.f32_plain.arithmetic && modes.f32_denorm) {
        f32.denorm_preserve = true;
        WYE_ASSIGN(out.f32_preserved, try_float<float>(*bench, f32, f64));
    }
    if (f64) {
        const ProbeModes wide{false, modes.f64_sign_nan, modes.f64_nearest};
        WYE_ASSIGN(out.f64, try_float<double>(*bench, wide, false));
    }
    if (device.features.storage16.storageBuffer16BitAccess == VK_TRUE) {
        WYE_ASSIGN(out.f16_convert, try_convert(*bench, f32));
    }
    WYE_ASSIGN(out.loop_rounds, try_loop(*bench));
    // A CPU's vectors have half as many f64 as f32, so there is nothing to measure.
    if (f64 && device.kind != "cpu") {
        WYE_ASSIGN(out.f32_to_f64_rate,
                   sdk::f32_to_f64_rate([&](bool is_wide, std::uint32_t rounds) {
                       return is_wide ? time_of_products<double>(*bench, rounds)
                                      : time_of_products<float>(*bench, rounds);
                   }));
    }
    out.ran = true;
    return out;
}

}  // namespace wye::vulkan
