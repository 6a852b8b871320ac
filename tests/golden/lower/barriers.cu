// barriers
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

extern "C" __global__ void __launch_bounds__(16) wye_main(
    const u32* __restrict__ b0 /* x */,
    u32* b1 /* r */,
    const struct wye_params p,
    u32* trap) {
    const u32 p0 = p.p0;
    __shared__ u32 s2[16];  // s
    const u32 lid0 = threadIdx.x;
    const u32 li = lid0;
    if (p0 == 0u) {
        return;
    }
    s2[li] = b0[li];
    __syncthreads();
    for (u32 v0 = 0u; v0 < p0; ++v0) {  // i
        if (v0 == 7u) {
            break;
        }
        const u32 v1 = s2[(li + v0) % 16u];  // v
        __syncthreads();
        if (v1 == 1u) {
            s2[li] = v0;
        } else {
            if (v1 == 2u) {
                s2[li] = v1;
            }
        }
    }
    if (p0 > 3u) {
        __syncthreads();
        if (s2[li] == 5u) {
            return;
        }
        b1[li] = 1u;
    }
    if (b0[li] == 9u) {
        atomicMax(&trap[0], 1u);
        atomicAdd(&trap[1], 1u);
        return;
    }
    b1[li] = s2[15u - li];
}
