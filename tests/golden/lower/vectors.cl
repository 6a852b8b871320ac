// vectors
#pragma OPENCL FP_CONTRACT OFF
struct wye_floatx3 {
    float x, y, z;
};
static float wye_canonical_f32(const float a) {
    return a != a ? as_float(2143289344u) : a;
}

// scale
static struct wye_floatx3 f0(const float v0x, const float v0y, const float v0z, const float v1) {
    struct wye_floatx3 t0;
    t0.x = v0x * v1;
    t0.y = v0y * v1;
    t0.z = v0z * v1;
    return t0;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void wye_main(
    __global const float* restrict b0 /* a */,
    __global const uchar4* restrict b1 /* b */,
    __global float* restrict b2 /* r */,
    __global uint4* restrict b3 /* q */,
    const ulong l0,
    const ulong l3) {
    const uint n0 = l0 < 0xffffffffu ? (uint)l0 : 0xffffffffu;
    const uint n3 = l3 < 0xffffffffu ? (uint)l3 : 0xffffffffu;
    const uint wg0 = (uint)get_group_id(0);
    const uint lid0 = (uint)get_local_id(0);
    const uint gid0 = wg0 * 64u + lid0;
    const uint v0 = gid0;  // i
    if (v0 < n0) {
        const float t0 = b0[(ulong)v0 * 3u];
        const float t1 = b0[(ulong)v0 * 3u + 1u];
        const float t2 = b0[(ulong)v0 * 3u + 2u];
        const struct wye_floatx3 t3 = f0(t0, t1, t2, 0.5f);
        float v1x = t3.x;  // v
        float v1y = t3.y;
        float v1z = t3.z;
        v1y = v1x;
        const float t4 = v1z;
        const float t5 = v1y;
        const float t6 = v1x;
        v1x = t4;
        v1y = t5;
        v1z = t6;
        b2[(ulong)v0 * 3u] = wye_canonical_f32(v1x);
        b2[(ulong)v0 * 3u + 1u] = wye_canonical_f32(v1y);
        b2[(ulong)v0 * 3u + 2u] = wye_canonical_f32(v1z);
        const uchar4 t7 = b1[v0];
        const uint v2x = (uint)t7.x;  // four
        const uint v2y = (uint)t7.y;
        const uint v2z = (uint)t7.z;
        const uint v2w = (uint)t7.w;
        b3[v0] = (uint4)(((v2x > 7u) ? v2x : v2x), ((v2y > 7u) ? v2y : 1u), ((v2z > 7u) ? v2z : 2u), ((v2w > 7u) ? v2w : 3u));
    }
    const uint t8 = v0 + 1u;
    if (t8 < n3) b3[t8] = (uint4)(0u, 0u, 0u, 0u);
}
