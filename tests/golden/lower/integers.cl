// integers
#pragma OPENCL FP_CONTRACT OFF
static uint wye_div_i32(const uint a, const uint b) {
    const uint d = b == 0u || (a == 0x80000000u && b == 0xffffffffu) ? 1u : b;
    return (uint)((int)a / (int)d);
}
static uint wye_rem_i32(const uint a, const uint b) {
    const uint d = b == 0u || (a == 0x80000000u && b == 0xffffffffu) ? 1u : b;
    return (uint)((int)a % (int)d);
}
static uint wye_add_sat_i32(const uint a, const uint b) {
    const uint r = a + b;
    return (int)((a ^ r) & (b ^ r)) < 0 ? ((int)a < 0 ? 0x80000000u : 2147483647u) : r;
}
static uint wye_abs_i32(const uint a, const uint b) {
    return (int)(a ^ b) < 0 ? 0u - a : a;
}
static uint wye_min_i32(const uint a, const uint b) {
    return (int)b < (int)a ? b : a;
}
static uint wye_ctz_i32(const uint a) {
    return popcount(~a & (a - 1u));
}
static ulong wye_div_u64(const ulong a, const ulong b) {
    const ulong d = b == 0ul ? 1ul : b;
    return a / d;
}
static ulong wye_rotl_u64(const ulong a, const uint b) {
    return (a << (b & 63u)) | ((a >> 1u) >> (~b & 63u));
}
static ulong wye_sub_sat_u64(const ulong a, const ulong b) {
    return a < b ? 0ul : a - b;
}
static ulong wye_reverse_bits_u64(const ulong a) {
    const ulong t1 = ((a >> 1u) & 0x5555555555555555ul) | ((a & 0x5555555555555555ul) << 1u);
    const ulong t2 = ((t1 >> 2u) & 0x3333333333333333ul) | ((t1 & 0x3333333333333333ul) << 2u);
    const ulong t3 = ((t2 >> 4u) & 0xf0f0f0f0f0f0f0ful) | ((t2 & 0xf0f0f0f0f0f0f0ful) << 4u);
    const ulong t4 = ((t3 >> 8u) & 0xff00ff00ff00fful) | ((t3 & 0xff00ff00ff00fful) << 8u);
    const ulong t5 = ((t4 >> 16u) & 0xffff0000fffful) | ((t4 & 0xffff0000fffful) << 16u);
    return ((t5 >> 32u) & 0xfffffffful) | ((t5 & 0xfffffffful) << 32u);
}
struct wye_params {
    uint p0;  // a
    uint p1;  // b
    ulong p2;  // c
    ulong p3;  // d
};

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void wye_main(
    __global uint* restrict b0 /* r */,
    __global ulong* restrict b1 /* q */,
    const struct wye_params p,
    const ulong oz) {
    const uint p0 = p.p0;
    const uint p1 = p.p1;
    const ulong p2 = p.p2;
    const ulong p3 = p.p3;
    b0[0u] = wye_div_i32(p0, p1);
    b0[1u] = wye_rem_i32(p0, p1);
    b0[2u] = (uint)((int)p0 / (int)7u);
    b0[3u] = (uint)((int)p0 % (int)0xfffffff9u);
    b0[4u] = (uint)((int)p0 >> (p1 & 31u));
    b0[5u] = p0 << 3u;
    b0[6u] = (uint)mul_hi((int)p0, (int)p1);
    b0[7u] = wye_add_sat_i32(p0, p1);
    b0[8u] = wye_abs_i32(p0, (uint)oz);
    b0[9u] = wye_min_i32(p0, p1);
    b0[10u] = wye_ctz_i32((p0 | (uint)oz));
    b0[11u] = ((int)p0 < (int)p1) ? (0u - p0) : (~(p1 | (uint)oz));
    b1[0u] = wye_div_u64(p2, p3);
    b1[1u] = wye_rotl_u64(p2, ((uint)p3 | (uint)oz));
    b1[2u] = wye_sub_sat_u64(p2, p3);
    b1[3u] = (ulong)(int)p0;
    b1[4u] = wye_reverse_bits_u64(p2);
    b1[5u] = ((p2 == p3) || (p2 < p3)) ? 1ul : 0ul;
    b1[6u] = (ulong)popcount((uint)p2);
}
