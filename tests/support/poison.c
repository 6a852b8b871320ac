// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a test, makes each use of freed memory show: `free` writes over the block, and
// keeps it from being used again until many others were freed. A pointer that is read from it then
// leads nowhere. A block that was written to meanwhile ends the process. The calls of a process
// that has another allocator, such as a sanitizer's, do not come here.
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
static const size_t kMostOfBlock = (size_t)16 << 20;  // glibc unmaps what is larger

// The blocks that are kept, in the order in which they were freed: `count` ones from `first` on.
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
    // All bytes are the same if the first is right and each equals the one before it.
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

// Checks what is still kept.
__attribute__((destructor)) static void end(void) {
    lock();
    for (size_t i = 0; i < count; ++i) {
        const size_t at = (first + i) % kMostBlocks;
        check(kept[at].at, kept[at].size);
    }
    unlock();
}
