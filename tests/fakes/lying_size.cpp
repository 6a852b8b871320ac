// SPDX-License-Identifier: Apache-2.0
//
// Its plugin table claims a size of four gigabytes.
#include "base.hpp"

FAKE_TABLE("lying_size", t.header.size = 0xfffffff8U)
