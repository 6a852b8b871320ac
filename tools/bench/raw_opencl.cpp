// SPDX-License-Identifier: Apache-2.0
//
// The raw side for OpenCL: version 1.2, with its loader opened by name.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <array>
#include <vector>

#include "raw.hpp"

namespace wye::bench {
namespace {

constexpr const char* kKernels = R"cl(
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void advance(__global uint* restrict words, ulong count) {
    const uint i = get_global_id(0);
    if (i < count) words[i] = words[i] * 1664525u + 1013904223u;
}
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void increment(__global const uint* restrict x, __global uint* restrict r, ulong count) {
    const uint i = get_global_id(0);
    if (i < count) r[i] = x[i] + 1u;
}
)cl";

constexpr std::size_t kTinyWords = 64;

#define RAW_SYMBOLS(X)           \
    X(clGetPlatformIDs)          \
    X(clGetDeviceIDs)            \
    X(clGetDeviceInfo)           \
    X(clCreateContext)           \
    X(clReleaseContext)          \
    X(clCreateCommandQueue)      \
    X(clReleaseCommandQueue)     \
    X(clCreateProgramWithSource) \
    X(clBuildProgram)            \
    X(clReleaseProgram)          \
    X(clCreateKernel)            \
    X(clReleaseKernel)           \
    X(clSetKernelArg)            \
    X(clCreateBuffer)            \
    X(clReleaseMemObject)        \
    X(clReleaseEvent)            \
    X(clWaitForEvents)           \
    X(clEnqueueNDRangeKernel)    \
    X(clEnqueueFillBuffer)       \
    X(clEnqueueReadBuffer)       \
    X(clEnqueueWriteBuffer)      \
    X(clEnqueueMapBuffer)        \
    X(clEnqueueUnmapMemObject)   \
    X(clFlush)                   \
    X(clFinish)

Error failed(cl_int status, const char* call) {
    return call_failed("opencl", "CL/cl.h", status, call);
}
// Returns the error of a failed call. Success costs only a comparison, since timed loops use this.
#define TRY_CL(call)                                                       \
    if (const cl_int status_ = (call); status_ != CL_SUCCESS) [[unlikely]] \
    return failed(status_, #call)

struct Driver : Fixed {
#define RAW_MEMBER(name) decltype(&::name) name = nullptr;
    RAW_SYMBOLS(RAW_MEMBER)
#undef RAW_MEMBER
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_program program = nullptr;
    std::array<cl_command_queue, 4> queues{};

    ~Driver() {
        for (cl_command_queue queue : queues)
            if (queue != nullptr) clReleaseCommandQueue(queue);
        if (program != nullptr) clReleaseProgram(program);
        if (context != nullptr) clReleaseContext(context);
    }
    [[nodiscard]] Result<void> open(const std::string& name);
    [[nodiscard]] Result<void> find(const std::string& name);
    [[nodiscard]] Result<cl_command_queue> queue() const {
        cl_int status = CL_SUCCESS;
        cl_command_queue out = clCreateCommandQueue(context, device, 0, &status);
        if (status != CL_SUCCESS) return failed(status, "clCreateCommandQueue");
        return out;
    }
    [[nodiscard]] Result<cl_kernel> kernel(const char* name) const {
        cl_int status = CL_SUCCESS;
        cl_kernel out = clCreateKernel(program, name, &status);
        if (status != CL_SUCCESS) return failed(status, "clCreateKernel");
        return out;
    }
};

Result<void> Driver::open(const std::string& name) {
    const auto absent = [](std::string what) {
        return Error(Code::MISSING_DEPENDENCY, std::move(what), "Fix: install an OpenCL driver",
                     "libOpenCL.so.1");
    };
    void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return absent("libOpenCL.so.1 cannot be opened");
#define RAW_FIND(function)                                                      \
    function = reinterpret_cast<decltype(function)>(dlsym(library, #function)); \
    if (function == nullptr) return absent("libOpenCL.so.1 has no function " #function);
    RAW_SYMBOLS(RAW_FIND)
#undef RAW_FIND
    WYE_TRY(find(name));
    cl_int status = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    if (status != CL_SUCCESS) return failed(status, "clCreateContext");
    for (cl_command_queue& one : queues) {
        WYE_ASSIGN(one, queue());
    }
    const char* text = kKernels;
    program = clCreateProgramWithSource(context, 1, &text, nullptr, &status);
    if (status != CL_SUCCESS) return failed(status, "clCreateProgramWithSource");
    TRY_CL(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", nullptr, nullptr));
    return {};
}

Result<void> Driver::find(const std::string& name) {
    std::array<cl_platform_id, 16> platforms{};
    cl_uint count = 0;
    if (clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS) count = 0;
    for (cl_uint p = 0; p < count && p < platforms.size(); ++p) {
        std::array<cl_device_id, 64> devices{};
        cl_uint found = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, devices.size(), devices.data(),
                           &found) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < found && d < devices.size(); ++d) {
            char text[256] = {};
            TRY_CL(clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof text, text, nullptr));
            if (name != text) continue;
            device = devices[d];
            return {};
        }
    }
    return Error(Code::NO_DEVICE, "OpenCL has no device named `" + name + "`",
                 "Fix: see `wye info --list`", name);
}

class Memory : Fixed {
  public:
    explicit Memory(const Driver& driver) : driver_(driver) {}
    ~Memory() {
        if (host != nullptr) {
            driver_.clEnqueueUnmapMemObject(driver_.queues[0], memory, host, 0, nullptr, nullptr);
            driver_.clFinish(driver_.queues[0]);
        }
        if (memory != nullptr) driver_.clReleaseMemObject(memory);
    }
    [[nodiscard]] Result<void> on_device(std::size_t bytes) {
        return make(bytes, CL_MEM_READ_WRITE);
    }
    // A buffer in host memory that stays mapped; some drivers page-lock it.
    [[nodiscard]] Result<void> on_host(std::size_t bytes) {
        WYE_TRY(make(bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR));
        cl_int status = CL_SUCCESS;
        host = static_cast<std::byte*>(driver_.clEnqueueMapBuffer(
            driver_.queues[0], memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr,
            nullptr, &status));
        if (status != CL_SUCCESS) return failed(status, "clEnqueueMapBuffer");
        return {};
    }

    cl_mem memory = nullptr;
    std::byte* host = nullptr;

  private:
    [[nodiscard]] Result<void> make(std::size_t bytes, cl_mem_flags flags) {
        cl_int status = CL_SUCCESS;
        memory = driver_.clCreateBuffer(driver_.context, flags, bytes, nullptr, &status);
        if (status != CL_SUCCESS) return failed(status, "clCreateBuffer");
        return {};
    }

    const Driver& driver_;
};

// Tiny launches on some buffers in turn.
class Tiny : Fixed {
  public:
    [[nodiscard]] static Result<std::shared_ptr<Tiny>> make(const Driver& driver,
                                                            std::uint64_t count) {
        auto out = std::make_shared<Tiny>(driver);

        const cl_ulong words = kTinyWords;
        const cl_uint one = 1;

        for (std::uint64_t i = 0; i < count; ++i) {
            out->words_.push_back(std::make_unique<Memory>(driver));
            WYE_TRY(out->words_.back()->on_device(kTinyWords * 4));
            TRY_CL(driver.clEnqueueFillBuffer(out->queue(), out->words_.back()->memory, &one, 4, 0,
                                              kTinyWords * 4, 0, nullptr, nullptr));
            WYE_ASSIGN(auto kernel, driver.kernel("advance"));
            out->kernels_.push_back(kernel);
            TRY_CL(driver.clSetKernelArg(kernel, 1, sizeof words, &words));
            WYE_TRY(out->bind(i, i));
        }
        TRY_CL(driver.clFinish(out->queue()));
        return out;
    }
    explicit Tiny(const Driver& driver) : driver_(driver) {}
    ~Tiny() {
        for (cl_kernel kernel : kernels_) driver_.clReleaseKernel(kernel);
    }

    [[nodiscard]] Result<void> bind(std::size_t kernel, std::size_t words) {
        TRY_CL(driver_.clSetKernelArg(kernels_[kernel], 0, sizeof(cl_mem), &words_[words]->memory));
        return {};
    }
    // `event`: receives an event of the launch; may be null.
    [[nodiscard]] Result<void> launch(std::size_t kernel, cl_event* event = nullptr) {
        const std::size_t global = kTinyWords, local = 64;
        TRY_CL(driver_.clEnqueueNDRangeKernel(queue(), kernels_[kernel], 1, nullptr, &global,
                                              &local, 0, nullptr, event));
        return {};
    }
    [[nodiscard]] Result<void> finish() {
        TRY_CL(driver_.clFinish(queue()));
        return {};
    }
    // Launches a number of times, each with an event that could be waited for alone.
    [[nodiscard]] Result<void> launch_with_events(std::uint64_t count) {
        events_.assign(count, nullptr);
        Result<void> done;
        for (std::uint64_t i = 0; i < count && done.ok(); ++i) done = launch(0, &events_[i]);
        if (done.ok()) done = finish();
        for (cl_event event : events_)
            if (event != nullptr) driver_.clReleaseEvent(event);
        return done;
    }
    [[nodiscard]] std::size_t size() const { return words_.size(); }
    [[nodiscard]] Result<void> expect_steps(std::uint64_t steps) {
        cl_uint word = 0;
        TRY_CL(driver_.clEnqueueReadBuffer(queue(), words_.back()->memory, CL_TRUE, 0, 4, &word, 0,
                                           nullptr, nullptr));
        return expect_word(word, advance(1, steps), "OpenCL");
    }

  private:
    [[nodiscard]] cl_command_queue queue() const { return driver_.queues[0]; }

    const Driver& driver_;
    std::vector<std::unique_ptr<Memory>> words_;
    std::vector<cl_kernel> kernels_;  // one for each buffer, bound as its argument
    std::vector<cl_event> events_;    // used by launch_with_events
};

// Launches `count` times on each buffer, with one wait per buffer. `rebind`: uses a single kernel
// object, which is bound to the buffer each time.
Result<Way> launches(const Driver& driver, std::string name, std::uint64_t buffers,
                     std::uint64_t count, bool rebind = false) {
    WYE_ASSIGN(const auto tiny, Tiny::make(driver, buffers));
    return repeated(
        std::move(name),
        [=]() -> Result<void> {
            for (std::size_t b = 0; b < tiny->size(); ++b) {
                if (rebind) WYE_TRY(tiny->bind(0, b));
                const std::size_t kernel = rebind ? 0 : b;
                for (std::uint64_t i = 0; i < count; ++i) WYE_TRY(tiny->launch(kernel));
                WYE_TRY(tiny->finish());
            }
            return {};
        },
        [=](std::uint64_t runs) { return tiny->expect_steps(runs * count); });
}

Result<Way> launches_with_events(const Driver& driver, std::string name, std::uint64_t count) {
    WYE_ASSIGN(const auto tiny, Tiny::make(driver, 1));
    return repeated(
        std::move(name), [=] { return tiny->launch_with_events(count); },
        [=](std::uint64_t runs) { return tiny->expect_steps(runs * count); });
}

class ClLane final : public Lane {
  public:
    ClLane(const Driver& driver, cl_mem x, cl_mem r)
        : driver_(driver), x_(x), r_(r), chunks_{Memory(driver), Memory(driver)} {}
    ~ClLane() override {
        for (const std::size_t i : {0, 1}) (void)wait(i);
        if (queue_ != nullptr) driver_.clReleaseCommandQueue(queue_);
    }
    [[nodiscard]] Result<void> open() {
        WYE_ASSIGN(queue_, driver_.queue());
        for (Memory& chunk : chunks_) WYE_TRY(chunk.on_host(kChunk));
        return {};
    }
    std::byte* chunk(std::size_t i) override { return chunks_[i].host; }
    Result<void> up(std::size_t i, std::uint64_t at, std::uint64_t size) override {
        TRY_CL(driver_.clEnqueueWriteBuffer(queue_, x_, CL_FALSE, at, size, chunks_[i].host, 0,
                                            nullptr, &done_[i]));
        TRY_CL(driver_.clFlush(queue_));
        return {};
    }
    Result<void> down(std::size_t i, std::uint64_t at, std::uint64_t size) override {
        TRY_CL(driver_.clEnqueueReadBuffer(queue_, r_, CL_FALSE, at, size, chunks_[i].host, 0,
                                           nullptr, &done_[i]));
        TRY_CL(driver_.clFlush(queue_));
        return {};
    }
    Result<void> wait(std::size_t i) override {
        if (done_[i] == nullptr) return {};
        const cl_int status = driver_.clWaitForEvents(1, &done_[i]);
        driver_.clReleaseEvent(done_[i]);
        done_[i] = nullptr;
        TRY_CL(status);
        return {};
    }

  private:
    const Driver& driver_;
    cl_mem x_, r_;
    cl_command_queue queue_ = nullptr;
    std::array<cl_event, 2> done_{};
    std::array<Memory, 2> chunks_;
};

// The kernel r = x + 1, with its arguments set.
class Increment : Fixed {
  public:
    Increment(const Driver& driver, std::size_t bytes)
        : x(driver), r(driver), driver_(driver), bytes_(bytes) {}
    ~Increment() {
        if (kernel_ != nullptr) driver_.clReleaseKernel(kernel_);
    }
    [[nodiscard]] Result<void> open() {
        for (Memory* memory : {&x, &r}) WYE_TRY(memory->on_device(bytes_));
        WYE_ASSIGN(kernel_, driver_.kernel("increment"));
        const cl_ulong count = bytes_ / 4;
        TRY_CL(driver_.clSetKernelArg(kernel_, 0, sizeof(cl_mem), &x.memory));
        TRY_CL(driver_.clSetKernelArg(kernel_, 1, sizeof(cl_mem), &r.memory));
        TRY_CL(driver_.clSetKernelArg(kernel_, 2, sizeof count, &count));
        return {};
    }
    [[nodiscard]] Result<void> enqueue(cl_command_queue queue) const {
        const std::size_t local = 256, global = (bytes_ / 4 + local - 1) / local * local;
        TRY_CL(driver_.clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &global, &local, 0,
                                              nullptr, nullptr));
        return {};
    }

    Memory x, r;

  private:
    const Driver& driver_;
    std::size_t bytes_;
    cl_kernel kernel_ = nullptr;
};

class ClPair final : public Pair {
  public:
    ClPair(const Driver& driver, std::size_t bytes) : driver_(driver), increment_(driver, bytes) {}
    [[nodiscard]] Result<void> open() { return increment_.open(); }
    Result<std::unique_ptr<Lane>> lane() override {
        return opened<Lane>(
            std::make_unique<ClLane>(driver_, increment_.x.memory, increment_.r.memory));
    }
    Result<void> run() override {
        WYE_TRY(increment_.enqueue(driver_.queues[0]));
        TRY_CL(driver_.clFinish(driver_.queues[0]));
        return {};
    }

  private:
    const Driver& driver_;
    Increment increment_;
};

class ClFlight final : public Flight {
  public:
    ClFlight(const Driver& driver, std::size_t bytes, cl_command_queue queue)
        : driver_(driver),
          bytes_(bytes),
          queue_(queue),
          increment_(driver, bytes),
          in_(driver),
          out_(driver) {}
    ~ClFlight() override { (void)wait(); }
    [[nodiscard]] Result<void> open() {
        WYE_TRY(increment_.open());
        WYE_TRY(in_.on_host(bytes_));
        return out_.on_host(bytes_);
    }
    std::byte* in() override { return in_.host; }
    const std::byte* out() override { return out_.host; }
    Result<void> start() override {
        TRY_CL(driver_.clEnqueueWriteBuffer(queue_, increment_.x.memory, CL_FALSE, 0, bytes_,
                                            in_.host, 0, nullptr, nullptr));
        WYE_TRY(increment_.enqueue(queue_));
        TRY_CL(driver_.clEnqueueReadBuffer(queue_, increment_.r.memory, CL_FALSE, 0, bytes_,
                                           out_.host, 0, nullptr, &done_));
        TRY_CL(driver_.clFlush(queue_));
        return {};
    }
    Result<void> wait() override {
        if (done_ == nullptr) return {};
        const cl_int status = driver_.clWaitForEvents(1, &done_);
        driver_.clReleaseEvent(done_);
        done_ = nullptr;
        TRY_CL(status);
        return {};
    }

  private:
    const Driver& driver_;
    std::size_t bytes_;
    cl_command_queue queue_;
    cl_event done_ = nullptr;
    Increment increment_;
    Memory in_, out_;
};

class RawOpenCl final : public RawApi {
  public:
    [[nodiscard]] Result<void> open(const std::string& name) { return driver_.open(name); }

    Result<std::vector<Way>> tiny(RowId row, const Sizes& sizes) override {
        std::vector<Way> out;
        switch (row) {
            case RowId::OneCommand:
            case RowId::OneDispatch:
            case RowId::PipelineCall:
                WYE_TRY(add(out, launches(driver_, "enqueue, clFinish", 1, 1)));
                break;
            case RowId::Commands:
                WYE_TRY(add(out, launches(driver_, "a kernel for each, enqueue, clFinish",
                                          sizes.turns, 1)));
                WYE_TRY(add(out, launches(driver_, "clSetKernelArg, enqueue, clFinish", sizes.turns,
                                          1, true)));
                break;
            case RowId::Recorded:
            case RowId::Batch:
            case RowId::Launches:
                if (row == RowId::Launches)
                    WYE_TRY(add(out, launches_with_events(
                                         driver_, "enqueues, an event for each, one clFinish",
                                         sizes.recorded)));
                WYE_TRY(add(out, launches(driver_, "enqueues, one clFinish", 1, sizes.recorded)));
                break;
            case RowId::Recording:
                return Error(Code::UNSUPPORTED,
                             "OpenCL records no work, except with cl_khr_command_buffer",
                             "Fix: none needed; CUDA and Vulkan have such a baseline", "opencl");
            default:
                break;
        }
        return out;
    }
    Result<std::unique_ptr<Pair>> pair(std::uint64_t bytes) override {
        return opened<Pair>(std::make_unique<ClPair>(driver_, bytes));
    }
    Result<std::unique_ptr<Flight>> flight(std::uint64_t bytes, std::size_t n) override {
        return opened<Flight>(
            std::make_unique<ClFlight>(driver_, bytes, driver_.queues[n % driver_.queues.size()]));
    }

  private:
    Driver driver_;
};

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw_opencl(const std::string& name) {
    return opened<RawApi>(std::make_unique<RawOpenCl>(), name);
}

}  // namespace wye::bench
