// SPDX-License-Identifier: Apache-2.0
//
// Checks a device by a dispatch whose result is known, through the public API. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "registry/json.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::probe {

// Makes a context whose only plugin is that of `file`, a manifest or a library. `request` has the
// configuration of the context.
[[nodiscard]] Result<wye_context*> open_only(const registry::Json& request,
                                             const std::string& file);

class Checker {
  public:
    explicit Checker(wye_context* context) : context_(context) {}

    // Returns {device, code, wrong, message}. Adds the time of the dispatches to `ns`.
    [[nodiscard]] registry::Json check(const std::string& device, std::uint64_t& ns) const;

  private:
    wye_context* context_;
};

}  // namespace wye::probe
