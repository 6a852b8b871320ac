# SPDX-License-Identifier: Apache-2.0
"""chain_kernels [SELECTOR]: squares numbers and adds them up with two kernels.

The output of the first kernel stays on the device, where the second one reads it. Only the sum is
copied back.
"""
import sys

import numpy as np
import wye

SQUARE = """
wye 1; program square; workgroup 256;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * x[i]; } }
"""
SUM = """
wye 1; program sum; workgroup 256;
input x: u32[]; output total: u32[1];
grid elements len(x);
main { let i = global_id.x; if i < len(x) { atomic_add(total[0u], x[i]); } }
"""


def main() -> None:
    with wye.Context() as context:
        device = context.device(sys.argv[1] if len(sys.argv) > 1 else "")
        square = wye.Program.from_text(SQUARE, context=context)
        add = wye.Program.from_text(SUM, context=context)
        x = np.arange(1, 1001, dtype=np.uint32)
        squares = device.buffer(x.shape, np.uint32, label="squares")
        device.run(square, x=x, r=squares)
        total = device.run(add, x=squares).total
        print(f"sum of squares: {total[0]}")


try:
    main()
except wye.Error as error:
    sys.exit(f"chain_kernels: {error}")
