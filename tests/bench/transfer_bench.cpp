// SPDX-License-Identifier: Apache-2.0
//
// Host bytes through a device: a dispatch of large host arguments, many asynchronous ones, blocking
// transfers of a resident buffer, and a round trip of 1 MiB. For a CUDA device each has the same
// work through the driver's API beside it: a ring of page-locked memory, with as many threads.
// Medians, in GB/s of both directions together. Links no CUDA: the driver is opened by name.
//
//   transfer_bench [SELECTOR [MIB [THREADS]]]        (default: cuda:0 256, half the processors)
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#ifdef WYE_BENCH_CUDA
#include <cuda.h>
#include <dlfcn.h>
#endif

#include "support.hpp"
#include "wye/wye.hpp"

namespace {

using wye::bench::must;
using Words = std::vector<std::uint32_t>;

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kManyBytes = 8 * kMiB;  // of one of many, each way
constexpr std::size_t kMany = 32;

constexpr std::string_view kIncrement = R"wye(
wye 1;
program increment;
workgroup 256;
input x: u32[];
output r: u32[len(x)];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(r) { r[i] = x[i] + 1u; }
}
)wye";

// Seconds: the median of some runs, after one that does not count.
double median(const std::function<void()>& run, int rounds) {
    std::vector<double> times;
    run();
    for (int i = 0; i < rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        run();
        times.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::ranges::nth_element(times, times.begin() + rounds / 2);
    return times[static_cast<std::size_t>(rounds) / 2];
}

void print(const char* side, const char* what, std::size_t bytes, double seconds) {
    std::printf("%-4s  %-44s %9.1f us  %7.2f GB/s\n", side, what, seconds * 1e6,
                static_cast<double>(bytes) / seconds / 1e9);
    std::fflush(stdout);
}

void expect(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "%s: wrong bytes\n", what);
    std::exit(1);
}

// ---- Wye ----

void run_wye(const std::string& selector, std::size_t large, const std::string& threads) {
    const auto context = must(wye::Context::create({.config = {{"transfer.threads", threads}}}));
    const auto device = must(context.open(selector));
    const auto program = must(context.program_from_text(kIncrement, "increment.wye"));
    const auto one = [&](std::size_t bytes, int rounds, const char* what) {
        const Words x(bytes / 4, 41);
        Words r(bytes / 4);
        wye::Dispatch dispatch(program, device);
        dispatch.input("x", x).output("r", r);
        print("wye", what, 2 * bytes, median([&] { (void)must(dispatch.run()); }, rounds));
        expect(r.front() == 42 && r.back() == 42, what);
    };
    one(large, 7, "one dispatch, up and down");
    {
        const Words x(kManyBytes / 4, 41);
        const auto all = [&] {
            std::vector<wye::Pending> pending;
            for (std::size_t i = 0; i < kMany; ++i)
                pending.push_back(must(wye::Dispatch(program, device).input("x", x).submit()));
            for (const wye::Pending& each : pending) (void)must(each.wait());
            const auto r = must(pending.back().output<std::uint32_t>("r"));
            expect(r.front() == 42 && r.back() == 42, "many");
        };
        print("wye", "32 asynchronous dispatches of 8 MiB each way", 2 * kMany * kManyBytes,
              median(all, 7));
    }
    {
        auto buffer = must(device.buffer(large));
        std::vector<std::byte> from(large, std::byte{7}), to(large);
        print("wye", "upload", large, median([&] { must(buffer.upload(from)); }, 7));
        print("wye", "download", large, median([&] { must(buffer.download(to)); }, 7));
        expect(from == to, "upload and download");
    }
    one(kMiB, 200, "round trip of 1 MiB");
}

// ---- The driver's API ----

#ifdef WYE_BENCH_CUDA

#define RAW_SYMBOLS(X)                                      \
    X(cuInit, "cuInit")                                     \
    X(cuDeviceGet, "cuDeviceGet")                           \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain") \
    X(cuCtxSetCurrent, "cuCtxSetCurrent")                   \
    X(cuStreamCreate, "cuStreamCreate")                     \
    X(cuStreamSynchronize, "cuStreamSynchronize")           \
    X(cuEventCreate, "cuEventCreate")                       \
    X(cuEventRecord, "cuEventRecord")                       \
    X(cuEventSynchronize, "cuEventSynchronize")             \
    X(cuMemAlloc, "cuMemAlloc_v2")                          \
    X(cuMemAllocHost, "cuMemAllocHost_v2")                  \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")            \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")            \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")

void must_cuda(int status, const char* call) {
    if (status == 0) return;
    std::fprintf(stderr, "%s gives %d\n", call, status);
    std::exit(1);
}
#define MUST(call) must_cuda(call, #call)

struct Raw {
#define RAW_MEMBER(name, symbol) decltype(&::name) name = nullptr;
    RAW_SYMBOLS(RAW_MEMBER)
#undef RAW_MEMBER
    CUcontext context = nullptr;

    // False: there is no driver.
    [[nodiscard]] bool open() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return false;
#define RAW_FIND(name, symbol)                                       \
    name = reinterpret_cast<decltype(name)>(dlsym(library, symbol)); \
    if (name == nullptr) return false;
        RAW_SYMBOLS(RAW_FIND)
#undef RAW_FIND
        CUdevice device = 0;
        if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) return false;
        MUST(cuDevicePrimaryCtxRetain(&context, device));
        MUST(cuCtxSetCurrent(context));
        return true;
    }
    [[nodiscard]] CUdeviceptr memory(std::size_t bytes) const {
        CUdeviceptr out = 0;
        MUST(cuMemAlloc(&out, bytes));
        return out;
    }
    [[nodiscard]] std::byte* pinned(std::size_t bytes) const {
        void* out = nullptr;
        MUST(cuMemAllocHost(&out, bytes));
        return static_cast<std::byte*>(out);
    }
    [[nodiscard]] CUstream stream() const {
        CUstream out = nullptr;
        MUST(cuStreamCreate(&out, CU_STREAM_NON_BLOCKING));
        return out;
    }
};

// Threads that each have a stream and two chunks of page-locked memory.
class Ring {
  public:
    Ring(const Raw& raw, std::size_t threads) : raw_(raw), lanes_(threads) {
        for (Lane& lane : lanes_) {
            lane.stream = raw.stream();
            for (std::size_t i = 0; i < 2; ++i) {
                lane.chunk[i] = raw.pinned(kChunk);
                MUST(raw.cuEventCreate(&lane.done[i], CU_EVENT_DISABLE_TIMING));
            }
        }
        for (std::size_t n = 1; n < threads; ++n) threads_.emplace_back([this, n] { serve(n); });
    }
    ~Ring() {
        stop_ = true;
        ++round_;
        round_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    void up(CUdeviceptr to, const std::byte* from, std::size_t bytes) {
        all([=, this](std::size_t n) {
            Lane& lane = lanes_[n];
            for_chunks(n, bytes, [&](std::size_t i, std::size_t at, std::size_t size) {
                MUST(raw_.cuEventSynchronize(lane.done[i]));
                std::memcpy(lane.chunk[i], from + at, size);
                MUST(raw_.cuMemcpyHtoDAsync(to + at, lane.chunk[i], size, lane.stream));
                MUST(raw_.cuEventRecord(lane.done[i], lane.stream));
            });
            MUST(raw_.cuStreamSynchronize(lane.stream));
        });
    }
    void down(std::byte* to, CUdeviceptr from, std::size_t bytes) {
        all([=, this](std::size_t n) {
            Lane& lane = lanes_[n];
            std::array<std::size_t, 2> at_of{}, size_of{};
            const auto take = [&](std::size_t i) {
                if (size_of[i] == 0) return;
                MUST(raw_.cuEventSynchronize(lane.done[i]));
                std::memcpy(to + at_of[i], lane.chunk[i], size_of[i]);
                size_of[i] = 0;
            };
            std::size_t last = 0;
            for_chunks(n, bytes, [&](std::size_t i, std::size_t at, std::size_t size) {
                take(i);
                MUST(raw_.cuMemcpyDtoHAsync(lane.chunk[i], from + at, size, lane.stream));
                MUST(raw_.cuEventRecord(lane.done[i], lane.stream));
                at_of[i] = at;
                size_of[i] = size;
                last = i;
            });
            take(1 - last);
            take(last);
        });
    }
    // Plain copies by all threads.
    void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
        all([=, this](std::size_t n) {
            const std::size_t part = (bytes / lanes_.size() + 63) / 64 * 64;
            const std::size_t at = std::min(n * part, bytes);
            std::memcpy(to + at, from + at, std::min(part, bytes - at));
        });
    }

  private:
    static constexpr std::size_t kChunk = 2 * kMiB;
    struct Lane {
        CUstream stream = nullptr;
        std::array<std::byte*, 2> chunk{};
        std::array<CUevent, 2> done{};
    };
    template <typename Body>
    void for_chunks(std::size_t n, std::size_t bytes, Body&& body) const {
        std::size_t i = 0;
        for (std::size_t at = n * kChunk; at < bytes; at += lanes_.size() * kChunk, i = 1 - i)
            body(i, at, std::min(kChunk, bytes - at));
    }
    void all(std::function<void(std::size_t)> work) {
        work_ = std::move(work);
        left_ = threads_.size();
        ++round_;
        round_.notify_all();
        work_(0);
        while (left_ != 0) std::this_thread::yield();
    }
    void serve(std::size_t n) {
        MUST(raw_.cuCtxSetCurrent(raw_.context));
        for (std::uint64_t seen = 0;;) {
            round_.wait(seen);
            seen = round_;
            if (stop_) return;
            work_(n);
            --left_;
        }
    }

    const Raw& raw_;
    std::vector<Lane> lanes_;
    std::vector<std::thread> threads_;
    std::function<void(std::size_t)> work_;
    std::atomic<std::uint64_t> round_{0};
    std::atomic<std::size_t> left_{0};
    std::atomic<bool> stop_{false};
};

// A copy on the device stands for the kernel: it moves the same bytes.
void run_raw(std::size_t large, std::size_t threads) {
    static Raw raw;
    if (!raw.open()) {
        std::printf("raw   no CUDA driver here\n");
        return;
    }
    Ring ring(raw, threads);
    const CUstream stream = raw.stream();
    const auto pass = [&](CUdeviceptr r, CUdeviceptr x, std::size_t bytes, CUstream on) {
        MUST(raw.cuMemcpyDtoDAsync(r, x, bytes, on));
    };
    {
        const CUdeviceptr x = raw.memory(large), r = raw.memory(large);
        std::vector<std::byte> from(large, std::byte{7}), to(large);
        const auto run = [&] {
            ring.up(x, from.data(), large);
            pass(r, x, large, stream);
            MUST(raw.cuStreamSynchronize(stream));
            ring.down(to.data(), r, large);
        };
        print("raw", "one dispatch, up and down", 2 * large, median(run, 7));
        expect(from == to, "raw");
        print("raw", "upload", large, median([&] { ring.up(x, from.data(), large); }, 7));
        print("raw", "download", large, median([&] { ring.down(to.data(), r, large); }, 7));
        std::byte* pinned = raw.pinned(large);
        const auto locked = [&] {
            MUST(raw.cuMemcpyHtoDAsync(x, pinned, large, stream));
            pass(r, x, large, stream);
            MUST(raw.cuMemcpyDtoHAsync(pinned, r, large, stream));
            MUST(raw.cuStreamSynchronize(stream));
        };
        print("raw", "page-locked, up and down, no copies", 2 * large, median(locked, 7));
    }
    {
        std::vector<std::byte> from(kManyBytes, std::byte{7});
        std::vector<std::byte*> in, out;
        std::vector<CUdeviceptr> x, r;
        std::vector<CUstream> streams;
        for (std::size_t i = 0; i < kMany; ++i) {
            in.push_back(raw.pinned(kManyBytes));
            out.push_back(raw.pinned(kManyBytes));
            x.push_back(raw.memory(kManyBytes));
            r.push_back(raw.memory(kManyBytes));
            if (i < 4) streams.push_back(raw.stream());
        }
        const auto run = [&] {
            for (std::size_t i = 0; i < kMany; ++i) {
                ring.copy(in[i], from.data(), kManyBytes);
                const CUstream on = streams[i % streams.size()];
                MUST(raw.cuMemcpyHtoDAsync(x[i], in[i], kManyBytes, on));
                pass(r[i], x[i], kManyBytes, on);
                MUST(raw.cuMemcpyDtoHAsync(out[i], r[i], kManyBytes, on));
            }
            for (const CUstream on : streams) MUST(raw.cuStreamSynchronize(on));
        };
        print("raw", "32 asynchronous dispatches of 8 MiB each way", 2 * kMany * kManyBytes,
              median(run, 7));
    }
    {
        const CUdeviceptr x = raw.memory(kMiB), r = raw.memory(kMiB);
        std::vector<std::byte> from(kMiB, std::byte{7}), to(kMiB);
        std::byte* in = raw.pinned(kMiB);
        std::byte* out = raw.pinned(kMiB);
        const auto run = [&] {
            ring.copy(in, from.data(), kMiB);
            MUST(raw.cuMemcpyHtoDAsync(x, in, kMiB, stream));
            pass(r, x, kMiB, stream);
            MUST(raw.cuMemcpyDtoHAsync(out, r, kMiB, stream));
            MUST(raw.cuStreamSynchronize(stream));
            ring.copy(to.data(), out, kMiB);
        };
        print("raw", "round trip of 1 MiB", 2 * kMiB, median(run, 200));
        expect(from == to, "raw");
    }
}

#else
void run_raw(std::size_t, std::size_t) { std::printf("raw   built without CUDA\n"); }
#endif

}  // namespace

int main(int argc, char** argv) {
    const std::string selector = argc > 1 ? argv[1] : "cuda:0";
    const std::size_t large = (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 256) * kMiB;
    const std::size_t half = std::clamp(std::thread::hardware_concurrency() / 2, 1U, 8U);
    const std::size_t threads = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : half;
    if (large == 0 || threads == 0) {
        std::fprintf(stderr, "usage: transfer_bench [SELECTOR [MIB [THREADS]]]\n");
        return 2;
    }
    std::printf("%s, %zu MiB, %zu threads\n", selector.c_str(), large / kMiB, threads);
    run_wye(selector, large, std::to_string(threads));
    if (selector.starts_with("cuda")) run_raw(large, threads);
    return 0;
}
