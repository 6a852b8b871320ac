// SPDX-License-Identifier: Apache-2.0
//
// 32 x 32 tiles, four elements per thread.
extern "C" __global__ void __launch_bounds__(256)
    kernel(const unsigned* __restrict__ from, unsigned* __restrict__ to, unsigned width, unsigned height) {
    __shared__ unsigned tile[32][33];
    const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (unsigned j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * width + x];
    __syncthreads();
    const unsigned to_x = blockIdx.y * 32 + threadIdx.x, to_y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (unsigned j = 0; j < 32; j += 8)
        if (to_x < height && to_y + j < width) to[(to_y + j) * height + to_x] = tile[threadIdx.x][threadIdx.y + j];
}
