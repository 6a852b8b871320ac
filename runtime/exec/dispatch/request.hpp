// SPDX-License-Identifier: Apache-2.0
//
// Converts the C API's dispatch description to the values that admission takes. Checks flags,
// reserved members and null pointers. Borrows the caller's memory.
#pragma once

#include <span>

#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

struct Requested {
    plan::Request request;
    // Only the first `count` are valid.
    plan::Argument storage[WYE_LIMIT_BUFFERS];
    std::size_t count;

    [[nodiscard]] std::span<plan::Argument> arguments() { return {storage, count}; }
};

// On success `out.request.arguments` points into `out`. Errors: INVALID_ARGUMENT.
[[nodiscard]] Result<void> read_request(const wye_dispatch_desc& desc, Requested& out);

}  // namespace wye::exec
