// SPDX-License-Identifier: Apache-2.0
//
// StagedArguments: the host arguments of one blocking dispatch that go through staging memory.
// Large arguments move in chunks before and after the dispatch; arguments of medium size are copied
// to staging memory and move in the dispatch's own submit; small arguments remain uploads and
// downloads, as do all arguments if there is no staging memory. Used by one thread, which destroys
// this object before it gives back the workspace.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "exec/device/transfer.hpp"
#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/operations.hpp"
#include "wye/sdk/host_copy.hpp"

namespace wye::exec {

// Turns an upload from the block, or a download to it, into a copy. Leaves other operations
// unchanged.
void copy_staged(wye_operation& operation, const StagingBlock& block);

class StagedArguments {
  public:
    explicit StagedArguments(Flow& flow) : flow_(flow) {}

    // Removes large transfers from the operations, and turns medium transfers into copies. Adds to
    // the flow's uses the history that orders the chunks and the dispatch.
    void take(Operations& operations, Workspace& workspace);

    // Called before the operations are submitted: reads all inputs that `take` took.
    [[nodiscard]] Result<void> upload();
    // Waits until the device has received the large inputs.
    [[nodiscard]] Result<void> uploaded() { return up_ ? up_->finish() : Result<void>(); }
    // Submits the first chunks of large outputs, behind the running dispatch. `download` returns
    // the failures of this call.
    void start_download() noexcept;
    // Called after the dispatch and its read-backs have ended: writes all outputs that `take` took.
    [[nodiscard]] Result<void> download();

  private:
    // Adds the large transfers among the operations from `first` to `end` to `out`, and marks these
    // operations as taken. If there is no staging memory, takes none.
    void take_large(const Operations& operations, std::size_t first, std::size_t end,
                    std::optional<ChunkedTransfer>& out, std::vector<bool>& taken);
    void take_middle(const Operations& operations, std::vector<wye_operation>& list);

    Flow& flow_;
    StagingBlock in_, out_;
    std::vector<sdk::HostCopy> inputs_, outputs_;  // copies to and from the blocks
    Result<void> started_;                         // result of starting `down_`
    std::optional<ChunkedTransfer> up_, down_;     // of large arguments; empty: there are none
};

}  // namespace wye::exec
