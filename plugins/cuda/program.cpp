// SPDX-License-Identifier: Apache-2.0
#include "cuda/program.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "cuda/status.hpp"
#include "wye/sdk/compiler_log.hpp"

namespace wye::cuda {
namespace {

constexpr std::size_t kMostSlots = 160;  // 64 buffers, 64 lengths, parameters, grid, zero, trap
constexpr std::uint32_t kMaxStaticShared = 48U << 10U;
constexpr std::size_t kLogBytes = 8192;

std::string label_of(const wye_artifact& artifact) {
    const std::string_view label = sdk::from_abi(artifact.label);
    return std::string(label.empty() ? sdk::from_abi(artifact.entry) : label);
}

std::string_view text_of(const wye_artifact& artifact) {
    return {static_cast<const char*>(artifact.code.data), artifact.code.size};
}

// Takes "--gpu-architecture=sm_90" out of the options.
std::optional<int> architecture_in(std::string& options) {
    constexpr std::string_view kFlag = "--gpu-architecture=sm_";
    const std::size_t at = options.find(kFlag);
    if (at == std::string::npos) return std::nullopt;
    const std::size_t end = std::min(options.find(' ', at), options.size());
    int number = 0;
    const char* from = options.data() + at + kFlag.size();
    const auto [stop, status] = std::from_chars(from, options.data() + end, number);
    if (status != std::errc{} || stop != options.data() + end) return std::nullopt;
    options.erase(at, end - at);
    return number;
}

// Machine code where NVRTC knows the architecture exactly, else PTX for an older one.
Result<std::vector<std::byte>> compile(Plugin& plugin, const Device& device,
                                       const wye_artifact& artifact) {
    WYE_ASSIGN(const Nvrtc* nvrtc, plugin.nvrtc());
    const std::optional<int> newest = nvrtc->facts().newest_up_to(device.architecture);
    if (!newest)
        return Error(Code::COMPILE_FAILED,
                     "NVRTC " + nvrtc->version() + " cannot compile for " + device.isa +
                         ", which is older than all it knows",
                     "Fix: install an older NVRTC, and name it with `cuda.nvrtc`", device.name);
    const Target target = *newest == device.architecture ? Target::Cubin : Target::Ptx;
    return nvrtc->compile(text_of(artifact), sdk::from_abi(artifact.options), *newest, target,
                          label_of(artifact));
}

}  // namespace

Result<std::vector<std::byte>> translate(Plugin& plugin, const Device* device,
                                         const wye_artifact& artifact, std::string_view format) {
    const bool cubin = format == WYE_FORMAT_CUBIN;
    if (sdk::from_abi(artifact.format) != WYE_FORMAT_CUDA_C || (!cubin && format != WYE_FORMAT_PTX))
        return Error(Code::UNSUPPORTED,
                     "the CUDA plugin translates `cuda-c` to `cubin` or `ptx`, not `" +
                         std::string(sdk::from_abi(artifact.format)) + "` to `" +
                         std::string(format) + "`",
                     "Fix: ask for one of these", std::string(format));
    WYE_ASSIGN(const Nvrtc* nvrtc, plugin.nvrtc());
    std::string options(sdk::from_abi(artifact.options));
    std::optional<int> architecture = architecture_in(options);
    if (!architecture && device != nullptr) architecture = device->architecture;
    if (!architecture && !cubin && !nvrtc->architectures().empty())
        architecture = nvrtc->architectures().front();
    std::string known;
    for (const int one : nvrtc->architectures())
        known += (known.empty() ? "sm_" : ", sm_") + std::to_string(one);
    if (!architecture)
        return Error(Code::INVALID_ARGUMENT,
                     "machine code is for one architecture, and none is named",
                     "Fix: name one of " + known, label_of(artifact));
    if (!nvrtc->knows(*architecture))
        return Error(Code::UNSUPPORTED,
                     "NVRTC " + nvrtc->version() + " does not compile for sm_" +
                         std::to_string(*architecture),
                     "Fix: name one of " + known, label_of(artifact));
    return nvrtc->compile(text_of(artifact), options, *architecture,
                          cubin ? Target::Cubin : Target::Ptx, label_of(artifact));
}

Result<std::unique_ptr<BuiltProgram>> BuiltProgram::build(OpenDevice& device,
                                                          const wye_artifact& artifact) {
    const std::string_view format = sdk::from_abi(artifact.format);
    std::unique_ptr<BuiltProgram> built(new BuiltProgram(device));
    if (format == WYE_FORMAT_CUDA_C) {
        WYE_ASSIGN(built->image_, compile(device.plugin, device.info, artifact));
    } else if (format == WYE_FORMAT_CUBIN || format == WYE_FORMAT_PTX) {
        const auto* bytes = static_cast<const std::byte*>(artifact.code.data);
        built->image_.assign(bytes, bytes + artifact.code.size);
    } else {
        return Error(
            Code::UNSUPPORTED,
            "the CUDA plugin takes `cuda-c`, `cubin` and `ptx`, not `" + std::string(format) + "`",
            "Fix: hand it an artifact of a format that the device lists");
    }
    WYE_TRY(built->load_image(artifact));
    return built;
}

Result<std::unique_ptr<BuiltProgram>> BuiltProgram::load(OpenDevice& device,
                                                         const wye_artifact& artifact,
                                                         wye_bytes saved) {
    std::unique_ptr<BuiltProgram> built(new BuiltProgram(device));
    const auto* bytes = static_cast<const std::byte*>(saved.data);
    built->image_.assign(bytes, bytes + saved.size);
    auto loaded = built->load_image(artifact);
    if (loaded.ok()) return built;
    Error error = std::move(loaded).error();
    if (error.code != Code::COMPILE_FAILED) return error;
    return std::move(error).wrapped(
        Code::UNSUPPORTED,
        "the saved code of `" + label_of(artifact) + "` does not load on " + device.info.name,
        "Fix: compile it again");
}

BuiltProgram::~BuiltProgram() {
    if (module_ == nullptr || device_.lost() || epoch_ != device_.epoch()) return;
    const Current current(device_);
    (void)device_.driver.cuModuleUnload(module_);
}

Result<void> BuiltProgram::load_image(const wye_artifact& artifact) {
    const Driver& driver = device_.driver;
    label_ = label_of(artifact);
    slots_.assign(artifact.slots, artifact.slots + artifact.slot_count);
    if (slots_.size() > kMostSlots)
        return Error(Code::LIMIT_EXCEEDED,
                     "program `" + label_ + "` has " + std::to_string(slots_.size()) +
                         " slots, more than " + std::to_string(kMostSlots),
                     "Fix: bind fewer buffers", label_);
    std::size_t invocations = 1;
    for (unsigned k = 0; k < 3; ++k) {
        workgroup_[k] = artifact.workgroup_size[k];
        invocations *= artifact.workgroup_size[k];
    }
    for (const wye_slot& slot : slots_) {
        if (slot.kind < WYE_SLOT_BUFFER || slot.kind > WYE_SLOT_TRAP)
            return Error(Code::UNSUPPORTED,
                         "the CUDA plugin does not know slot kind " + std::to_string(slot.kind),
                         "Fix: use a plugin that is as new as the host", label_);
        has_grid_ = has_grid_ || slot.kind == WYE_SLOT_GRID;
    }

    const Current current(device_);
    std::string log(kLogBytes, '\0');
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    image_.push_back(std::byte{0});  // PTX is read to its terminator
    CUresult status =
        driver.cuModuleLoadDataEx(&module_, image_.data(), std::size(options), options, values);
    image_.pop_back();
    if (status != CUDA_SUCCESS) {
        module_ = nullptr;
        Error error = device_.failed(status, "loading program `" + label_ + "`", {});
        log.resize(std::strlen(log.c_str()));
        if (error.code != Code::COMPILE_FAILED) return error;
        error.subject = label_;
        return sdk::with_log(std::move(error), "the CUDA driver",
                             {reinterpret_cast<const char*>(image_.data()), image_.size()}, log);
    }
    const std::string entry(sdk::from_abi(artifact.entry));
    status = driver.cuModuleGetFunction(&function_, module_, entry.c_str());
    if (status != CUDA_SUCCESS) {
        Error error = device_.failed(status, "finding the kernel `" + entry + "`", label_);
        error.fix = "Fix: name a kernel that the code has as the entry (`extern \"C\"`)";
        return error;
    }
    int most = 0;
    if (driver.cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function_) ==
            CUDA_SUCCESS &&
        invocations > static_cast<std::size_t>(most))
        return Error(Code::LIMIT_EXCEEDED,
                     "program `" + label_ + "` asks for workgroups of " +
                         std::to_string(invocations) + " invocations; compiled for " +
                         device_.info.name + " it can have " + std::to_string(most),
                     "Fix: use a smaller workgroup", label_);
    if (artifact.shared_bytes <= kMaxStaticShared) return {};
    dynamic_shared_ = artifact.shared_bytes;
    status = driver.cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       static_cast<int>(dynamic_shared_));
    if (status == CUDA_SUCCESS) return {};
    Error error = device_.failed(
        status, "asking for " + std::to_string(dynamic_shared_) + " bytes of workgroup memory",
        label_);
    error.code = sticky(status) ? Code::DEVICE_LOST : Code::LIMIT_EXCEEDED;
    error.fix = "Fix: use less `shared` memory, or another device";
    return error;
}

Result<void> BuiltProgram::launch(CUstream stream, const wye_dispatch_op& op) const {
    for (unsigned k = 0; k < 3; ++k)
        if (!has_grid_ && (op.group_offset[k] != 0 || op.logical_groups[k] != op.groups[k]))
            return Error(Code::UNSUPPORTED,
                         "program `" + label_ + "` was not compiled for a folded or split grid",
                         "Fix: create the program from an artifact with a grid slot", label_);
    std::uint64_t words[kMostSlots];
    void* arguments[kMostSlots];
    std::uint32_t grid[6];
    const auto address = [this](const wye_binding& binding) -> std::uint64_t {
        if (binding.size == 0) return device_.nothing();
        return buffer_of(binding.buffer).memory + binding.offset;
    };
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const wye_slot& slot = slots_[s];
        arguments[s] = &words[s];
        switch (slot.kind) {
            case WYE_SLOT_BUFFER:
                words[s] = address(op.bindings[slot.binding]);
                break;
            case WYE_SLOT_LENGTH:
                words[s] = op.bindings[slot.binding].elements;
                break;
            case WYE_SLOT_PARAMS:
                arguments[s] = const_cast<void*>(op.params);  // read only
                break;
            case WYE_SLOT_GRID:
                std::memcpy(grid, op.group_offset, sizeof op.group_offset);
                std::memcpy(grid + 3, op.logical_groups, sizeof op.logical_groups);
                arguments[s] = grid;
                break;
            case WYE_SLOT_TRAP:
                words[s] = address(op.trap);
                break;
            default:
                words[s] = 0;
                break;
        }
    }
    if (op.groups[0] == 0) return {};  // the code was made when the module was loaded
    const CUresult status = device_.driver.cuLaunchKernel(
        function_, op.groups[0], op.groups[1], op.groups[2], workgroup_[0], workgroup_[1],
        workgroup_[2], dynamic_shared_, stream, arguments, nullptr);
    if (status != CUDA_SUCCESS) return device_.failed(status, "cuLaunchKernel", label_);
    return {};
}

}  // namespace wye::cuda
