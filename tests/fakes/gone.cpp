// SPDX-License-Identifier: Apache-2.0
//
// The library to which needs_gone.so is linked.
extern "C" __attribute__((visibility("default"))) int wye_gone() { return 0; }
