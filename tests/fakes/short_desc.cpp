// SPDX-License-Identifier: Apache-2.0
//
// Its description ends before the member `table`.
#include "base.hpp"

FAKE_DESC("short_desc", d.header.size = offsetof(wye_plugin_desc, table))
