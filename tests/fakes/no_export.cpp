// SPDX-License-Identifier: Apache-2.0
//
// A shared object that is no plugin.
extern "C" __attribute__((visibility("default"))) int wye_is_elsewhere() { return 0; }
