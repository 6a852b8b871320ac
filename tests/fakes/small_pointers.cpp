// SPDX-License-Identifier: Apache-2.0
//
// Its description says that it was built for 32-bit pointers.
#include "base.hpp"

FAKE_DESC("small_pointers", d.pointer_bytes = 4)
