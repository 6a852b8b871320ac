// floats
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
static float wye_canonical_f32(const float a) {
    return a != a ? as_float(2143289344u) : a;
}
static float wye_min_f32(const float a, const float b) {
    return a == b ? as_float(as_uint(a) | as_uint(b)) : a < b || (as_uint(b) & 2147483647u) > 2139095040u ? a : b;
}
static float wye_round_f32(const float a) {
    const bool small = as_float(as_uint(a) & 2147483647u) < 8388608.0f;
    return small ? rint(small ? a : 0.0f) : a;
}
static float wye_copysign_f32(const float a, const float b) {
    const uint s = (as_uint(b) & 2147483647u) > 2139095040u ? 0u : as_uint(b) & 0x80000000u;
    return as_float((as_uint(a) & 2147483647u) | s);
}
static uint wye_f32_to_u32(const float a) {
    const bool ok = a > (-1.0f) && a < 4294967296.0f;
    const uint t = (uint)(ok ? a : 0.0f);
    const uint end = a > 0.0f ? 0xffffffffu : a < 0.0f ? 0u : 0u;
    return ok ? t : end;
}
static ulong wye_f64_to_i64(const double a) {
    const bool ok = a >= (-9223372036854775808.0) && a < 9223372036854775808.0;
    const ulong t = (ulong)(long)(ok ? a : 0.0);
    const ulong end = a > 0.0 ? 0x7ffffffffffffffful : a < 0.0 ? 0x8000000000000000ul : 0ul;
    return ok ? t : end;
}
static ulong wye_f32_to_i64(const float a) {
    const bool ok = a >= (-9.223372e+18f) && a < 9.223372e+18f;
    const ulong t = (ulong)(long)(ok ? a : 0.0f);
    const ulong end = a > 0.0f ? 0x7ffffffffffffffful : a < 0.0f ? 0x8000000000000000ul : 0ul;
    return ok ? t : end;
}
struct wye_params {
    float p0;  // a
    float p1;  // b
    double p2;  // c
};

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void wye_main(
    __global float* restrict b0 /* r */,
    __global uint* restrict b1 /* q */,
    __global ulong* restrict b2 /* w */,
    const struct wye_params p,
    const ulong oz) {
    const float p0 = p.p0;
    const float p1 = p.p1;
    const double p2 = p.p2;
    b0[0u] = wye_canonical_f32((float)((double)p0 / (double)p1));
    b0[1u] = wye_canonical_f32((float)sqrt((double)p0));
    b0[2u] = wye_canonical_f32(fma(p0, p1, 1.5f));
    b0[3u] = wye_canonical_f32(wye_min_f32(p0, p1));
    b0[4u] = wye_canonical_f32(wye_round_f32(p0));
    b0[5u] = wye_canonical_f32(wye_copysign_f32(p0, p1));
    b0[6u] = wye_canonical_f32(as_float((as_uint(as_float((as_uint(p0) & 2147483647u))) ^ 0x80000000u)));
    b0[7u] = wye_canonical_f32((float)as_double(as_ulong(p2) | oz));
    b0[8u] = -0.0f;
    b0[9u] = wye_canonical_f32(as_float(2143289344u));
    b0[10u] = as_float(2139095040u);
    b1[0u] = wye_f32_to_u32(p0);
    b1[1u] = as_uint(wye_canonical_f32(p0));
    b1[2u] = ((as_uint(p0) & 2147483647u) > 2139095040u) ? 1u : 0u;
    b1[3u] = ((as_uint(p1) & 2147483647u) == 2139095040u) ? 1u : 0u;
    b2[0u] = wye_f64_to_i64(p2);
    b2[1u] = wye_f32_to_i64(p0);
}
