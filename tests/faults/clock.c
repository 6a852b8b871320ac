/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces clock_gettime in the whole process, so that a test can choose how the monotonic clock
 * runs for one thread. By that clock the CPU plugin decides how long it works on the calling
 * thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

#include "faults/modules.h"

enum { kSecond = 1000000000, kStep = 1000000, kSlower = 1000 };

static __thread int mode;
static __thread long long from;    /* the real time when the mode was set, in ns */
static __thread long long skipped; /* ns by which the fast clock is ahead */

static int read_clock(clockid_t clock, struct timespec* out) {
    static int (*real)(clockid_t, struct timespec*);
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, out);
}

void faults_set_clock(int new_mode) {
    struct timespec now = {0, 0};
    (void)read_clock(CLOCK_MONOTONIC, &now);
    from = (long long)now.tv_sec * kSecond + now.tv_nsec;
    skipped = 0;
    mode = new_mode;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec* out) {
    const int result = read_clock(clock, out);
    if (result != 0 || mode == kFaultsRealClock || clock != CLOCK_MONOTONIC) return result;
    long long now = (long long)out->tv_sec * kSecond + out->tv_nsec;
    if (mode == kFaultsSlowClock)
        now = from + (now - from) / kSlower;
    else
        now += skipped += kStep;
    out->tv_sec = now / kSecond;
    out->tv_nsec = now % kSecond;
    return 0;
}
