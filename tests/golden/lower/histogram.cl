// histogram
#pragma OPENCL FP_CONTRACT OFF

// bin
static uint f0(const uint v0) {
    return v0 >> 2u;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void wye_main(
    __global const uchar* restrict b0 /* data */,
    __global uint* restrict b1 /* hist */,
    const ulong l0) {
    const uint n0 = l0 < 0xffffffffu ? (uint)l0 : 0xffffffffu;
    __local uint s2[64];  // part
    const uint wg0 = (uint)get_group_id(0);
    const uint ng0 = (uint)get_num_groups(0);
    const uint lid0 = (uint)get_local_id(0);
    const uint gid0 = wg0 * 64u + lid0;
    const uint li = lid0;
    s2[li] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint v0 = ng0 * 64u;  // stride
    const uint t0 = v0 < 1u ? 1u : v0;
    const uint t1 = t0 * 4u;
    const uint t2 = t0 < 1073741824u && t1 < n0 ? n0 - t1 : 0u;
    uint t3 = gid0;
    for (; t3 < t2; t3 += t1) {  // i
        #pragma unroll
        for (uint t4 = 0u; t4 < 4u; ++t4) {
            const uint v1 = t3 + t4 * t0;
            atomic_add(&s2[f0((uint)b0[v1])], 1u);
        }
    }
    if (t3 < n0) for (;; t3 += t0) {
        const uint v1 = t3;
        atomic_add(&s2[f0((uint)b0[v1])], 1u);
        if (t0 >= (n0 - t3)) break;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint v2 = s2[li];  // n
    if (v2 != 0u) {
        atomic_add(&b1[li], v2);
    }
}
