// SPDX-License-Identifier: Apache-2.0
__constant__ unsigned palette[8] = {0x00641e07u, 0x00cb6b20u, 0x00ffffedu, 0x0000aaffu,
                                    0x00000200u, 0x00300a12u, 0x00a04060u, 0x00e0c0b0u};

__device__ unsigned channel(unsigned from, unsigned to, unsigned shift, unsigned part) {
    const unsigned a = from >> shift & 255, b = to >> shift & 255;
    return (a * (8 - part) + b * part) / 8 << shift;
}

extern "C" __global__ void __launch_bounds__(256)
    kernel(unsigned* __restrict__ pixels, unsigned width, unsigned height, unsigned limit, float left, float top, float pitch) {
    const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= width || y >= height) return;
    const float cr = left + (float)x * pitch, ci = top - (float)y * pitch;
    float zr = 0, zi = 0;
    unsigned rounds = 0;
    for (; rounds < limit; ++rounds) {
        const float rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0f) break;
        zi = (zr + zr) * zi + ci;
        zr = rr - ii + cr;
    }
    const unsigned from = palette[rounds / 8 % 8], to = palette[(rounds / 8 + 1) % 8], part = rounds % 8;
    const unsigned shade = channel(from, to, 0, part) | channel(from, to, 8, part) | channel(from, to, 16, part);
    pixels[y * width + x] = 0xff000000u | (rounds == limit ? 0 : shade);
}
