// SPDX-License-Identifier: Apache-2.0
//
// Its id differs from that of its file and manifest.
#include "base.hpp"

FAKE_DESC("somebody_else", (void)d)
