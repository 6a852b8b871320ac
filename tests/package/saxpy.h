/* SPDX-License-Identifier: Apache-2.0
 *
 * The program and the data of the applications that use the installed package, and the host's own
 * result. */
#ifndef WYE_TESTS_SAXPY_H
#define WYE_TESTS_SAXPY_H

enum { kCount = 1000 };

static const char kSaxpy[] =
    "wye 1; program saxpy; workgroup 64; param a: f32;\n"
    "input x: f32[]; input y: f32[len(x)]; output r: f32[len(x)];\n"
    "grid elements len(x);\n"
    "main { let i = global_id.x; if i < len(r) { r[i] = a * x[i] + y[i]; } }\n";

static inline void fill_inputs(float* x, float* y) {
    for (int i = 0; i < kCount; ++i) {
        x[i] = 1.0F * (i % 97);
        y[i] = 0.25F * (i % 89);
    }
}

/* These values need no rounding. */
static inline int count_wrong(const float* x, const float* y, const float* r) {
    int wrong = 0;
    for (int i = 0; i < kCount; ++i) wrong += r[i] != 2.0F * x[i] + y[i];
    return wrong;
}

#endif
