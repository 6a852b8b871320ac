# SPDX-License-Identifier: Apache-2.0
"""Ends interpreters in several ways, each several times at once, and prints the ways with an unexpected exit status.

Each interpreter is a child process, forked before the package did anything. Such a child ends like a newly started
interpreter, but starts much faster.
"""
import atexit
import os
import sys

early = []
atexit.register(lambda: [one() for one in early])  # runs after the handler of the package

# pylint: disable=wrong-import-position
import gc
import threading
import time

import numpy as np

import programs
import wye

x = np.arange(5000, dtype=np.float32)
kept = []  # objects that still exist when the interpreter ends
sys.setswitchinterval(1e-6)  # threads take turns as often as they can


class Objects:
    def __init__(self):
        self.context = wye.Context(plugins=False)
        self.device = self.context.device("cpu")
        self.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=self.context)

    def run(self):
        return self.device.run(self.saxpy, a=1.0, x=x, y=x).r

    def submit(self, count=20):
        for _ in range(count):
            self.device.submit(self.saxpy, a=1.0, x=x, y=x).add_done_callback(called)

    def is_refused(self):
        for call in (self.run, self.submit, self.context.counters, wye.Context, wye.info,
                     lambda: self.device.buffer(4), lambda: self.saxpy.lower("text")):
            try:
                call()
            except wye.Error as error:
                if error.code != wye.Code.SHUTTING_DOWN or "Fix: " not in str(error):
                    os._exit(91)
            else:
                os._exit(92)


def called(future):
    for _ in range(50):
        if future.result().r[-1] != 2 * x[-1]:
            os._exit(93)


def without_close(objects):
    objects.submit()


def an_exit_handler_that_was_registered_earlier(objects):
    objects.submit()
    early.append(objects.is_refused)


def arrays_left(objects):
    r, mapped = objects.run(), objects.device.buffer(8, usage="shared").map()
    early.append(lambda: (r + 1)[-1] == 2 * x[-1] + 1 and (mapped == mapped).all() or os._exit(94))
    early.append(objects.is_refused)
    objects.submit()


def a_callback_that_is_slow_to_go(objects):
    class Slow:
        def __call__(self, future):
            called(future)

        def __del__(self):
            for _ in range(100):
                time.sleep(0.001)
    kept.append(objects.run())
    objects.device.submit(objects.saxpy, a=1.0, x=x, y=x).add_done_callback(Slow())


def closed(objects):
    with objects.context:
        objects.submit()


def closed_with_arrays_left(objects):
    kept.append(objects.run())
    with objects.context:
        objects.submit()


def daemon_threads(objects):
    class Files(dict):
        def get(self, name):
            return b"".join(b"x" for _ in range(1000))

    def work(step):
        step()
        begun.wait()
        while True:
            try:
                step()
            except wye.Error as error:
                if error.code != wye.Code.SHUTTING_DOWN:
                    os._exit(95)
                time.sleep(0.001)
    begun = threading.Barrier(3)
    kept.append(objects.run())
    for step in (lambda: objects.submit(2),
                 lambda: wye.Program.from_text(programs.VARIANT, files=Files(), context=objects.context)):
        threading.Thread(target=work, args=(step,), daemon=True).start()
    begun.wait()


def its_own_status(objects):
    objects.submit()
    sys.exit(7)


class Last:
    """An object whose destructor uses a context that is destroyed already, or a device that is closed."""

    def __init__(self, objects):
        self.objects = objects

    def __del__(self):
        for call in (self.objects.context.counters, lambda: self.objects.device.buffer(4)):
            try:
                call()
            except wye.Error as error:
                if error.code == wye.Code.SHUTTING_DOWN:
                    continue
            os._exit(96)


def destructors(objects):
    inner = Last(Objects())
    del inner.objects.saxpy  # the program would keep the context alive
    inner.itself = inner
    del inner
    gc.collect()
    objects.last = Last(objects)
    kept.append(Last(objects))
    objects.submit()


WAYS = [without_close, an_exit_handler_that_was_registered_earlier, arrays_left, a_callback_that_is_slow_to_go, closed,
        closed_with_arrays_left, daemon_threads, its_own_status, destructors]
children = []
for way in WAYS * 4:
    child = os.fork()
    if child == 0:
        way(Objects())
        break
    children.append((way.__name__, child))
else:
    for name, child in children:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != (7 if name == "its_own_status" else 0):
            print(f"{name}: {status}")
