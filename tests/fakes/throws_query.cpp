// SPDX-License-Identifier: Apache-2.0
//
// Its query throws an exception.
#include "base.hpp"

#include <stdexcept>

FAKE_EXPORT wye_status wye_plugin_query_1(const wye_hello*, const wye_plugin_desc**) {
    throw std::runtime_error("thrown by the query");
}
