#version 450
// SPDX-License-Identifier: Apache-2.0
layout(local_size_x = 64) in;
layout(binding = 0) buffer Words { uint words[]; };
layout(push_constant) uniform Push { uint count; };
void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) words[i] = words[i] * 1664525u + 1013904223u;
}
