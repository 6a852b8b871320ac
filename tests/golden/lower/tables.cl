// tables
#pragma OPENCL FP_CONTRACT OFF
static float wye_canonical_f32(const float a) {
    return a != a ? as_float(2143289344u) : a;
}
__constant uint c0[8] = {  // primes
    2u, 3u, 5u, 7u, 11u, 13u, 17u, 19u,
};
__constant uint c1[4] = {  // edges
    1056964608u, 0xbf800000u, 2139095040u, 71362u,
};
struct wye_params {
    uint p0;  // n
};

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void wye_main(
    __global float* restrict b0 /* r */,
    const struct wye_params p) {
    const uint p0 = p.p0;
    __local uint s1[32] __attribute__((aligned(8)));  // t
    const uint lid0 = (uint)get_local_id(0);
    const uint li = lid0;
    const bool t0 = p0 < 8u;
    const uint t1 = c0[t0 ? p0 : 0u];
    const uint t2 = t0 ? t1 : 0u;
    const uint t3 = c0[p0 & 7u];
    s1[li * 2u] = t2;
    s1[li * 2u + 1u] = t3;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint t4 = 15u - li;
    const uint t5 = s1[t4 * 2u];
    const uint t6 = s1[t4 * 2u + 1u];
    const bool t7 = t5 < 4u;
    const float t8 = as_float(c1[t7 ? t5 : 0u]);
    b0[li] = wye_canonical_f32((t7 ? t8 : 0.0f));
}
