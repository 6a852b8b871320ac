// SPDX-License-Identifier: Apache-2.0
//
// Says that it was built for 32 bits.
#include "base.hpp"

FAKE_DESC("small_pointers", d.pointer_bytes = 4)
