// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const unsigned char* __restrict__ data, unsigned* __restrict__ hist, unsigned n) {
    __shared__ unsigned part[256];
    part[threadIdx.x] = 0;
    __syncthreads();
    const size_t stride = gridDim.x * 256;
    size_t i = blockIdx.x * 256 + threadIdx.x;
    for (; i + 3 * stride < n; i += 4 * stride) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) atomicAdd(&part[data[i + j * stride]], 1u);
    }
    for (; i < n; i += stride) atomicAdd(&part[data[i]], 1u);
    __syncthreads();
    const unsigned count = part[threadIdx.x];
    if (count != 0) atomicAdd(&hist[threadIdx.x], count);
}
