// SPDX-License-Identifier: Apache-2.0
//
// Command: a CUDA graph with one node or more per operation. Late arguments of kernels are written
// into the graph before a launch. The change affects only later launches, so earlier
// executions may be pending. Late buffers of copies and fills require a new graph. One thread at a
// time.
#pragma once

#include <memory>
#include <vector>

#include "cuda/context/grid_barrier.hpp"
#include "cuda/device.hpp"
#include "cuda/program.hpp"

namespace wye::cuda {

class Command {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Command>> create(Device& device,
                                                                 const wye_command_desc& desc);
    void describe(wye_command_info& out) const;
    // Replaces an operation; the next execution makes a new graph.
    [[nodiscard]] Result<void> update(std::uint64_t index, const wye_operation& operation);
    // Queues an execution. The context must be current.
    [[nodiscard, gnu::hot]] Result<void> launch(CUstream stream, const wye_execute_op& execution);
    // Like `launch`, but returns false in place of an error; a call of `launch` then gives the
    // error.
    [[nodiscard]] bool try_launch(CUstream stream, const wye_execute_op& execution) {
        if (list_.is_fixed() && exec_ && grid_barrier_.is_prepared()) [[likely]]
            return device_.driver.cuGraphLaunch(exec_.get(), stream) == CUDA_SUCCESS;
        return launch(stream, execution).ok();
    }

  private:
    // The nodes of an operation. `last` is an empty node if the operation has no work.
    struct Nodes {
        CUgraphNode last = nullptr;
        bool empty = true;
    };
    // A binding of an execution. A buffer is identified by its memory, since a new buffer object
    // may have the address of a destroyed one.
    struct Given {
        CUdeviceptr memory = 0;
        std::uint64_t size = 0, elements = 0;
        friend bool operator==(const Given&, const Given&) = default;
    };

    Command(Device& device, const wye_command_desc& desc, sdk::CommandList list);
    // Changes the graph as the execution requires.
    [[nodiscard]] Result<void> adapt(const wye_execute_op& execution);
    [[nodiscard]] Result<void> build(std::span<const wye_operation> operations);
    [[nodiscard]] Result<void> patch(std::span<const wye_operation> operations);
    // `barrier`: the memory of a launch's grid barrier (GridBarrier::words); 0: there is none.
    [[nodiscard]] Result<void> add(CUgraph graph, const wye_operation& operation,
                                   CUdeviceptr barrier, std::span<const CUgraphNode> after,
                                   Nodes& out) const;
    [[nodiscard]] Result<void> add_fill(CUgraph graph, const wye_fill_op& op,
                                        std::span<const CUgraphNode> after, Nodes& out) const;
    [[nodiscard]] bool has_shape_of(std::span<const wye_operation> operations) const;
    // Whether this execution has the same arguments as the previous one. Stores the arguments.
    [[nodiscard]] bool is_last(const wye_execute_op& execution);

    Device& device_;
    const Context& context_;
    sdk::CommandList list_;
    const std::uint32_t slot_count_, params_size_;
    bool late_transfers_ = false;  // whether copies or fills have late buffers
    GridBarrier grid_barrier_;     // words of each operation that has a grid barrier
    GraphHandle graph_;            // owns the nodes
    GraphExecHandle exec_;         // null: must be made before a launch
    std::vector<Nodes> nodes_;     // indexed by operation
    std::vector<Given> last_slots_;
    std::vector<std::byte> last_params_;
    bool has_last_ = false;         // whether the two members above are set
    Program::Arguments arguments_;  // of the node patched last
    std::uint64_t recordings_ = 0;
};

}  // namespace wye::cuda
