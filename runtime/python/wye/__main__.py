# SPDX-License-Identifier: Apache-2.0
"""Lists devices: a line each, with selector, tab and name, as `wye info --list` does.

usage: python -m wye [SELECTOR]

Devices that cannot be opened are named on standard error, with the reason. Exit status: 0 ok; 2 bad
usage; 3 no usable device.
"""
import sys

import wye


def main() -> int:
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if len(words) > 1 or words and words[0].startswith("-"):
        print("wye: `python -m wye` takes one selector or nothing\nFix: python -m wye --help",
              file=sys.stderr)
        return 2
    try:
        found = wye.devices(*words)
    except wye.Error as error:
        print(f"wye: {error}", file=sys.stderr)
        return 2 if error.code == wye.Code.INVALID_ARGUMENT else 3
    for one in found:
        if one.usable:
            print(f"{one.selector}\t{one.name}")
        else:
            print(f"wye: {one.selector} ({one.name}) cannot be used: {one.reason}\n{one.remedy}",
                  file=sys.stderr)
    return 0 if any(one.usable for one in found) else 3


if __name__ == "__main__":
    sys.exit(main())
