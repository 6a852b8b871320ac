// SPDX-License-Identifier: Apache-2.0
//
// A shared object without the query function.
extern "C" __attribute__((visibility("default"))) int wye_is_elsewhere() { return 0; }
