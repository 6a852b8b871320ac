// SPDX-License-Identifier: Apache-2.0
//
// 32 x 32 tiles, four elements per item.
__kernel __attribute__((reqd_work_group_size(32, 8, 1)))
void run(__global const uint* restrict from, __global uint* restrict to, uint width, uint height) {
    __local uint tile[32][33];
    const uint i = (uint)get_local_id(0), k = (uint)get_local_id(1);
    const uint x = (uint)get_group_id(0) * 32 + i, y = (uint)get_group_id(1) * 32 + k;
#pragma unroll
    for (uint j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[k + j][i] = from[(y + j) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint to_x = (uint)get_group_id(1) * 32 + i, to_y = (uint)get_group_id(0) * 32 + k;
#pragma unroll
    for (uint j = 0; j < 32; j += 8)
        if (to_x < height && to_y + j < width) to[(to_y + j) * height + to_x] = tile[i][k + j];
}
