/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into tests under ThreadSanitizer. ThreadSanitizer of clang 14 and gcc 12 does not know
 * pthread_mutex_clocklock, which std::timed_mutex::try_lock_until calls, and so reports races on
 * all data that the mutex guards. This file implements it with pthread_mutex_timedlock, which
 * ThreadSanitizer knows. Only the clock of the deadline differs.
 */
#include <pthread.h>
#include <time.h>

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                            const struct timespec* deadline);

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                            const struct timespec* deadline) {
    enum { kSecond = 1000000000 };
    struct timespec from, now, until;
    if (clock == CLOCK_REALTIME) return pthread_mutex_timedlock(mutex, deadline);
    clock_gettime(clock, &from);
    clock_gettime(CLOCK_REALTIME, &now);
    until.tv_sec = now.tv_sec + (deadline->tv_sec - from.tv_sec);
    until.tv_nsec = now.tv_nsec + (deadline->tv_nsec - from.tv_nsec);
    while (until.tv_nsec < 0) {
        until.tv_nsec += kSecond;
        --until.tv_sec;
    }
    while (until.tv_nsec >= kSecond) {
        until.tv_nsec -= kSecond;
        ++until.tv_sec;
    }
    return pthread_mutex_timedlock(mutex, &until);
}
