// SPDX-License-Identifier: Apache-2.0
//
// Program: a decoded program that this plugin supports, and its compiled routines. Immutable for
// its users, although the routine for narrow grids is compiled on first use. Free-threaded.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cpu/compile/compiler.hpp"
#include "wye/sdk/command.hpp"
#include "wye/sdk/result.hpp"

namespace wye::cpu {

class Device;

class Program {
  public:
    // Errors: INVALID_WIRE, INVALID_PROGRAM (ill-typed), UNSUPPORTED (names the construct),
    // LIMIT_EXCEEDED. Programs cannot be saved, so the last argument is ignored.
    [[nodiscard]] static Result<std::unique_ptr<Program>> create(Device& device,
                                                                 const wye_artifact& artifact,
                                                                 wye_bytes saved);

    void describe(wye_program_info& out) const;
    [[nodiscard]] const std::string& name() const { return program_->name; }

    // The routine for a grid with `width` invocations in x, and `rows` in y and z together.
    Result<const Routine*> routine(std::uint64_t width, std::uint64_t rows);

    [[nodiscard]] const std::array<std::uint32_t, 3>& workgroup() const {
        return options_.workgroup;
    }
    // The weight (see Routine::weight) of the routine for wide grids.
    [[nodiscard]] std::uint64_t weight() const { return main_.weight; }
    [[nodiscard]] const KernelSet& kernels() const { return *options_.kernels; }
    [[nodiscard]] std::uint32_t params_size() const { return params_size_; }
    [[nodiscard]] sdk::ArgumentSizes sizes() const { return {binding_count(), params_size_}; }
    // Whether the artifact has a grid slot. Then each launch states the grid that the program sees.
    [[nodiscard]] bool has_grid() const { return has_grid_; }
    [[nodiscard]] std::uint32_t binding_count() const {
        return static_cast<std::uint32_t>(bound_arrays_.size());
    }
    // For each binding, its index in Frame::bound.
    [[nodiscard]] const std::vector<std::uint32_t>& bound_arrays() const { return bound_arrays_; }
    [[nodiscard]] const std::vector<Shared>& shared() const { return shared_; }
    [[nodiscard]] std::uint64_t shared_bytes() const { return shared_bytes_; }
    // The initial contents of Frame::bound: only the tables are filled in.
    [[nodiscard]] const std::vector<Bound>& arrays() const { return arrays_; }

  private:
    Program() = default;
    void lay_out();

    std::unique_ptr<const ir::Program> program_;
    CompileOptions options_;
    Routine main_;
    std::once_flag flat_once_;
    std::optional<Result<Routine>> flat_;
    std::uint32_t params_size_ = 0;
    bool has_grid_ = false;
    std::vector<std::uint32_t> bound_arrays_;
    std::vector<Shared> shared_;
    std::uint64_t shared_bytes_ = 0;
    std::vector<Bound> arrays_;
    std::vector<std::uint64_t> table_words_;
};

[[nodiscard]] inline Program& program_of(wye_program_object* object) {
    return *reinterpret_cast<Program*>(object);
}

}  // namespace wye::cpu
