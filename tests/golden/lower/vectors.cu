// vectors
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
struct wye_floatx3 {
    float x, y, z;
};
static __device__ float wye_canonical_f32(const float a) {
    return a != a ? __uint_as_float(2143289344u) : a;
}

// scale
static __device__ struct wye_floatx3 f0(const float v0x, const float v0y, const float v0z, const float v1) {
    struct wye_floatx3 t0;
    t0.x = v0x * v1;
    t0.y = v0y * v1;
    t0.z = v0z * v1;
    return t0;
}

extern "C" __global__ void __launch_bounds__(64) wye_main(
    const float* __restrict__ b0 /* a */,
    const vec4<u8>* __restrict__ b1 /* b */,
    float* b2 /* r */,
    vec4<u32>* b3 /* q */,
    const u64 l0,
    const u64 l3) {
    const u32 n0 = l0 < 0xffffffffu ? (u32)l0 : 0xffffffffu;
    const u32 n3 = l3 < 0xffffffffu ? (u32)l3 : 0xffffffffu;
    const u32 wg0 = blockIdx.x;
    const u32 lid0 = threadIdx.x;
    const u32 gid0 = wg0 * 64u + lid0;
    const u32 v0 = gid0;  // i
    if (v0 < n0) {
        const float t0 = b0[(u64)v0 * 3u];
        const float t1 = b0[(u64)v0 * 3u + 1u];
        const float t2 = b0[(u64)v0 * 3u + 2u];
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
        b2[(u64)v0 * 3u] = wye_canonical_f32(v1x);
        b2[(u64)v0 * 3u + 1u] = wye_canonical_f32(v1y);
        b2[(u64)v0 * 3u + 2u] = wye_canonical_f32(v1z);
        const vec4<u8> t7 = b1[v0];
        const u32 v2x = (u32)t7.x;  // four
        const u32 v2y = (u32)t7.y;
        const u32 v2z = (u32)t7.z;
        const u32 v2w = (u32)t7.w;
        b3[v0] = vec4<u32>{((v2x > 7u) ? v2x : v2x), ((v2y > 7u) ? v2y : 1u), ((v2z > 7u) ? v2z : 2u), ((v2w > 7u) ? v2w : 3u)};
    }
    const u32 t8 = v0 + 1u;
    if (t8 < n3) b3[t8] = vec4<u32>{0u, 0u, 0u, 0u};
}
