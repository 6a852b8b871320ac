// SPDX-License-Identifier: Apache-2.0
//
// The state of the fake CUDA driver, and the execution of its streams. Internal to this folder.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fake_cuda.hpp"

struct CUstream_st {
    struct Work {
        std::function<bool()> ready;
        std::function<void()> run;
    };
    std::deque<Work> work;
    int priority = 0;
};
struct CUevent_st {
    // Shared with the work that records the event, which may run after the event was destroyed.
    struct State {
        std::uint64_t recorded = 0, happened = 0;
        std::uint64_t place = 0;  // position among all events that happened
    };
    std::shared_ptr<State> state = std::make_shared<State>();
};
struct CUmod_st {
    std::string image;
    std::set<std::string> names;
};
struct CUfunc_st {
    std::string name;
    int dynamic_shared = 0;
    // The grid and the workgroup size of the newest launch or graph node of this function.
    std::uint64_t groups = 0;
    unsigned invocations = 0;
};
struct CUctx_st {
    int device = 0;
    int retained = 0;
};
struct CUmemPoolHandle_st {
    int device = 0;
};
struct CUgraphNode_st {
    std::function<void()> work;
    CUfunction function = nullptr;  // of a kernel node
    bool cooperative = false;
};
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
    struct Node {
        CUgraphNode of;
        CUfunction function;
        std::function<void()> work;
    };
    std::vector<Node> nodes;
};

namespace fake_cuda {

struct Machine {
    std::recursive_mutex mutex;
    int devices = 1, architecture = 90, version = 13000, init = CUDA_SUCCESS, pools = 1, mode = 0;
    std::uint64_t memory = std::uint64_t{1} << 30U, used = 0;
    bool held = false, keeps_faults = false;
    int sticky = CUDA_SUCCESS, next_fault = CUDA_SUCCESS, next_launch = CUDA_SUCCESS,
        next_copy = CUDA_SUCCESS;
    int image_status = CUDA_SUCCESS;
    int recorded = 0;
    Kernel kernel = nullptr;
    std::map<CUdeviceptr, std::uint64_t> allocations;
    std::map<CUdeviceptr, int> owners;  // the device of each allocation
    std::set<CUstream> streams;
    std::uint64_t happened = 0;  // number of events that happened
    std::set<CUevent> events;
    std::set<CUmodule> modules;
    std::set<CUmemoryPool> pool_objects;
    std::set<CUgraph> graphs;
    std::set<CUgraphExec> graph_execs;
    std::set<void*> host_memory;
    std::map<char*, std::size_t> registered;  // memory of the application, in whole pages
    int cooperative_launches = 0;
    bool at_once = false;  // the running kernel was launched cooperatively
    std::vector<std::unique_ptr<CUfunc_st>> functions;
    CUctx_st contexts[8];
};

inline Machine& machine() {
    static Machine value;
    return value;
}

inline thread_local std::vector<CUcontext> contexts;  // of this thread; the current one is the last

using Lock = std::lock_guard<std::recursive_mutex>;

// Runs all work that is ready, in every stream, until no stream has ready work.
inline void advance() {
    Machine& m = machine();
    bool moved = !m.held;
    while (moved) {
        moved = false;
        for (CUstream stream : m.streams)
            while (!stream->work.empty() && m.sticky == CUDA_SUCCESS &&
                   stream->work.front().ready()) {
                if (m.next_fault != CUDA_SUCCESS) {
                    m.sticky = m.next_fault;
                    m.next_fault = CUDA_SUCCESS;
                    break;
                }
                stream->work.front().run();
                stream->work.pop_front();
                moved = true;
            }
    }
}

// The status that every call on the current context checks first.
inline CUresult entered() {
    if (contexts.empty() || contexts.back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return static_cast<CUresult>(machine().sticky);
}

inline CUresult queue_work(
    CUstream stream, std::function<void()> run, std::function<bool()> ready = [] { return true; }) {
    const Lock lock(machine().mutex);
    if (const CUresult status = entered(); status != CUDA_SUCCESS) return status;
    if (machine().streams.count(stream) == 0) return CUDA_ERROR_INVALID_HANDLE;
    stream->work.push_back({std::move(ready), std::move(run)});
    advance();
    return CUDA_SUCCESS;
}

inline void* host(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

// The kernel `add`: r[i] = x[i] + by, for each i below `count`.
inline void add(const Launch& launch) {
    std::uint64_t x = 0, r = 0, count = 0;
    std::uint32_t by = 0;
    std::memcpy(&x, launch.arguments[0], 8);
    std::memcpy(&r, launch.arguments[1], 8);
    std::memcpy(&count, launch.arguments[2], 8);
    std::memcpy(&by, launch.arguments[3], 4);
    const std::uint64_t invocations = std::uint64_t{launch.groups[0]} * launch.workgroup[0];
    for (std::uint64_t i = 0; i < invocations && i < count; ++i) {
        std::uint32_t value = 0;
        std::memcpy(&value, reinterpret_cast<const char*>(x) + 4 * i, 4);
        value += by;
        std::memcpy(reinterpret_cast<char*>(r) + 4 * i, &value, 4);
    }
}

// The kernel `meet`: each workgroup adds 1 to r[0], then reads r[0] and stores that value to r[1 +
// its number]. In a cooperative launch all workgroups run at once, so each reads the final sum.
inline void meet(const Launch& launch) {
    std::uint64_t r = 0;
    std::memcpy(&r, launch.arguments[1], 8);
    auto* const words = reinterpret_cast<std::uint32_t*>(r);
    const std::uint32_t before = words[0];
    for (std::uint32_t group = 0; group < launch.groups[0]; ++group) {
        ++words[0];
        words[1 + group] = machine().at_once ? before + launch.groups[0] : words[0];
    }
}

// Wraps work, so that it runs as a cooperative launch.
inline std::function<void()> at_once(std::function<void()> work) {
    return [work = std::move(work)] {
        machine().at_once = true;
        work();
        machine().at_once = false;
    };
}

// The status that `fail_next_launch` has set for this launch.
inline CUresult launch_status() {
    const int status = std::exchange(machine().next_launch, int{CUDA_SUCCESS});
    if (status == CUDA_ERROR_ILLEGAL_ADDRESS) machine().sticky = status;
    return static_cast<CUresult>(status);
}

// Makes the work of a launch. The real driver copies all arguments, whose sizes it finds in the
// kernel's code. The fake copies four words: the pointers and counts with which all kernels of the
// tests begin.
inline CUresult kernel_work(CUfunction function, std::array<unsigned, 3> groups,
                            std::array<unsigned, 3> workgroup, unsigned shared, void** arguments,
                            std::function<void()>& out) {
    if (shared > 49152 && static_cast<int>(shared) > function->dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (groups[0] * groups[1] * groups[2] == 0) return CUDA_ERROR_INVALID_VALUE;
    function->groups = std::uint64_t{groups[0]} * groups[1] * groups[2];
    function->invocations = workgroup[0] * workgroup[1] * workgroup[2];
    const auto kernel = machine().kernel != nullptr ? machine().kernel
                        : function->name == "add"   ? add
                        : function->name == "meet"  ? meet
                                                    : nullptr;
    out = [] {};
    if (kernel == nullptr) return CUDA_SUCCESS;
    struct Copy {
        std::uint64_t words[4] = {};
        void* pointers[4] = {};
    };
    auto copy = std::make_shared<Copy>();
    for (unsigned i = 0; i < 4; ++i) {
        copy->pointers[i] = &copy->words[i];
        std::memcpy(&copy->words[i], arguments[i], i == 3 ? 4 : 8);
    }
    out = [=] {
        kernel({function->name.c_str(),
                {groups[0], groups[1], groups[2]},
                {workgroup[0], workgroup[1], workgroup[2]},
                shared,
                copy->pointers});
    };
    return CUDA_SUCCESS;
}

inline constexpr int kUnits = 132;             // multiprocessors
inline constexpr int kUnitInvocations = 2048;  // maximum at once on one multiprocessor

// Checks a cooperative launch of a function, with the grid of its newest launch or node.
inline CUresult cooperative_status(CUfunction function) {
    const unsigned resident = kUnitInvocations / function->invocations * kUnits;
    if (function->groups > resident) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    ++machine().cooperative_launches;
    return CUDA_SUCCESS;
}

inline CUresult node_work(const CUDA_KERNEL_NODE_PARAMS& params, std::function<void()>& out) {
    return kernel_work(params.func, {params.gridDimX, params.gridDimY, params.gridDimZ},
                       {params.blockDimX, params.blockDimY, params.blockDimZ},
                       params.sharedMemBytes, params.kernelParams, out);
}

}  // namespace fake_cuda
