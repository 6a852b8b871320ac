// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const unsigned char* __restrict__ data, unsigned* __restrict__ hist, unsigned n) {
    __shared__ unsigned part[256];
    part[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&part[data[i]], 1u);
    __syncthreads();
    const unsigned count = part[threadIdx.x];
    if (count != 0) atomicAdd(&hist[threadIdx.x], count);
}
