// control
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
    u32 p0;  // n
};

extern "C" __global__ void __launch_bounds__(8) wye_main(
    const u32* __restrict__ b0 /* x */,
    u32* b1 /* r */,
    const u64 l0,
    const struct wye_params p,
    u32* trap) {
    const u32 m0 = l0 < 0x80000000u ? (u32)l0 : 0x80000000u;
    const u32 p0 = p.p0;
    const u32 lid0 = threadIdx.x;
    const u32 li = lid0;
    u32 v0 = 0u;  // sum
    u32 v1[4];  // seen
    for (u32 t0 = 0u; t0 < 4u; ++t0) v1[t0] = 0u;
    for (u32 v2 = p0; (i32)v2 < (i32)100u; v2 += 3u) {  // i
        if (v2 == 7u) {
            continue;
        }
        v1[v2 & 3u] = v2;
        v0 = v0 + v2;
    }
    for (;;) {
        asm volatile("");
        if (!((i32)v0 > (i32)1000u)) break;
        const bool t1 = v0 < m0;
        const u32 t2 = b0[t1 ? v0 : 0u];
        v0 = v0 - (t1 ? t2 : 0u);
        if (v0 == 5u) {
            break;
        } else {
            if (v0 == 6u) {
                atomicMax(&trap[0], 42u);
                atomicAdd(&trap[1], 1u);
                return;
            }
        }
    }
    const bool t3 = p0 < 4u;
    const u32 t4 = v1[t3 ? p0 : 0u];
    b1[li] = v0 + (t3 ? t4 : 0u);
}
