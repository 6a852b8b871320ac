// SPDX-License-Identifier: Apache-2.0
//
// Its plugin table ends before the last mandatory slot.
#include "base.hpp"

FAKE_TABLE("short_table", t.header.size = offsetof(wye_plugin_table, shutdown))
