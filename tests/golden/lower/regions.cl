// regions
#pragma OPENCL FP_CONTRACT OFF
static float wye_canonical_f32(const float a) {
    return a != a ? as_float(2143289344u) : a;
}
struct wye_params {
    uint p0;  // n
};

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void wye_main(
    __global const float* restrict b0 /* x */,
    __global float* restrict b1 /* r */,
    const struct wye_params p,
    __global uint* restrict trap) {
    const uint p0 = p.p0;
    __local float s2[8];  // s
    __local uint s3[1];  // stop
    const uint wg1 = (uint)get_group_id(1);
    s3[0u] = 0u;
    float v2x[8];  // sum
    float v2y[8];  // sum
    float v2z[8];  // sum
    uint v3[32];  // seen
    bool ended[8] = {false};
    const uint v1 = p0 * 2u;  // rounds
    for (uint lid1 = 0u; lid1 < 2u; ++lid1)
    for (uint lid0 = 0u; lid0 < 4u; ++lid0) {
        const uint li = lid1 * 4u + lid0;
        v2x[li] = 0.0f;  // sum
        v2y[li] = 0.0f;
        v2z[li] = 0.0f;
        for (uint t0 = 0u; t0 < 4u; ++t0) (v3 + li * 4u)[t0] = 0u;
    }
    for (uint v4 = 0u; v4 < v1; ++v4) {  // k
        for (uint lid1 = 0u; lid1 < 2u; ++lid1)
        for (uint lid0 = 0u; lid0 < 4u; ++lid0) {
            const uint li = lid1 * 4u + lid0;
            const uint v0 = li;  // i
            s2[v0] = b0[v0] + (float)v4;
            if (v0 == v4) {
                s3[0u] = 1u;
            }
        }
        for (uint lid1 = 0u; lid1 < 2u; ++lid1)
        for (uint lid0 = 0u; lid0 < 4u; ++lid0) {
            const uint li = lid1 * 4u + lid0;
            const uint v0 = li;  // i
            v2x[li] = v2x[li] + s2[7u - v0];
            (v3 + li * 4u)[v4 & 3u] = (v3 + li * 4u)[v4 & 3u] + 1u;
        }
        const uint t1 = s3[0u];
        const uint v5 = t1;  // stopped
        if (v5 == 1u) {
            continue;
        }
        if (p0 == 77u) {
            for (uint lid1 = 0u; lid1 < 2u; ++lid1)
            for (uint lid0 = 0u; lid0 < 4u; ++lid0) {
                atomic_max(&trap[0], 3u);
                atomic_add(&trap[1], 1u);
            }
            return;
        }
    }
    if (p0 != 0u) {
        for (uint lid1 = 0u; lid1 < 2u; ++lid1)
        for (uint lid0 = 0u; lid0 < 4u; ++lid0) {
            const uint li = lid1 * 4u + lid0;
            const uint v0 = li;  // i
            if (v0 == 3u) {
                ended[li] = true;
                goto next4;
            }
            b1[v0] = (float)(v3 + li * 4u)[1u];
            next4:;
        }
    }
    for (uint lid1 = 0u; lid1 < 2u; ++lid1)
    for (uint lid0 = 0u; lid0 < 4u; ++lid0) {
        const uint gid1 = wg1 * 2u + lid1;
        const uint li = lid1 * 4u + lid0;
        const uint v0 = li;  // i
        if (ended[li]) continue;
        if (v0 == 2u) {
            goto next5;
        }
        b1[v0] = wye_canonical_f32((b1[v0] + (v2x[li] * (float)gid1)));
        next5:;
    }
}
