// folded
#pragma OPENCL FP_CONTRACT OFF
struct wye_grid {
    uint o0, o1, o2, n0, n1, n2;
};

__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void wye_main(
    __global uint2* restrict b0 /* r */,
    const ulong l0,
    const struct wye_grid grid) {
    const uint n0 = l0 < 0xffffffffu ? (uint)l0 : 0xffffffffu;
    const ulong linear = (uint)get_group_id(0) + (ulong)(uint)get_num_groups(0) * ((uint)get_group_id(1) + (ulong)(uint)get_num_groups(1) * (uint)get_group_id(2)) + grid.o0 + (ulong)grid.n0 * (grid.o1 + (ulong)grid.n1 * grid.o2);
    if (linear >= (ulong)grid.n0 * grid.n1 * grid.n2) return;
    const uint wg0 = (uint)(linear % grid.n0);
    const uint lid0 = (uint)get_local_id(0);
    const uint gid0 = wg0 * 4u + lid0;
    const uint wg1 = (uint)(linear / grid.n0 % grid.n1);
    const uint lid1 = (uint)get_local_id(1);
    const uint ng2 = grid.n2;
    const uint li = lid0 + lid1 * 4u;
    if (gid0 < n0) b0[gid0] = (uint2)(wg1, (ng2 * li));
}
