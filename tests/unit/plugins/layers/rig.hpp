// SPDX-License-Identifier: Apache-2.0
//
// Opens plugins under layers, for the tests of this folder: the harness of the conformance kit,
// with a plugin and layers that each test chooses.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "conformance/abi/harness.hpp"

namespace layer_test {

// Chooses what harness::Plugin opens from now on.
void choose(const std::string& library, const std::vector<std::string>& layers,
            std::map<std::string, std::string> config = {});

// Whether a line of the log has both texts.
[[nodiscard]] bool logs(const harness::Host& host, const std::string& first,
                        const std::string& second = {});

// A submit of one operation to the device's queue.
[[nodiscard]] inline wye_status submit_one(harness::Device& device,
                                           const wye_operation& operation) {
    return device.submit({&operation, 1});
}

}  // namespace layer_test
