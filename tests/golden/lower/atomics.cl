// atomics
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
struct wye_params {
    uint p0;  // at
};

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void wye_main(
    __global uint* restrict b0 /* a */,
    __global ulong* restrict b1 /* b */,
    const ulong l0,
    const struct wye_params p) {
    const uint m0 = l0 < 0x80000000u ? (uint)l0 : 0x80000000u;
    const uint p0 = p.p0;
    __local uint s2[40];  // s
    const uint lid0 = (uint)get_local_id(0);
    const uint li = lid0;
    s2[li] = 0u;
    if (li < 8u) s2[li + 32u] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint t0 = 0u;
    if (p0 < m0) t0 = atomic_cmpxchg(&b0[p0], 1u, 2u);
    const uint v0 = t0;  // old
    if (0u < m0) (uint)atomic_min((volatile __global int*)&b0[0u], (int)v0);
    atom_max(&b1[2u], 7ul);
    atomic_xchg(&s2[li + 8u], 3u);
    const uint t1 = p0 + 1u;
    uint t2 = 0u;
    if (t1 < m0) t2 = *(volatile __global uint*)&b0[t1];
    const uint v1 = t2;  // seen
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint t3 = s2[3u];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint v2 = t3;  // u
    b1[1u] = (ulong)(int)v1 + (ulong)v2;
}
