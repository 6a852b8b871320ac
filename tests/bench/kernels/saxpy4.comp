// SPDX-License-Identifier: Apache-2.0
#version 450
#ifdef FAST
#define precise
#endif
layout(local_size_x = 256) in;
layout(binding = 0) readonly restrict buffer X { vec4 x[]; };
layout(binding = 1) readonly restrict buffer Y { vec4 y[]; };
layout(binding = 2) writeonly restrict buffer R { vec4 r[]; };
layout(push_constant) uniform P { float a; uint n; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        precise const vec4 value = a * x[i] + y[i];
        r[i] = value;
    }
}
