// tables
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
static __constant__ u32 c0[8] = {  // primes
    2u, 3u, 5u, 7u, 11u, 13u, 17u, 19u,
};
static __constant__ u32 c1[4] = {  // edges
    1056964608u, 0xbf800000u, 2139095040u, 71362u,
};
struct wye_params {
    u32 p0;  // n
};

extern "C" __global__ void __launch_bounds__(16) wye_main(
    float* b0 /* r */,
    const struct wye_params p) {
    const u32 p0 = p.p0;
    __shared__ __align__(8) u32 s1[32];  // t
    const u32 lid0 = threadIdx.x;
    const u32 li = lid0;
    const bool t0 = p0 < 8u;
    const u32 t1 = c0[t0 ? p0 : 0u];
    const u32 t2 = t0 ? t1 : 0u;
    const u32 t3 = c0[p0 & 7u];
    s1[li * 2u] = t2;
    s1[li * 2u + 1u] = t3;
    __syncthreads();
    const u32 t4 = 15u - li;
    const u32 t5 = s1[t4 * 2u];
    const u32 t6 = s1[t4 * 2u + 1u];
    const bool t7 = t5 < 4u;
    const float t8 = __uint_as_float(c1[t7 ? t5 : 0u]);
    b0[li] = wye_canonical_f32((t7 ? t8 : 0.0f));
}
