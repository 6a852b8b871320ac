// SPDX-License-Identifier: Apache-2.0
#include "vulkan/self_test.hpp"

#include <algorithm>

#include "vulkan/buffer.hpp"
#include "vulkan/float_modes.hpp"
#include "vulkan/probe_modules.hpp"
#include "vulkan/program.hpp"
#include "vulkan/queue.hpp"

namespace wye::vulkan {
namespace {

// More rounds than lavapipe lets a loop make.
constexpr std::uint32_t kTriedRounds = 70000;
constexpr std::uint64_t kMostInvocations = 128;  // of a workgroup, on every device

// Runs modules on one opened device.
class Bench {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Bench>> open(const Plugin& plugin,
                                                             const Device& info) {
        std::unique_ptr<Bench> out(new Bench);
        WYE_ASSIGN(out->device_, OpenDevice::open(plugin, info));
        WYE_ASSIGN(out->queue_, Queue::create(*out->device_, false));
        if (!info.subgroup_sizes.empty())
            out->workgroup =
                static_cast<std::uint32_t>(std::min(4 * info.subgroup_sizes[0], kMostInvocations));
        return out;
    }

    // Mesa 22.3 keeps what lavapipe compiled, and does not ask how wide its vectors were: modules
    // for another width must be others.
    std::uint32_t workgroup = 64;

    // Each span is one binding: uploaded, then, when `reads_back`, downloaded after the run.
    struct Argument {
        std::span<std::byte> bytes;
        bool reads_back = false;
    };
    Result<void> run(const std::vector<std::uint32_t>& words, std::span<const Argument> arguments,
                     std::uint32_t groups) {
        std::vector<wye_slot> slots;
        for (std::uint32_t b = 0; b < arguments.size(); ++b)
            slots.push_back({WYE_SLOT_BUFFER, b, 0, 3});
        wye_artifact artifact{};
        artifact.header = sdk::header_of(sizeof artifact);
        artifact.format = sdk::to_abi(WYE_FORMAT_SPIRV);
        artifact.code = {words.data(), words.size() * sizeof words[0]};
        artifact.entry = artifact.label = sdk::to_abi("main");
        artifact.slots = slots.data();
        artifact.slot_count = artifact.binding_count = static_cast<std::uint32_t>(slots.size());
        artifact.workgroup_size[0] = workgroup;
        artifact.workgroup_size[1] = artifact.workgroup_size[2] = 1;
        WYE_ASSIGN(const auto program, BuiltProgram::build(*device_, artifact, {}));

        std::vector<std::unique_ptr<Buffer>> buffers;
        std::vector<wye_binding> bindings;
        std::vector<wye_operation> operations;
        for (const Argument& argument : arguments) {
            WYE_ASSIGN(auto buffer, create_buffer(*device_, argument.bytes.size(),
                                                  Placement::Device, "self-test"));
            auto* object = reinterpret_cast<wye_buffer_object*>(buffer.get());
            bindings.push_back({object, 0, argument.bytes.size(), 0});
            operations.push_back(transfer(WYE_OPERATION_UPLOAD, object, argument.bytes));
            buffers.push_back(std::move(buffer));
        }
        wye_operation& dispatch = operations.emplace_back();
        dispatch.kind = WYE_OPERATION_DISPATCH;
        dispatch.u.dispatch.program = reinterpret_cast<wye_program_object*>(program.get());
        dispatch.u.dispatch.bindings = bindings.data();
        for (unsigned k = 0; k < 3; ++k)
            dispatch.u.dispatch.groups[k] = dispatch.u.dispatch.logical_groups[k] =
                k == 0 ? groups : 1;
        for (std::size_t b = 0; b < arguments.size(); ++b)
            if (arguments[b].reads_back)
                operations.push_back(
                    transfer(WYE_OPERATION_DOWNLOAD, bindings[b].buffer, arguments[b].bytes));
        WYE_ASSIGN(const std::uint64_t value, queue_->submit(operations, {}));
        return queue_->timeline().wait(value, UINT64_MAX);
    }

  private:
    Bench() = default;
    static wye_operation transfer(std::uint32_t kind, wye_buffer_object* buffer,
                                  std::span<std::byte> bytes) {
        wye_operation out{};
        out.kind = kind;
        out.u.transfer = {buffer, 0, bytes.size(), bytes.data(), bytes.data()};
        return out;
    }

    std::unique_ptr<OpenDevice> device_;
    std::unique_ptr<Queue> queue_;  // gone before its device
};

template <typename T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
    return std::as_writable_bytes(std::span(values));
}

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
    FloatVerdict out{true, true, true, true, true, false};
    for (std::size_t o = 0; o < ops.size(); ++o) {
        bool exact = true;
        for (std::uint32_t i = 0; i < kProbeCount && exact; ++i)
            exact = same_bits(results[o * kProbeCount + i],
                              probe_result(ops[o], in.a[i], in.b[i], in.c[i]));
        if (exact) continue;
        switch (ops[o]) {
            case ProbeOp::Add:
            case ProbeOp::Subtract:
            case ProbeOp::Multiply:
            case ProbeOp::Less:
            case ProbeOp::ScaleUp:
            case ProbeOp::ScaleDown:
                out.arithmetic = false;
                break;
            case ProbeOp::Divide:
                out.divides = false;
                break;
            case ProbeOp::SquareRoot:
                out.square_root = false;
                break;
            case ProbeOp::Fma:
                out.fuses = false;
                break;
            case ProbeOp::Floor:
            case ProbeOp::Ceil:
            case ProbeOp::Trunc:
            case ProbeOp::RoundEven:
                out.rounds = false;
                break;
            default:
                out.folds_literal_zero = true;
                break;
        }
    }
    return out;
}

Result<bool> try_convert(Bench& bench, const ProbeModes& modes) {
    const HostArithmetic arithmetic;
    // Every half, and floats of all kinds: half as many random ones again around the range of f16.
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
        // By way of f32 all NaNs are one.
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

}  // namespace

Result<Verdict> self_test(const Plugin& plugin, const Device& device) {
    WYE_ASSIGN(const auto bench, Bench::open(plugin, device));
    const FloatModes modes = float_modes(device);
    const bool f64 = device.features.core.shaderFloat64 == VK_TRUE;
    Verdict out;
    ProbeModes f32{false, modes.f32_sign_nan, modes.f32_nearest};
    WYE_ASSIGN(out.f32_plain, try_float<float>(*bench, f32, f64));
    if (!out.f32_plain.arithmetic) {
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
    out.ran = true;
    return out;
}

}  // namespace wye::vulkan
