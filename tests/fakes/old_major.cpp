// SPDX-License-Identifier: Apache-2.0
//
// Built against another major version, which the host does not support.
#include "base.hpp"

FAKE_DESC("old_major", d.abi_major = WYE_ABI_MAJOR - 1)
