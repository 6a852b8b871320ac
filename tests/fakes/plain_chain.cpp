// SPDX-License-Identifier: Apache-2.0
//
// Its description has an unknown chain entry that is not critical, so it must load.
#include "base.hpp"

static constexpr wye_header kEntry = {sizeof kEntry, 77, nullptr};
FAKE_DESC("plain_chain", d.header.next = &kEntry)
