// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const unsigned* __restrict__ from, unsigned* __restrict__ to, unsigned width, unsigned height) {
    __shared__ unsigned tile[16][17];
    const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = from[y * width + x];
    __syncthreads();
    const unsigned to_x = blockIdx.y * 16 + threadIdx.x, to_y = blockIdx.x * 16 + threadIdx.y;
    if (to_x < height && to_y < width) to[to_y * height + to_x] = tile[threadIdx.x][threadIdx.y];
}
