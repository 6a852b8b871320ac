// SPDX-License-Identifier: Apache-2.0
//
// Its plugin table lacks a mandatory slot in the middle.
#include "base.hpp"

FAKE_TABLE("missing_slot", t.probe_devices = nullptr)
