// integers
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
static __device__ u32 wye_div_i32(const u32 a, const u32 b) {
    const u32 d = b == 0u || (a == 0x80000000u && b == 0xffffffffu) ? 1u : b;
    return (u32)((i32)a / (i32)d);
}
static __device__ u32 wye_rem_i32(const u32 a, const u32 b) {
    const u32 d = b == 0u || (a == 0x80000000u && b == 0xffffffffu) ? 1u : b;
    return (u32)((i32)a % (i32)d);
}
static __device__ u32 wye_add_sat_i32(const u32 a, const u32 b) {
    const u32 r = a + b;
    return (i32)((a ^ r) & (b ^ r)) < 0 ? ((i32)a < 0 ? 0x80000000u : 2147483647u) : r;
}
static __device__ u32 wye_abs_i32(const u32 a, const u32 b) {
    return (i32)(a ^ b) < 0 ? 0u - a : a;
}
static __device__ u32 wye_min_i32(const u32 a, const u32 b) {
    return (i32)b < (i32)a ? b : a;
}
static __device__ u32 wye_ctz_i32(const u32 a) {
    return (u32)__popc(~a & (a - 1u));
}
static __device__ u64 wye_div_u64(const u64 a, const u64 b) {
    const u64 d = b == 0ull ? 1ull : b;
    return a / d;
}
static __device__ u64 wye_rotl_u64(const u64 a, const u32 b) {
    return (a << (b & 63u)) | ((a >> 1u) >> (~b & 63u));
}
static __device__ u64 wye_sub_sat_u64(const u64 a, const u64 b) {
    return a < b ? 0ull : a - b;
}
static __device__ u64 wye_reverse_bits_u64(const u64 a) {
    return (u64)__brevll(a);
}
struct wye_params {
    u32 p0;  // a
    u32 p1;  // b
    u64 p2;  // c
    u64 p3;  // d
};

extern "C" __global__ void __launch_bounds__(1) wye_main(
    u32* b0 /* r */,
    u64* b1 /* q */,
    const struct wye_params p,
    const u64 oz) {
    const u32 p0 = p.p0;
    const u32 p1 = p.p1;
    const u64 p2 = p.p2;
    const u64 p3 = p.p3;
    b0[0u] = wye_div_i32(p0, p1);
    b0[1u] = wye_rem_i32(p0, p1);
    b0[2u] = (u32)((i32)p0 / (i32)7u);
    b0[3u] = (u32)((i32)p0 % (i32)0xfffffff9u);
    b0[4u] = (u32)((i32)p0 >> (p1 & 31u));
    b0[5u] = p0 << 3u;
    b0[6u] = (u32)__mulhi((i32)p0, (i32)p1);
    b0[7u] = wye_add_sat_i32(p0, p1);
    b0[8u] = wye_abs_i32(p0, (u32)oz);
    b0[9u] = wye_min_i32(p0, p1);
    b0[10u] = wye_ctz_i32((p0 | (u32)oz));
    b0[11u] = ((i32)p0 < (i32)p1) ? (0u - p0) : (~(p1 | (u32)oz));
    b1[0u] = wye_div_u64(p2, p3);
    b1[1u] = wye_rotl_u64(p2, ((u32)p3 | (u32)oz));
    b1[2u] = wye_sub_sat_u64(p2, p3);
    b1[3u] = (u64)(i32)p0;
    b1[4u] = wye_reverse_bits_u64(p2);
    b1[5u] = ((p2 == p3) || (p2 < p3)) ? 1ull : 0ull;
    b1[6u] = (u64)(u32)__popc((u32)p2);
}
