/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that is preloaded into a test, and delays the test's threads at random: when a thread
 * starts, when it creates another, around mutexes, and around reads of the clock. On a busy machine
 * each of these steps may take as long. A test that fails depends on the speed of the machine.
 *
 *   WYE_DELAYS=SEED   which delays; another seed delays other steps
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    kStep = 300,        /* one step in kStep is delayed */
    kMost = 100 * 1000, /* microseconds */
    kOfAThread = 400    /* delays of one thread at most */
};

static uint64_t seed; /* 0: not started */
static __thread uint64_t state;
static __thread int delays;

__attribute__((constructor)) static void start(void) {
    const char* const text = getenv("WYE_DELAYS");
    seed = 1 + (text != NULL ? strtoull(text, NULL, 10) : 0);
}

/* xorshift64*, by thread */
static uint64_t next_random(void) {
    if (state == 0) state = (seed * 0x9e3779b97f4a7c15U) ^ ((uint64_t)gettid() << 20) ^ 1;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545f4914f6cdd1dU) >> 32;
}

/* Delays the calling thread in one of `among` calls. */
static void step(unsigned among) {
    if (seed == 0 || delays >= kOfAThread || next_random() % among != 0) return;
    const struct timespec time = {0, (long)(next_random() % kMost) * 1000};
    syscall(SYS_nanosleep, &time, NULL); /* not a function that a test may replace */
    ++delays;
}

#define REAL(name)                        \
    static __typeof__(&name) real = NULL; \
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, #name)

int pthread_mutex_lock(pthread_mutex_t* mutex) {
    REAL(pthread_mutex_lock);
    step(kStep);
    return real(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
    REAL(pthread_mutex_unlock);
    const int status = real(mutex);
    step(kStep);
    return status;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
    REAL(clock_gettime);
    step(kStep);
    const int status = real(clock, out);
    step(kStep);
    return status;
}

struct Start {
    void* (*function)(void*);
    void* argument;
};

static void* started(void* given) {
    const struct Start start = *(struct Start*)given;
    free(given);
    step(3);
    return start.function(start.argument);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
    REAL(pthread_create);
    struct Start* const start = malloc(sizeof *start);
    if (start == NULL) return EAGAIN;
    start->function = function;
    start->argument = argument;
    const int status = real(thread, attributes, started, start);
    if (status != 0) free(start);
    step(8);
    return status;
}
