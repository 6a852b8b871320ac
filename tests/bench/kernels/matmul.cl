// SPDX-License-Identifier: Apache-2.0
#ifndef FAST
#pragma OPENCL FP_CONTRACT OFF
#endif
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void run(__global const float* restrict a, __global const float* restrict b, __global float* restrict c, uint rows, uint inner,
           uint columns) {
    __local float a_tile[16][16], b_tile[16][16];
    const uint x = (uint)get_local_id(0), y = (uint)get_local_id(1);
    const uint row = (uint)get_group_id(1) * 16 + y, column = (uint)get_group_id(0) * 16 + x;
    float sum = 0;
    for (uint first = 0; first < inner; first += 16) {
        a_tile[y][x] = row < rows && first + x < inner ? a[row * inner + first + x] : 0.0f;
        b_tile[y][x] = first + y < inner && column < columns ? b[(first + y) * columns + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < rows && column < columns) c[row * columns + column] = sum;
}
