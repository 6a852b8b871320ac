// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned rows, unsigned inner,
           unsigned columns) {
    __shared__ float a_tile[16][16], b_tile[16][16];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (unsigned first = 0; first < inner; first += 16) {
        a_tile[y][x] = row < rows && first + x < inner ? a[row * inner + first + x] : 0.0f;
        b_tile[y][x] = first + y < inner && column < columns ? b[(first + y) * columns + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
    if (row < rows && column < columns) c[row * columns + column] = sum;
}
