// SPDX-License-Identifier: Apache-2.0
//
// CommandList: a command as a list of operations. It copies the operations of the command's
// description, and fills in their late values at each execution. A plugin whose driver cannot
// record commands submits the operations one by one; other plugins build and update the driver's
// recording from them. One thread at a time, as for submits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/known.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

// The plugin's command object behind a handle.
template <typename Command>
[[nodiscard]] Command& command_of(wye_command_object* object) {
    return *reinterpret_cast<Command*>(object);
}

// Sizes of the arguments that a dispatch of a program points to.
struct ArgumentSizes {
    std::uint32_t bindings = 0;
    std::uint32_t params = 0;  // bytes
};

class CommandList {
  public:
    using SizesOf = ArgumentSizes (*)(wye_program_object*);

    // Makes the list of a description. UNSUPPORTED for an operation that a command cannot have, and
    // for flags of dispatches other than `flags` and LATE_GRID. `plugin` is the name in messages.
    [[nodiscard]] static Result<CommandList> of(std::string_view plugin,
                                                const wye_command_desc& desc, SizesOf sizes,
                                                std::uint32_t flags = 0);
    CommandList(CommandList&&) = default;
    CommandList& operator=(CommandList&&) = default;

    // Returns the operations of one execution, valid until the next call. If nothing is late, these
    // are the operations of the description.
    [[nodiscard]] std::span<const wye_operation> resolve(const wye_execute_op& execution) {
        if (!fixed_) resolve_late(execution);
        return operations_;
    }
    // Does the work of `resolve` for a command in which only parameters are late. False: the
    // parameters equal those of the last execution.
    [[nodiscard]] bool set_params(const void* block);
    // The operations of the last execution.
    [[nodiscard]] std::span<const wye_operation> operations() const { return operations_; }
    // Replaces an operation by one of the same kind and program.
    [[nodiscard]] Result<void> update(std::uint64_t index, const wye_operation& operation);

    [[nodiscard]] bool has_late_slots() const {
        return !late_.bindings.empty() || !late_.buffers.empty() || !late_.indirect.empty();
    }
    [[nodiscard]] bool has_late_params() const { return !late_.params.empty(); }
    [[nodiscard]] bool has_late_grid() const { return !late_.grids.empty(); }
    [[nodiscard]] bool is_fixed() const { return fixed_; }
    [[nodiscard]] bool has_only_late_params() const { return only_params_; }
    // Whether the operation has late values, which each execution sets.
    [[nodiscard]] bool is_late(std::uint64_t index) const { return kept_[index].late; }
    // The description's edges, sorted by the operation that they end at.
    [[nodiscard]] std::span<const wye_edge> edges() const { return edges_; }
    [[nodiscard]] bool has_edges() const { return has_edges_; }
    [[nodiscard]] const std::string& label() const { return label_; }
    [[nodiscard]] std::uint64_t bytes() const;

  private:
    // Copies of what an operation points to, in one allocation.
    struct Kept {
        std::unique_ptr<std::byte[]> memory;
        std::span<wye_binding> described, bindings;
        std::span<std::uint64_t> params;
        wye_binding indirect = {};  // as in the description
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
        std::vector<std::size_t> indirect;  // indices of operations
        std::vector<LateBuffer> buffers;
    };

    CommandList() = default;
    [[nodiscard]] Result<void> check(const wye_operation& operation) const;
    void keep(const wye_operation& operation, wye_operation& out, Kept& kept) const;
    [[nodiscard]] Late find_late() const;
    void set_late(Late late);
    void resolve_late(const wye_execute_op& execution);

    std::string plugin_, label_;
    SizesOf sizes_ = nullptr;
    std::uint32_t flags_ = 0;
    bool has_edges_ = false;
    std::vector<wye_operation> operations_;
    std::vector<Kept> kept_;  // indexed by operation
    std::vector<wye_edge> edges_;
    Late late_;
    bool fixed_ = true;  // nothing is late
    bool only_params_ = false;
};

}  // namespace wye::sdk
