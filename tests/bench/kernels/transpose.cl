// SPDX-License-Identifier: Apache-2.0
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void run(__global const uint* restrict from, __global uint* restrict to, uint width, uint height) {
    __local uint tile[16][17];
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    if (x < width && y < height) tile[(uint)get_local_id(1)][(uint)get_local_id(0)] = from[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint to_x = (uint)get_group_id(1) * 16 + (uint)get_local_id(0), to_y = (uint)get_group_id(0) * 16 + (uint)get_local_id(1);
    if (to_x < height && to_y < width) to[to_y * height + to_x] = tile[(uint)get_local_id(0)][(uint)get_local_id(1)];
}
