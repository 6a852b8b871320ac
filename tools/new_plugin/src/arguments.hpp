// SPDX-License-Identifier: Apache-2.0
//
// The arguments of one launch, in the order of the artifact's slots. plugin-formats.md describes
// each kind of slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "buffer.hpp"

namespace driver {

// Has copies of all values, and the addresses of buffers.
class Arguments {
  public:
    Arguments(std::span<const wye_slot> slots, std::uint32_t params_size,
              const wye_dispatch_op& op) {
        for (const wye_slot& slot : slots) {
            switch (slot.kind) {
                case WYE_SLOT_BUFFER:
                    add(op.bindings[slot.binding]);
                    break;
                case WYE_SLOT_LENGTH:
                    add(&op.bindings[slot.binding].elements, sizeof(std::uint64_t));
                    break;
                case WYE_SLOT_PARAMS:
                    add(op.params, params_size);
                    break;
                case WYE_SLOT_GRID: {
                    std::uint32_t grid[6];
                    std::memcpy(grid, op.group_offset, sizeof op.group_offset);
                    std::memcpy(grid + 3, op.logical_groups, sizeof op.logical_groups);
                    add(grid, sizeof grid);
                    break;
                }
                case WYE_SLOT_OPAQUE_ZERO: {
                    const std::uint64_t zero = 0;
                    add(&zero, sizeof zero);
                    break;
                }
                case WYE_SLOT_TRAP:
                    add(op.trap);
                    break;
            }
        }
    }

    // Returns the address of each argument: of the buffer's range, or of the copied value.
    [[nodiscard]] std::vector<void*> addresses() {
        std::vector<void*> out;
        for (Argument& argument : arguments_)
            out.push_back(argument.memory != nullptr ? argument.memory : argument.value.data());
        return out;
    }

  private:
    struct Argument {
        std::byte* memory;             // the address in a buffer; null: not a buffer
        std::vector<std::byte> value;  // the value of any other argument
    };

    void add(const wye_binding& range) {
        arguments_.push_back({buffer_of(range.buffer).at(range.offset), {}});
    }
    void add(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const std::byte*>(data);
        arguments_.push_back({nullptr, {bytes, bytes + size}});
    }

    std::vector<Argument> arguments_;
};

}  // namespace driver
