// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(256)
    kernel(const float4* __restrict__ position, const float4* __restrict__ velocity, float4* __restrict__ next_position,
           float4* __restrict__ next_velocity, float dt, float softening, unsigned n) {
    __shared__ float4 tile[256];
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    const float4 zero = make_float4(0, 0, 0, 0);
    const float4 me = i < n ? position[i] : zero;
    float ax = 0, ay = 0, az = 0;
    for (unsigned first = 0; first < n; first += 256) {
        tile[threadIdx.x] = first + threadIdx.x < n ? position[first + threadIdx.x] : zero;
        __syncthreads();
        for (unsigned k = 0; k < 256; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const float square = dx * dx + dy * dy + dz * dz + softening;
#ifdef FAST
            const float root = rsqrtf(square), pull = other.w * (root * root * root);
#else
            const float pull = other.w / (square * sqrtf(square));
#endif
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    if (i < n) {
        const float4 v = velocity[i];
        const float vx = v.x + ax * dt, vy = v.y + ay * dt, vz = v.z + az * dt;
        next_velocity[i] = make_float4(vx, vy, vz, v.w);
        next_position[i] = make_float4(me.x + vx * dt, me.y + vy * dt, me.z + vz * dt, me.w);
    }
}
