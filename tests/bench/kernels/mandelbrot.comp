// SPDX-License-Identifier: Apache-2.0
#version 450
#ifdef FAST
#define precise
#endif
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) writeonly restrict buffer Pixels { uint pixels[]; };
layout(push_constant) uniform P { uint width, height, limit; float left, top, pitch; };
const uint palette[8] = {0x00641e07u, 0x00cb6b20u, 0x00ffffedu, 0x0000aaffu, 0x00000200u, 0x00300a12u, 0x00a04060u, 0x00e0c0b0u};

uint channel(uint from, uint to, uint shift, uint part) {
    const uint a = from >> shift & 255, b = to >> shift & 255;
    return (a * (8 - part) + b * part) / 8 << shift;
}

void main() {
    const uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    if (x >= width || y >= height) return;
    precise const float cr = left + float(x) * pitch, ci = top - float(y) * pitch;
    precise float zr = 0, zi = 0;
    uint rounds = 0;
    for (; rounds < limit; ++rounds) {
        precise const float rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0) break;
        zi = (zr + zr) * zi + ci;
        zr = rr - ii + cr;
    }
    const uint from = palette[rounds / 8 % 8], to = palette[(rounds / 8 + 1) % 8], part = rounds % 8;
    const uint shade = channel(from, to, 0, part) | channel(from, to, 8, part) | channel(from, to, 16, part);
    pixels[y * width + x] = 0xff000000u | (rounds == limit ? 0 : shade);
}
