// SPDX-License-Identifier: Apache-2.0
//
// Keeps the contract, and must load whatever other fakes are present.
#include "base.hpp"

FAKE_DESC("healthy", (void)d)
