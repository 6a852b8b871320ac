// SPDX-License-Identifier: Apache-2.0
//
// Keeps the contract. Must load whatever the other fakes do.
#include "base.hpp"

FAKE_DESC("healthy", (void)d)
