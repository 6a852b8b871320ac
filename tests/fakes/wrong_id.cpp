// SPDX-License-Identifier: Apache-2.0
//
// Its id differs from the name of its file and from the id in its manifest.
#include "base.hpp"

FAKE_DESC("somebody_else", (void)d)
