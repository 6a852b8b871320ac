// SPDX-License-Identifier: Apache-2.0
//
// Its description has a critical chain entry that the host does not know.
#include "base.hpp"

static constexpr wye_header kEntry = {sizeof kEntry, WYE_CHAIN_CRITICAL | 77, nullptr};
FAKE_DESC("critical_chain", d.header.next = &kEntry)
