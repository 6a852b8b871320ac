#version 450
// SPDX-License-Identifier: Apache-2.0
// The workgroups form rows, since drivers may allow only 65535 workgroups along one axis.
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer R { uint r[]; };
layout(push_constant) uniform Push { uint count; };
void main() {
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint i = group * 256u + gl_LocalInvocationID.x;
    if (i < count) r[i] = x[i] + 1u;
}
