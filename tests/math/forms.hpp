// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a middle form of f32 on many operands at once, like a device whose +, - and * are
// exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lower/middle/forms.hpp"

namespace exhaust {

class FormRunner {
  public:
    // `fused`: whether the device's fma of f32 is exact, too, except for subnormal numbers.
    explicit FormRunner(bool fused);

    // Evaluates a form. The device's own inverse square root gives the nearest f32 plus `offset`
    // steps. A result is NaN if the form leaves it to an emulation.
    void run(wye::lower::middle::FormKey key, std::span<const std::uint32_t> a,
             std::span<const std::uint32_t> b, std::uint32_t offset,
             std::vector<std::uint32_t>& results, std::span<const std::uint32_t> c = {});

  private:
    using Lanes = std::vector<std::uint32_t>;  // a boolean is 0 or 1
    void evaluate(const wye::lower::middle::Form& form, const std::vector<const Lanes*>& operands,
                  Lanes& out);

    wye::lower::middle::Forms forms_;
    std::uint32_t offset_ = 0;
    std::size_t count_ = 0;
};

}  // namespace exhaust
