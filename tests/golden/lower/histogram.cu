// histogram
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

// bin
static __device__ u32 f0(const u32 v0) {
    return v0 >> 2u;
}

extern "C" __global__ void __launch_bounds__(64) wye_main(
    const u8* __restrict__ b0 /* data */,
    u32* b1 /* hist */,
    const u64 l0) {
    const u32 n0 = l0 < 0xffffffffu ? (u32)l0 : 0xffffffffu;
    __shared__ u32 s2[64];  // part
    const u32 wg0 = blockIdx.x;
    const u32 ng0 = gridDim.x;
    const u32 lid0 = threadIdx.x;
    const u32 gid0 = wg0 * 64u + lid0;
    const u32 li = lid0;
    s2[li] = 0u;
    __syncthreads();
    const u32 v0 = ng0 * 64u;  // stride
    const u32 t0 = v0 < 1u ? 1u : v0;
    const u32 t1 = t0 * 4u;
    const u32 t2 = t0 < 1073741824u && t1 < n0 ? n0 - t1 : 0u;
    u32 t3 = gid0;
    for (; t3 < t2; t3 += t1) {  // i
        #pragma unroll
        for (u32 t4 = 0u; t4 < 4u; ++t4) {
            const u32 v1 = t3 + t4 * t0;
            atomicAdd(&s2[f0((u32)b0[v1])], 1u);
        }
    }
    if (t3 < n0) for (;; t3 += t0) {
        const u32 v1 = t3;
        atomicAdd(&s2[f0((u32)b0[v1])], 1u);
        if (t0 >= (n0 - t3)) break;
    }
    __syncthreads();
    const u32 v2 = s2[li];  // n
    if (v2 != 0u) {
        atomicAdd(&b1[li], v2);
    }
}
