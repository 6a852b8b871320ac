// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/harness.hpp"

const harness::Subject& harness::subject() {
    static const Subject value = {WYE_OPENCL_PLUGIN, WYE_FORMAT_OPENCL_C, {}};
    return value;
}
