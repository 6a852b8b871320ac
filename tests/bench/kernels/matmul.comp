// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) readonly restrict buffer A { float a[]; };
layout(binding = 1) readonly restrict buffer B { float b[]; };
layout(binding = 2) writeonly restrict buffer C { float c[]; };
layout(push_constant) uniform P { uint rows, inner, columns; };
shared float a_tile[16][16], b_tile[16][16];

void main() {
    const uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    const uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
    precise float sum = 0;
    for (uint first = 0; first < inner; first += 16) {
        a_tile[y][x] = 0;
        if (row < rows && first + x < inner) a_tile[y][x] = a[row * inner + first + x];
        b_tile[y][x] = 0;
        if (first + y < inner && column < columns) b_tile[y][x] = b[(first + y) * columns + column];
        barrier();
        for (uint k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x];
        barrier();
    }
    if (row < rows && column < columns) c[row * columns + column] = sum;
}
