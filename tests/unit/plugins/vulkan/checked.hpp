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

// The words of `name`.spvasm as spirv-as made them.
[[nodiscard]] std::string module_words(const std::string& name);
