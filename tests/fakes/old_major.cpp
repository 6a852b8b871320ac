// SPDX-License-Identifier: Apache-2.0
//
// Built against a major that the host does not speak.
#include "base.hpp"

FAKE_DESC("old_major", d.abi_major = WYE_ABI_MAJOR - 1)
