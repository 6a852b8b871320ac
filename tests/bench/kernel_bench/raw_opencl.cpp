// SPDX-License-Identifier: Apache-2.0
//
// OpenCL 1.2 through the loader.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <vector>

#include "kernel_bench/raw_api.hpp"
#include "kernel_bench/texts.hpp"

namespace wye::bench {
namespace {

Result<void> check(cl_int status, const char* call) {
    if (status == CL_SUCCESS) return {};
    return Error(Code::DRIVER, std::string(call) + " gives " + std::to_string(status),
                 "Fix: see CL/cl.h");
}
#define TRY_CL(call) WYE_TRY(check(call, #call))

Result<cl_device_id> find_device(const std::string& name) {
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
        return Error(Code::MISSING_DEPENDENCY, "OpenCL has no platform",
                     "Fix: install an OpenCL driver");
    std::vector<cl_platform_id> platforms(count);
    TRY_CL(clGetPlatformIDs(count, platforms.data(), nullptr));
    for (cl_platform_id platform : platforms) {
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS)
            continue;
        std::vector<cl_device_id> devices(count);
        TRY_CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr));
        for (cl_device_id device : devices) {
            char text[256] = {};
            TRY_CL(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, nullptr));
            if (name == text) return device;
        }
    }
    return Error(Code::NO_DEVICE, "OpenCL has no device `" + name + "`",
                 "Fix: name one that it has");
}

class RawOpenCl final : public RawApi {
  public:
    Result<void> open(const std::string& name) {
        WYE_ASSIGN(device_, find_device(name));
        cl_int status = CL_SUCCESS;
        context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
        WYE_TRY(check(status, "clCreateContext"));
        queue_ = clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &status);
        WYE_TRY(check(status, "clCreateCommandQueue"));
        cl_device_fp_config floats = 0;
        TRY_CL(
            clGetDeviceInfo(device_, CL_DEVICE_SINGLE_FP_CONFIG, sizeof floats, &floats, nullptr));
        exact_ = (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
        return {};
    }
    ~RawOpenCl() override {
        clear();
        if (queue_ != nullptr) clReleaseCommandQueue(queue_);
        if (context_ != nullptr) clReleaseContext(context_);
    }

    Result<Id> buffer(std::uint64_t bytes) override {
        cl_int status = CL_SUCCESS;
        cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
        WYE_TRY(check(status, "clCreateBuffer"));
        buffers_.push_back(memory);
        sizes_.push_back(bytes);
        return buffers_.size() - 1;
    }
    Result<void> upload(Id id, std::uint64_t offset, std::span<const std::byte> bytes) override {
        return check(clEnqueueWriteBuffer(queue_, buffers_[id], CL_TRUE, offset, bytes.size(),
                                          bytes.data(), 0, nullptr, nullptr),
                     "clEnqueueWriteBuffer");
    }
    Result<void> download(Id id, std::uint64_t offset, std::span<std::byte> bytes) override {
        return check(clEnqueueReadBuffer(queue_, buffers_[id], CL_TRUE, offset, bytes.size(),
                                         bytes.data(), 0, nullptr, nullptr),
                     "clEnqueueReadBuffer");
    }

    // If the driver cannot round f32 division and square root correctly, the kernels compute these
    // with f64.
    Result<Id> compile(const Launch& launch, std::size_t, bool fast) override {
        WYE_TRY(load(text(launch.kernel + ".cl"), fast));
        cl_int status = CL_SUCCESS;
        cl_kernel kernel = clCreateKernel(programs_.back(), "run", &status);
        WYE_TRY(check(status, "clCreateKernel"));
        kernels_.push_back(kernel);
        return kernels_.size() - 1;
    }
    Result<void> build(const std::string& source) override { return load(source, false); }

    Result<double> run(Id id, const Launch& launch, std::span<const Id> buffers,
                       std::span<const Id> zeroed) override {
        cl_kernel kernel = kernels_[id];
        cl_uint index = 0;
        for (const Id buffer : buffers)
            TRY_CL(clSetKernelArg(kernel, index++, sizeof(cl_mem), &buffers_[buffer]));
        for (const std::uint32_t& word : launch.words)
            TRY_CL(clSetKernelArg(kernel, index++, 4, &word));
        std::size_t global[3] = {}, local[3] = {};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            local[axis] = launch.workgroup[axis];
            global[axis] = std::size_t{launch.groups[axis]} * launch.workgroup[axis];
        }
        std::vector<cl_event> events;
        const Events owner{events};
        const cl_uint zero = 0;
        for (const Id buffer : zeroed)
            TRY_CL(clEnqueueFillBuffer(queue_, buffers_[buffer], &zero, 4, 0, sizes_[buffer], 0,
                                       nullptr, &events.emplace_back()));
        TRY_CL(clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global, local, 0, nullptr,
                                      &events.emplace_back()));
        TRY_CL(clFinish(queue_));
        cl_ulong start = 0, end = 0;
        TRY_CL(clGetEventProfilingInfo(events.front(), CL_PROFILING_COMMAND_START, sizeof start,
                                       &start, nullptr));
        TRY_CL(clGetEventProfilingInfo(events.back(), CL_PROFILING_COMMAND_END, sizeof end, &end,
                                       nullptr));
        return static_cast<double>(end - start);
    }

    void clear() override {
        for (cl_mem memory : buffers_) clReleaseMemObject(memory);
        for (cl_kernel kernel : kernels_) clReleaseKernel(kernel);
        for (cl_program program : programs_) clReleaseProgram(program);
        buffers_.clear();
        sizes_.clear();
        kernels_.clear();
        programs_.clear();
    }

  private:
    Result<void> load(std::string_view source, bool fast) {
        const char* data = source.data();
        const std::size_t size = source.size();
        cl_int status = CL_SUCCESS;
        cl_program program = clCreateProgramWithSource(context_, 1, &data, &size, &status);
        WYE_TRY(check(status, "clCreateProgramWithSource"));
        programs_.push_back(program);
        const char* options = fast ? "-cl-std=CL1.2 -cl-fast-relaxed-math -cl-mad-enable -DFAST"
                              : exact_
                                  ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -DEXACT"
                                  : "-cl-std=CL1.2";
        if (clBuildProgram(program, 1, &device_, options, nullptr, nullptr) == CL_SUCCESS)
            return {};
        std::string log(16384, '\0');
        (void)clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                                    nullptr);
        return Error(Code::COMPILE_FAILED, log.c_str(), "Fix: correct the kernel");
    }

    struct Events {
        std::vector<cl_event>& list;
        ~Events() {
            for (cl_event event : list)
                if (event != nullptr) clReleaseEvent(event);
        }
    };

    cl_device_id device_ = nullptr;
    cl_context context_ = nullptr;
    cl_command_queue queue_ = nullptr;
    bool exact_ = false;
    std::vector<cl_mem> buffers_;
    std::vector<std::uint64_t> sizes_;
    std::vector<cl_program> programs_;
    std::vector<cl_kernel> kernels_;
};

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw_opencl(const std::string& device) {
    auto out = std::make_unique<RawOpenCl>();
    WYE_TRY(out->open(device));
    return std::unique_ptr<RawApi>(std::move(out));
}

}  // namespace wye::bench
