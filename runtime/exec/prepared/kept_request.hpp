// SPDX-License-Identifier: Apache-2.0
//
// KeptRequest: a copy of a request whose work was prepared. It tells whether another request is the
// same. The arguments and parameters themselves are not compared: which of them may differ depends
// on the kind of prepared work. A value type. Its functions are inline, since each repeated request
// and each item of a batch is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/program/compiled_program.hpp"
#include "wye/wye.h"

namespace wye::exec {

// Whether a description has neither a time limit nor a grid in a buffer.
[[nodiscard]] inline bool is_plain_request(const wye_dispatch_desc& desc) {
    return (desc.timeout_ns | desc.grid_buffer | desc.grid_offset) == 0;
}
// A copy of the description without the flags that concern only one call.
[[nodiscard]] inline wye_dispatch_desc kept_form(const wye_dispatch_desc& desc) {
    wye_dispatch_desc out = desc;
    out.flags &= ~(WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE);
    return out;
}

class KeptRequest {
  public:
    KeptRequest() = default;  // equals no request
    explicit KeptRequest(const wye_dispatch_desc& desc)
        : desc_(desc), profile_(profile_id(desc.profile)) {}

    // Whether a request may be compared: it is plain, and its pointers are not null.
    [[nodiscard]] static bool may_be_same(const wye_dispatch_desc& desc) {
        return is_plain_request(desc) && desc.arguments != nullptr &&
               (desc.params != nullptr || desc.param_count == 0);
    }
    // Compares all members that admission reads, and the text of the profile. Header, label, queue
    // and time limit do not change the work. `desc` must have passed may_be_same.
    [[nodiscard]] bool is_same(const wye_dispatch_desc& desc) const {
        return has_same_members(desc) && profile_id(desc.profile) == profile_;
    }
    // Like `may_be_same` and `is_same` together, for a request that nobody has checked: the header,
    // the queue and the pointer to the profile must be the same, too. No text is read.
    [[nodiscard]] bool is_same_unchecked(const wye_dispatch_desc& desc) const {
        return desc.header.size == desc_.header.size && desc.header.type == desc_.header.type &&
               desc.header.next == desc_.header.next && may_be_same(desc) &&
               has_same_members(desc) && desc.queue == desc_.queue &&
               desc.profile.data == desc_.profile.data && desc.profile.size == desc_.profile.size &&
               (desc.label.data != nullptr || desc.label.size == 0);
    }
    [[nodiscard]] std::size_t argument_count() const noexcept {
        return static_cast<std::size_t>(desc_.argument_count);
    }

  private:
    [[nodiscard]] bool has_same_members(const wye_dispatch_desc& desc) const {
        using D = wye_dispatch_desc;
        const auto same = [&](std::size_t first, std::size_t end) {
            return std::memcmp(reinterpret_cast<const std::byte*>(&desc) + first,
                               reinterpret_cast<const std::byte*>(&desc_) + first,
                               end - first) == 0;
        };
        // There is no padding between these members.
        static_assert(offsetof(D, arguments) - offsetof(D, program) == 64);
        static_assert(offsetof(D, label) - offsetof(D, max_output_bytes) == 16);
        return same(offsetof(D, program), offsetof(D, arguments)) &&
               desc.argument_count == desc_.argument_count &&
               desc.param_count == desc_.param_count &&
               same(offsetof(D, max_output_bytes), offsetof(D, label));
    }

    wye_dispatch_desc desc_{};  // its pointers belong to the caller and are not dereferenced
    std::uint64_t profile_ = 0;
};

}  // namespace wye::exec
