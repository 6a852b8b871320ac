// folded
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
struct wye_grid {
    u32 o0, o1, o2, n0, n1, n2;
};

extern "C" __global__ void __launch_bounds__(8) wye_main(
    vec2<u32>* b0 /* r */,
    const u64 l0,
    const struct wye_grid grid) {
    const u32 n0 = l0 < 0xffffffffu ? (u32)l0 : 0xffffffffu;
    const u64 linear = blockIdx.x + (u64)gridDim.x * (blockIdx.y + (u64)gridDim.y * blockIdx.z) + grid.o0 + (u64)grid.n0 * (grid.o1 + (u64)grid.n1 * grid.o2);
    if (linear >= (u64)grid.n0 * grid.n1 * grid.n2) return;
    const u32 wg0 = (u32)(linear % grid.n0);
    const u32 lid0 = threadIdx.x;
    const u32 gid0 = wg0 * 4u + lid0;
    const u32 wg1 = (u32)(linear / grid.n0 % grid.n1);
    const u32 lid1 = threadIdx.y;
    const u32 ng2 = grid.n2;
    const u32 li = lid0 + lid1 * 4u;
    if (gid0 < n0) b0[gid0] = vec2<u32>{wg1, (ng2 * li)};
}
