// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test/spot_check.hpp"

#include <algorithm>

#include "vulkan/self_test/bench.hpp"
#include "vulkan/self_test/probe_modules.hpp"
#include "vulkan/self_test/probe_verdict.hpp"
#include "vulkan/setup/float_modes.hpp"

namespace wye::vulkan {
namespace {

std::vector<ProbeOp> claimed(const FloatVerdict& verdict, bool f32, bool widen) {
    std::vector<ProbeOp> out = probe_ops(f32, widen);
    std::erase_if(out, [&](ProbeOp op) { return !claims(verdict, op); });
    return out;
}

// The buffer for one width of float: rows of inputs, then rows of results.
template <typename Float>
struct Rows {
    ProbeInputs<Float> in;
    std::vector<Float> data;

    explicit Rows(std::size_t results) : in(spot_inputs<Float>()) {
        for (const auto* row : {&in.a, &in.b, &in.c})
            data.insert(data.end(), row->begin(), row->end());
        data.resize(data.size() + results * kSpotCount);
    }
    [[nodiscard]] const Float* result(std::size_t row) const {
        return data.data() + (3 + row) * kSpotCount;
    }
    [[nodiscard]] bool agrees(const std::vector<ProbeOp>& ops) const {
        for (std::size_t o = 0; o < ops.size(); ++o)
            for (std::uint32_t i = 0; i < kSpotCount; ++i)
                if (!gives(ops[o], in.a[i], in.b[i], in.c[i], result(o)[i])) return false;
        return true;
    }
};

bool conversions_agree(const Rows<float>& f32, std::size_t row,
                       const std::vector<std::uint16_t>& halves) {
    const float* widened = f32.result(row);
    const float* rounded = f32.result(row + 1);
    for (std::uint32_t i = 0; i < kSpotCount; ++i) {
        const float wanted = float_of(half_of(f32.in.a[i]));
        if (!same_bits(widened[i], float_of(halves[i])) ||
            !same_bits(float_of(halves[kSpotCount + i]), wanted) || !same_bits(rounded[i], wanted))
            return false;
    }
    return true;
}

bool has_f64(const DeviceInfo& device) { return device.features.core.shaderFloat64 == VK_TRUE; }

Result<std::string> check(Device& device, const Verdict& verdict) {
    const bool wide = has_f64(device.info);
    const FloatModes modes = float_modes(device.info);
    SpotPlan plan;
    plan.f32_ops = claimed(verdict.f32(), true, wide);
    plan.f64_ops = claimed(verdict.f64, false, false);
    plan.f32_modes = {!verdict.f32_plain.arithmetic && modes.f32_denorm, modes.f32_sign_nan,
                      modes.f32_nearest};
    plan.f64_modes = {false, modes.f64_sign_nan, modes.f64_nearest};
    plan.f16 = verdict.f16_convert;

    const HostArithmetic arithmetic;
    Rows<float> f32(plan.f32_ops.size() + (plan.f16 ? 2 : 0));
    Rows<double> f64(plan.f64_ops.size());
    std::vector<std::uint16_t> halves(std::size_t{2} * kSpotCount);
    for (std::uint32_t i = 0; i < kSpotCount; ++i)
        halves[i] = static_cast<std::uint16_t>(i * 256 + i % 256);
    std::vector<std::uint32_t> loop(std::size_t{2} * kSpotCount);
    loop[0] = kTriedRounds;
    std::vector<Bench::Argument> arguments;
    if (!plan.f32_ops.empty() || plan.f16) arguments.push_back({bytes_of(f32.data), true});
    if (!plan.f64_ops.empty()) arguments.push_back({bytes_of(f64.data), true});
    if (plan.f16) arguments.push_back({bytes_of(halves), true});
    arguments.push_back({bytes_of(loop), true});
    WYE_ASSIGN(const auto bench, Bench::create(device));
    WYE_TRY(
        bench->run(spot_module(bench->workgroup, plan), arguments, kSpotCount / bench->workgroup));

    if (!f32.agrees(plan.f32_ops)) return std::string("f32 differs");
    if (!f64.agrees(plan.f64_ops)) return std::string("f64 differs");
    if (plan.f16 && !conversions_agree(f32, plan.f32_ops.size(), halves))
        return std::string("conversions to or from f16 differ");
    const std::uint64_t rounds = verdict.loop_rounds == 0 ? kTriedRounds : verdict.loop_rounds;
    if (loop[kSpotCount] != rounds)
        return "a loop made " + std::to_string(loop[kSpotCount]) + " iterations";
    return std::string();
}

}  // namespace

bool possible(const DeviceInfo& device, const Verdict& verdict) {
    const bool wide = has_f64(device);
    const bool plain = verdict.f32_plain.arithmetic;
    const bool preserves = !plain && float_modes(device).f32_denorm;
    if (!preserves && !claimed(verdict.f32_preserved, true, wide).empty()) return false;
    if (!wide && !claimed(verdict.f64, false, false).empty()) return false;
    return !verdict.f16_convert || device.features.storage16.storageBuffer16BitAccess == VK_TRUE;
}

std::string spot_check(Device& device, const Verdict& verdict) {
    const auto checked = check(device, verdict);
    return checked.ok() ? *checked : checked.error().text();
}

}  // namespace wye::vulkan
