// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const unsigned* __restrict__ x, unsigned* __restrict__ total, unsigned n) {
    __shared__ unsigned part[256];
    const unsigned lane = threadIdx.x;
    unsigned sum = 0;
    for (unsigned i = blockIdx.x * 256 + lane; i < n; i += gridDim.x * 256) sum += x[i];
    part[lane] = sum;
    __syncthreads();
    for (unsigned half = 128; half != 0; half /= 2) {
        if (lane < half) part[lane] += part[lane + half];
        __syncthreads();
    }
    if (lane == 0) atomicAdd(total, part[0]);
}
