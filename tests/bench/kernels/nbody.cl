// SPDX-License-Identifier: Apache-2.0
#ifndef FAST
#pragma OPENCL FP_CONTRACT OFF
#endif
// Correctly rounded f32 results: from the driver, or from f64, where the second rounding does no harm.
#ifdef EXACT
float root(float a) { return sqrt(a); }
float quotient(float a, float b) { return a / b; }
#else
float root(float a) { return (float)sqrt((double)a); }
float quotient(float a, float b) { return (float)((double)a / (double)b); }
#endif

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void run(__global const float4* restrict position, __global const float4* restrict velocity, __global float4* restrict next_position,
           __global float4* restrict next_velocity, float dt, float softening, uint n) {
    __local float4 tile[256];
    const uint lane = (uint)get_local_id(0);
    const uint i = (uint)get_global_id(0);
    const float4 zero = (float4)(0, 0, 0, 0);
    const float4 me = i < n ? position[i] : zero;
    float ax = 0, ay = 0, az = 0;
    for (uint first = 0; first < n; first += 256) {
        tile[lane] = first + lane < n ? position[first + lane] : zero;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 256; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const float square = dx * dx + dy * dy + dz * dz + softening;
#ifdef FAST
            const float inverse = native_rsqrt(square), pull = other.w * (inverse * inverse * inverse);
#else
            const float pull = quotient(other.w, square * root(square));
#endif
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        const float4 v = velocity[i];
        const float vx = v.x + ax * dt, vy = v.y + ay * dt, vz = v.z + az * dt;
        next_velocity[i] = (float4)(vx, vy, vz, v.w);
        next_position[i] = (float4)(me.x + vx * dt, me.y + vy * dt, me.z + vz * dt, me.w);
    }
}
