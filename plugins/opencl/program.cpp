// SPDX-License-Identifier: Apache-2.0
#include "opencl/program.hpp"

#include <algorithm>

#include <cstring>

#include "opencl/buffer.hpp"
#include "opencl/pocl/builtins.hpp"
#include "opencl/quirks.hpp"
#include "wye/sdk/compiler_log.hpp"

namespace wye::opencl {
namespace {

constexpr std::string_view kRoundedDivision = "-cl-fp32-correctly-rounded-divide-sqrt";

// Removes the flags that this device does not support, and kOwnBuiltins, which is not for the
// driver.
std::string options_for(const DeviceInfo& device, std::string_view options) {
    std::string out;
    while (!options.empty()) {
        const std::size_t end = std::min(options.find(' '), options.size());
        const std::string_view word = options.substr(0, end);
        options.remove_prefix(std::min(end + 1, options.size()));
        if (word.empty() || word == kOwnBuiltins) continue;
        if (word == kRoundedDivision && !device.rounds_f32_division()) continue;
        if (!out.empty()) out += ' ';
        out += word;
    }
    return out;
}

std::string build_log(const Driver& driver, cl_program program, cl_device_id device) {
    std::size_t size = 0;
    if (driver.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
            CL_SUCCESS ||
        size < 2)
        return {};
    std::string log(size, '\0');
    if (driver.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                                     nullptr) != CL_SUCCESS)
        return {};
    log.resize(std::strlen(log.c_str()));
    return log;
}

Error build_error(const Device& device, cl_int status, const std::string& label,
                  std::string_view source, const std::string& log) {
    Error error = device.failed(status, "clBuildProgram", "program `" + label + "`");
    error.code = Code::COMPILE_FAILED;
    error.subject = label;
    error.fix =
        log.empty() && is_pocl(device.info.platform_name)
            ? "Fix: see that all of PoCL's cache folder (POCL_CACHE_DIR, else ~/.cache/pocl) can "
              "be read and written, or remove it"
            : "Fix: if the source is your own variant, correct it; if Wye wrote it, update the "
              "OpenCL driver or use another device, and report it with `wye lower` and this log";
    return sdk::with_log(std::move(error), "the OpenCL compiler", source, log);
}

}  // namespace

Result<std::unique_ptr<Program>> Program::create(Device& device, const wye_artifact& artifact,
                                                 wye_bytes saved) {
    WYE_ASSIGN(auto shape, sdk::LaunchShape::of(Plugin::kPlugin, artifact));
    if (sdk::from_abi(artifact.format) != WYE_FORMAT_OPENCL_C)
        return sdk::errors::unknown_format(Plugin::kPlugin, "`" WYE_FORMAT_OPENCL_C "`",
                                           sdk::from_abi(artifact.format), shape.label);
    if (auto refused = refuses_file_mask(device.info.platform_name)) return *std::move(refused);
    std::unique_ptr<Program> program(new Program(device, std::move(shape)));
    WYE_TRY(saved.size != 0 ? program->load(saved) : program->compile(artifact));
    WYE_ASSIGN(Kernel kernel, program->make_kernel());
    {
        const sdk::Lock lock(program->mutex_);
        program->kernel_ = std::move(kernel);
        program->asked_ = program->kernel_.get();
    }
    // quirk nvidia-cl-workgroup-limit. If the driver compiled the kernel for exactly this
    // workgroup, only a launch shows whether the workgroup is too large.
    program->doubtful_ = program->shape_.invocations() > program->most_invocations();
    if (program->doubtful_ && !program->compiled_for_workgroup()) return program->too_large();
    return program;
}

Program::Program(Device& device, sdk::LaunchShape shape)
    : device_(device), shape_(std::move(shape)) {
    for (unsigned k = 0; k < 3; ++k) workgroup_[k] = shape_.workgroup[k];
    axes_ = workgroup_[2] > 1 ? 3 : workgroup_[1] > 1 ? 2 : 1;
}

Result<void> Program::compile(const wye_artifact& artifact) {
    const std::string_view source(static_cast<const char*>(artifact.code.data), artifact.code.size);
    const std::string_view wanted = sdk::from_abi(artifact.options);
    const std::string options =
        options_for(device_.info, wanted) + device_.context().number_option();
    const std::string_view texts[] = {kBuiltins, source};
    // quirk pocl-slow-headers. If the text does not compile with kBuiltins, the driver's own
    // headers are used, and the log is that of the second attempt.
    if (pocl_slow_headers(device_.info) && wanted.find(kOwnBuiltins) != std::string_view::npos &&
        compile(texts, options + " " + std::string(kWithoutHeader)).ok())
        return {};
    return compile({texts + 1, 1}, options);
}

Result<void> Program::compile(std::span<const std::string_view> texts, const std::string& options) {
    const Driver& driver = device_.driver;
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    for (const std::string_view text : texts) {
        starts.push_back(text.data());
        sizes.push_back(text.size());
    }
    cl_int status = CL_SUCCESS;
    program_ =
        ProgramHandle(driver, driver.clCreateProgramWithSource(
                                  device_.context().get(), static_cast<cl_uint>(texts.size()),
                                  starts.data(), sizes.data(), &status));
    if (status != CL_SUCCESS)
        return device_.failed(status, "clCreateProgramWithSource", shape_.label);
    // quirk pocl-prints: the options of lowered programs contain `-w`.
    status = driver.clBuildProgram(program_.get(), 1, &device_.info.id, options.c_str(), nullptr,
                                   nullptr);
    if (status != CL_SUCCESS)
        return build_error(device_, status, shape_.label, texts.back(),
                           build_log(driver, program_.get(), device_.info.id));
    return {};
}

Result<void> Program::load(wye_bytes saved) {
    WYE_TRY(device_.context().check_numbered(Code::NOT_READY, shape_.label));
    const Driver& driver = device_.driver;
    const auto* data = static_cast<const unsigned char*>(saved.data);
    const std::size_t size = saved.size;
    cl_int status = CL_SUCCESS;
    cl_int verdict = CL_SUCCESS;
    program_ = ProgramHandle(
        driver, driver.clCreateProgramWithBinary(device_.context().get(), 1, &device_.info.id,
                                                 &size, &data, &verdict, &status));
    const char* call = "clCreateProgramWithBinary";
    if (status == CL_SUCCESS) {
        call = "clBuildProgram of a saved binary";
        status =
            driver.clBuildProgram(program_.get(), 1, &device_.info.id, nullptr, nullptr, nullptr);
    }
    if (status == CL_SUCCESS) return {};
    Error error = device_.failed(status, call, shape_.label);
    error.code = Code::UNSUPPORTED;
    error.fix = "Fix: none needed, the program is compiled again";
    return error;
}

Result<wye_bytes> Program::save() {
    const Driver& driver = device_.driver;
    const sdk::Lock lock(mutex_);
    // quirk pocl-compiles-at-launch.
    if (launched_ == 0 && pocl_compiles_at_launch(device_.info))
        return Error(Code::NOT_READY, "program `" + shape_.label + "` has not run yet",
                     "Fix: save it after its first launch", shape_.label);
    WYE_TRY(device_.context().check_numbered(Code::UNSUPPORTED, shape_.label));
    std::size_t size = 0;
    cl_int status = driver.clGetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof size,
                                            &size, nullptr);
    if (status == CL_SUCCESS) {
        saved_.resize(size);
        unsigned char* data = saved_.data();
        status = driver.clGetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, sizeof data,
                                         static_cast<void*>(&data), nullptr);
    }
    if (status != CL_SUCCESS) return device_.failed(status, "clGetProgramInfo", shape_.label);
    if (size == 0)
        return Error(Code::UNSUPPORTED, "the driver gives no binary of `" + shape_.label + "`",
                     "Fix: none needed", shape_.label);
    return wye_bytes{saved_.data(), saved_.size()};
}

std::size_t Program::most_invocations() const {
    std::size_t most = 0;
    const cl_int status = device_.driver.clGetKernelWorkGroupInfo(
        asked_, device_.info.id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
    return status == CL_SUCCESS ? most : SIZE_MAX;
}

void Program::describe(wye_program_info& out) const {
    const auto ask = [&](cl_kernel_work_group_info what) {
        cl_ulong value = 0;
        const cl_int status = device_.driver.clGetKernelWorkGroupInfo(
            asked_, device_.info.id, what, sizeof value, &value, nullptr);
        return status == CL_SUCCESS ? std::uint64_t{value} : 0;
    };
    // quirk nvidia-cl-workgroup-limit
    const std::uint64_t most = doubtful_ ? shape_.invocations() : std::uint64_t{most_invocations()};
    out.max_invocations =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(most, device_.info.max_invocations));
    out.private_bytes = ask(CL_KERNEL_PRIVATE_MEM_SIZE);
    out.shared_bytes = ask(CL_KERNEL_LOCAL_MEM_SIZE);
}

bool Program::compiled_for_workgroup() const {
    std::array<std::size_t, 3> size{};
    return shape_.invocations() <= device_.info.max_invocations &&
           device_.driver.clGetKernelWorkGroupInfo(asked_, device_.info.id,
                                                   CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size,
                                                   size.data(), nullptr) == CL_SUCCESS &&
           size == workgroup_;
}

Error Program::too_large() const {
    return sdk::errors::too_many_invocations(
        shape_.label, shape_.invocations(), device_.info.name, most_invocations(),
        "Fix: use a smaller workgroup, or give the kernel of a variant `reqd_work_group_size`");
}

[[gnu::noinline]] Result<void> Program::set_and_launch(cl_command_queue queue,
                                                       const wye_dispatch_op& op,
                                                       const Order& order, const void* by) {
    std::vector<MemoryHandle> temporary;
    set_by_ = nullptr;
    WYE_TRY(kernel_.set(op, temporary));
    WYE_ASSIGN(set_range_, range_of(op));
    if (temporary.empty()) set_by_ = by;
    return enqueue(kernel_, queue, set_range_, order);
}

Result<Program::Range> Program::range_of(const wye_dispatch_op& op) const {
    WYE_TRY(shape_.check(op));
    Range out;
    out.axes = axes_;
    for (unsigned k = 0; k < 3; ++k) {
        out.global[k] = op.groups[k] * workgroup_[k];
        if (op.groups[k] > 1 && out.axes < k + 1) out.axes = k + 1;
    }
    return out;
}

Result<void> Program::before_first_launch() const {
    if (auto refused = refuses_file_mask(device_.info.platform_name)) return *std::move(refused);
    return {};
}

Error Program::refused(cl_int status) const {
    if (doubtful_ && (status == CL_OUT_OF_RESOURCES || status == CL_INVALID_WORK_GROUP_SIZE))
        return too_large();
    return device_.failed(status, "clEnqueueNDRangeKernel", shape_.label);
}

Result<Kernel> Program::make_kernel() const {
    cl_int status = CL_SUCCESS;
    KernelHandle handle(device_.driver, device_.driver.clCreateKernel(
                                            program_.get(), shape_.entry.c_str(), &status));
    if (status == CL_SUCCESS) return Kernel(device_, shape_, std::move(handle));
    Error error = device_.failed(status, "clCreateKernel `" + shape_.entry + "`", shape_.label);
    if (status == CL_INVALID_KERNEL_NAME)
        error.fix = "Fix: as the entry, name a kernel that the source has";
    return error;
}

}  // namespace wye::opencl
