// SPDX-License-Identifier: Apache-2.0
//
// 16-byte loads, four at a time. `n` is a multiple of 4.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const uint4* restrict x, __global uint* restrict total, uint n) {
    __local uint part[256];
    const uint lane = (uint)get_local_id(0);
    const size_t quads = n / 4, stride = get_global_size(0);
    uint sum = 0;
#pragma unroll 4
    for (size_t i = get_global_id(0); i < quads; i += stride) {
        const uint4 v = x[i];
        sum += v.x + v.y + (v.z + v.w);
    }
    part[lane] = sum;
    for (uint below = 128; below != 0; below /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < below) part[lane] += part[lane + below];
    }
    if (lane == 0) atomic_add(total, part[0]);
}
