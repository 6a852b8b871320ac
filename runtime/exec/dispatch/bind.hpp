// SPDX-License-Identifier: Apache-2.0
//
// The bind step of a dispatch: lists the operations of a launch. Buffers are named by index, since
// host arguments have no device memory yet; the submit step allocates that memory and writes the
// queue operations. Pure.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "exec/dispatch/lower.hpp"
#include "plan/launch.hpp"
#include "plan/split.hpp"
#include "route/route.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct BoundOperation {
    // CopyIn and CopyOut: copies of a range of a resident buffer to scratch memory and back.
    enum class Kind : std::uint8_t { Upload, CopyIn, Fill, Dispatch, CopyOut, ReadBack };
    Kind kind;
    std::uint32_t index;   // index of the launch's buffer; Dispatch: index of the kernel launch
    std::uint32_t box;     // Dispatch: index of the box in `split`
    std::uint64_t offset;  // in the bound range
    std::uint64_t size;
    const std::byte* source;  // Upload
    std::byte* target;        // ReadBack; null: memory of the library, which is set before submit
};

// The operations of one launch: uploads, copies in, fills, dispatches, copies out, read-backs.
// Borrows host memory.
struct BoundLaunch {
    explicit BoundLaunch(std::pmr::memory_resource* memory) : operations(memory) {}

    std::pmr::vector<BoundOperation> operations;
    // Indices of the first operation after the uploads, the first dispatch, the first operation
    // after the dispatches, and the first read-back.
    std::size_t fills = 0;
    std::size_t dispatches = 0;
    std::size_t copies_out = 0;
    std::size_t read_backs = 0;
    // Whether outputs are read back by a separate submit, after the submit of the launch.
    bool reads_apart = false;
    // The resident ranges that scratch memory replaces during the launch, with copies before and
    // after the launch. A range is moved if the device cannot bind its offset, or if a later submit
    // reads it back, since other work might change the range before that submit.
    std::bitset<WYE_LIMIT_BUFFERS> moved;
    plan::Split split;
    std::uint64_t bytes_uploaded = 0;
    std::uint64_t bytes_downloaded = 0;
    std::uint64_t bytes_filled = 0;
    std::uint64_t bytes_copied = 0;
};

// Replaces the contents of `out`. LIMIT_EXCEEDED: the grid or the iterations would take too many
// launches, or a cooperative grid would take more than one. A launch without workgroups only fills
// and copies. For a native variant all outputs are filled, since it is not known which elements the
// variant stores.
[[nodiscard]] Result<void> bind(const plan::ProgramPlan& plan, const plan::Launch& launch,
                                const route::Limits& limits, const Kernels& kernels,
                                bool reads_apart, BoundLaunch& out);

}  // namespace wye::exec
