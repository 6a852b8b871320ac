// SPDX-License-Identifier: Apache-2.0
//
// The raw side for CUDA: the driver API, opened by name. Its kernels are PTX, so NVRTC is not
// needed.
#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <utility>
#include <vector>

#include "raw.hpp"

namespace wye::bench {
namespace {

// advance: words[i] = words[i] * 1664525 + 1013904223 for i < count; workgroups of 64.
// increment: r[i] = x[i] + 1 for i < count; workgroups of 256.
constexpr const char* kKernels = R"ptx(
.version 6.4
.target sm_52
.address_size 64

.visible .entry advance(.param .u64 words, .param .u64 count)
.maxntid 64, 1, 1
{
    .reg .pred %p;
    .reg .u32 %i, %group, %size, %lane, %value;
    .reg .u64 %wide, %limit, %base, %at;
    ld.param.u64 %base, [words];
    ld.param.u64 %limit, [count];
    mov.u32 %group, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %lane, %tid.x;
    mad.lo.u32 %i, %group, %size, %lane;
    cvt.u64.u32 %wide, %i;
    setp.ge.u64 %p, %wide, %limit;
    @%p bra done;
    cvta.to.global.u64 %base, %base;
    shl.b64 %wide, %wide, 2;
    add.u64 %at, %base, %wide;
    ld.global.u32 %value, [%at];
    mad.lo.u32 %value, %value, 1664525, 1013904223;
    st.global.u32 [%at], %value;
done:
    ret;
}

.visible .entry increment(.param .u64 x, .param .u64 r, .param .u64 count)
.maxntid 256, 1, 1
{
    .reg .pred %p;
    .reg .u32 %i, %group, %size, %lane, %value;
    .reg .u64 %wide, %limit, %from, %to;
    ld.param.u64 %from, [x];
    ld.param.u64 %to, [r];
    ld.param.u64 %limit, [count];
    mov.u32 %group, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %lane, %tid.x;
    mad.lo.u32 %i, %group, %size, %lane;
    cvt.u64.u32 %wide, %i;
    setp.ge.u64 %p, %wide, %limit;
    @%p bra done;
    cvta.to.global.u64 %from, %from;
    cvta.to.global.u64 %to, %to;
    shl.b64 %wide, %wide, 2;
    add.u64 %from, %from, %wide;
    add.u64 %to, %to, %wide;
    ld.global.nc.u32 %value, [%from];
    add.u32 %value, %value, 1;
    st.global.u32 [%to], %value;
done:
    ret;
}
)ptx";

constexpr std::uint64_t kTinyWords = 64;

#define RAW_SYMBOLS(X)                                           \
    X(cuInit, "cuInit")                                          \
    X(cuDeviceGet, "cuDeviceGet")                                \
    X(cuDeviceGetCount, "cuDeviceGetCount")                      \
    X(cuDeviceGetName, "cuDeviceGetName")                        \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")      \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2") \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2")                   \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2")                     \
    X(cuStreamCreate, "cuStreamCreate")                          \
    X(cuStreamDestroy, "cuStreamDestroy_v2")                     \
    X(cuStreamSynchronize, "cuStreamSynchronize")                \
    X(cuStreamQuery, "cuStreamQuery")                            \
    X(cuEventCreate, "cuEventCreate")                            \
    X(cuEventDestroy, "cuEventDestroy_v2")                       \
    X(cuEventRecord, "cuEventRecord")                            \
    X(cuEventSynchronize, "cuEventSynchronize")                  \
    X(cuMemAlloc, "cuMemAlloc_v2")                               \
    X(cuMemFree, "cuMemFree_v2")                                 \
    X(cuMemAllocHost, "cuMemAllocHost_v2")                       \
    X(cuMemFreeHost, "cuMemFreeHost")                            \
    X(cuMemsetD32Async, "cuMemsetD32Async")                      \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                 \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                 \
    X(cuModuleLoadData, "cuModuleLoadData")                      \
    X(cuModuleUnload, "cuModuleUnload")                          \
    X(cuModuleGetFunction, "cuModuleGetFunction")                \
    X(cuLaunchKernel, "cuLaunchKernel")                          \
    X(cuGraphCreate, "cuGraphCreate")                            \
    X(cuGraphAddKernelNode, "cuGraphAddKernelNode")              \
    X(cuGraphInstantiate, "cuGraphInstantiateWithFlags")         \
    X(cuGraphLaunch, "cuGraphLaunch")                            \
    X(cuGraphDestroy, "cuGraphDestroy")                          \
    X(cuGraphExecDestroy, "cuGraphExecDestroy")

// Returns the error of a failed call. Success costs only a comparison, since timed loops use this.
#define TRY_CUDA(call)                                                         \
    if (const CUresult status_ = (call); status_ != CUDA_SUCCESS) [[unlikely]] \
    return call_failed("cuda", "cuda.h", status_, #call)

struct Driver : Fixed {
#define RAW_MEMBER(name, symbol) decltype(&::name) name = nullptr;
    RAW_SYMBOLS(RAW_MEMBER)
#undef RAW_MEMBER
    CUdevice device = 0;
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction advance = nullptr, increment = nullptr;
    std::array<CUstream, 4> streams{};

    [[nodiscard]] Result<void> open(const std::string& name);
    [[nodiscard]] Result<void> start();
    ~Driver();
};

// Makes the context current within a scope only, since the plugin must not rely on a current
// context.
class Entered : Fixed {
  public:
    explicit Entered(const Driver& driver) : driver_(driver) {
        (void)driver.cuCtxPushCurrent(driver.context);
    }
    ~Entered() {
        CUcontext popped = nullptr;
        (void)driver_.cuCtxPopCurrent(&popped);
    }

  private:
    const Driver& driver_;
};

Driver::~Driver() {
    if (context == nullptr) return;
    {
        const Entered entered(*this);
        for (CUstream stream : streams)
            if (stream != nullptr) (void)cuStreamDestroy(stream);
        if (module != nullptr) (void)cuModuleUnload(module);
    }
    (void)cuDevicePrimaryCtxRelease(device);
}

Result<void> Driver::open(const std::string& name) {
    const auto absent = [](std::string what) {
        return Error(Code::MISSING_DEPENDENCY, std::move(what), "Fix: install the NVIDIA driver",
                     "libcuda.so.1");
    };
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return absent("libcuda.so.1 cannot be opened");
#define RAW_FIND(function, symbol)                                           \
    function = reinterpret_cast<decltype(function)>(dlsym(library, symbol)); \
    if (function == nullptr) return absent("libcuda.so.1 has no function " symbol);
    RAW_SYMBOLS(RAW_FIND)
#undef RAW_FIND
    TRY_CUDA(cuInit(0));
    int count = 0;
    TRY_CUDA(cuDeviceGetCount(&count));
    for (int i = 0; i < count; ++i) {
        char text[256] = {};
        TRY_CUDA(cuDeviceGet(&device, i));
        TRY_CUDA(cuDeviceGetName(text, sizeof text, device));
        if (name == text) return start();
    }
    return Error(Code::NO_DEVICE, "CUDA has no device named `" + name + "`",
                 "Fix: see `wye info --list`", name);
}

Result<void> Driver::start() {
    TRY_CUDA(cuDevicePrimaryCtxRetain(&context, device));
    const Entered entered(*this);
    for (CUstream& stream : streams) TRY_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY_CUDA(cuModuleLoadData(&module, kKernels));
    TRY_CUDA(cuModuleGetFunction(&advance, module, "advance"));
    TRY_CUDA(cuModuleGetFunction(&increment, module, "increment"));
    return {};
}

// Device memory or page-locked memory, freed with the context current.
class Memory : Fixed {
  public:
    explicit Memory(const Driver& driver) : driver_(driver) {}
    ~Memory() {
        const Entered entered(driver_);
        if (device != 0) (void)driver_.cuMemFree(device);
        if (host != nullptr) (void)driver_.cuMemFreeHost(host);
    }
    [[nodiscard]] Result<void> on_device(std::uint64_t bytes) {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuMemAlloc(&device, bytes));
        return {};
    }
    [[nodiscard]] Result<void> on_host(std::uint64_t bytes) {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuMemAllocHost(&host, bytes));
        return {};
    }

    CUdeviceptr device = 0;
    void* host = nullptr;

  private:
    const Driver& driver_;
};

// Tiny launches on some buffers in turn.
class Tiny : Fixed {
  public:
    [[nodiscard]] static Result<std::shared_ptr<Tiny>> make(const Driver& driver,
                                                            std::uint64_t count) {
        auto out = std::make_shared<Tiny>(driver);
        const Entered entered(driver);
        TRY_CUDA(driver.cuEventCreate(&out->event_, CU_EVENT_DISABLE_TIMING));
        for (std::uint64_t i = 0; i < count; ++i) {
            out->words_.push_back(std::make_unique<Memory>(driver));
            WYE_TRY(out->words_.back()->on_device(kTinyWords * 4));
            TRY_CUDA(
                driver.cuMemsetD32Async(out->words_.back()->device, 1, kTinyWords, out->stream()));
        }
        TRY_CUDA(driver.cuStreamSynchronize(out->stream()));
        return out;
    }
    explicit Tiny(const Driver& driver) : driver_(driver) {}
    ~Tiny() {
        const Entered entered(driver_);
        if (exec_ != nullptr) (void)driver_.cuGraphExecDestroy(exec_);
        if (event_ != nullptr) (void)driver_.cuEventDestroy(event_);
    }

    [[nodiscard]] Result<void> launch(std::size_t i) {
        void* arguments[] = {&words_[i]->device, &count_};
        TRY_CUDA(driver_.cuLaunchKernel(driver_.advance, 1, 1, 1, 64, 1, 1, 0, stream(), arguments,
                                        nullptr));
        return {};
    }
    // Makes a graph: a chain of launches on the first buffer.
    [[nodiscard]] Result<void> record(std::uint64_t launches) {
        const Entered entered(driver_);
        if (exec_ != nullptr) (void)driver_.cuGraphExecDestroy(std::exchange(exec_, nullptr));
        CUgraph graph = nullptr;
        TRY_CUDA(driver_.cuGraphCreate(&graph, 0));
        const auto made = fill(graph, launches);
        (void)driver_.cuGraphDestroy(graph);
        return made.ok() ? Result<void>{} : made.error();
    }
    [[nodiscard]] Result<void> replay() {
        TRY_CUDA(driver_.cuGraphLaunch(exec_, stream()));
        return {};
    }

    [[nodiscard]] Result<void> synchronize() {
        TRY_CUDA(driver_.cuStreamSynchronize(stream()));
        return {};
    }
    [[nodiscard]] Result<void> poll() {
        CUresult status = CUDA_ERROR_NOT_READY;
        while (status == CUDA_ERROR_NOT_READY) status = driver_.cuStreamQuery(stream());
        TRY_CUDA(status);
        return {};
    }
    [[nodiscard]] Result<void> wait_for_event() {
        TRY_CUDA(driver_.cuEventRecord(event_, stream()));
        TRY_CUDA(driver_.cuEventSynchronize(event_));
        return {};
    }

    [[nodiscard]] Result<void> expect_steps(std::uint64_t steps) {
        const Entered entered(driver_);
        std::uint32_t word = 0;
        TRY_CUDA(driver_.cuMemcpyDtoHAsync(&word, words_.back()->device, 4, stream()));
        TRY_CUDA(driver_.cuStreamSynchronize(stream()));
        return expect_word(word, bench::advance(1, steps), "CUDA");
    }
    [[nodiscard]] const Driver& driver() const { return driver_; }
    [[nodiscard]] std::size_t size() const { return words_.size(); }

  private:
    [[nodiscard]] CUstream stream() const { return driver_.streams[0]; }
    [[nodiscard]] Result<void> fill(CUgraph graph, std::uint64_t launches) {
        void* arguments[] = {&words_[0]->device, &count_};
        // cuGraphAddKernelNode in its first version ignores the last members of the structure.
        CUDA_KERNEL_NODE_PARAMS params{};
        params.func = driver_.advance;
        params.gridDimX = params.gridDimY = params.gridDimZ = 1;
        params.blockDimX = 64;
        params.blockDimY = params.blockDimZ = 1;
        params.kernelParams = arguments;
        CUgraphNode last = nullptr;
        for (std::uint64_t i = 0; i < launches; ++i) {
            CUgraphNode node = nullptr;
            TRY_CUDA(driver_.cuGraphAddKernelNode(&node, graph, &last, i == 0 ? 0 : 1, &params));
            last = node;
        }
        TRY_CUDA(driver_.cuGraphInstantiate(&exec_, graph, 0));
        return {};
    }

    const Driver& driver_;
    std::vector<std::unique_ptr<Memory>> words_;
    std::uint64_t count_ = kTinyWords;
    CUgraphExec exec_ = nullptr;
    CUevent event_ = nullptr;
};

// Makes a way. `once(tiny)` does the row's work, which advances the last buffer by `steps`.
template <typename Once>
Way way_of(std::string name, const std::shared_ptr<Tiny>& tiny, std::uint64_t steps, Once once) {
    const auto runs = std::make_shared<std::uint64_t>(0);
    return {std::move(name),
            [=](std::uint64_t times) -> Result<void> {
                const Entered entered(tiny->driver());
                for (std::uint64_t i = 0; i < times; ++i) WYE_TRY(once(*tiny));
                *runs += times;
                return {};
            },
            [=] { return tiny->expect_steps(*runs * steps); }};
}

// Launches `count` times on each buffer, with one `wait` per buffer.
template <typename Wait>
Result<Way> launches(const Driver& driver, std::string name, std::uint64_t buffers,
                     std::uint64_t count, Wait wait) {
    WYE_ASSIGN(const auto tiny, Tiny::make(driver, buffers));
    return way_of(std::move(name), tiny, count, [count, wait](Tiny& t) -> Result<void> {
        for (std::size_t b = 0; b < t.size(); ++b) {
            for (std::uint64_t i = 0; i < count; ++i) WYE_TRY(t.launch(b));
            WYE_TRY((t.*wait)());
        }
        return {};
    });
}

Result<Way> replays(const Driver& driver, std::string name, std::uint64_t count) {
    WYE_ASSIGN(const auto tiny, Tiny::make(driver, 1));
    WYE_TRY(tiny->record(count));
    return way_of(std::move(name), tiny, count, [](Tiny& t) -> Result<void> {
        WYE_TRY(t.replay());
        return t.synchronize();
    });
}

// Makes a graph and frees it without running it.
Result<Way> recordings(const Driver& driver, std::string name, std::uint64_t count) {
    WYE_ASSIGN(const auto tiny, Tiny::make(driver, 1));
    return way_of(std::move(name), tiny, 0, [count](Tiny& t) { return t.record(count); });
}

class CudaLane final : public Lane {
  public:
    CudaLane(const Driver& driver, CUdeviceptr x, CUdeviceptr r)
        : driver_(driver), x_(x), r_(r), chunks_{Memory(driver), Memory(driver)} {}
    ~CudaLane() override {
        const Entered entered(driver_);
        for (CUevent event : done_)
            if (event != nullptr) (void)driver_.cuEventDestroy(event);
        if (stream_ != nullptr) (void)driver_.cuStreamDestroy(stream_);
    }
    [[nodiscard]] Result<void> open() {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
        for (CUevent& event : done_)
            TRY_CUDA(driver_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        for (Memory& chunk : chunks_) WYE_TRY(chunk.on_host(kChunk));
        return {};
    }

    std::byte* chunk(std::size_t i) override { return static_cast<std::byte*>(chunks_[i].host); }
    Result<void> up(std::size_t i, std::uint64_t at, std::uint64_t size) override {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuMemcpyHtoDAsync(x_ + at, chunks_[i].host, size, stream_));
        TRY_CUDA(driver_.cuEventRecord(done_[i], stream_));
        return {};
    }
    Result<void> down(std::size_t i, std::uint64_t at, std::uint64_t size) override {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuMemcpyDtoHAsync(chunks_[i].host, r_ + at, size, stream_));
        TRY_CUDA(driver_.cuEventRecord(done_[i], stream_));
        return {};
    }
    Result<void> wait(std::size_t i) override {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuEventSynchronize(done_[i]));
        return {};
    }

  private:
    const Driver& driver_;
    CUdeviceptr x_, r_;
    CUstream stream_ = nullptr;
    std::array<CUevent, 2> done_{};
    std::array<Memory, 2> chunks_;
};

Result<void> increment(const Driver& driver, CUdeviceptr x, CUdeviceptr r, std::uint64_t bytes,
                       CUstream stream) {
    std::uint64_t count = bytes / 4;
    void* arguments[] = {&x, &r, &count};
    TRY_CUDA(driver.cuLaunchKernel(driver.increment, static_cast<unsigned>((count + 255) / 256), 1,
                                   1, 256, 1, 1, 0, stream, arguments, nullptr));
    return {};
}

class CudaPair final : public Pair {
  public:
    CudaPair(const Driver& driver, std::uint64_t bytes)
        : driver_(driver), bytes_(bytes), x_(driver), r_(driver) {}
    [[nodiscard]] Result<void> open() {
        WYE_TRY(x_.on_device(bytes_));
        return r_.on_device(bytes_);
    }
    Result<std::unique_ptr<Lane>> lane() override {
        return opened<Lane>(std::make_unique<CudaLane>(driver_, x_.device, r_.device));
    }
    Result<void> run() override {
        const Entered entered(driver_);
        WYE_TRY(increment(driver_, x_.device, r_.device, bytes_, driver_.streams[0]));
        TRY_CUDA(driver_.cuStreamSynchronize(driver_.streams[0]));
        return {};
    }

  private:
    const Driver& driver_;
    std::uint64_t bytes_;
    Memory x_, r_;
};

class CudaFlight final : public Flight {
  public:
    CudaFlight(const Driver& driver, std::uint64_t bytes, CUstream stream)
        : driver_(driver),
          bytes_(bytes),
          stream_(stream),
          x_(driver),
          r_(driver),
          in_(driver),
          out_(driver) {}
    ~CudaFlight() override {
        const Entered entered(driver_);
        if (done_ != nullptr) (void)driver_.cuEventDestroy(done_);
    }
    [[nodiscard]] Result<void> open() {
        for (Memory* memory : {&x_, &r_}) WYE_TRY(memory->on_device(bytes_));
        for (Memory* memory : {&in_, &out_}) WYE_TRY(memory->on_host(bytes_));
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuEventCreate(&done_, CU_EVENT_DISABLE_TIMING));
        return {};
    }
    std::byte* in() override { return static_cast<std::byte*>(in_.host); }
    const std::byte* out() override { return static_cast<const std::byte*>(out_.host); }
    Result<void> start() override {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuMemcpyHtoDAsync(x_.device, in_.host, bytes_, stream_));
        WYE_TRY(increment(driver_, x_.device, r_.device, bytes_, stream_));
        TRY_CUDA(driver_.cuMemcpyDtoHAsync(out_.host, r_.device, bytes_, stream_));
        TRY_CUDA(driver_.cuEventRecord(done_, stream_));
        return {};
    }
    Result<void> wait() override {
        const Entered entered(driver_);
        TRY_CUDA(driver_.cuEventSynchronize(done_));
        return {};
    }

  private:
    const Driver& driver_;
    std::uint64_t bytes_;
    CUstream stream_;
    CUevent done_ = nullptr;
    Memory x_, r_, in_, out_;
};

class RawCuda final : public RawApi {
  public:
    [[nodiscard]] Result<void> open(const std::string& name) { return driver_.open(name); }

    Result<std::vector<Way>> tiny(RowId row, const Sizes& sizes) override {
        std::vector<Way> out;
        constexpr const char* kBlocking = "launch, cuStreamSynchronize";
        switch (row) {
            case RowId::OneCommand:
            case RowId::OneDispatch:
            case RowId::PipelineCall:
                WYE_TRY(add(out, launches(driver_, kBlocking, 1, 1, &Tiny::synchronize)));
                WYE_TRY(add(out, replays(driver_, "graph of one node, cuStreamSynchronize", 1)));
                WYE_TRY(
                    add(out, launches(driver_, "launch, cuStreamQuery polled", 1, 1, &Tiny::poll)));
                WYE_TRY(add(out, launches(driver_, "launch, cuEventSynchronize", 1, 1,
                                          &Tiny::wait_for_event)));
                break;
            case RowId::Commands:
                WYE_TRY(add(out, launches(driver_, kBlocking, sizes.turns, 1, &Tiny::synchronize)));
                break;
            case RowId::Recording:
                WYE_TRY(add(out, recordings(driver_, "graph of a chain of nodes, instantiated",
                                            sizes.recorded)));
                break;
            case RowId::Recorded:
                WYE_TRY(add(out, replays(driver_, "graph of a chain of nodes", sizes.recorded)));
                [[fallthrough]];
            case RowId::Batch:
            case RowId::Launches:
                WYE_TRY(add(out, launches(driver_, "launches, one cuStreamSynchronize", 1,
                                          sizes.recorded, &Tiny::synchronize)));
                break;
            default:
                break;
        }
        return out;
    }
    Result<std::unique_ptr<Pair>> pair(std::uint64_t bytes) override {
        return opened<Pair>(std::make_unique<CudaPair>(driver_, bytes));
    }
    Result<std::unique_ptr<Flight>> flight(std::uint64_t bytes, std::size_t n) override {
        return opened<Flight>(std::make_unique<CudaFlight>(
            driver_, bytes, driver_.streams[n % driver_.streams.size()]));
    }

  private:
    Driver driver_;
};

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw_cuda(const std::string& name) {
    return opened<RawApi>(std::make_unique<RawCuda>(), name);
}

}  // namespace wye::bench
