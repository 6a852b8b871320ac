// SPDX-License-Identifier: Apache-2.0
//
// 128 x 128 tiles, 8 x 8 sums per invocation, 16-byte loads. `inner` and `columns` are multiples of 4.
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) readonly restrict buffer A { vec4 a[]; };
layout(binding = 1) readonly restrict buffer B { vec4 b[]; };
layout(binding = 2) writeonly restrict buffer C { vec4 c[]; };
layout(push_constant) uniform P { uint rows, inner, columns; };
shared float a_tile[8][128];
shared vec4 b_tile[8][32];

void main() {
    const uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y, item = y * 16 + x;
    const uint row = gl_WorkGroupID.y * 128, column = gl_WorkGroupID.x * 128;
    const uint a_row = item / 2, a_column = item % 2 * 4, b_row = item / 32, b_column = item % 32 * 4;
    vec4 sum[8][2];
    [[unroll]] for (uint i = 0; i < 8; ++i) sum[i][0] = sum[i][1] = vec4(0);
    for (uint first = 0; first < inner; first += 8) {
        vec4 u = vec4(0), v = vec4(0);
        if (row + a_row < rows && first + a_column < inner) u = a[((row + a_row) * inner + first + a_column) / 4];
        if (first + b_row < inner && column + b_column < columns) v = b[((first + b_row) * columns + column + b_column) / 4];
        barrier();
        a_tile[a_column][a_row] = u.x;
        a_tile[a_column + 1][a_row] = u.y;
        a_tile[a_column + 2][a_row] = u.z;
        a_tile[a_column + 3][a_row] = u.w;
        b_tile[b_row][b_column / 4] = v;
        barrier();
        [[unroll]] for (uint k = 0; k < 8; ++k) {
            const vec4 low = b_tile[k][x], high = b_tile[k][16 + x];
            [[unroll]] for (uint i = 0; i < 8; ++i) {
                const float left = a_tile[k][i / 4 * 64 + y * 4 + i % 4];
                sum[i][0] = fma(vec4(left), low, sum[i][0]);
                sum[i][1] = fma(vec4(left), high, sum[i][1]);
            }
        }
    }
    [[unroll]] for (uint i = 0; i < 8; ++i) {
        const uint r = row + i / 4 * 64 + y * 4 + i % 4;
        [[unroll]] for (uint j = 0; j < 2; ++j) {
            const uint s = column + j * 64 + x * 4;
            if (r < rows && s < columns) c[(r * columns + s) / 4] = sum[i][j];
        }
    }
}
