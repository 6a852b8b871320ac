// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "checked.hpp"

std::string module_words(const std::string& name) {
    std::ifstream file(std::string(WYE_VULKAN_MODULES "/") + name + ".spv", std::ios::binary);
    if (!file) throw std::runtime_error("cannot read the module " + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
