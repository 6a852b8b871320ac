// SPDX-License-Identifier: Apache-2.0
//
// Its description has a chain of entries that forms a cycle.
#include "base.hpp"

extern const wye_header kFirst;
static constexpr wye_header kSecond = {sizeof kSecond, 78, &kFirst};
constexpr wye_header kFirst = {sizeof kFirst, 77, &kSecond};
FAKE_DESC("endless_chain", d.header.next = &kFirst)
