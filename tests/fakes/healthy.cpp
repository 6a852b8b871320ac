// SPDX-License-Identifier: Apache-2.0
//
// Keeps the contract; the others must not keep it from loading.
#include "base.hpp"

FAKE_DESC("healthy", (void)d)
