// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 256) in;
layout(binding = 0) readonly restrict buffer X { float x[]; };
layout(binding = 1) readonly restrict buffer Y { float y[]; };
layout(binding = 2) writeonly restrict buffer R { float r[]; };
layout(push_constant) uniform P { float a; uint n; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        precise const float value = a / x[i] - sqrt(y[i]);
        r[i] = value;
    }
}
