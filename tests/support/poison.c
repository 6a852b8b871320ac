// SPDX-License-Identifier: Apache-2.0
//
// A library for LD_PRELOAD that makes each use of freed memory show. `free` overwrites the block,
// and keeps it until many later blocks were freed. A pointer that is read from a freed block then
// leads nowhere. If a freed block was written to, the process ends. In a process with another
// allocator, such as a sanitizer's, this library has no effect.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The allocator of glibc.
extern void __libc_free(void* block);
extern void* __libc_malloc(size_t size);

enum {
    kFreed = 0xdb,
    kMostBlocks = 1 << 16,
};
static const size_t kMostBytes = (size_t)192 << 20;
static const size_t kMostOfBlock = (size_t)16 << 20;  // glibc unmaps larger blocks at once

// The freed blocks that are kept: `count` of them, beginning at `first`, in the order of their
// `free`.
static struct {
    unsigned char* at;
    size_t size;
} kept[kMostBlocks];
static size_t first, count, bytes;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) { (void)pthread_mutex_lock(&mutex); }
static void unlock(void) { (void)pthread_mutex_unlock(&mutex); }
__attribute__((constructor)) static void begin(void) { (void)pthread_atfork(lock, unlock, unlock); }

static void check(const unsigned char* at, size_t size) {
    // All bytes equal kFreed if the first one does and each byte equals the one before it.
    if (size == 0 || (at[0] == kFreed && memcmp(at, at + 1, size - 1) == 0)) return;
    static const char text[] = "poison: memory was written to after it was freed\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    abort();
}

void free(void* block) {
    if (block == NULL) return;
    const int kind = errno;
    const size_t size = malloc_usable_size(block);
    if (size > kMostOfBlock) {
        __libc_free(block);
        errno = kind;
        return;
    }
    memset(block, kFreed, size);
    __asm__ volatile("" : : "r"(block) : "memory");
    lock();
    for (;;) {
        if (count < kMostBlocks && bytes + size <= kMostBytes) break;
        unsigned char* const oldest = kept[first].at;
        const size_t old = kept[first].size;
        first = (first + 1) % kMostBlocks;
        --count;
        bytes -= old;
        check(oldest, old);
        __libc_free(oldest);
    }
    kept[(first + count) % kMostBlocks].at = block;
    kept[(first + count) % kMostBlocks].size = size;
    ++count;
    bytes += size;
    unlock();
    errno = kind;
}

void* realloc(void* block, size_t size) {
    if (block == NULL) return __libc_malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    const size_t old = malloc_usable_size(block);
    void* const moved = __libc_malloc(size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, old < size ? old : size);
    free(block);
    return moved;
}

// Checks the blocks that are still kept at the end of the process.
__attribute__((destructor)) static void end(void) {
    lock();
    for (size_t i = 0; i < count; ++i) {
        const size_t at = (first + i) % kMostBlocks;
        check(kept[at].at, kept[at].size);
    }
    unlock();
}
