// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 256) in;
layout(binding = 0) readonly restrict buffer X { uint x[]; };
layout(binding = 1) restrict buffer Total { uint total; };
layout(push_constant) uniform P { uint n; };
shared uint part[256];

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const uint stride = gl_NumWorkGroups.x * 256;
    uint sum = 0;
    uint i = gl_GlobalInvocationID.x;
    for (; i + 7 * stride < n; i += 8 * stride)
        [[unroll]] for (uint j = 0; j < 8; ++j) sum += x[i + j * stride];
    for (; i < n; i += stride) sum += x[i];
    part[lane] = sum;
    barrier();
    for (uint below = 128; below != 0; below /= 2) {
        if (lane < below) part[lane] += part[lane + below];
        barrier();
    }
    if (lane == 0) atomicAdd(total, part[0]);
}
