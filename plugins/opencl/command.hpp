// SPDX-License-Identifier: Apache-2.0
//
// Command: a list of operations. An execution enqueues them one by one. Each dispatch has a kernel
// object whose fixed arguments are set once. Equal dispatches in a row share one, which keeps the
// memory small that a long execution reads. One thread at a time.
//
// `cl_khr_command_buffer` is not used: NVIDIA's driver lacks it, and PoCL's is slower than this.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "opencl/program.hpp"

namespace wye::opencl {

class Command {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Command>> create(Device& device,
                                                                 const wye_command_desc& desc);
    void describe(wye_command_info& out) const;
    [[nodiscard]] Result<void> update(std::uint64_t index, const wye_operation& operation);

    // The number of driver commands in the last execution; none if grids are late, as it may vary.
    [[nodiscard]] std::optional<std::uint64_t> enqueues() const {
        return list_.has_late_grid() ? std::nullopt : enqueues_;
    }
    // Whether the only operation is a dispatch.
    [[nodiscard]] bool is_one_dispatch() const {
        return nodes_.size() == 1 && list_.operations().front().kind == WYE_OPERATION_DISPATCH;
    }
    void count(std::uint64_t enqueues) { enqueues_ = enqueues; }
    // The operations of an execution, until the next call.
    [[nodiscard]] std::span<const wye_operation> resolve(const wye_execute_op& execution) {
        return list_.resolve(execution);
    }
    // The number of equal dispatches from this one on, if it is the first of them.
    [[nodiscard]] std::uint64_t run_from(std::uint64_t index) const { return nodes_[index].run; }
    // Enqueues one of these operations, a dispatch of at least one workgroup and the first of its
    // run.
    [[nodiscard, gnu::always_inline]] Result<void> launch(std::uint64_t index,
                                                          const wye_dispatch_op& op,
                                                          cl_command_queue queue,
                                                          const Order& order) {
        const Node& node = nodes_[index];
        if (!node.set) [[unlikely]]
            return set_and_launch(index, op, queue, order);
        return program_of(op.program).enqueue(node.kernel, queue, node.range, order);
    }

  private:
    struct Node {
        std::uint64_t run = 1;  // equal dispatches from this one on; 0: an earlier one counts it
        Kernel kernel;          // of a dispatch, if `run` is not 0
        std::vector<MemoryHandle> ranges;  // sub-buffers that its fixed arguments refer to
        bool set = false;                  // whether its arguments are set, which are then fixed
        Program::Range range;              // fixed as well; valid if `set`
    };

    explicit Command(sdk::CommandList list) : list_(std::move(list)) {}
    // Whether the operation and the one before it are equal dispatches with fixed arguments.
    [[nodiscard]] bool is_repeated(std::uint64_t index) const;
    // Makes the kernel object of a node.
    [[nodiscard]] Result<void> prepare(std::uint64_t index);
    // Makes the operation the first of its run.
    [[nodiscard]] Result<void> split(std::uint64_t index);
    [[nodiscard]] Result<void> set_and_launch(std::uint64_t index, const wye_dispatch_op& op,
                                              cl_command_queue queue, const Order& order);

    sdk::CommandList list_;
    std::vector<Node> nodes_;  // indexed by operation
    std::optional<std::uint64_t> enqueues_;
};

}  // namespace wye::opencl
