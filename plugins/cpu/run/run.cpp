// SPDX-License-Identifier: Apache-2.0
//
// The instruction loop. Data instructions call their kernel; the other instructions move lanes
// between masks.
#include "cpu/run/run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu/kernels/set.hpp"

namespace wye::cpu {
namespace {

constexpr std::uint64_t kEndOfI32 = std::uint64_t{1} << 31;
constexpr std::uint64_t kEndOfU32 = std::uint64_t{1} << 32;
constexpr std::uintptr_t kAlignment = 64;  // of registers, in bytes

// A mask slot: one byte per lane, and the number of lanes that are 1.
struct Slot {
    std::byte* lanes;
    std::uint64_t& count;
};

Slot slot_of(const Frame& f, const Instr& i) { return {f.base + i.d, f.scalars[i.array]}; }

std::byte* mask_of(const Frame& f) { return reinterpret_cast<std::byte*>(f.mask); }

void clear_active(Frame& f) {
    std::memset(f.mask, 0, f.lanes);
    f.active = 0;
}

// Moves the active lanes to a slot.
void park(Frame& f, const Instr& i) {
    const Slot slot = slot_of(f, i);
    if (f.active == 0) return;
    if (slot.count == 0) {
        std::memcpy(slot.lanes, f.mask, f.lanes);
    } else {
        f.kernels->join(f, slot.lanes, mask_of(f));
    }
    slot.count += f.active;
    clear_active(f);
}

// Makes the lanes of a slot active again.
void unpark(Frame& f, const Instr& i) {
    const Slot slot = slot_of(f, i);
    if (slot.count == 0) return;
    f.kernels->join(f, mask_of(f), slot.lanes);
    f.active += static_cast<std::uint32_t>(slot.count);
    slot.count = 0;
}

// The elements that an affine load or store accesses, if they can be used as a register: all
// elements that the kernels' loops cover must be in range, and the first must be aligned. Else
// null.
std::byte* in_place(const Frame& f, const Instr& i) {
    const Bound& bound = f.bound[i.array];
    const std::uint64_t first = static_cast<std::uint32_t>(f.scalars[i.b]);
    const std::uint64_t limit = i.i32 != 0 ? std::min(bound.count32, kEndOfI32) : bound.count32;
    if (first + f.lanes > limit) return nullptr;
    std::byte* at = bound.data + first * i.c;
    return reinterpret_cast<std::uintptr_t>(at) % kAlignment == 0 ? at : nullptr;
}

void view(Frame& f, const Instr& i) {
    const std::byte* at = in_place(f, i);
    if (at == nullptr) {
        i.run(f, i, f.base + i.d);
        at = f.base + i.d;
    }
    f.views[i.target] = at;
}

// Starts an `if`. False: no active lane meets the condition, and the mask is unchanged.
bool take_if(Frame& f, const Instr& i, const std::byte* condition) {
    const Slot slot = slot_of(f, i);
    slot.count = 0;
    const std::uint32_t on = f.kernels->count(f, condition);
    if (on == f.active) return on != 0;
    if (on == 0) return false;
    f.kernels->split(f, condition, slot.lanes);
    slot.count = f.active - on;
    f.active = on;
    return true;
}

// Like `take_if`, for ramps. Most blocks are entirely inside or outside a ramp; lanes are checked
// only in blocks that contain a boundary.
bool take_if_ramp(Frame& f, const Instr& i) {
    bool all = true;
    for (const std::uint32_t slot : {i.a, i.b, i.c}) {
        if (slot == kNoSlot) break;
        const auto ramp = std::bit_cast<Ramp>(f.scalars[slot]);
        const std::uint64_t first = static_cast<std::uint32_t>(0 - ramp.start);
        all = all && first + f.live <= ramp.count;
        if (first >= ramp.count && first + f.live <= kEndOfU32) {
            slot_of(f, i).count = 0;
            return false;
        }
    }
    if (all) {
        slot_of(f, i).count = 0;
        return f.active != 0;
    }
    // The condition goes into the slot's own lanes: split(), which writes its result there too,
    // reads each lane before it writes it.
    std::byte* condition = slot_of(f, i).lanes;
    i.run(f, i, condition);
    return take_if(f, i, condition);
}

// Starts the else side. False: no lane is parked, so this side is skipped.
bool take_else(Frame& f, const Instr& i) {
    const Slot slot = slot_of(f, i);
    if (slot.count == 0) return false;
    if (f.active == 0) {
        unpark(f, i);
        return true;
    }
    std::byte* mask = mask_of(f);
    std::swap_ranges(mask, mask + f.lanes, slot.lanes);
    const auto waiting = static_cast<std::uint32_t>(slot.count);
    slot.count = f.active;
    f.active = waiting;
    return true;
}

// Takes the lanes whose condition is false out of the loop. False: no lane is left in the loop.
bool test_loop(Frame& f, const Instr& i) {
    const std::byte* condition = f.base + i.a;
    const std::uint32_t on = f.kernels->count(f, condition);
    if (on == f.active) return on != 0;
    if (on == 0) return false;
    const Slot slot = slot_of(f, i);
    if (slot.count == 0) {
        f.kernels->split(f, condition, slot.lanes);
    } else {
        // The slot already holds lanes, so the lanes that leave are split off into another mask,
        // which is then joined to the slot.
        alignas(64) std::byte aside[4096];
        f.kernels->split(f, condition, aside);
        f.kernels->join(f, slot.lanes, aside);
    }
    slot.count += f.active - on;
    f.active = on;
    return true;
}

// Ends an iteration of a counted loop. False: the loop has ended.
bool next_round(Frame& f, const Instr& i) {
    std::uint64_t& counter = f.scalars[i.d];
    const std::uint64_t keep = i.c == 32 ? 0xffffffffU : ~std::uint64_t{0};
    const std::uint64_t left = (f.scalars[i.a] - counter) & keep;
    if (f.scalars[i.b] >= left) return false;
    counter = (counter + f.scalars[i.b]) & keep;
    return true;
}

}  // namespace

bool run(const Routine& routine, Frame& f) {
    const Instr* const code = routine.instrs.data();
    const Instr* i = code + f.pc;
    for (;;) {
        switch (i->step) {
            case Step::Lanes:
                i->run(f, *i, f.base + i->d);
                break;
            case Step::Direct:
                if (std::byte* at = f.active == f.lanes ? in_place(f, i[1]) : nullptr) {
                    i->run(f, *i, at);
                    ++i;  // skips the store, which is done
                } else {
                    i->run(f, *i, f.base + i->d);
                }
                break;
            case Step::Scalar:
                i->run(f, *i, reinterpret_cast<std::byte*>(f.scalars + i->d));
                break;
            case Step::Assign:
                i->run(f, *i, f.base + (f.active == f.live ? i->d : i->target));
                break;
            case Step::Blend:
                if (f.active != f.live) i->run(f, *i, f.base + i->d);
                break;
            case Step::View:
                view(f, *i);
                break;
            case Step::Jump:
                i = code + i->target;
                continue;
            case Step::JumpIfNot:
                if ((f.scalars[i->a] & 0xffU) != 0) break;
                i = code + i->target;
                continue;
            case Step::If:
                if (take_if(f, *i, f.base + i->a)) break;
                i = code + i->target;
                continue;
            case Step::IfRamp:
                if (take_if_ramp(f, *i)) break;
                i = code + i->target;
                continue;
            case Step::Else:
                if (take_else(f, *i)) break;
                i = code + i->target;
                continue;
            case Step::EndIf:
            case Step::LoopMerge:
            case Step::LoopEnd:
                unpark(f, *i);
                break;
            case Step::LoopBegin:
                if (i->array != kNoSlot) f.scalars[i->array] = 0;
                if (i->b != kNoSlot) f.scalars[i->b] = 0;
                break;
            case Step::LoopTest:
                if (test_loop(f, *i)) break;
                i = code + i->target;
                continue;
            case Step::Leave:
                park(f, *i);
                break;
            case Step::Trap:
                f.trap_code = std::max(f.trap_code, i->c);
                f.trap_count += f.active;
                clear_active(f);
                break;
            case Step::Drop:
                clear_active(f);
                break;
            case Step::ExitIfEmpty:
                if (f.active != 0) break;
                i = code + i->target;
                continue;
            case Step::ForNext:
                if (!next_round(f, *i)) break;
                [[fallthrough]];
            case Step::BackEdge:
                i = code + i->target;
                if (--f.budget != 0) continue;
                f.pc = static_cast<std::uint32_t>(i - code);
                return false;
            case Step::End:
                return true;
        }
        ++i;
    }
}

}  // namespace wye::cpu
