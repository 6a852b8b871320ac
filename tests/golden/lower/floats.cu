// floats
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
template <typename T> struct alignas(2 * sizeof(T)) vec2 { T x, y; };
template <typename T> struct alignas(4 * sizeof(T)) vec4 { T x, y, z, w; };
static __device__ float wye_canonical_f32(const float a) {
    return a != a ? __uint_as_float(2143289344u) : a;
}
static __device__ float wye_min_f32(const float a, const float b) {
    float r;
    asm("min.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}
static __device__ float wye_copysign_f32(const float a, const float b) {
    const u32 s = (__float_as_uint(b) & 2147483647u) > 2139095040u ? 0u : __float_as_uint(b) & 0x80000000u;
    return __uint_as_float((__float_as_uint(a) & 2147483647u) | s);
}
static __device__ u32 wye_f32_to_u32(const float a) {
    return (u32)__float2uint_rz(a);
}
static __device__ u64 wye_f64_to_i64(const double a) {
    return a == a ? (u64)__double2ll_rz(a) : 0u;
}
static __device__ u64 wye_f32_to_i64(const float a) {
    return a == a ? (u64)__float2ll_rz(a) : 0u;
}
struct wye_params {
    float p0;  // a
    float p1;  // b
    double p2;  // c
};

extern "C" __global__ void __launch_bounds__(1) wye_main(
    float* b0 /* r */,
    u32* b1 /* q */,
    u64* b2 /* w */,
    const struct wye_params p,
    const u64 oz) {
    const float p0 = p.p0;
    const float p1 = p.p1;
    const double p2 = p.p2;
    b0[0u] = wye_canonical_f32((p0 / p1));
    b0[1u] = wye_canonical_f32(__fsqrt_rn(p0));
    b0[2u] = wye_canonical_f32(__fmaf_rn(p0, p1, 1.5f));
    b0[3u] = wye_canonical_f32(wye_min_f32(p0, p1));
    b0[4u] = wye_canonical_f32(rintf(p0));
    b0[5u] = wye_canonical_f32(wye_copysign_f32(p0, p1));
    b0[6u] = wye_canonical_f32(__uint_as_float((__float_as_uint(__uint_as_float((__float_as_uint(p0) & 2147483647u))) ^ 0x80000000u)));
    b0[7u] = wye_canonical_f32((float)__longlong_as_double((u64)__double_as_longlong(p2) | oz));
    b0[8u] = -0.0f;
    b0[9u] = wye_canonical_f32(__uint_as_float(2143289344u));
    b0[10u] = __uint_as_float(2139095040u);
    b1[0u] = wye_f32_to_u32(p0);
    b1[1u] = __float_as_uint(wye_canonical_f32(p0));
    b1[2u] = ((__float_as_uint(p0) & 2147483647u) > 2139095040u) ? 1u : 0u;
    b1[3u] = ((__float_as_uint(p1) & 2147483647u) == 2139095040u) ? 1u : 0u;
    b2[0u] = wye_f64_to_i64(p2);
    b2[1u] = wye_f32_to_i64(p0);
}
