// SPDX-License-Identifier: Apache-2.0
//
// 16-byte loads. Each group of 64 invocations has its own counts. `n` is a multiple of 16.
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 256) in;
layout(binding = 0) readonly restrict buffer Data { uvec4 data[]; };
layout(binding = 1) restrict buffer Hist { uint hist[256]; };
layout(push_constant) uniform P { uint n; };
shared uint parts[4][256];

void main() {
    const uint k = gl_LocalInvocationID.x, mine = k / 64;
    [[unroll]] for (uint i = 0; i < 4; ++i) parts[i][k] = 0;
    barrier();
    const uint blocks = n / 16, stride = gl_NumWorkGroups.x * 256;
    for (uint i = gl_GlobalInvocationID.x; i < blocks; i += stride) {
        const uvec4 v = data[i];
        [[unroll]] for (uint j = 0; j < 4; ++j)
            [[unroll]] for (uint shift = 0; shift < 32; shift += 8) atomicAdd(parts[mine][v[j] >> shift & 255], 1);
    }
    barrier();
    atomicAdd(hist[k], parts[0][k] + parts[1][k] + (parts[2][k] + parts[3][k]));
}
