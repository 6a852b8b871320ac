// control
#pragma OPENCL FP_CONTRACT OFF
struct wye_params {
    uint p0;  // n
};

__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void wye_main(
    __global const uint* restrict b0 /* x */,
    __global uint* restrict b1 /* r */,
    const ulong l0,
    const struct wye_params p,
    __global uint* restrict trap) {
    const uint m0 = l0 < 0x80000000u ? (uint)l0 : 0x80000000u;
    const uint p0 = p.p0;
    const uint lid0 = (uint)get_local_id(0);
    const uint li = lid0;
    uint v0 = 0u;  // sum
    uint v1[4];  // seen
    for (uint t0 = 0u; t0 < 4u; ++t0) v1[t0] = 0u;
    for (uint v2 = p0; (int)v2 < (int)100u; v2 += 3u) {  // i
        if (v2 == 7u) {
            continue;
        }
        v1[v2 & 3u] = v2;
        v0 = v0 + v2;
    }
    for (;;) {
        if (!((int)v0 > (int)1000u)) break;
        const bool t1 = v0 < m0;
        const uint t2 = b0[t1 ? v0 : 0u];
        v0 = v0 - (t1 ? t2 : 0u);
        if (v0 == 5u) {
            break;
        } else {
            if (v0 == 6u) {
                atomic_max(&trap[0], 42u);
                atomic_add(&trap[1], 1u);
                return;
            }
        }
    }
    const bool t3 = p0 < 4u;
    const uint t4 = v1[t3 ? p0 : 0u];
    b1[li] = v0 + (t3 ? t4 : 0u);
}
