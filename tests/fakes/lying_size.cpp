// SPDX-License-Identifier: Apache-2.0
//
// A table that claims four gigabytes.
#include "base.hpp"

FAKE_TABLE("lying_size", t.header.size = 0xfffffff8U)
