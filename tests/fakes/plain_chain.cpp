// SPDX-License-Identifier: Apache-2.0
//
// Has an unknown extension without the CRITICAL bit: it loads.
#include "base.hpp"

static constexpr wye_header kEntry = {sizeof kEntry, 77, nullptr};
FAKE_DESC("plain_chain", d.header.next = &kEntry)
