// SPDX-License-Identifier: Apache-2.0
#include "cuda/program.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/buffer.hpp"
#include "cuda/status.hpp"
#include "wye/sdk/compiler_log.hpp"

namespace wye::cuda {
namespace {

constexpr std::uint32_t kMaxStaticShared = 48U << 10U;
constexpr std::size_t kLogBytes = 8192;

}  // namespace

Program::Program(Device& device, sdk::LaunchShape shape)
    : device_(device), context_(device.context()), shape_(std::move(shape)) {
    for (std::uint32_t s = 0; s < shape_.slots.size(); ++s) {
        const Place place{s, shape_.slots[s].binding};
        switch (shape_.slots[s].kind) {
            case WYE_SLOT_BUFFER:
                buffers_.push_back(place);
                break;
            case WYE_SLOT_LENGTH:
                lengths_.push_back(place);
                break;
            case WYE_SLOT_PARAMS:
            case WYE_SLOT_GRID:
            case WYE_SLOT_TRAP:
            case WYE_SLOT_GRID_BARRIER:
                others_.push_back(place);
                break;
            default:
                break;
        }
    }
}

Result<std::unique_ptr<Program>> Program::create(Device& device, const wye_artifact& artifact,
                                                 wye_bytes saved) {
    WYE_ASSIGN(auto shape,
               sdk::LaunchShape::of(Plugin::kPlugin, artifact, device.info.cooperative));
    if (shape.slots.size() > Program::kMostSlots)
        return Error(Code::LIMIT_EXCEEDED,
                     "program `" + shape.label + "` has " + std::to_string(shape.slots.size()) +
                         " slots, more than " + std::to_string(Program::kMostSlots),
                     "Fix: bind fewer buffers", shape.label);
    std::unique_ptr<Program> program(new Program(device, std::move(shape)));
    const Current current(program->context_);
    WYE_TRY(saved.size != 0 ? program->load(saved) : program->compile(artifact));
    WYE_TRY(program->find_kernel(artifact.shared_bytes));
    return program;
}

Result<void> Program::compile(const wye_artifact& artifact) {
    const std::string_view format = sdk::from_abi(artifact.format);
    if (format == WYE_FORMAT_CUDA_C) {
        WYE_ASSIGN(image_, device_.plugin.compiler.compile(artifact, device_.info.architecture,
                                                           device_.info.name, shape_.label));
    } else if (format == WYE_FORMAT_CUBIN || format == WYE_FORMAT_PTX) {
        const auto* bytes = static_cast<const std::byte*>(artifact.code.data);
        image_.assign(bytes, bytes + artifact.code.size);
    } else {
        return sdk::errors::unknown_format(Plugin::kPlugin, "`cuda-c`, `cubin` and `ptx`", format,
                                           shape_.label);
    }
    return load_image();
}

Result<void> Program::load(wye_bytes saved) {
    const auto* bytes = static_cast<const std::byte*>(saved.data);
    image_.assign(bytes, bytes + saved.size);
    auto loaded = load_image();
    if (loaded.ok() || loaded.error().code != Code::COMPILE_FAILED) return loaded;
    return std::move(loaded).error().wrapped(
        Code::UNSUPPORTED,
        "the saved code of `" + shape_.label + "` does not load on " + device_.info.name,
        "Fix: none needed, the program is compiled again");
}

Result<void> Program::load_image() {
    std::string log(kLogBytes, '\0');
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    image_.push_back(std::byte{0});  // PTX needs a terminator
    CUmodule module = nullptr;
    const CUresult status = device_.driver.cuModuleLoadDataEx(&module, image_.data(),
                                                              std::size(options), options, values);
    image_.pop_back();
    if (status == CUDA_SUCCESS) {
        module_ = ModuleHandle(context_, module);
        return {};
    }
    Error error = device_.failed(status, "loading program `" + shape_.label + "`");
    log.resize(std::strlen(log.c_str()));
    if (error.code != Code::COMPILE_FAILED) return error;
    error.subject = shape_.label;
    return sdk::with_log(std::move(error), "the CUDA driver",
                         {reinterpret_cast<const char*>(image_.data()), image_.size()}, log);
}

Result<void> Program::find_kernel(std::uint32_t shared_bytes) {
    const Driver& driver = device_.driver;
    const std::string& entry = shape_.entry;
    CUresult status = driver.cuModuleGetFunction(&kernel_, module_.get(), entry.c_str());
    if (status != CUDA_SUCCESS) {
        Error error = device_.failed(status, "finding the kernel `" + entry + "`", shape_.label);
        error.fix = "Fix: as the entry, name a kernel that the code has (`extern \"C\"`)";
        return error;
    }
    int most = 0;
    if (driver.cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel_) ==
            CUDA_SUCCESS &&
        shape_.invocations() > static_cast<std::uint64_t>(most))
        return sdk::errors::too_many_invocations(
            shape_.label, shape_.invocations(), device_.info.name, static_cast<std::uint64_t>(most),
            "Fix: use a smaller workgroup");
    if (shared_bytes <= kMaxStaticShared) return {};
    dynamic_shared_ = shared_bytes;
    status = driver.cuFuncSetAttribute(kernel_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       static_cast<int>(dynamic_shared_));
    if (status == CUDA_SUCCESS) return {};
    Error error = device_.failed(
        status, "asking for " + std::to_string(dynamic_shared_) + " bytes of workgroup memory",
        shape_.label);
    error.code = sticky(status) ? Code::DEVICE_LOST : Code::LIMIT_EXCEEDED;
    error.fix = "Fix: use less `shared` memory, or another device";
    return error;
}

Result<wye_bytes> Program::save() const { return wye_bytes{image_.data(), image_.size()}; }

std::uint64_t Program::address(const wye_binding& binding) const {
    if (binding.size == 0) return context_.nothing();
    return buffer_of(binding.buffer).memory() + binding.offset;
}

// It is enough to compare the pointers to programs and bindings: within a submit, and for a graph
// node, the objects behind the pointers do not change.
[[gnu::always_inline]] inline void Program::set(const wye_dispatch_op& op, CUdeviceptr barrier,
                                                Arguments& out) const {
    if (out.program_ != this) [[unlikely]]
        set_program(out);
    if (out.bindings_ != op.bindings) set_bindings(op.bindings, out);
    if (!others_.empty()) set_others(op, barrier, out);
}

[[gnu::noinline]] void Program::set_program(Arguments& out) const {
    out.program_ = this;
    out.bindings_ = nullptr;
    for (std::size_t s = 0; s < shape_.slots.size(); ++s) {
        out.words_[s] = 0;
        out.pointers_[s] = &out.words_[s];
    }
}

[[gnu::always_inline]] inline void Program::set_bindings(const wye_binding* bindings,
                                                         Arguments& out) const {
    out.bindings_ = bindings;
    for (const Place& place : buffers_) out.words_[place.slot] = address(bindings[place.binding]);
    for (const Place& place : lengths_) out.words_[place.slot] = bindings[place.binding].elements;
}

[[gnu::always_inline]] inline void Program::set_others(const wye_dispatch_op& op,
                                                       CUdeviceptr barrier, Arguments& out) const {
    for (const Place& place : others_) {
        const std::uint32_t s = place.slot;
        switch (shape_.slots[s].kind) {
            case WYE_SLOT_PARAMS:
                out.pointers_[s] = const_cast<void*>(op.params);  // only read
                break;
            case WYE_SLOT_GRID:
                std::ranges::copy(sdk::GridWords(op).words, out.grid_);
                out.pointers_[s] = out.grid_;
                break;
            case WYE_SLOT_TRAP:
                out.words_[s] = address(op.trap);
                break;
            default:
                out.words_[s] = barrier;
                break;
        }
    }
}

CUresult Program::launch_plain(CUstream stream, const wye_dispatch_op& op,
                               Arguments& arguments) const {
    if (op.again == 0 || arguments.program_ != this) set(op, 0, arguments);
    return device_.driver.cuLaunchKernel(
        kernel_, op.groups[0], op.groups[1], op.groups[2], shape_.workgroup[0], shape_.workgroup[1],
        shape_.workgroup[2], dynamic_shared_, stream, arguments.pointers_, nullptr);
}

Result<void> Program::launch(CUstream stream, const wye_dispatch_op& op, CUdeviceptr barrier,
                             Arguments& arguments) const {
    WYE_TRY(check(op));
    if (op.groups[0] == 0) return {};  // nothing to prepare: the code is compiled when it is loaded
    if ((op.flags & WYE_LAUNCH_COOPERATIVE) == 0)
        return launched(launch_plain(stream, op, arguments));
    set(op, barrier, arguments);
    return device_.check(
        device_.driver.cuLaunchCooperativeKernel(
            kernel_, op.groups[0], op.groups[1], op.groups[2], shape_.workgroup[0],
            shape_.workgroup[1], shape_.workgroup[2], dynamic_shared_, stream, arguments.pointers_),
        "cuLaunchCooperativeKernel", shape_.label);
}

Result<void> Program::node(const wye_dispatch_op& op, CUdeviceptr barrier, Arguments& arguments,
                           CUDA_KERNEL_NODE_PARAMS& out) const {
    WYE_TRY(check(op));
    set(op, barrier, arguments);
    out.func = kernel_;
    out.gridDimX = op.groups[0];
    out.gridDimY = op.groups[1];
    out.gridDimZ = op.groups[2];
    out.blockDimX = shape_.workgroup[0];
    out.blockDimY = shape_.workgroup[1];
    out.blockDimZ = shape_.workgroup[2];
    out.sharedMemBytes = dynamic_shared_;
    out.kernelParams = arguments.pointers_;
    return {};
}

void Program::describe(wye_program_info& out) const {
    const Current current(context_);
    const Driver& driver = device_.driver;
    const auto ask = [&](CUfunction_attribute what) {
        int value = 0;
        const CUresult status = driver.cuFuncGetAttribute(&value, what, kernel_);
        return status == CUDA_SUCCESS ? static_cast<std::uint32_t>(std::max(value, 0)) : 0;
    };
    out.max_invocations = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    out.registers = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
    out.private_bytes = ask(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    out.shared_bytes = ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) + dynamic_shared_;
    out.resident_groups = static_cast<std::uint32_t>(resident_groups());
}

std::uint64_t Program::resident_groups() const {
    int groups = 0;  // number per multiprocessor
    if (device_.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &groups, kernel_, static_cast<int>(shape_.invocations()), dynamic_shared_) !=
        CUDA_SUCCESS)
        return 0;
    return static_cast<std::uint64_t>(std::max(groups, 0)) * device_.info.compute_units;
}

Result<void> Program::check_at_once(const wye_dispatch_op& op) const {
    if (!device_.info.cooperative)
        return sdk::errors::unknown_launch(Plugin::kPlugin, WYE_LAUNCH_COOPERATIVE);
    const std::uint64_t groups = std::uint64_t{op.groups[0]} * op.groups[1] * op.groups[2];
    const std::uint64_t most = resident_groups();
    if (groups <= most) return {};
    return sdk::errors::too_many_at_once(shape_.label, groups, device_.info.name, most);
}

}  // namespace wye::cuda
