// atomics
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
struct wye_params {
    u32 p0;  // at
};

extern "C" __global__ void __launch_bounds__(32) wye_main(
    u32* b0 /* a */,
    u64* b1 /* b */,
    const u64 l0,
    const struct wye_params p) {
    const u32 m0 = l0 < 0x80000000u ? (u32)l0 : 0x80000000u;
    const u32 p0 = p.p0;
    __shared__ u32 s2[40];  // s
    const u32 lid0 = threadIdx.x;
    const u32 li = lid0;
    s2[li] = 0u;
    if (li < 8u) s2[li + 32u] = 0u;
    __syncthreads();
    u32 t0 = 0u;
    if (p0 < m0) t0 = atomicCAS(&b0[p0], 1u, 2u);
    const u32 v0 = t0;  // old
    if (0u < m0) (u32)atomicMin((i32*)&b0[0u], (i32)v0);
    atomicMax(&b1[2u], 7ull);
    *(volatile u32*)&s2[li + 8u] = 3u;
    const u32 t1 = p0 + 1u;
    u32 t2 = 0u;
    if (t1 < m0) t2 = *(volatile u32*)&b0[t1];
    const u32 v1 = t2;  // seen
    __syncthreads();
    const u32 t3 = s2[3u];
    __syncthreads();
    const u32 v2 = t3;  // u
    b1[1u] = (u64)(i32)v1 + (u64)v2;
}
