// SPDX-License-Identifier: Apache-2.0
//
// Its init throws an exception.
#include "base.hpp"

#include <stdexcept>

static wye_status init(const wye_host_table*, std::uint32_t, wye_plugin_object**, wye_error**) {
    throw std::runtime_error("thrown by init");
}
FAKE_TABLE("throws_init", t.init = init)
