// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan plugin under the validation layer, whose every message fails the test, and the modules
// of this folder.
#pragma once

#include <doctest/doctest.h>

#include "conformance/abi/harness.hpp"

class CheckedPlugin : public harness::Plugin {
  public:
    using harness::Plugin::Plugin;
    ~CheckedPlugin() {
        close();
        for (const std::string& line : host.log())
            if (line.rfind("vulkan.validation", 0) == 0) FAIL_CHECK(line);
    }
};

// The SPIR-V words that spirv-as made from `name`.spvasm.
[[nodiscard]] std::string module_words(const std::string& name);

// The slots of the modules `slots`, `large_block` and `slow`.
inline constexpr wye_slot kSlots[] = {
    {WYE_SLOT_BUFFER, 0, 0, 1, 0, {}},       {WYE_SLOT_BUFFER, 1, 0, 3, 0, {}},
    {WYE_SLOT_LENGTH, 0, 0, 0, 0, {}},       {WYE_SLOT_LENGTH, 1, 8, 0, 0, {}},
    {WYE_SLOT_PARAMS, 0, 16, 0, 0, {}},      {WYE_SLOT_GRID, 0, 20, 0, 0, {}},
    {WYE_SLOT_OPAQUE_ZERO, 0, 48, 0, 0, {}}, {WYE_SLOT_TRAP, 0, 0, 0, 0, {}}};
inline constexpr wye_slot kLargeSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}},
                                           {WYE_SLOT_LENGTH, 0, 0, 0, 0, {}},
                                           {WYE_SLOT_PARAMS, 0, 8, 0, 0, {}}};
inline constexpr wye_slot kSlowSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}},
                                          {WYE_SLOT_PARAMS, 0, 0, 0, 0, {}}};
