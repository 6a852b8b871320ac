# SPDX-License-Identifier: Apache-2.0
"""lost_device [SELECTOR]: continues after the loss of a device.

The data on the device is lost, so the work begins again from host data: on the same device if it
can be opened again, else on the CPU.
"""
import sys

import numpy as np
import wye

DOUBLE = """
wye 1; program double; workgroup 64;
input x: u32[]; output r: u32[len(x)];
grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * 2u; } }
"""


def reopen(context: wye.Context, lost: wye.Device, tries: int) -> wye.Device:
    if tries == 1:
        try:
            return context.device(lost.selector)  # reopens it; the old Device stays lost
        except wye.Error as error:
            print("it cannot be opened again:", error, file=sys.stderr)
    return context.device("cpu")


def main() -> None:
    with wye.Context() as context:
        double = wye.Program.from_text(DOUBLE, context=context)
        device = context.device(sys.argv[1] if len(sys.argv) > 1 else "", double)
        x = np.array([1, 2, 3], dtype=np.uint32)
        for tries in range(1, 5):
            try:
                r = device.run(double, x=device.upload(x)).r
                break
            except wye.Error as error:
                if error.code != wye.Code.DEVICE_LOST or tries == 4:
                    raise
                print("lost:", error.message, file=sys.stderr)
                device = reopen(context, device, tries)
        print(f"doubled on {device.selector}:", *r.tolist())


try:
    main()
except wye.Error as error:
    sys.exit(f"lost_device: {error}")
