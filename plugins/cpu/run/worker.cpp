// SPDX-License-Identifier: Apache-2.0
//
// make_launch, and the workers that run the blocks of a launch.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "cpu/buffer.hpp"
#include "cpu/run/run.hpp"

namespace wye::cpu {
namespace {

constexpr std::uint64_t kMany = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr auto kBlockPatience = std::chrono::microseconds(100);
constexpr std::uint64_t kSliceWork = 50000;  // estimated nanoseconds, see Routine::weight

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? kMany : product;
}

}  // namespace

Result<Launch> make_launch(const wye_dispatch_op& op) {
    Program* program = &program_of(op.program);
    Launch launch;
    launch.program = program;
    launch.params = static_cast<const std::byte*>(op.params);
    for (unsigned axis = 0; axis < 3; ++axis) {
        launch.groups[axis] = op.groups[axis];
        launch.offset[axis] = op.group_offset[axis];
        launch.counts[axis] = op.logical_groups[axis];
        launch.extent[axis] = std::uint64_t{op.groups[axis]} * program->workgroup()[axis];
    }
    const std::uint64_t rows = times(launch.extent[1], launch.extent[2]);
    WYE_ASSIGN(launch.routine, program->routine(launch.extent[0], rows));
    const std::uint64_t lanes = launch.routine->lanes;
    switch (launch.routine->geometry) {
        case Geometry::Row:
            launch.blocks = times((launch.extent[0] + lanes - 1) / lanes, rows);
            break;
        case Geometry::Flat: {
            const std::uint64_t all = times(launch.extent[0], rows);
            launch.blocks = all / lanes + (all % lanes != 0 ? 1 : 0);
            break;
        }
        case Geometry::Group:
            launch.blocks = times(times(op.groups[0], op.groups[1]), op.groups[2]);
            break;
    }
    launch.bindings = op.bindings;
    if (op.trap.buffer != nullptr)
        launch.trap =
            reinterpret_cast<std::uint32_t*>(buffer_of(op.trap.buffer).data() + op.trap.offset);
    return launch;
}

void Worker::Free::operator()(std::byte* memory) const { std::free(memory); }

Worker::Memory Worker::allocate(std::uint64_t bytes) {
    const std::uint64_t size = (std::max<std::uint64_t>(bytes, 1) + 63) / 64 * 64;
    void* memory = std::aligned_alloc(64, static_cast<std::size_t>(size));
    if (memory == nullptr) throw std::bad_alloc();
    return Memory(static_cast<std::byte*>(memory));
}

void Worker::prepare_routine(const Launch& launch) {
    const Routine& routine = *launch.routine;
    prepared_ = 0;
    if (lanes_size_ < routine.lane_bytes) {
        lanes_ = nullptr;  // freed first, so that only the new memory must fit
        lanes_size_ = 0;
        lanes_ = allocate(routine.lane_bytes);
        lanes_size_ = routine.lane_bytes;
    }
    if (shared_size_ < launch.program->shared_bytes()) {
        shared_ = nullptr;
        shared_size_ = 0;
        shared_ = allocate(launch.program->shared_bytes());
        shared_size_ = launch.program->shared_bytes();
    }
    if (scalars_.size() < routine.scalars) scalars_.resize(routine.scalars);
    if (views_.size() < routine.views) views_.resize(routine.views);
    bound_ = launch.program->arrays();
    for (const Shared& shared : launch.program->shared())
        bound_[shared.array] = {shared_.get() + shared.offset, shared.count,
                                std::min(shared.count, kMost32)};

    frame_ = {};
    frame_.base = lanes_.get();
    frame_.views = views_.data();
    frame_.scalars = scalars_.data();
    frame_.bound = bound_.data();
    frame_.mask = reinterpret_cast<std::uint8_t*>(lanes_.get() + routine.mask);
    frame_.kernels = &launch.program->kernels();
    frame_.capacity = routine.lanes;
    slice_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        kSliceWork / (routine.weight * (routine.lanes / kTile) + 1), 1, 4096));

    for (const auto& [slot, value] : routine.constants) scalars_[slot] = value;
    prepared_ = routine.number;
    if (routine.geometry != Geometry::Group) return;
    const auto& size = launch.program->workgroup();
    for (unsigned axis = 0; axis < 3; ++axis) {
        const std::uint32_t lanes = routine.coordinates.lanes[axis];
        if (lanes == kNoSlot) continue;
        auto* ids = reinterpret_cast<std::uint32_t*>(lanes_.get() + lanes);
        const std::uint32_t below = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
        for (std::uint32_t k = 0; k < routine.lanes; ++k) ids[k] = k / below % size[axis];
    }
}

void Worker::prepare(const Launch& launch) {
    const Routine& routine = *launch.routine;
    placed_ = 0;
    if (prepared_ != routine.number) prepare_routine(launch);
    start_traps();
    const auto& arrays = launch.program->bound_arrays();
    for (std::size_t n = 0; n < arrays.size(); ++n) {
        const wye_binding& binding = launch.bindings[n];
        // A kernel may read element 0 of an empty range.
        alignas(64) static constinit std::byte nothing[64] = {};
        std::byte* const data =
            binding.size == 0 ? nothing : buffer_of(binding.buffer).data() + binding.offset;
        bound_[arrays[n]] = {data, binding.elements, std::min(binding.elements, kMost32)};
    }
    set_params(launch);
    for (const LengthSlot& length : routine.lengths) {
        const Bound& bound = bound_[length.array];
        scalars_[length.scalar] = length.wide ? bound.count : bound.count32;
    }
    for (unsigned axis = 0; axis < 3; ++axis)
        set(routine.coordinates.counts[axis], launch.counts[axis]);
}

void Worker::prepare_short(const Launch& launch) {
    prepare(launch);
    place(launch, 0);
    // A routine for rows never overwrites the coordinates that place() has set, so a repetition of
    // this launch need not place its block again.
    if (launch.routine->geometry == Geometry::Row) placed_ = launch.number;
}

void Worker::reset_live(std::uint32_t live) {
    frame_.live = live;
    frame_.active = live;
    frame_.lanes = (live + kTile - 1) / kTile * kTile;
    std::memset(frame_.mask, 1, live);
    std::memset(frame_.mask + live, 0, frame_.lanes - live);
}

void Worker::place_row(const Launch& launch, std::uint64_t number) {
    const Routine& routine = *launch.routine;
    const std::uint64_t lanes = routine.lanes;
    const auto& size = launch.program->workgroup();
    const Coordinates& at = routine.coordinates;
    if (number == 0) {  // without divisions, since many launches have only one block
        for (unsigned axis = 0; axis < 3; ++axis)
            set(at.global[axis], std::uint64_t{launch.offset[axis]} * size[axis]);
        for (unsigned axis = 1; axis < 3; ++axis) {
            set(at.workgroup[axis], launch.offset[axis]);
            set(at.local[axis], 0);
        }
        return set_live(static_cast<std::uint32_t>(std::min(lanes, launch.extent[0])));
    }
    const std::uint64_t in_row = (launch.extent[0] + lanes - 1) / lanes;
    const std::uint64_t row = number / in_row;
    const std::uint64_t x = number % in_row * lanes;
    const std::uint64_t yz[2] = {row % launch.extent[1], row / launch.extent[1]};
    set(at.global[0], std::uint64_t{launch.offset[0]} * size[0] + x);
    for (unsigned axis = 1; axis < 3; ++axis) {
        const std::uint64_t n = yz[axis - 1];
        set(at.global[axis], std::uint64_t{launch.offset[axis]} * size[axis] + n);
        set(at.workgroup[axis], launch.offset[axis] + n / size[axis]);
        set(at.local[axis], n % size[axis]);
    }
    set_live(static_cast<std::uint32_t>(std::min(lanes, launch.extent[0] - x)));
}

void Worker::place_flat(const Launch& launch, std::uint64_t number) {
    const Routine& routine = *launch.routine;
    const std::uint64_t first = number * routine.lanes;
    const std::uint64_t all = launch.extent[0] * launch.extent[1] * launch.extent[2];
    set_live(static_cast<std::uint32_t>(std::min<std::uint64_t>(routine.lanes, all - first)));
    std::uint64_t at[3] = {first % launch.extent[0], first / launch.extent[0] % launch.extent[1],
                           first / launch.extent[0] / launch.extent[1]};
    const auto& size = launch.program->workgroup();
    std::uint32_t* ids[3] = {};
    for (unsigned axis = 0; axis < 3; ++axis)
        if (routine.coordinates.lanes[axis] != kNoSlot)
            ids[axis] =
                reinterpret_cast<std::uint32_t*>(frame_.base + routine.coordinates.lanes[axis]);
    for (std::uint32_t k = 0; k < frame_.lanes; ++k) {
        for (unsigned axis = 0; axis < 3; ++axis)
            if (ids[axis] != nullptr)
                ids[axis][k] = static_cast<std::uint32_t>(
                    std::uint64_t{launch.offset[axis]} * size[axis] + at[axis]);
        if (++at[0] < launch.extent[0]) continue;
        at[0] = 0;
        if (++at[1] < launch.extent[1]) continue;
        at[1] = 0;
        ++at[2];
    }
}

void Worker::place_group(const Launch& launch, std::uint64_t number) {
    const auto& size = launch.program->workgroup();
    const Coordinates& at = launch.routine->coordinates;
    std::uint64_t rest = number;
    for (unsigned axis = 0; axis < 3; ++axis) {
        const std::uint64_t id = launch.offset[axis] + rest % launch.groups[axis];
        rest /= launch.groups[axis];
        set(at.workgroup[axis], id);
        set(at.global[axis], id * size[axis]);
    }
    set_live(size[0] * size[1] * size[2]);
    const auto& shared = launch.program->shared();
    for (std::size_t n = 0; n < shared.size(); ++n) {
        if (!shared[n].zero) continue;
        const std::uint64_t end =
            n + 1 < shared.size() ? shared[n + 1].offset : launch.program->shared_bytes();
        std::memset(shared_.get() + shared[n].offset, 0, end - shared[n].offset);
    }
}

void Worker::place(const Launch& launch, std::uint64_t number) {
    switch (launch.routine->geometry) {
        case Geometry::Row:
            place_row(launch, number);
            break;
        case Geometry::Flat:
            place_flat(launch, number);
            break;
        case Geometry::Group:
            place_group(launch, number);
            break;
    }
}

Worker::State Worker::block(const Launch& launch, std::uint64_t number, bool patient) {
    place(launch, number);
    frame_.pc = 0;
    return resume(launch, patient);
}

Worker::State Worker::resume(const Launch& launch, bool patient) {
    frame_.budget = slice_;
    if (run(*launch.routine, frame_)) return State::Done;
    prepared_ = 0;
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
        if (launch.stop.requested()) return State::Stopped;
        if (!patient && std::chrono::steady_clock::now() - start > kBlockPatience)
            return State::Paused;
        frame_.budget = slice_;
        if (!run(*launch.routine, frame_)) continue;
        prepared_ = launch.routine->number;
        return State::Done;
    }
}

void Worker::add_traps(const Launch& launch) {
    std::uint32_t largest = __atomic_load_n(launch.trap, __ATOMIC_RELAXED);
    while (largest < frame_.trap_code &&
           !__atomic_compare_exchange_n(launch.trap, &largest, frame_.trap_code, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(launch.trap + 1, frame_.trap_count, __ATOMIC_RELAXED);
    start_traps();
}

}  // namespace wye::cpu
