// SPDX-License-Identifier: Apache-2.0
//
// 16-byte loads. Each group of 64 items has its own counts. `n` is a multiple of 16.
void count(__local uint* part, uint word) {
    atomic_add(&part[word & 255], 1u);
    atomic_add(&part[word >> 8 & 255], 1u);
    atomic_add(&part[word >> 16 & 255], 1u);
    atomic_add(&part[word >> 24], 1u);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const uint4* restrict data, __global uint* restrict hist, uint n) {
    __local uint parts[4][256];
    const uint k = (uint)get_local_id(0);
    __local uint* const part = parts[k / 64];
#pragma unroll
    for (uint i = 0; i < 4; ++i) parts[i][k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint blocks = n / 16, stride = (uint)get_global_size(0);
    for (size_t i = get_global_id(0); i < blocks; i += stride) {
        const uint4 v = data[i];
        count(part, v.x);
        count(part, v.y);
        count(part, v.z);
        count(part, v.w);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&hist[k], parts[0][k] + parts[1][k] + (parts[2][k] + parts[3][k]));
}
