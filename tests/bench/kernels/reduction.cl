// SPDX-License-Identifier: Apache-2.0
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const uint* restrict x, __global uint* restrict total, uint n) {
    __local uint part[256];
    const uint lane = (uint)get_local_id(0);
    uint sum = 0;
    for (uint i = (uint)get_global_id(0); i < n; i += (uint)get_global_size(0)) sum += x[i];
    part[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint middle = 128; middle != 0; middle /= 2) {
        if (lane < middle) part[lane] += part[lane + middle];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) atomic_add(total, part[0]);
}
