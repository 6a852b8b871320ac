// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ r, float a, unsigned n) {
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) r[i] = a / x[i] - sqrtf(y[i]);
}
