// SPDX-License-Identifier: Apache-2.0
//
// Built against the first draft of the ABI, whose description ended before `abi_draft`.
#include "base.hpp"

FAKE_DESC("first_draft", d.header.size = offsetof(wye_plugin_desc, abi_draft))
