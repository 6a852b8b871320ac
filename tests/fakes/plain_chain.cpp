// SPDX-License-Identifier: Apache-2.0
//
// Mentions an extension that may be skipped: it loads.
#include "base.hpp"

static constexpr wye_header kEntry = {sizeof kEntry, 77, nullptr};
FAKE_DESC("plain_chain", d.header.next = &kEntry)
