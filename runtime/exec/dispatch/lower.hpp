// SPDX-License-Identifier: Apache-2.0
//
// The lower step of a dispatch: chooses the programs that the launch runs (one, or with grid
// barriers one for each phase) and their form. Pure, except that the program caches its phases. The
// artifact itself is made later, by make_artifact (exec/program/artifact.hpp), and only if neither
// memory nor the disk cache has the compiled form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "exec/device/grid_check.hpp"
#include "exec/program/compiled_program.hpp"
#include "exec/program/loaded_program.hpp"
#include "plan/launch.hpp"
#include "route/route.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// A program that the launch runs.
struct Kernel {
    LoadedProgram* program = nullptr;
    CompiledRef compiled;  // set by submit
};

// One launch of a kernel: the kernel's index and its parameter block. The block of a phase is
// longer than the block of the whole program.
struct KernelLaunch {
    std::uint32_t kernel = 0;
    const std::byte* params = nullptr;
    std::uint32_t params_size = 0;  // bytes
};

// The kernels of a launch, in order. Borrows the program and the launch; owns the phases' parameter
// blocks. Used by one dispatch.
class Kernels {
  public:
    Form form;  // of each kernel
    // The preconditions that chose between the forms; null: there was only one form.
    const lower::Preconditions* preconditions = nullptr;
    std::uint32_t cooperative = WYE_COOPERATIVE_NONE;  // enum wye_cooperative_use
    GridCheck grid_check;  // set by submit; empty unless the grid is in a buffer

    // Sets up the launch of a whole program. Does not allocate.
    void whole(LoadedProgram& program, const plan::Launch& launch) {
        one_.program = &program;
        launch_of_one_.params = launch.params;
        launch_of_one_.params_size = launch.params_size;
    }
    // Splits the program at its grid barriers, in place of `whole`. Errors: those of plan::phases.
    [[nodiscard]] Result<void> split(LoadedProgram& program, const plan::Launch& launch);

    // The kernels, and their launches in order. Both lists are empty for a launch without
    // workgroups.
    [[nodiscard]] std::span<Kernel> kernels() {
        return is_whole() ? std::span<Kernel>(&one_, 1) : std::span<Kernel>(phases_);
    }
    [[nodiscard]] std::span<const Kernel> kernels() const {
        return is_whole() ? std::span<const Kernel>(&one_, 1) : std::span<const Kernel>(phases_);
    }
    [[nodiscard]] std::span<const KernelLaunch> launches() const {
        return is_whole() ? std::span<const KernelLaunch>(&launch_of_one_, 1)
                          : std::span<const KernelLaunch>(launches_);
    }
    [[nodiscard]] bool is_whole() const { return one_.program != nullptr; }
    // Whether all workgroups of a launch run at the same time.
    [[nodiscard]] bool at_once() const { return cooperative == WYE_COOPERATIVE_NATIVE; }
    // Whether the program runs as one launch with grid barriers, so that all workgroups must fit on
    // the device at once.
    [[nodiscard]] bool waits_for_grid() const {
        return is_whole() && at_once() && form.variant == ir::kNone &&
               one_.program->plan().analysis.uses_grid_barrier;
    }
    // Returns the bytes of the parameter block of a launch, which begins at `params`.
    [[nodiscard]] std::span<const std::byte> block(const void* params) const;

    // Appends the objects that work in flight keeps alive: compiled kernels and the grid check.
    void keep(std::vector<CompiledRef>& out) const;
    // Called once the kernels are compiled. `traps` returns whether any kernel uses trap words.
    // `warm` returns whether all kernels, and the grid check, have run before.
    [[nodiscard]] bool traps() const;
    [[nodiscard]] bool warm() const;
    void set_warm();

  private:
    Kernel one_;
    KernelLaunch launch_of_one_;
    std::vector<Kernel> phases_;  // each program once
    std::vector<KernelLaunch> launches_;
    std::vector<std::uint64_t> params_;
};

// The options of a request that decide the form.
struct FormDemands {
    std::uint32_t ulp_budget = 0;
    // The request is cooperative: all workgroups run at the same time, so the program is not split
    // at grid barriers if the device can run it as one launch.
    bool cooperative = false;
    std::uint64_t profile = 0;  // profile_id of the request's profile
};

// Whether there are several forms to choose from. There is only one form for native variants, and
// for devices that run programs in wire form, since these programs are always strict.
[[nodiscard]] bool has_forms(const route::Route& route);

// How a cooperative request runs a program with grid barriers, if all workgroups fit on the device:
// enum wye_cooperative_use.
[[nodiscard]] std::uint32_t cooperative_use(const plan::Count3& groups, const route::Limits& limits,
                                            std::string_view format);

[[nodiscard]] Result<void> lower(LoadedProgram& program, const plan::Launch& launch,
                                 const route::Limits& limits, const route::Route& route,
                                 const FormDemands& demands, Kernels& out);

}  // namespace wye::exec
