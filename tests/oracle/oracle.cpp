// SPDX-License-Identifier: Apache-2.0
#include "oracle/oracle.hpp"

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "oracle/invocation.hpp"
#include "oracle/launch.hpp"
#include "oracle/memory.hpp"
#include "oracle/module.hpp"
#include "oracle/together.hpp"

namespace oracle {
namespace {

// The invocations of one workgroup, and its `shared` arrays while other workgroups run.
struct Workgroup {
    std::vector<Invocation> invocations;
    std::uint64_t interval = 0;
};

Workgroup start(Machine& machine, std::uint64_t number) {
    const auto& groups = machine.groups;
    const auto& size = machine.workgroup;
    Position p;
    p.workgroup = number;
    p.workgroup_id = {static_cast<std::uint32_t>(number % groups[0]),
                      static_cast<std::uint32_t>(number / groups[0] % groups[1]),
                      static_cast<std::uint32_t>(number / groups[0] / groups[1])};
    Workgroup out;
    const std::uint32_t count = size[0] * size[1] * size[2];
    out.invocations.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        p.local_index = i;
        p.local_id = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
        p.invocation = number * count + i;
        out.invocations.emplace_back(machine, p, machine.module.main, std::vector<Value>{});
    }
    return out;
}

void clear_shared(Machine& machine) {
    for (std::size_t i = 0; i < machine.arrays.size(); ++i) {
        if (machine.module.buffers[i].role != WYE_ROLE_SHARED) continue;
        machine.arrays[i].clear();
        machine.arrays[i].forget();
    }
}

// Runs a workgroup to its end (true) or to a grid barrier (false).
bool run_phase(Machine& machine, Workgroup& group) {
    clear_shared(machine);
    machine.interval = group.interval;
    do {
        for (Invocation& i : group.invocations) i.run();
    } while (meet(machine, group.invocations));
    group.interval = machine.interval;
    const bool ended = group.invocations.front().ended();
    if (!ended)
        for (Invocation& i : group.invocations) i.pass();
    return ended;
}

// With grid barriers, all workgroups are kept, since each waits there for the others.
void run_phases(Machine& machine, std::uint64_t count) {
    std::vector<Workgroup> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(start(machine, i));
    for (std::size_t ended = 0; ended < all.size();) {
        ended = 0;
        for (Workgroup& group : all) ended += run_phase(machine, group) ? 1 : 0;
        if (ended != 0 && ended != all.size())
            throw Refused("a grid barrier is not reached by all workgroups");
        for (Array& a : machine.arrays) a.forget();
    }
}

Outcome evaluate(const Module& module, const Launch& launch) {
    Machine machine = prepare(module, launch);
    const auto& groups = machine.groups;
    const std::uint64_t count = std::uint64_t{groups[0]} * groups[1] * groups[2];
    if (count != 0 && module.grid_barrier) {
        run_phases(machine, count);
    } else {
        for (std::uint64_t i = 0; i < count; ++i) {
            Workgroup group = start(machine, i);
            if (!run_phase(machine, group)) throw Refused("a grid barrier in an odd place");
        }
    }
    Outcome out;
    out.trap = machine.trap;
    for (std::size_t i = 0; i < machine.arrays.size(); ++i) {
        if (out.race.empty()) out.race = machine.arrays[i].race();
        if (module.buffers[i].role != WYE_ROLE_SHARED)
            out.buffers.push_back(machine.arrays[i].bytes());
    }
    return out;
}

template <typename Work>
Outcome caught(const Work& work) {
    try {
        return work();
    } catch (const std::exception& e) {
        Outcome out;
        out.error = e.what();
        return out;
    }
}

// Expressions and calls use the host's stack as deep as they nest in the program: at most
// WYE_LIMIT_FUNCTIONS * WYE_LIMIT_EXPRESSION_DEPTH levels.
constexpr std::uint32_t kLevelsAnywhere = 512;
constexpr std::size_t kBytesOfLevel = 4096;  // enough under sanitizers too

Outcome on_deep_stack(std::uint32_t levels, std::function<Outcome()> work) {
    struct Job {
        std::function<Outcome()> work;
        Outcome outcome;
    } job{std::move(work), {}};
    pthread_attr_t attributes;
    pthread_t thread{};
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, (levels + kLevelsAnywhere) * kBytesOfLevel);
    const auto start = [](void* argument) -> void* {
        auto* const given = static_cast<Job*>(argument);
        given->outcome = caught(given->work);
        return nullptr;
    };
    const int status = ::pthread_create(&thread, &attributes, start, &job);
    ::pthread_attr_destroy(&attributes);
    if (status != 0) throw Refused("no stack for calls and expressions so deep");
    ::pthread_join(thread, nullptr);
    return std::move(job.outcome);
}

}  // namespace

Outcome run(std::span<const std::byte> wire, const Launch& launch) {
    return caught([&] {
        const Module module = read_module(wire);
        const auto work = [&] { return evaluate(module, launch); };
        const std::uint32_t levels = module.main.levels;
        return levels <= kLevelsAnywhere ? work() : on_deep_stack(levels, work);
    });
}

}  // namespace oracle
