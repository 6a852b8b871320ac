// SPDX-License-Identifier: Apache-2.0
#ifndef FAST
#pragma OPENCL FP_CONTRACT OFF
#endif
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const float* restrict x, __global const float* restrict y, __global float* restrict r, float a, uint n) {
    const uint i = (uint)get_global_id(0);
    if (i < n) r[i] = a / x[i] - sqrt(y[i]);
}
