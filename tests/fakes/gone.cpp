// SPDX-License-Identifier: Apache-2.0
//
// The library that needs_gone.so links to.
extern "C" __attribute__((visibility("default"))) int wye_gone() { return 0; }
