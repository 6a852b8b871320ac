// SPDX-License-Identifier: Apache-2.0
//
// Kernels for masks, and the kernel set of this build.
#include "lanes.hpp"

#define WYE_CPU_TEXT_(x) #x
#define WYE_CPU_TEXT(x) WYE_CPU_TEXT_(x)
#define WYE_CPU_JOIN_(a, b) a##b
#define WYE_CPU_JOIN(a, b) WYE_CPU_JOIN_(a, b)

namespace wye::cpu {
namespace WYE_CPU_ISA {
namespace {

const u8* flags(const std::byte* at) {
    return static_cast<const u8*>(__builtin_assume_aligned(at, 64));
}
u8* flags(std::byte* at) { return static_cast<u8*>(__builtin_assume_aligned(at, 64)); }

u32 count(const Frame& f, const std::byte* condition) {
    const u8* c = flags(condition);
    const u8* m = f.mask;
    // There are at most 4096 / kTile = 64 tiles, so a byte can hold each sum.
    alignas(64) u8 sums[kTile] = {};
    for (std::size_t tile = 0; tile < f.lanes; tile += kTile) {
        WYE_CPU_LANES
        for (std::size_t k = 0; k < kTile; ++k) sums[k] = u8(sums[k] + (m[tile + k] & c[tile + k]));
    }
    u32 total = 0;
    for (std::size_t k = 0; k < kTile; ++k) total += sums[k];
    return total;
}

// `off` may be the condition itself.
void split(Frame& f, const std::byte* condition, std::byte* off) {
    const u8* c = flags(condition);
    u8* o = flags(off);
    u8* m = f.mask;
    each_lane(f.lanes, [=](std::size_t k) {
        const u8 before = m[k];
        const u8 on = c[k];
        o[k] = u8(before & (on ^ 1));
        m[k] = u8(before & on);
    });
}

void join(const Frame& f, std::byte* to, const std::byte* from) {
    u8* d = flags(to);
    const u8* a = flags(from);
    each_lane(f.lanes, [=](std::size_t k) { d[k] = u8(d[k] | a[k]); });
}

void ramp(Frame& f, const Instr& i, std::byte* to) {
    u8* d = target<u8>(to);
    bool first = true;
    const u32 ramps[] = {i.a, i.b, i.c};
    for (const u32 number : ramps) {
        if (number == kNoSlot) break;
        const Ramp on = scalar<Ramp>(f, number);
        if (first) {
            each_lane(f.lanes, [=](std::size_t k) { d[k] = u32(k) - on.start < on.count; });
        } else {
            each_lane(f.lanes,
                      [=](std::size_t k) { d[k] = u8(d[k] & (u32(k) - on.start < on.count)); });
        }
        first = false;
    }
}

template <typename T>
void blend(Frame& f, const Instr& i, std::byte* to) {
    T* d = target<T>(to);
    const T* a = lane<T>(f, i.a);
    const u8* m = f.mask;
    each_lane(f.lanes, [=](std::size_t k) { d[k] = m[k] != 0 ? a[k] : d[k]; });
}

// Ends an iteration of a counted loop. The counter is below its end, so `end - counter` does not
// overflow.
template <typename T>
void for_next(Frame& f, const Instr& i, std::byte* to) {
    u8* d = target<u8>(to);
    const T* end = lane<T>(f, i.a);
    T* counter = target<T>(f.base + i.b);
    const T* step = lane<T>(f, i.c);
    each_lane(f.lanes, [=](std::size_t k) {
        d[k] = step[k] < T(end[k] - counter[k]);
        counter[k] += step[k];
    });
}

KernelSet make_set() {
    KernelSet set{};
    set.name = WYE_CPU_TEXT(WYE_CPU_ISA);
    fill_integers(set);
    fill_floats(set);
    fill_chains(set);
    fill_memory(set);
    set.ramp = ramp;
    fill_subgroups(set);
    set.blend[B1] = blend<u8>;
    set.blend[B4] = blend<u32>;
    set.blend[B8] = blend<u64>;
    set.for_next[0] = for_next<u32>;
    set.for_next[1] = for_next<u64>;
    set.count = count;
    set.split = split;
    set.join = join;
    return set;
}

}  // namespace
}  // namespace WYE_CPU_ISA

const KernelSet* WYE_CPU_JOIN(WYE_CPU_ISA, _kernels)() {
    static const KernelSet set = WYE_CPU_ISA::make_set();
    return &set;
}

}  // namespace wye::cpu
