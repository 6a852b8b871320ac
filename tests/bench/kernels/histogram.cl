// SPDX-License-Identifier: Apache-2.0
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const uchar* restrict data, __global uint* restrict hist, uint n) {
    __local uint part[256];
    const uint lane = (uint)get_local_id(0);
    part[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const size_t stride = get_global_size(0);
    size_t i = get_global_id(0);
    for (; i + 3 * stride < n; i += 4 * stride) {
#pragma unroll
        for (uint j = 0; j < 4; ++j) atomic_add(&part[data[i + j * stride]], 1u);
    }
    for (; i < n; i += stride) atomic_add(&part[data[i]], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = part[lane];
    if (count != 0) atomic_add(&hist[lane], count);
}
