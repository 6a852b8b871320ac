// SPDX-License-Identifier: Apache-2.0
//
// Reads the C API's dispatch description into the values that admission takes. Checks what a C
// structure can get wrong: flags, reserved members, null pointers. Borrows the caller's memory.
#pragma once

#include <span>

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

struct Requested {
    plan::Request request;
    // Only the first `count` have meaning.
    plan::Argument storage[WYE_LIMIT_BUFFERS];
    std::size_t count;

    [[nodiscard]] std::span<plan::Argument> arguments() { return {storage, count}; }
};

// INVALID_ARGUMENT; `out.request.arguments` then points into `out`.
[[nodiscard]] Result<void> read_request(const wye_dispatch_desc& desc, Requested& out);

}  // namespace wye::exec
