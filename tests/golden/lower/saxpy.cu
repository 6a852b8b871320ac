// saxpy
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
struct wye_params {
    float p0;  // a
};

extern "C" __global__ void __launch_bounds__(256) wye_main(
    const float* __restrict__ b0 /* x */,
    const float* __restrict__ b1 /* y */,
    float* b2 /* r */,
    const u64 l2,
    const struct wye_params p) {
    const u32 n2 = l2 < 0xffffffffu ? (u32)l2 : 0xffffffffu;
    const float p0 = p.p0;
    const u32 wg0 = blockIdx.x;
    const u32 lid0 = threadIdx.x;
    const u32 gid0 = wg0 * 256u + lid0;
    const u32 v0 = gid0;  // i
    if (v0 < n2) {
        b2[v0] = wye_canonical_f32(((p0 * b0[v0]) + b1[v0]));
    }
}
