// SPDX-License-Identifier: Apache-2.0
//
// Has another id than its file and manifest say.
#include "base.hpp"

FAKE_DESC("somebody_else", (void)d)
