// SPDX-License-Identifier: Apache-2.0
#version 450
#ifdef FAST
#define precise
#endif
layout(local_size_x = 256) in;
layout(binding = 0) readonly restrict buffer Position { vec4 position[]; };
layout(binding = 1) readonly restrict buffer Velocity { vec4 velocity[]; };
layout(binding = 2) writeonly restrict buffer NextPosition { vec4 next_position[]; };
layout(binding = 3) writeonly restrict buffer NextVelocity { vec4 next_velocity[]; };
layout(push_constant) uniform P { float dt, softening; uint n; };
shared vec4 tile[256];

// Vulkan may round f32 division and square root incorrectly. These functions use f64, where the second rounding does no harm.
float root(float a) { return float(sqrt(double(a))); }
float quotient(float a, float b) { return float(double(a) / double(b)); }

void main() {
    const uint i = gl_GlobalInvocationID.x, lane = gl_LocalInvocationID.x;
    vec4 me = vec4(0);
    if (i < n) me = position[i];
    precise vec3 pulled = vec3(0);
    for (uint first = 0; first < n; first += 256) {
        tile[lane] = vec4(0);
        if (first + lane < n) tile[lane] = position[first + lane];
        barrier();
        for (uint k = 0; k < 256; ++k) {
            const vec4 other = tile[k];
            precise const vec3 d = other.xyz - me.xyz;
            precise const float square = d.x * d.x + d.y * d.y + d.z * d.z + softening;
#ifdef FAST
            const float inverse = inversesqrt(square), pull = other.w * (inverse * inverse * inverse);
#else
            precise const float product = square * root(square);
            precise const float pull = quotient(other.w, product);
#endif
            pulled += d * pull;
        }
        barrier();
    }
    if (i < n) {
        const vec4 v = velocity[i];
        precise const vec3 next = v.xyz + pulled * dt;
        precise const vec3 moved = me.xyz + next * dt;
        next_velocity[i] = vec4(next, v.w);
        next_position[i] = vec4(moved, me.w);
    }
}
