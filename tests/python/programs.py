# SPDX-License-Identifier: Apache-2.0
"""Programs and devices that several of the tests use."""
import os
import pathlib

import wye

EXAMPLES = pathlib.Path(os.environ["WYE_TEST_SOURCE"]) / "runtime/examples/programs"

# Computes with buffers of each kind of element type; test_dispatch.py computes the same in numpy.
ELEMENTWISE = """
wye 1; program elementwise; workgroup 64;
param k: i32; param w: u64; param s: f64;
input a: i8[]; input b: u16[len(a)]; input c: f16[len(a)]; input d: i64[len(a)]; input e: f64[len(a)];
input v: f32x4[len(a)];
output p: i8[len(a)]; output q: u16[len(a)]; output t: f16[len(a)]; output u: u64[len(a)];
output x: f64[len(a)]; output y: f32x4[len(a)];
grid elements len(a);
main {
    let i = global_id.x;
    if i < len(a) {
        p[i] = a[i] * k;
        q[i] = b[i] + 7u;
        t[i] = c[i] + 1.0f16;
        u[i] = u64(d[i]) ^ w;
        x[i] = sqrt(e[i]) / s;
        y[i] = v[i] + v[i];
    }
}
"""

INCREMENT = """
wye 1; program increment; workgroup 64;
input_output x: u32[];
grid elements len(x);
main { let i = global_id.x; if i < len(x) { x[i] = x[i] + 1u; } }
"""

# z = (x + 1) * 3, which passes through y in another order.
TURN = """
wye 1; program turn; workgroup 64;
input x: u32[]; output y: u32[len(x)]; output z: u32[len(x)];
grid elements len(x);
main {
    if global_id.x < len(x) { y[global_id.x] = x[len(x) - 1u - global_id.x] + 1u; }
    grid_barrier;
    if global_id.x < len(x) { z[global_id.x] = y[len(x) - 1u - global_id.x] * 3u; }
}
"""

VARIANT = """
wye 1; program with_variant; workgroup 64;
output r: u32[64];
grid groups 1;
variant "opencl-c" entry "k" file "k.cl";
main { r[global_id.x] = 1u; }
"""

TRAP = """
wye 1; program stops; workgroup 1;
output r: u32[1];
grid groups 1;
main { if global_id.x == 0u { trap 7; } r[0u] = 1u; }
"""

# Runs until it is cancelled.
ENDLESS = """
wye 1; program endless; workgroup 1;
output r: u32[1];
grid groups 1;
main { var i = 1u; while i != 0u { i = i | 1u; } r[0u] = i; }
"""


def selectors() -> list[str]:
    """The devices to test on: the CPU, then the first of OpenCL where there is one."""
    found = {}
    for one in wye.devices("cpu,opencl:*"):
        if one.usable:
            found.setdefault(one.plugin, one.selector)
    return [found.pop("cpu"), *found.values()]
