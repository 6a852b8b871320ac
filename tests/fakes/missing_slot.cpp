// SPDX-License-Identifier: Apache-2.0
//
// A mandatory slot in the middle is null.
#include "base.hpp"

FAKE_TABLE("missing_slot", t.probe_devices = nullptr)
