// SPDX-License-Identifier: Apache-2.0
//
// 128 x 128 tiles, 8 x 8 sums per thread, 16-byte loads. `inner` and `columns` are multiples of 4.
__device__ float4 load4(const float* __restrict__ from, unsigned row, unsigned column, unsigned rows, unsigned columns) {
    if (row < rows && column < columns) return *(const float4*)(from + (size_t)row * columns + column);
    return make_float4(0, 0, 0, 0);
}

extern "C" __global__ void __launch_bounds__(256)
    kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned inner,
           unsigned columns) {
    __shared__ __align__(16) float a_tile[8][128], b_tile[8][128];
    const unsigned x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    const unsigned row = blockIdx.y * 128, column = blockIdx.x * 128;
    const unsigned a_row = thread / 2, a_column = thread % 2 * 4, b_row = thread / 32, b_column = thread % 32 * 4;
    float sum[8][8] = {};
    for (unsigned first = 0; first < inner; first += 8) {
        const float4 u = load4(a, row + a_row, first + a_column, rows, inner);
        const float4 v = load4(b, first + b_row, column + b_column, inner, columns);
        __syncthreads();
        a_tile[a_column][a_row] = u.x;
        a_tile[a_column + 1][a_row] = u.y;
        a_tile[a_column + 2][a_row] = u.z;
        a_tile[a_column + 3][a_row] = u.w;
        *(float4*)&b_tile[b_row][b_column] = v;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) {
            float left[8], right[8];
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
                left[i] = a_tile[k][y * 4 + i];
                left[4 + i] = a_tile[k][64 + y * 4 + i];
                right[i] = b_tile[k][x * 4 + i];
                right[4 + i] = b_tile[k][64 + x * 4 + i];
            }
#pragma unroll
            for (unsigned i = 0; i < 8; ++i)
#pragma unroll
                for (unsigned j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
        }
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned r = row + i / 4 * 64 + y * 4 + i % 4;
#pragma unroll
        for (unsigned j = 0; j < 8; j += 4) {
            const unsigned s = column + j / 4 * 64 + x * 4;
            if (r < rows && s < columns)
                *(float4*)(c + (size_t)r * columns + s) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        }
    }
}
