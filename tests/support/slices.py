# SPDX-License-Identifier: Apache-2.0
"""The part of a test's work that this run does, as in slice.hpp."""
import os


def of_this_run(name, parts):
    """The slice of a list of work items that this run does. Prints a line that names the slice."""
    number = os.environ.get('WYE_TEST_SLICE') or '0'
    if number == 'all':
        print(f'slice: {name}, all {parts} slices')
        return slice(None)
    print(f'slice: {name}, slice {int(number) % parts} of {parts}')
    return slice(int(number) % parts, None, parts)
