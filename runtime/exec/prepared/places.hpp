// SPDX-License-Identifier: Apache-2.0
//
// Places: finds the index of a handle in a list without duplicates. A recording looks up every
// buffer of every step, so this is a hash table with open addressing; a short list is searched from
// its beginning instead. One thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "registry/hold/ownership.hpp"

namespace wye::exec {

class Places {
  public:
    using Handles = std::span<const registry::Handle>;
    static constexpr std::uint32_t kNone = UINT32_MAX;

    // The index of a handle in the list; kNone: the list does not have it.
    [[nodiscard]] std::uint32_t find(registry::Handle handle, Handles list) const {
        if (table_.empty()) {
            for (std::size_t i = 0; i < list.size(); ++i)
                if (list[i] == handle) return static_cast<std::uint32_t>(i);
            return kNone;
        }
        return table_[room_of(handle, list)];
    }
    // Called after a handle that was not in the list was appended to the list.
    void added(Handles list) {
        constexpr std::size_t kFew = 4;
        if (list.size() <= kFew) return;
        const bool grows = table_.size() < 2 * list.size();
        if (grows) table_.assign(std::bit_ceil(4 * list.size()), kNone);
        for (std::size_t i = grows ? 0 : list.size() - 1; i < list.size(); ++i)
            table_[room_of(list[i], list)] = static_cast<std::uint32_t>(i);
    }
    // Called after the list was emptied.
    void clear() { table_.clear(); }

  private:
    // The index in the table of the handle's entry, or else of the empty entry that the handle
    // would take. The low bits of a handle need no hash: they are the handle's slot number, which
    // no other live handle has.
    [[nodiscard]] std::size_t room_of(registry::Handle handle, Handles list) const {
        const std::size_t mask = table_.size() - 1;
        std::size_t at = static_cast<std::size_t>(handle) & mask;
        while (table_[at] != kNone && list[table_[at]] != handle) at = (at + 1) & mask;
        return at;
    }

    std::vector<std::uint32_t> table_;  // indices into the list; the size is 0 or a power of two
};

}  // namespace wye::exec
