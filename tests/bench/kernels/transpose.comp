// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) readonly restrict buffer From { uint from[]; };
layout(binding = 1) writeonly restrict buffer To { uint to[]; };
layout(push_constant) uniform P { uint width, height; };
shared uint tile[16][17];

void main() {
    const uvec2 local = gl_LocalInvocationID.xy, at = gl_GlobalInvocationID.xy;
    if (at.x < width && at.y < height) tile[local.y][local.x] = from[at.y * width + at.x];
    barrier();
    const uvec2 goal = gl_WorkGroupID.yx * 16 + local;
    if (goal.x < height && goal.y < width) to[goal.y * height + goal.x] = tile[local.x][local.y];
}
