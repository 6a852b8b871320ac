// SPDX-License-Identifier: Apache-2.0
//
// A table that ends before its mandatory last slot.
#include "base.hpp"

FAKE_TABLE("short_table", t.header.size = offsetof(wye_plugin_table, shutdown))
