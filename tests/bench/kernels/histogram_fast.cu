// SPDX-License-Identifier: Apache-2.0
//
// 16-byte loads. Each pair of warps has its own counts. `n` is a multiple of 16.
__device__ void count(unsigned* part, unsigned word) {
    atomicAdd(&part[word & 255], 1u);
    atomicAdd(&part[word >> 8 & 255], 1u);
    atomicAdd(&part[word >> 16 & 255], 1u);
    atomicAdd(&part[word >> 24], 1u);
}

extern "C" __global__ void __launch_bounds__(256)
    kernel(const uint4* __restrict__ data, unsigned* __restrict__ hist, unsigned n) {
    __shared__ unsigned parts[4][256];
    unsigned* const part = parts[threadIdx.x / 64];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) parts[i][threadIdx.x] = 0;
    __syncthreads();
    const unsigned blocks = n / 16, stride = gridDim.x * 256;
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < blocks; i += stride) {
        const uint4 v = data[i];
        count(part, v.x);
        count(part, v.y);
        count(part, v.z);
        count(part, v.w);
    }
    __syncthreads();
    const unsigned k = threadIdx.x;
    atomicAdd(&hist[k], parts[0][k] + parts[1][k] + (parts[2][k] + parts[3][k]));
}
