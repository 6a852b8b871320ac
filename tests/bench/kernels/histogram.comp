// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 256) in;
layout(binding = 0) readonly restrict buffer Data { uint8_t data[]; };
layout(binding = 1) restrict buffer Hist { uint hist[256]; };
layout(push_constant) uniform P { uint n; };
shared uint part[256];

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const uint stride = gl_NumWorkGroups.x * 256;
    part[lane] = 0;
    barrier();
    uint i = gl_GlobalInvocationID.x;
    for (; i + 3 * stride < n; i += 4 * stride)
        [[unroll]] for (uint j = 0; j < 4; ++j) atomicAdd(part[uint(data[i + j * stride])], 1);
    for (; i < n; i += stride) atomicAdd(part[uint(data[i])], 1);
    barrier();
    const uint count = part[lane];
    if (count != 0) atomicAdd(hist[lane], count);
}
