// SPDX-License-Identifier: Apache-2.0
//
// Runs compiled programs: run(), the instruction loop, and Worker, which runs blocks of a launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/program.hpp"

namespace wye::cpu {

// Runs from frame.pc on. False: the budget of back edges is used up; call `run` again to continue.
bool run(const Routine& routine, Frame& frame);

// A stop request, checked at back edges and between blocks.
struct Stop {
    const std::atomic<std::uint64_t>* cancelled = nullptr;  // the value that was cancelled last
    std::uint64_t value = 0;
    [[nodiscard]] bool requested() const {
        return cancelled != nullptr && cancelled->load(std::memory_order_relaxed) == value;
    }
};

// A dispatch that is ready to run. `bindings` and `params` must stay valid while workers run the
// launch.
struct Launch {
    Program* program = nullptr;
    const Routine* routine = nullptr;
    const wye_binding* bindings = nullptr;
    const std::byte* params = nullptr;
    std::array<std::uint32_t, 3> groups{};
    std::array<std::uint32_t, 3> offset{};
    std::array<std::uint32_t, 3> counts{};
    std::array<std::uint64_t, 3> extent{};  // invocations to run, by axis
    std::uint64_t blocks = 0;
    std::uint32_t* trap = nullptr;  // {largest code, count}, or null
    // Not 0: only the values of the parameters may change between two runs of the launch. The
    // number is then unique in the plugin, even after the launch is destroyed.
    std::uint64_t number = 0;
    Stop stop;
};
// Prepares a launch. Errors: those of Program::routine().
Result<Launch> make_launch(const wye_dispatch_op& op);

// A thread's memory for running blocks, kept between launches. One thread at a time.
class Worker {
  public:
    enum class State : std::uint8_t { Done, Paused, Stopped };

    // Prepares for a launch, which is cheap after a launch of the same routine. Throws bad_alloc if
    // the registers do not fit.
    void prepare(const Launch& launch);
    // Runs one block. If `patient`, only a stop ends the block early; else the block may also pause
    // after some time, and resume() continues it.
    State block(const Launch& launch, std::uint64_t number, bool patient);
    State resume(const Launch& launch, bool patient);
    // Adds this worker's traps to the trap words of the launch.
    void finish(const Launch& launch) {
        if (launch.trap != nullptr && frame_.trap_count != 0) [[unlikely]]
            add_traps(launch);
    }
    // Prepares, runs and finishes a launch of one block without loops. Cheap if the worker's last
    // launch was the same one. Throws like `prepare`.
    void run_short(const Launch& launch) {
        if (launch.number != 0 && launch.number == placed_) [[likely]]
            prepare_again(launch);
        else
            prepare_short(launch);
        frame_.pc = 0;
        frame_.budget = slice_;
        (void)run(*launch.routine, frame_);
        finish(launch);
    }

  private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    using Memory = std::unique_ptr<std::byte, Free>;
    static Memory allocate(std::uint64_t bytes);

    // Prepares the memory and values that depend only on the routine.
    void prepare_routine(const Launch& launch);
    void prepare_short(const Launch& launch);
    // Prepares another run of the launch whose block is placed.
    void prepare_again(const Launch& launch) {
        start_traps();
        set_params(launch);
        set_live(frame_.live);
    }
    void start_traps() {
        frame_.trap_code = 0;
        frame_.trap_count = 0;
    }
    [[gnu::cold]] void add_traps(const Launch& launch);
    void set_params(const Launch& launch) {
        for (const ParamSlot& param : launch.routine->params) {
            scalars_[param.scalar] = 0;
            std::memcpy(&scalars_[param.scalar], launch.params + param.offset, param.bytes);
        }
    }
    void place(const Launch& launch, std::uint64_t number);
    void place_row(const Launch& launch, std::uint64_t number);
    void place_flat(const Launch& launch, std::uint64_t number);
    void place_group(const Launch& launch, std::uint64_t number);
    void set(std::uint32_t slot, std::uint64_t value) {
        if (slot != kNoSlot) scalars_[slot] = value;
    }
    // Makes the first `live` lanes active. Does nothing if their number is the same and the last
    // block left all of them active.
    void set_live(std::uint32_t live) {
        if (frame_.live != live || frame_.active != live) reset_live(live);
    }
    void reset_live(std::uint32_t live);

    Frame frame_;
    Memory lanes_;
    std::uint64_t lanes_size_ = 0;
    Memory shared_;
    std::uint64_t shared_size_ = 0;
    std::vector<std::uint64_t> scalars_;
    std::vector<const std::byte*> views_;
    std::vector<Bound> bound_;
    std::uint32_t slice_ = 1;  // back edges between two clock checks
    // Number of the routine that is prepared; 0: none, or one of its blocks is in progress.
    std::uint64_t prepared_ = 0;
    std::uint64_t placed_ = 0;  // number of the launch whose only block is placed; 0: none
};

}  // namespace wye::cpu
