// SPDX-License-Identifier: Apache-2.0
//
// StagedArguments: the host arguments of one blocking dispatch that go through staging memory.
// Large ones move in chunks before and after the dispatch; those of middle size are copied at once,
// and move in the dispatch's own submit; small ones, and all without staging memory, stay uploads
// and downloads. Used by one thread, which destroys it before the workspace is given back.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "exec/device/transfer.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "wye/sdk/host_copy.hpp"

namespace wye::exec {

// Makes an upload from the block, or a download to it, a copy. Leaves other operations.
void copy_staged(wye_operation& operation, const StagingBlock& block);

class StagedArguments {
  public:
    explicit StagedArguments(Flow& flow) : flow_(flow) {}

    // Removes large transfers from the operations, and makes those of middle size copies. Adds to
    // the flow's uses what orders the chunks and the dispatch.
    void take(Operations& operations, Workspace& workspace);

    // Before the operations are submitted: reads all inputs that it took.
    [[nodiscard]] Result<void> upload();
    // Waits until the device has the large inputs.
    [[nodiscard]] Result<void> uploaded() { return up_ ? up_->finish() : Result<void>(); }
    // Behind the dispatch, which still runs. A failure is that of `download`.
    void start_download() noexcept;
    // After the dispatch and its read-backs have ended: writes all outputs that it took.
    [[nodiscard]] Result<void> download();

  private:
    // A transfer of the large ones among the operations, which it marks as taken.
    void take_large(const Operations& operations, std::size_t first, std::size_t end,
                    std::optional<ChunkedTransfer>& out, std::vector<bool>& taken);
    void take_middle(const Operations& operations, std::vector<wye_operation>& list);

    Flow& flow_;
    StagingBlock in_, out_;
    std::vector<sdk::HostCopy> inputs_, outputs_;  // by way of the blocks
    Result<void> started_;                         // of down_
    std::optional<ChunkedTransfer> up_, down_;     // of large ones; none: there are none
};

}  // namespace wye::exec
