// SPDX-License-Identifier: Apache-2.0
//
// Converts the C API's dispatch description to the input of admission. Checks flags, reserved
// members and null pointers. Borrows the caller's memory.
#pragma once

#include <cstddef>
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
    bool defers = false;        // the caller waits neither for the end nor for a compile
    bool copies_out = false;    // asynchronous: owned outputs are copied to the caller at the end
};

struct Requested {
    plan::Request request;
    // Only the first `count` elements are valid.
    plan::Argument storage[WYE_LIMIT_BUFFERS];
    std::size_t count;

    [[nodiscard]] std::span<plan::Argument> arguments() { return {storage, count}; }
};

// On success `out.request.arguments` points into `out`. Errors: INVALID_ARGUMENT.
[[nodiscard]] Result<void> read_request(const wye_dispatch_desc& desc, const RequestRules& rules,
                                        Requested& out);

}  // namespace wye::exec
