// SPDX-License-Identifier: Apache-2.0
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const uint* restrict x, __global uint* restrict total, uint n) {
    __local uint part[256];
    const uint lane = (uint)get_local_id(0);
    uint sum = 0;
    const size_t stride = get_global_size(0);
    size_t i = get_global_id(0);
    for (; i + 7 * stride < n; i += 8 * stride) {
#pragma unroll
        for (uint j = 0; j < 8; ++j) sum += x[i + j * stride];
    }
    for (; i < n; i += stride) sum += x[i];
    part[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint middle = 128; middle != 0; middle /= 2) {
        if (lane < middle) part[lane] += part[lane + middle];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) atomic_add(total, part[0]);
}
