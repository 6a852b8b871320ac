// SPDX-License-Identifier: Apache-2.0
#ifndef FAST
#pragma OPENCL FP_CONTRACT OFF
#endif
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const float4* restrict x, __global const float4* restrict y, __global float4* restrict r, float a, uint n) {
    const uint i = (uint)get_global_id(0);
    if (i < n) {
        const float4 u = x[i], v = y[i];
        r[i] = (float4)(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    }
}
