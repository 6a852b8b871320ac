// SPDX-License-Identifier: Apache-2.0
//
// Command: a list of operations. An execution enqueues them one by one. Each dispatch has a kernel
// object whose fixed arguments are set once. Equal dispatches in a row share one kernel object, so
// that a long execution reads less memory. One thread at a time.
//
// `cl_khr_command_buffer` is not used: NVIDIA's driver lacks it, and PoCL's is slower than this
// list.
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

    // The number of driver commands in the last execution; nothing if there was no execution yet,
    // or if a grid is late, since the number may then vary.
    [[nodiscard]] std::optional<std::uint64_t> enqueues() const {
        return list_.has_late_grid() ? std::nullopt : enqueues_;
    }
    // Whether the only operation is a dispatch.
    [[nodiscard]] bool is_one_dispatch() const {
        return nodes_.size() == 1 && list_.operations().front().kind == WYE_OPERATION_DISPATCH;
    }
    void count(std::uint64_t enqueues) { enqueues_ = enqueues; }
    // The operations of an execution; valid until the next call.
    [[nodiscard]] std::span<const wye_operation> resolve(const wye_execute_op& execution) {
        return list_.resolve(execution);
    }
    // The length of the run of equal dispatches that begins with this operation: 0 within a run, 1
    // for any operation but a dispatch.
    [[nodiscard]] std::uint64_t run_from(std::uint64_t index) const { return nodes_[index].run; }
    // Enqueues one of the resolved operations: a dispatch of at least one workgroup that is the
    // first of its run.
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
        std::uint64_t run = 1;  // number of equal dispatches from here on; 0: not first in a run
        Kernel kernel;          // set for a dispatch if `run` is not 0
        std::vector<MemoryHandle> ranges;  // sub-buffers in the kernel's fixed arguments
        bool set = false;                  // whether the kernel's arguments are set for good
        Program::Range range;              // of the launch; valid if `set`
    };

    explicit Command(sdk::CommandList list) : list_(std::move(list)) {}
    // Whether the operation and the one before it are equal dispatches with fixed arguments.
    [[nodiscard]] bool is_repeated(std::uint64_t index) const;
    // Makes the kernel object of a node.
    [[nodiscard]] Result<void> prepare(std::uint64_t index);
    // Splits the run of equal dispatches that contains the operation. The operation begins a run.
    [[nodiscard]] Result<void> split(std::uint64_t index);
    [[nodiscard]] Result<void> set_and_launch(std::uint64_t index, const wye_dispatch_op& op,
                                              cl_command_queue queue, const Order& order);

    sdk::CommandList list_;
    std::vector<Node> nodes_;  // indexed by operation
    std::optional<std::uint64_t> enqueues_;
};

}  // namespace wye::opencl
