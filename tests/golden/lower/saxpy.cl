// saxpy
#pragma OPENCL FP_CONTRACT OFF
static float wye_canonical_f32(const float a) {
    return a != a ? as_float(2143289344u) : a;
}
struct wye_params {
    float p0;  // a
};

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void wye_main(
    __global const float* restrict b0 /* x */,
    __global const float* restrict b1 /* y */,
    __global float* restrict b2 /* r */,
    const ulong l2,
    const struct wye_params p) {
    const uint n2 = l2 < 0xffffffffu ? (uint)l2 : 0xffffffffu;
    const float p0 = p.p0;
    const uint wg0 = (uint)get_group_id(0);
    const uint lid0 = (uint)get_local_id(0);
    const uint gid0 = wg0 * 256u + lid0;
    const uint v0 = gid0;  // i
    if (v0 < n2) {
        b2[v0] = wye_canonical_f32(((p0 * b0[v0]) + b1[v0]));
    }
}
