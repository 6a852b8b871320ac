// SPDX-License-Identifier: Apache-2.0
//
// 32 x 32 tiles, four elements per invocation.
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 32, local_size_y = 8) in;
layout(binding = 0) readonly restrict buffer From { uint from[]; };
layout(binding = 1) writeonly restrict buffer To { uint to[]; };
layout(push_constant) uniform P { uint width, height; };
shared uint tile[32][33];

void main() {
    const uvec2 local = gl_LocalInvocationID.xy;
    const uvec2 at = gl_WorkGroupID.xy * 32 + local, goal = gl_WorkGroupID.yx * 32 + local;
    [[unroll]] for (uint j = 0; j < 32; j += 8)
        if (at.x < width && at.y + j < height) tile[local.y + j][local.x] = from[(at.y + j) * width + at.x];
    barrier();
    [[unroll]] for (uint j = 0; j < 32; j += 8)
        if (goal.x < height && goal.y + j < width) to[(goal.y + j) * height + goal.x] = tile[local.x][local.y + j];
}
