// SPDX-License-Identifier: Apache-2.0
//
// 16-byte loads, and subgroup sums instead of a tree in shared memory. `n` is a multiple of 4.
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 256) in;
layout(binding = 0) readonly restrict buffer X { uvec4 x[]; };
layout(binding = 1) restrict buffer Total { uint total; };
layout(push_constant) uniform P { uint n; };

void main() {
    const uint quads = n / 4, stride = gl_NumWorkGroups.x * 256;
    uvec4 sums = uvec4(0);
    for (uint i = gl_GlobalInvocationID.x; i < quads; i += stride) sums += x[i];
    const uint sum = subgroupAdd(sums.x + sums.y + (sums.z + sums.w));
    if (subgroupElect()) atomicAdd(total, sum);
}
