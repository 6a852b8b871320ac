// SPDX-License-Identifier: Apache-2.0
#ifndef FAST
#pragma OPENCL FP_CONTRACT OFF
#endif
__constant uint palette[8] = {0x00641e07u, 0x00cb6b20u, 0x00ffffedu, 0x0000aaffu,
                                    0x00000200u, 0x00300a12u, 0x00a04060u, 0x00e0c0b0u};

uint channel(uint from, uint to, uint shift, uint part) {
    const uint a = from >> shift & 255, b = to >> shift & 255;
    return (a * (8 - part) + b * part) / 8 << shift;
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void run(__global uint* restrict pixels, uint width, uint height, uint limit, float left, float top, float pitch) {
    const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
    if (x >= width || y >= height) return;
    const float cr = left + (float)x * pitch, ci = top - (float)y * pitch;
    float zr = 0, zi = 0;
    uint rounds = 0;
    for (; rounds < limit; ++rounds) {
        const float rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0f) break;
        zi = (zr + zr) * zi + ci;
        zr = rr - ii + cr;
    }
    const uint from = palette[rounds / 8 % 8], to = palette[(rounds / 8 + 1) % 8], part = rounds % 8;
    const uint shade = channel(from, to, 0, part) | channel(from, to, 8, part) | channel(from, to, 16, part);
    pixels[y * width + x] = 0xff000000u | (rounds == limit ? 0 : shade);
}
