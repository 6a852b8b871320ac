// SPDX-License-Identifier: Apache-2.0
//
// CUDA's driver API and NVRTC, opened with dlopen.
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <vector>

#include "kernel_bench/raw_api.hpp"
#include "kernel_bench/texts.hpp"

namespace wye::bench {
namespace {

#define RAW_CUDA_SYMBOLS(X)                                      \
    X(cuInit, "cuInit")                                          \
    X(cuDeviceGet, "cuDeviceGet")                                \
    X(cuDeviceGetCount, "cuDeviceGetCount")                      \
    X(cuDeviceGetName, "cuDeviceGetName")                        \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute")              \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")      \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2") \
    X(cuCtxSetCurrent, "cuCtxSetCurrent")                        \
    X(cuStreamCreate, "cuStreamCreate")                          \
    X(cuEventCreate, "cuEventCreate")                            \
    X(cuEventRecord, "cuEventRecord")                            \
    X(cuEventSynchronize, "cuEventSynchronize")                  \
    X(cuEventElapsedTime, "cuEventElapsedTime")                  \
    X(cuMemAlloc, "cuMemAlloc_v2")                               \
    X(cuMemFree, "cuMemFree_v2")                                 \
    X(cuMemsetD32Async, "cuMemsetD32Async")                      \
    X(cuMemcpyHtoD, "cuMemcpyHtoD_v2")                           \
    X(cuMemcpyDtoH, "cuMemcpyDtoH_v2")                           \
    X(cuModuleLoadData, "cuModuleLoadData")                      \
    X(cuModuleUnload, "cuModuleUnload")                          \
    X(cuModuleGetFunction, "cuModuleGetFunction")                \
    X(cuLaunchKernel, "cuLaunchKernel")

#define RAW_NVRTC_SYMBOLS(X)                            \
    X(nvrtcVersion, "nvrtcVersion")                     \
    X(nvrtcCreateProgram, "nvrtcCreateProgram")         \
    X(nvrtcDestroyProgram, "nvrtcDestroyProgram")       \
    X(nvrtcCompileProgram, "nvrtcCompileProgram")       \
    X(nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize") \
    X(nvrtcGetProgramLog, "nvrtcGetProgramLog")         \
    X(nvrtcGetCUBINSize, "nvrtcGetCUBINSize")           \
    X(nvrtcGetCUBIN, "nvrtcGetCUBIN")

Error absent(std::string what) {
    return {Code::MISSING_DEPENDENCY, std::move(what), "Fix: install the NVIDIA driver and NVRTC"};
}
Result<void> check(int status, const char* call) {
    if (status == 0) return {};
    return Error(Code::DRIVER, std::string(call) + " gives " + std::to_string(status),
                 "Fix: see cuda.h, nvrtc.h");
}
#define TRY_CUDA(call) WYE_TRY(check(call, #call))

void* open_any(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    return nullptr;
}

class RawCuda final : public RawApi {
  public:
    Result<void> open(const std::string& name) {
        void* library = open_any({"libcuda.so.1"});
        if (library == nullptr) return absent("libcuda.so.1 cannot be opened");
#define RAW_FIND(function, symbol)                                           \
    function = reinterpret_cast<decltype(function)>(dlsym(library, symbol)); \
    if (function == nullptr) return absent("no function " symbol);
        RAW_CUDA_SYMBOLS(RAW_FIND)
        library =
            open_any({"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13",
                      "/usr/local/cuda/lib64/libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"});
        if (library == nullptr) return absent("libnvrtc cannot be opened");
        RAW_NVRTC_SYMBOLS(RAW_FIND)
#undef RAW_FIND
        TRY_CUDA(cuInit(0));
        int count = 0;
        TRY_CUDA(cuDeviceGetCount(&count));
        for (int i = 0; i < count; ++i) {
            char text[256] = {};
            TRY_CUDA(cuDeviceGet(&device_, i));
            TRY_CUDA(cuDeviceGetName(text, sizeof text, device_));
            if (name == text) return start();
        }
        return Error(Code::NO_DEVICE, "CUDA has no device `" + name + "`",
                     "Fix: name one that it has");
    }
    ~RawCuda() override {
        if (context_ == nullptr) return;
        clear();
        (void)cuDevicePrimaryCtxRelease(device_);
    }

    Result<Id> buffer(std::uint64_t bytes) override {
        TRY_CUDA(cuCtxSetCurrent(context_));
        CUdeviceptr memory = 0;
        TRY_CUDA(cuMemAlloc(&memory, bytes));
        buffers_.push_back(memory);
        sizes_.push_back(bytes);
        return buffers_.size() - 1;
    }
    Result<void> upload(Id id, std::uint64_t offset, std::span<const std::byte> bytes) override {
        TRY_CUDA(cuCtxSetCurrent(context_));
        return check(cuMemcpyHtoD(buffers_[id] + offset, bytes.data(), bytes.size()),
                     "cuMemcpyHtoD");
    }
    Result<void> download(Id id, std::uint64_t offset, std::span<std::byte> bytes) override {
        TRY_CUDA(cuCtxSetCurrent(context_));
        return check(cuMemcpyDtoH(bytes.data(), buffers_[id] + offset, bytes.size()),
                     "cuMemcpyDtoH");
    }

    Result<Id> compile(const Launch& launch, std::size_t, bool fast) override {
        WYE_TRY(load(std::string(text(launch.kernel + ".cu")), fast));
        functions_.push_back(nullptr);
        TRY_CUDA(cuModuleGetFunction(&functions_.back(), modules_.back(), "kernel"));
        return functions_.size() - 1;
    }
    Result<void> build(const std::string& source) override { return load(source, false); }

    Result<double> run(Id kernel, const Launch& launch, std::span<const Id> buffers,
                       std::span<const Id> zeroed) override {
        TRY_CUDA(cuCtxSetCurrent(context_));
        std::vector<void*> arguments;
        for (const Id id : buffers) arguments.push_back(&buffers_[id]);
        std::vector<std::uint32_t> words = launch.words;
        for (std::uint32_t& word : words) arguments.push_back(&word);
        TRY_CUDA(cuEventRecord(start_, stream_));
        for (const Id id : zeroed)
            TRY_CUDA(cuMemsetD32Async(buffers_[id], 0, sizes_[id] / 4, stream_));
        TRY_CUDA(cuLaunchKernel(functions_[kernel], launch.groups[0], launch.groups[1],
                                launch.groups[2], launch.workgroup[0], launch.workgroup[1],
                                launch.workgroup[2], 0, stream_, arguments.data(), nullptr));
        TRY_CUDA(cuEventRecord(end_, stream_));
        TRY_CUDA(cuEventSynchronize(end_));
        float milliseconds = 0;
        TRY_CUDA(cuEventElapsedTime(&milliseconds, start_, end_));
        return static_cast<double>(milliseconds) * 1e6;
    }

    void clear() override {
        (void)cuCtxSetCurrent(context_);
        for (const CUdeviceptr memory : buffers_) (void)cuMemFree(memory);
        for (CUmodule module : modules_) (void)cuModuleUnload(module);
        buffers_.clear();
        sizes_.clear();
        modules_.clear();
        functions_.clear();
    }

  private:
    Result<void> start() {
        int major = 0, minor = 0;
        TRY_CUDA(
            cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_));
        TRY_CUDA(
            cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_));
        architecture_ = "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor);
        TRY_CUDA(cuDevicePrimaryCtxRetain(&context_, device_));
        TRY_CUDA(cuCtxSetCurrent(context_));
        TRY_CUDA(cuStreamCreate(&stream_, CU_STREAM_DEFAULT));
        TRY_CUDA(cuEventCreate(&start_, CU_EVENT_DEFAULT));
        TRY_CUDA(cuEventCreate(&end_, CU_EVENT_DEFAULT));
        return {};
    }

    Result<void> load(const std::string& source, bool fast) {
        TRY_CUDA(cuCtxSetCurrent(context_));
        nvrtcProgram program = nullptr;
        TRY_CUDA(nvrtcCreateProgram(&program, source.c_str(), "raw.cu", 0, nullptr, nullptr));
        auto image = translate(program, fast);
        (void)nvrtcDestroyProgram(&program);
        WYE_TRY(std::move(image));
        CUmodule module = nullptr;
        TRY_CUDA(cuModuleLoadData(&module, image_.data()));
        modules_.push_back(module);
        return {};
    }

    // Without `fast`, compiles with the options that Wye uses, so that the times can be compared.
    Result<void> translate(nvrtcProgram program, bool fast) {
        int major = 0, minor = 0;
        TRY_CUDA(nvrtcVersion(&major, &minor));
        std::vector<const char*> options = {architecture_.c_str(), "--std=c++17", "-w"};
        if (std::pair(major, minor) >= std::pair(12, 4)) options.push_back("--minimal");
        if (fast)
            options.insert(options.end(), {"--use_fast_math", "-DFAST"});
        else
            options.insert(options.end(),
                           {"--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"});
        if (nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()) !=
            NVRTC_SUCCESS) {
            std::size_t size = 0;
            TRY_CUDA(nvrtcGetProgramLogSize(program, &size));
            std::string log(size, '\0');
            TRY_CUDA(nvrtcGetProgramLog(program, log.data()));
            return Error(Code::COMPILE_FAILED, log, "Fix: correct the kernel");
        }
        std::size_t size = 0;
        TRY_CUDA(nvrtcGetCUBINSize(program, &size));
        image_.resize(size);
        return check(nvrtcGetCUBIN(program, image_.data()), "nvrtcGetCUBIN");
    }

#define RAW_MEMBER(name, symbol) decltype(&::name) name = nullptr;
    RAW_CUDA_SYMBOLS(RAW_MEMBER)
    RAW_NVRTC_SYMBOLS(RAW_MEMBER)
#undef RAW_MEMBER
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUstream stream_ = nullptr;
    CUevent start_ = nullptr, end_ = nullptr;
    std::string architecture_;
    std::vector<char> image_;
    std::vector<CUdeviceptr> buffers_;
    std::vector<std::uint64_t> sizes_;
    std::vector<CUmodule> modules_;
    std::vector<CUfunction> functions_;
};

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw_cuda(const std::string& device) {
    auto out = std::make_unique<RawCuda>();
    WYE_TRY(out->open(device));
    return std::unique_ptr<RawApi>(std::move(out));
}

}  // namespace wye::bench
