// SPDX-License-Identifier: Apache-2.0
//
// The dispatch of known bytes that a probe runs on each device, by the public API. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "registry/json.hpp"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::probe {

// A context in which the plugin of `file`, a manifest or a library, is the only one. `request` has
// its configuration.
[[nodiscard]] Result<wye_context*> open_only(const registry::Json& request,
                                             const std::string& file);

class Checker {
  public:
    explicit Checker(wye_context* context) : context_(context) {}

    // {device, code, wrong, message}. Adds the time of its dispatches to `ns`.
    [[nodiscard]] registry::Json check(const std::string& device, std::uint64_t& ns) const;

  private:
    wye_context* context_;
};

}  // namespace wye::probe
