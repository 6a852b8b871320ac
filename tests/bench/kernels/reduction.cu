// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const unsigned* __restrict__ x, unsigned* __restrict__ total, unsigned n) {
    __shared__ unsigned part[256];
    const unsigned lane = threadIdx.x;
    unsigned sum = 0;
    const size_t stride = gridDim.x * 256;
    size_t i = blockIdx.x * 256 + lane;
    for (; i + 7 * stride < n; i += 8 * stride) {
#pragma unroll
        for (unsigned j = 0; j < 8; ++j) sum += x[i + j * stride];
    }
    for (; i < n; i += stride) sum += x[i];
    part[lane] = sum;
    __syncthreads();
    for (unsigned half = 128; half != 0; half /= 2) {
        if (lane < half) part[lane] += part[lane + half];
        __syncthreads();
    }
    if (lane == 0) atomicAdd(total, part[0]);
}
