// SPDX-License-Identifier: Apache-2.0
//
// Built against another draft of the ABI.
#include "base.hpp"

FAKE_DESC("other_draft", d.abi_draft = 3)
