// SPDX-License-Identifier: Apache-2.0
//
// Replaces the C library's functions for threads, locks and time by functions that work with
// fibers. The executable exports the replacements, so that libwye.so and libstdc++ call them.
// Replacements that are also called outside of fibers call the C library there.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "fibers.hpp"

namespace {

using wye::model::Fiber;
using wye::model::Fibers;
using wye::model::Reason;

constexpr long kNs = 1'000'000'000;

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::uint64_t ns_of(const timespec& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * kNs + static_cast<std::uint64_t>(time.tv_nsec);
}

bool on_fiber() { return Fibers::current() != nullptr; }

// With WYE_SCHEDULER, fibers can be stopped at locks: of Wye and, here, of the standard library.
void point_of_build() {
#if defined(WYE_SCHEDULER)
    Fibers::active->place();
#endif
}

// Takes a lock by trying again and again. The fiber is blocked in between.
template <typename Try>
int take(Try try_it, std::uint64_t deadline = UINT64_MAX) {
    int status = try_it();
    if (status != EBUSY) return status;
    const bool got = Fibers::active->block(
        Reason::Lock,
        [&] {
            status = try_it();
            return status != EBUSY;
        },
        deadline);
    return got ? status : ETIMEDOUT;
}

// How often each condition variable was signalled.
std::map<const void*, std::uint64_t>& signals() {
    static auto& map = *new std::map<const void*, std::uint64_t>;
    return map;
}

int wait_for(pthread_cond_t* changed, pthread_mutex_t* mutex, std::uint64_t deadline) {
    const std::uint64_t before = signals()[changed];
    ::pthread_mutex_unlock(mutex);
    Fibers::current()->waits_on = changed;
    const bool woken = Fibers::active->block(
        Reason::Wake, [=] { return signals()[changed] != before; }, deadline);
    Fibers::current()->waits_on = nullptr;
    Fibers::active->hold();
    ::pthread_mutex_lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

// A thread that runs as a fiber. Its pthread_t is the address of this structure.
struct Thread {
    bool ended = false;
};

long raw(long number, long a, long b, long c, long d, long e, long f) {
    long out = number;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "+a"(out)
                 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    if (out >= 0 || out < -4095) return out;
    errno = static_cast<int>(-out);
    return -1;
}

int raw_sigaction(int signal, const struct sigaction* to, struct sigaction* from) {
    static const auto call =
        real<int(int, const struct sigaction*, struct sigaction*)>("sigaction");
    return call(signal, to, from);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Called before each lock is taken, in builds with WYE_SCHEDULER (wye/sdk/mutex.hpp).
void wye_scheduler_point();
void wye_scheduler_point() {
    if (on_fiber()) Fibers::active->place();
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    if (on_fiber()) {
        point_of_build();
        return take([=] { return ::pthread_mutex_trylock(mutex); });
    }
    static const auto lock = real<int(pthread_mutex_t*)>("pthread_mutex_lock");
    return lock(mutex);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t, const timespec* time) noexcept {
    return take([=] { return ::pthread_mutex_trylock(mutex); }, ns_of(*time));
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
    return take([=] { return ::pthread_rwlock_tryrdlock(lock); });
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
    return take([=] { return ::pthread_rwlock_trywrlock(lock); });
}

int pthread_cond_wait(pthread_cond_t* changed, pthread_mutex_t* mutex) {
    return wait_for(changed, mutex, UINT64_MAX);
}

int pthread_cond_clockwait(pthread_cond_t* changed, pthread_mutex_t* mutex, clockid_t,
                           const timespec* time) {
    return wait_for(changed, mutex, ns_of(*time));
}

int pthread_cond_timedwait(pthread_cond_t* changed, pthread_mutex_t* mutex, const timespec* time) {
    return wait_for(changed, mutex, ns_of(*time));
}

int pthread_cond_signal(pthread_cond_t* changed) noexcept { return ++signals()[changed], 0; }

int pthread_cond_broadcast(pthread_cond_t* changed) noexcept { return ++signals()[changed], 0; }

int pthread_create(pthread_t* out, const pthread_attr_t*, void* (*run)(void*),
                   void* argument) noexcept {
    auto* const thread = new Thread;
    const Fiber* const parent = Fibers::current();
    Fiber& fiber = Fibers::active->start([=] {
        (void)run(argument);
        thread->ended = true;
    });
    fiber.library = true;
    if (parent != nullptr) fiber.call = parent->call;
    if (parent != nullptr) fiber.of_line = parent->is_line;
    if (parent != nullptr && parent->holds_births) fiber.state = Fiber::State::Stopped;
    *out = reinterpret_cast<pthread_t>(thread);
    return 0;
}

int pthread_join(pthread_t id, void**) {
    auto* const thread = reinterpret_cast<Thread*>(id);
    Fibers::active->block(Reason::Wake, [=] { return thread->ended; });
    delete thread;
    return 0;
}

int pthread_detach(pthread_t) noexcept { return 0; }

// The host saves and restores signal handlers around calls of plugins. The real calls would take
// longer than all else, so on fibers this one does nothing.
int sigaction(int signal, const struct sigaction* to, struct sigaction* from) noexcept {
    if (!on_fiber()) return raw_sigaction(signal, to, from);
    if (from != nullptr) *from = {};
    return 0;
}
int pthread_sigmask(int, const sigset_t*, sigset_t* from) noexcept {
    if (from != nullptr) *from = {};
    return 0;
}
int sigaltstack(const stack_t*, stack_t* from) noexcept {
    if (from != nullptr) *from = {};
    return 0;
}
// A thread sets its name when it begins. The name tells which thread is the line's.
int pthread_setname_np(pthread_t, const char* name) noexcept {
    if (!on_fiber() || std::string_view(name) != "wye-line") return 0;
    Fibers::current()->is_line = true;
    Fibers::active->hold();
    return 0;
}

int clock_gettime(clockid_t clock, timespec* out) noexcept {
    if (clock != CLOCK_MONOTONIC || Fibers::active == nullptr)
        return static_cast<int>(
            raw(SYS_clock_gettime, clock, reinterpret_cast<long>(out), 0, 0, 0, 0));
    const auto now = static_cast<long>(Fibers::active->now());
    *out = {now / kNs, now % kNs};
    return 0;
}

int nanosleep(const timespec* time, timespec*) {
    if (on_fiber())
        Fibers::active->block(
            Reason::Sleep, [] { return false; }, Fibers::active->now() + ns_of(*time));
    return 0;
}

int clock_nanosleep(clockid_t, int, const timespec* time, timespec* left) {
    return nanosleep(time, left);
}

long syscall(long number, ...) noexcept {
    va_list list;
    va_start(list, number);
    long a[6];
    for (long& one : a) one = va_arg(list, long);
    va_end(list);
    const long operation = a[1] & FUTEX_CMD_MASK;
    if (number != SYS_futex || !on_fiber() ||
        (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET))
        return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    // The fiber goes on when the value has changed, so that a wake need not be recorded.
    const auto* const at = reinterpret_cast<const volatile std::uint32_t*>(a[0]);
    const auto value = static_cast<std::uint32_t>(a[2]);
    Fibers::active->block(Reason::Lock, [=] { return *at != value; });
    return 0;
}

}  // extern "C"
#pragma GCC visibility pop
