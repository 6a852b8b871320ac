// SPDX-License-Identifier: Apache-2.0
#include "checked.hpp"

// Validation is on in every test, synchronisation included.
const harness::Subject& harness::subject() {
    static const Subject value = {
        WYE_VULKAN_PLUGIN, WYE_FORMAT_SPIRV, {{"vulkan.validation", "1"}}};
    return value;
}
