// SPDX-License-Identifier: Apache-2.0
//
// Replaces operator new and delete, and aligned_alloc, in the whole process. Allocations that Wye's
// code makes are counted, may fail, and are listed until they are freed. Wye uses no other
// allocator of the C library. C library functions that allocate memory (opendir, dlopen) fail as
// system calls.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <dlfcn.h>

#include "faults/inject.hpp"

namespace {

struct Block {
    void* memory;
    std::size_t size;
    void* caller;
    std::uint64_t number;
};

// A hash table with open addressing. A deleted block leaves a tombstone, whose place is used again.
constexpr std::size_t kPlaces = std::size_t{1} << 18;
constexpr std::uintptr_t kTombstone = 1;
Block blocks[kPlaces];
std::atomic_flag busy = ATOMIC_FLAG_INIT;
std::uint64_t numbered = 0;
faults::Live total;

class Lock {
  public:
    Lock() {
        while (busy.test_and_set(std::memory_order_acquire)) sched_yield();
    }
    ~Lock() { busy.clear(std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

std::size_t place_of(const void* memory) {
    return (reinterpret_cast<std::uintptr_t>(memory) >> 4U) * 0x9e3779b97f4a7c15U >> 46U;
}
bool is_free(const Block& block) {
    return reinterpret_cast<std::uintptr_t>(block.memory) <= kTombstone;
}

void note(void* memory, std::size_t size, void* caller) {
    const Lock lock;
    for (std::size_t i = place_of(memory), tried = 0; tried < kPlaces;
         i = (i + 1) % kPlaces, ++tried) {
        if (!is_free(blocks[i])) continue;
        blocks[i] = {memory, size, caller, ++numbered};
        ++total.blocks;
        total.bytes += size;
        return;
    }
}

void forget(void* memory) {
    const Lock lock;
    for (std::size_t i = place_of(memory), tried = 0; tried < kPlaces;
         i = (i + 1) % kPlaces, ++tried) {
        if (blocks[i].memory == nullptr) return;
        if (blocks[i].memory != memory) continue;
        --total.blocks;
        total.bytes -= blocks[i].size;
        if (blocks[(i + 1) % kPlaces].memory != nullptr) {
            blocks[i].memory = reinterpret_cast<void*>(kTombstone);
            return;
        }
        // A search ends at an empty place, so tombstones just before an empty place are removed.
        do {
            blocks[i].memory = nullptr;
            i = (i + kPlaces - 1) % kPlaces;
        } while (reinterpret_cast<std::uintptr_t>(blocks[i].memory) == kTombstone);
        return;
    }
}

void* allocate(std::size_t size, std::size_t alignment, void* caller) {
    const bool ours = faults::made_by_wye(caller);
    if (ours && faults::hit(faults::kAllocation, "operator new", caller)) return nullptr;
    void* memory = nullptr;
    if (alignment <= alignof(std::max_align_t))
        memory = std::malloc(std::max<std::size_t>(size, 1));
    else if (posix_memalign(&memory, alignment, std::max<std::size_t>(size, 1)) != 0)
        memory = nullptr;
    if (ours && memory != nullptr) note(memory, size, caller);
    return memory;
}

void release(void* memory) {
    if (memory == nullptr) return;
    forget(memory);
    std::free(memory);
}

void* must(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

namespace faults {

Live live() {
    const Lock lock;
    return total;
}

void print_newest_live(std::size_t most) {
    Block newest[32]{};
    std::size_t found = 0;
    {
        const Lock lock;
        for (const Block& block : blocks) {
            if (is_free(block)) continue;
            if (found < std::size(newest))
                newest[found++] = block;
            else {
                Block* oldest = std::min_element(
                    newest, newest + found,
                    [](const Block& a, const Block& b) { return a.number < b.number; });
                if (oldest->number < block.number) *oldest = block;
            }
        }
    }
    std::sort(newest, newest + found,
              [](const Block& a, const Block& b) { return a.number > b.number; });
    for (std::size_t i = 0; i < std::min(found, most); ++i) {
        Dl_info info{};
        dladdr(newest[i].caller, &info);
        std::fprintf(stderr, "    %zu bytes from %s+0x%zx\n", newest[i].size,
                     info.dli_fname == nullptr ? "?" : info.dli_fname,
                     reinterpret_cast<std::size_t>(newest[i].caller) -
                         reinterpret_cast<std::size_t>(info.dli_fbase));
    }
}

}  // namespace faults

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
using Align = std::align_val_t;
using Nothrow = const std::nothrow_t&;

[[gnu::noinline]] void* operator new(std::size_t n) { return must(allocate(n, 1, CALLER)); }
[[gnu::noinline]] void* operator new[](std::size_t n) { return must(allocate(n, 1, CALLER)); }
[[gnu::noinline]] void* operator new(std::size_t n, Align a) {
    return must(allocate(n, static_cast<std::size_t>(a), CALLER));
}
[[gnu::noinline]] void* operator new[](std::size_t n, Align a) {
    return must(allocate(n, static_cast<std::size_t>(a), CALLER));
}
[[gnu::noinline]] void* operator new(std::size_t n, Nothrow) noexcept {
    return allocate(n, 1, CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t n, Nothrow) noexcept {
    return allocate(n, 1, CALLER);
}
[[gnu::noinline]] void* operator new(std::size_t n, Align a, Nothrow) noexcept {
    return allocate(n, static_cast<std::size_t>(a), CALLER);
}
[[gnu::noinline]] void* operator new[](std::size_t n, Align a, Nothrow) noexcept {
    return allocate(n, static_cast<std::size_t>(a), CALLER);
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, Align) noexcept { release(p); }
void operator delete[](void* p, Align) noexcept { release(p); }
void operator delete(void* p, std::size_t, Align) noexcept { release(p); }
void operator delete[](void* p, std::size_t, Align) noexcept { release(p); }
void operator delete(void* p, Nothrow) noexcept { release(p); }
void operator delete[](void* p, Nothrow) noexcept { release(p); }
void operator delete(void* p, Align, Nothrow) noexcept { release(p); }
void operator delete[](void* p, Align, Nothrow) noexcept { release(p); }

extern "C" __attribute__((visibility("default"), noinline)) void* aligned_alloc(
    std::size_t alignment, std::size_t size) noexcept {
    void* caller = CALLER;
    if (faults::armed(faults::kAllocation) && faults::made_by_wye(caller) &&
        faults::hit(faults::kAllocation, "aligned_alloc", caller))
        return nullptr;
    void* memory = nullptr;
    const std::size_t least = std::max(alignment, sizeof(void*));
    return posix_memalign(&memory, least, size) == 0 ? memory : nullptr;
}
