// barriers
#pragma OPENCL FP_CONTRACT OFF
struct wye_params {
    uint p0;  // n
};

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void wye_main(
    __global const uint* restrict b0 /* x */,
    __global uint* restrict b1 /* r */,
    const struct wye_params p,
    __global uint* restrict trap) {
    const uint p0 = p.p0;
    __local uint s2[16];  // s
    const uint lid0 = (uint)get_local_id(0);
    const uint li = lid0;
    if (p0 == 0u) {
        return;
    }
    s2[li] = b0[li];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint v0 = 0u; v0 < p0; ++v0) {  // i
        if (v0 == 7u) {
            break;
        }
        const uint v1 = s2[(li + v0) % 16u];  // v
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (v1 == 1u) {
            s2[li] = v0;
        } else {
            if (v1 == 2u) {
                s2[li] = v1;
            }
        }
    }
    if (p0 > 3u) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (s2[li] == 5u) {
            return;
        }
        b1[li] = 1u;
    }
    if (b0[li] == 9u) {
        atomic_max(&trap[0], 1u);
        atomic_add(&trap[1], 1u);
        return;
    }
    b1[li] = s2[15u - li];
}
