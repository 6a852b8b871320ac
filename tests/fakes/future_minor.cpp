// SPDX-License-Identifier: Apache-2.0
//
// Needs a host of a later minor.
#include "base.hpp"

FAKE_DESC("future_minor", d.abi_minor = d.minor_frozen = WYE_ABI_MINOR + 3;
          d.host_minor_needed = WYE_ABI_MINOR + 2)
