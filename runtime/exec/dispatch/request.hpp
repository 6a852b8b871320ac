// SPDX-License-Identifier: Apache-2.0
//
// Converts the C API's dispatch description to the input of admission. Checks flags, reserved
// members and null pointers. Borrows the caller's memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

// What a request may contain, depending on how it is dispatched.
struct RequestRules {
    std::uint32_t flags = 0;    // allowed WYE_DISPATCH_* flags besides those that every call allows
    bool asynchronous = false;  // without WYE_DISPATCH_BORROW the library owns the outputs' storage
    bool waits = false;         // the caller waits, so inputs are not copied
    bool defers = false;        // the caller waits neither for its end nor for a compile
    bool copies_out = false;    // asynchronous: the caller copies outputs to its storage at the end
};

struct Requested {
    plan::Request request;
    // Only the first `count` are valid.
    plan::Argument storage[WYE_LIMIT_BUFFERS];
    std::size_t count;

    [[nodiscard]] std::span<plan::Argument> arguments() { return {storage, count}; }
};

// On success `out.request.arguments` points into `out`. Errors: INVALID_ARGUMENT.
[[nodiscard]] Result<void> read_request(const wye_dispatch_desc& desc, const RequestRules& rules,
                                        Requested& out);

// Whether a description has neither a time limit nor a grid in a buffer.
[[nodiscard]] inline bool is_plain_request(const wye_dispatch_desc& desc) {
    return (desc.timeout_ns | desc.grid_buffer | desc.grid_offset) == 0;
}
// Whether all members of two plain requests that admission reads are equal, except for what their
// pointers point to. The header and the label, which do not change the work, are not compared, nor
// is the profile.
[[nodiscard]] inline bool same_request(const wye_dispatch_desc& a, const wye_dispatch_desc& b) {
    using D = wye_dispatch_desc;
    const auto same = [&](std::size_t first, std::size_t end) {
        return std::memcmp(reinterpret_cast<const std::byte*>(&a) + first,
                           reinterpret_cast<const std::byte*>(&b) + first, end - first) == 0;
    };
    // There is no padding between these members.
    static_assert(offsetof(D, arguments) - offsetof(D, program) == 64);
    static_assert(offsetof(D, label) - offsetof(D, max_output_bytes) == 16);
    return same(offsetof(D, program), offsetof(D, arguments)) &&
           a.argument_count == b.argument_count && a.param_count == b.param_count &&
           same(offsetof(D, max_output_bytes), offsetof(D, label));
}

}  // namespace wye::exec
