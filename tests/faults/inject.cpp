// SPDX-License-Identifier: Apache-2.0
#include "faults/inject.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cstring>

namespace faults {
namespace {

struct State {
    std::atomic<std::uint32_t> kind{kNothing};
    std::atomic<std::uint64_t> at{0}, second{0}, calls{0}, fired{0};
    std::atomic<Threads> threads{Threads::kAll};
    std::atomic<bool> persistent{false};
    std::atomic<std::uint32_t> flavour{0};
    std::atomic<const char*> first{""};
    std::atomic<void*> caller{nullptr};
    std::atomic<char*> name{nullptr};
    std::atomic<std::int64_t> objects{0};
};
State state;
thread_local bool is_caller = false;  // the thread that called `arm` last

enum class Origin { kWye, kShared, kOther };

Origin origin_of_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    const char* name = slash == nullptr ? path : slash + 1;
    const auto begins = [&](const char* with) {
        return std::strncmp(name, with, std::strlen(with)) == 0;
    };
#if defined(FAULTS_IN_COMMAND)
    if (path[0] == '\0') return Origin::kWye;  // the executable itself
#endif
    for (const char* own : {"libwye.so", "wye_", "faulty.so"})
        if (begins(own)) return Origin::kWye;
    for (const char* shared : {"libstdc++.so", "libc.so", "libgcc_s.so", "libm.so", "libfmt.so"})
        if (begins(shared)) return Origin::kShared;
    return Origin::kOther;
}

Origin origin_of(void* address) {
    dl_find_object found{};
    if (_dl_find_object(address, &found) != 0 || found.dlfo_link_map == nullptr)
        return Origin::kOther;
    return origin_of_name(found.dlfo_link_map->l_name);
}

struct Walk {
    bool beyond_self = false;
    Origin origin = Origin::kOther;
    int frames = 0;
};

// The first frames belong to this executable: to the function that replaces the C library's.
_Unwind_Reason_Code step(_Unwind_Context* context, void* user) {
    auto& walk = *static_cast<Walk*>(user);
    const Origin origin = origin_of(reinterpret_cast<void*>(_Unwind_GetIP(context)));
    if (origin != Origin::kOther) walk.beyond_self = true;
    if (walk.beyond_self && origin != Origin::kShared) {
        walk.origin = origin;
        return _URC_END_OF_STACK;
    }
    return ++walk.frames > 64 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void arm(const Plan& plan) {
    state.kind = kNothing;
    state.calls = 0;
    state.fired = 0;
    state.first = "";
    state.caller = nullptr;
    state.at = plan.at;
    state.second = plan.second;
    state.threads = plan.threads;
    is_caller = true;
    state.name = plan.name;
    state.persistent = plan.persistent;
    state.flavour = plan.flavour;
    state.kind = plan.kind;
}

void disarm() { state.kind = kNothing; }

Counts counts() { return {state.calls, state.fired, state.first, state.caller}; }

bool hit(Kind kind, const char* name, void* caller) {
    if (state.kind != kind) return false;
    const Threads threads = state.threads;
    if (threads != Threads::kAll && is_caller != (threads == Threads::kCaller)) return false;
    const std::uint64_t number = ++state.calls;
    const std::uint64_t at = state.at;
    if (at == 0 || number < at) return false;
    if (number > at && number != state.second && !state.persistent) return false;
    if (state.fired++ == 0) {
        state.first = name;
        state.caller = caller;
        if (char* to = state.name) {
            std::strncpy(to, name, kNameRoom - 1);
            to[kNameRoom - 1] = '\0';
        }
    }
    return true;
}

bool armed(Kind kind) { return state.kind == kind; }
bool persistent() { return state.persistent; }
std::uint32_t flavour() { return state.flavour; }
std::int64_t driver_objects() { return state.objects; }

bool made_by_wye(void* address) {
    const Origin origin = origin_of(address);
    if (origin != Origin::kShared) return origin == Origin::kWye;
    Walk walk;
    _Unwind_Backtrace(step, &walk);
    return walk.origin == Origin::kWye;
}

}  // namespace faults

extern "C" {
__attribute__((visibility("default"))) int faults_hit(std::uint32_t kind, const char* name) {
    return faults::hit(static_cast<faults::Kind>(kind), name) ? 1 : 0;
}
int faults_system_call(const char* name, void* caller) {
    return faults::armed(faults::kSystem) && faults::made_by_wye(caller) &&
                   faults::hit(faults::kSystem, name, caller)
               ? 1
               : 0;
}
__attribute__((visibility("default"))) int faults_persistent(void) {
    return faults::persistent() ? 1 : 0;
}
__attribute__((visibility("default"))) std::uint32_t faults_flavour(void) {
    return faults::flavour();
}
__attribute__((visibility("default"))) void faults_driver_object(int change) {
    faults::state.objects += change;
}
}
