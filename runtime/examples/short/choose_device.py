# SPDX-License-Identifier: Apache-2.0
"""choose_device [SELECTOR]: opens the best device that can run a program, and lists all devices.

A device that the selector names is preferred.
"""
import sys

import numpy as np
import wye

# Only devices with 64-bit floating point can run this.
HALVE = """
wye 1; program halve; workgroup 64;
input x: f64[]; output r: f64[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * f64(0.5); } }
"""


def main() -> None:
    selector = sys.argv[1] if len(sys.argv) > 1 else ""
    with wye.Context() as context:
        halve = wye.Program.from_text(HALVE, context=context)
        device = context.device(selector, halve, policy="prefer")
        print(f"chosen: {device.selector}, because: {device.reason}")
        for one in context.devices():
            print(f"found: {one.selector}" + ("" if one.usable else f", unusable: {one.reason}"))
        r = device.run(halve, x=np.array([1.0, 2.0, 3.0, 4.0])).r
        print("halves:", *r.tolist())


try:
    main()
except wye.Error as error:
    sys.exit(f"choose_device: {error}")
