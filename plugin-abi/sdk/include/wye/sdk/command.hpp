// SPDX-License-Identifier: Apache-2.0
//
// A command as a list: its operations, copied, and made ready for each execution by filling in what
// was left open. A plugin whose driver records nothing sends them one by one; others build and
// update their own form from them. One thread at a time, as for submits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/errors.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

// The plugin's class behind a command.
template <typename Command>
[[nodiscard]] Command& command_of(wye_command_object* object) {
    return *reinterpret_cast<Command*>(object);
}

// What a dispatch of a program points to.
struct ArgumentSizes {
    std::uint32_t bindings = 0;
    std::uint32_t params = 0;  // bytes
};

class CommandList {
  public:
    using SizesOf = ArgumentSizes (*)(wye_program_object*);

    // UNSUPPORTED for an operation that a command cannot have, and for flags other than `flags` and
    // LATE_GRID. `plugin` is for sentences.
    [[nodiscard]] static Result<CommandList> of(std::string_view plugin,
                                                const wye_command_desc& desc, SizesOf sizes,
                                                std::uint32_t flags = 0);
    CommandList(CommandList&&) = default;
    CommandList& operator=(CommandList&&) = default;

    // The operations of an execution, until the next call. Without anything late they are those of
    // the description.
    [[nodiscard]] std::span<const wye_operation> resolve(const wye_execute_op& execution);
    // As of the last execution.
    [[nodiscard]] std::span<const wye_operation> operations() const { return operations_; }
    // Replaces an operation by one of its kind and program.
    [[nodiscard]] Result<void> update(std::uint64_t index, const wye_operation& operation);

    [[nodiscard]] bool has_late_slots() const {
        return !late_.bindings.empty() || !late_.buffers.empty() || !late_.indirect.empty();
    }
    [[nodiscard]] bool has_late_params() const { return !late_.params.empty(); }
    [[nodiscard]] bool has_late_grid() const { return !late_.grids.empty(); }
    [[nodiscard]] bool is_fixed() const {
        return !has_late_slots() && !has_late_params() && !has_late_grid();
    }
    // Whether an execution changes this operation.
    [[nodiscard]] bool is_late(std::uint64_t index) const { return kept_[index]->late; }
    // Edges by the operation that they end at; as described.
    [[nodiscard]] std::span<const wye_edge> edges() const { return edges_; }
    [[nodiscard]] bool has_edges() const { return has_edges_; }
    [[nodiscard]] const std::string& label() const { return label_; }
    [[nodiscard]] std::uint64_t bytes() const;

  private:
    // What an operation points to, at a fixed address.
    struct Kept {
        std::vector<wye_binding> described, bindings;
        std::vector<std::uint64_t> params;
        wye_binding indirect = {};  // as described
        bool late = false;
    };
    struct LateBinding {
        wye_binding* target;
        wye_binding described;
    };
    struct LateParams {
        void* target;
        std::uint32_t offset, size;
    };
    struct LateGrid {
        std::size_t operation;
        std::uint32_t offset;
    };
    struct LateBuffer {  // of a copy or a fill
        std::size_t operation;
        std::uint64_t offset;
        std::uint32_t slot;
        bool source;
    };
    struct Late {
        std::vector<LateBinding> bindings;
        std::vector<LateParams> params;
        std::vector<LateGrid> grids;
        std::vector<std::size_t> indirect;  // operations
        std::vector<LateBuffer> buffers;
    };

    CommandList() = default;
    [[nodiscard]] Result<void> check(const wye_operation& operation) const;
    void keep(const wye_operation& operation, wye_operation& out, Kept& kept) const;
    [[nodiscard]] Late find_late() const;

    std::string plugin_, label_;
    SizesOf sizes_ = nullptr;
    std::uint32_t flags_ = 0;
    bool has_edges_ = false;
    std::vector<wye_operation> operations_;
    std::vector<std::unique_ptr<Kept>> kept_;  // by operation
    std::vector<wye_edge> edges_;
    Late late_;
};

}  // namespace wye::sdk
