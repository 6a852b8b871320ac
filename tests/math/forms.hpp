// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a middle form of f32 on many operands at once, as a device with exact + - * does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lower/middle/forms.hpp"

namespace exhaust {

class FormRunner {
  public:
    // `fused`: whether the device's fma of f32 is exact too, but for subnormal numbers.
    explicit FormRunner(bool fused);

    // The inverse square root that the device's own instruction gives is the nearest f32 plus
    // `offset` steps. A result that the form leaves to an emulation is NaN.
    void run(wye::lower::middle::FormKey key, std::span<const std::uint32_t> a,
             std::span<const std::uint32_t> b, std::uint32_t offset,
             std::vector<std::uint32_t>& results, std::span<const std::uint32_t> c = {});

  private:
    using Lanes = std::vector<std::uint32_t>;  // booleans are 0 or 1
    void evaluate(const wye::lower::middle::Form& form, const std::vector<const Lanes*>& operands,
                  Lanes& out);

    wye::lower::middle::Forms forms_;
    std::uint32_t offset_ = 0;
    std::size_t count_ = 0;
};

}  // namespace exhaust
