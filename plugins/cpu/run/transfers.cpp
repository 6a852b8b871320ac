// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "cpu/buffer.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::cpu {
namespace {

constexpr std::uint64_t kSlice = std::uint64_t{16} << 20;

// Calls `move(offset, size)` for the slices of [0, size), in order or from the end.
template <typename Move>
Result<void> sliced(std::uint64_t size, const Stop& stop, bool from_the_end, Move&& move) {
    for (std::uint64_t done = 0; done < size;) {
        if (stop.requested()) return sdk::errors::cancelled();
        const std::uint64_t now = std::min(size - done, kSlice);
        move(from_the_end ? size - done - now : done, now);
        done += now;
    }
    return {};
}

// `target` and `source` may overlap.
Result<void> move_bytes(std::byte* target, const std::byte* source, std::uint64_t size,
                        const Stop& stop) {
    const bool backwards = std::less<const std::byte*>()(source, target);
    return sliced(size, stop, backwards, [&](std::uint64_t offset, std::uint64_t now) {
        std::memmove(target + offset, source + offset, now);
    });
}

}  // namespace

Result<void> run_copy(const wye_copy_op& op, const Stop& stop) {
    const std::byte* source = buffer_of(op.source).data() + op.source_offset;
    std::byte* target = buffer_of(op.target).data() + op.target_offset;
    return move_bytes(target, source, op.size, stop);
}

Result<void> run_fill(const wye_fill_op& op, const Stop& stop) {
    std::byte* target = buffer_of(op.target).data() + op.offset;
    std::byte pattern[8];
    std::memcpy(pattern, &op.pattern, sizeof pattern);
    const std::uint32_t bytes = std::clamp<std::uint32_t>(op.pattern_size, 1, 8);
    const bool same =
        std::all_of(pattern, pattern + bytes, [&](std::byte b) { return b == pattern[0]; });
    return sliced(op.size, stop, false, [&](std::uint64_t offset, std::uint64_t size) {
        std::byte* const at = target + offset;
        if (same) {
            std::memset(at, static_cast<int>(pattern[0]), size);
            return;
        }
        // Writes one pattern, then doubles the written part. Pattern sizes divide the slice size,
        // so no pattern crosses a slice boundary.
        std::uint64_t done = std::min<std::uint64_t>(bytes, size);
        std::memcpy(at, pattern, done);
        while (done < size) {
            const std::uint64_t more = std::min(done, size - done);
            std::memcpy(at + done, at, more);
            done += more;
        }
    });
}

Result<void> run_upload(const wye_transfer_op& op, const Stop& stop) {
    std::byte* target = buffer_of(op.buffer).data() + op.offset;
    return move_bytes(target, static_cast<const std::byte*>(op.source), op.size, stop);
}

Result<void> run_download(const wye_transfer_op& op, const Stop& stop) {
    const std::byte* source = buffer_of(op.buffer).data() + op.offset;
    return move_bytes(static_cast<std::byte*>(op.target), source, op.size, stop);
}

}  // namespace wye::cpu
