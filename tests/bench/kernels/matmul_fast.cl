// SPDX-License-Identifier: Apache-2.0
//
// 128 x 128 tiles, 8 x 8 sums per item, 16-byte loads. `inner` and `columns` are multiples of 4.
float4 load4(__global const float* restrict from, uint row, uint column, uint rows, uint columns) {
    if (row < rows && column < columns) return *(__global const float4*)(from + (size_t)row * columns + column);
    return (float4)(0);
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void run(__global const float* restrict a, __global const float* restrict b, __global float* restrict c, uint rows,
         uint inner, uint columns) {
    __local float a_tile[8][128], b_tile[8][128];
    const uint x = (uint)get_local_id(0), y = (uint)get_local_id(1), item = y * 16 + x;
    const uint row = (uint)get_group_id(1) * 128, column = (uint)get_group_id(0) * 128;
    const uint a_row = item / 2, a_column = item % 2 * 4, b_row = item / 32, b_column = item % 32 * 4;
    float sum[8][8];
#pragma unroll
    for (uint i = 0; i < 8; ++i)
#pragma unroll
        for (uint j = 0; j < 8; ++j) sum[i][j] = 0;
    for (uint first = 0; first < inner; first += 8) {
        const float4 u = load4(a, row + a_row, first + a_column, rows, inner);
        const float4 v = load4(b, first + b_row, column + b_column, inner, columns);
        barrier(CLK_LOCAL_MEM_FENCE);
        a_tile[a_column][a_row] = u.x;
        a_tile[a_column + 1][a_row] = u.y;
        a_tile[a_column + 2][a_row] = u.z;
        a_tile[a_column + 3][a_row] = u.w;
        vstore4(v, 0, &b_tile[b_row][b_column]);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < 8; ++k) {
            float left[8], right[8];
#pragma unroll
            for (uint i = 0; i < 4; ++i) {
                left[i] = a_tile[k][y * 4 + i];
                left[4 + i] = a_tile[k][64 + y * 4 + i];
                right[i] = b_tile[k][x * 4 + i];
                right[4 + i] = b_tile[k][64 + x * 4 + i];
            }
#pragma unroll
            for (uint i = 0; i < 8; ++i)
#pragma unroll
                for (uint j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
        }
    }
#pragma unroll
    for (uint i = 0; i < 8; ++i) {
        const uint r = row + i / 4 * 64 + y * 4 + i % 4;
#pragma unroll
        for (uint j = 0; j < 8; j += 4) {
            const uint s = column + j / 4 * 64 + x * 4;
            if (r < rows && s < columns)
                *(__global float4*)(c + (size_t)r * columns + s) = (float4)(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        }
    }
}
