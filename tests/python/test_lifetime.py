# SPDX-License-Identifier: Apache-2.0
"""When objects are freed, and that arrays outlive the objects that they came from."""
import gc
import pathlib
import subprocess
import sys
import time
import unittest
import weakref
from unittest import mock

import numpy as np

import programs
import wye
import wye._core
import wye._library

X = np.arange(1000, dtype=np.float32)


class Recorder:
    """A wrapper of the library that records the calls that free or close something."""

    def __init__(self, lib):
        self.lib, self.calls = lib, []

    def __getattr__(self, name):
        function = getattr(self.lib, name)
        if not name.endswith(("_free", "_destroy", "_shutdown", "_unmap", "_flush")) or "error" in name:
            return function

        def noted(*arguments):
            inside = getattr(wye._core.in_callback, "value", False) and name.endswith("_destroy")
            self.calls.append(name + " in a callback" if inside else name)
            return function(*arguments)
        return noted


class Lifetimes(unittest.TestCase):
    def setUp(self):
        self.recorder = Recorder(wye._library.library())
        patch = mock.patch("wye._core.library", return_value=self.recorder)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(gc.collect)

    def make(self):
        context = wye.Context(plugins=False)
        device = context.device("cpu")
        program = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=context)
        return context, device, program

    def test_the_context_is_destroyed_last_when_nothing_refers_to_it(self):
        context, device, program = self.make()
        core = weakref.ref(context._core)
        buffer, result = device.upload(X), device.run(program, a=2.0, x=X, y=X)
        future = device.submit(program, a=2.0, x=buffer, y=X)
        future.result()
        del context, device, program
        gc.collect()
        self.assertIsNotNone(core())
        del buffer, result, future
        gc.collect()
        self.assertIsNone(core())
        self.assertEqual(self.recorder.calls.pop(), "wye_context_destroy")
        self.assertEqual(sorted(self.recorder.calls), [
            "wye_buffer_free", "wye_pending_free", "wye_pending_free", "wye_program_free"])

    def test_arrays_outlive_their_context(self):
        context, device, program = self.make()
        buffer = device.buffer(1000, np.float32, usage="shared")
        device.run(program, a=3.0, x=X, y=X, r=buffer)
        with context:
            arrays = [device.run(program, a=float(a), x=X, y=X).r[::2] for a in range(4)]
            arrays.append(buffer.map()[::2])
        self.assertNotIn("wye_context_destroy", self.recorder.calls)
        self.assertIn("wye_device_flush", self.recorder.calls)
        with self.assertRaises(wye.Error) as caught:
            device.run(program, a=1.0, x=X, y=X)
        self.assertEqual(caught.exception.code, wye.Code.SHUTTING_DOWN)
        del context, device, program, buffer
        gc.collect()
        self.assertNotIn("wye_context_destroy", self.recorder.calls)
        junk = [np.full(1000, 13, np.float32) for _ in range(50)]
        for at, one in enumerate(arrays):
            np.testing.assert_array_equal(one, ((at if at < 4 else 3) + 1) * X[::2])
        del arrays, one, junk
        gc.collect()
        self.assertEqual(self.recorder.calls[-1], "wye_context_destroy")
        self.assertEqual(self.recorder.calls.count("wye_pending_free"), 4)
        self.assertEqual(self.recorder.calls.count("wye_buffer_unmap"), 1)

    def test_close_ends_everything_at_once_if_no_array_is_left(self):
        context, device, program = self.make()
        buffer = device.upload(X)
        with context:
            device.run(program, a=1.0, x=buffer, y=X)
        self.assertIn("wye_context_shutdown", self.recorder.calls)
        context.close()
        self.assertEqual(self.recorder.calls.count("wye_context_shutdown"), 1)
        buffer.free()
        program.close()
        with self.assertRaises(wye.Error) as caught:
            buffer.download()
        self.assertEqual(caught.exception.code, wye.Code.SHUTTING_DOWN)

    def test_a_buffer_in_use_is_freed_once_its_work_has_ended(self):
        context, device, _ = self.make()
        endless = wye.Program.from_text(programs.ENDLESS, context=context)
        buffer = device.buffer(1, np.uint32)
        future = device.submit(endless, r=buffer)
        core, kept = context._core, weakref.ref(buffer)
        del buffer
        gc.collect()
        self.assertIsNotNone(kept())  # the future keeps the buffer
        handle = future._pending.handle
        core.release("wye_buffer_free", kept()._handle)  # as its finalizer does, here while the work is in flight
        self.assertEqual(len(core._refused), 1)

        class Late(type(core._refused)):
            def append(self, refusal):
                core.retry()  # as another thread may, after `_refused` was read and before `append` is called
                super().append(refusal)
        core._refused = Late(core._refused)
        core.release("wye_buffer_free", kept()._handle)
        self.assertEqual(len(core._refused), 2)
        core.call("wye_pending_cancel", handle)
        with self.assertRaises(wye.Error):
            future.result()
        core.retry()
        self.assertEqual(list(core._refused), [])

    def test_a_buffer_that_goes_away_while_files_are_read_is_freed_afterwards(self):
        context, device, _ = self.make()
        buffers = [device.buffer(64)]

        class Files(dict):
            def get(self, name):
                buffers.clear()
                return b"__kernel void k(__global uint* r) {}"
        with context:
            wye.Program.from_text(programs.VARIANT, files=Files(), context=context)
            self.assertEqual((buffers, device.counters()["buffer_bytes"]), ([], 0))

    def test_a_context_ends_after_its_own_callback(self):
        context, device, program = self.make()
        called = []
        device.submit(program, a=1.0, x=X, y=X).add_done_callback(lambda _: called.append(1))
        del context, device, program
        for _ in range(25000):
            if any("destroy" in one for one in self.recorder.calls):
                break
            time.sleep(0.01)
        self.assertEqual((called, self.recorder.calls[-1]), ([1], "wye_context_destroy"))

    def test_free_is_done_once(self):
        context, device, program = self.make()
        for _ in range(2):
            program.close()
        with device.buffer(8) as buffer:
            pass
        buffer.free()
        del buffer, program
        gc.collect()
        self.assertEqual(self.recorder.calls, ["wye_program_free", "wye_buffer_free"])
        context.close()


class EndOfTheProcess(unittest.TestCase):
    def python(self, *arguments):
        done = subprocess.run(
            [sys.executable, "-B", "-W", "ignore:This process:DeprecationWarning", *arguments],
            capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_everything_left_behind(self):
        # Global objects of every kind, work in flight, and a callback that was not called yet.
        out = self.python("-c", """
import os
import numpy as np, programs, wye
context = wye.Context(plugins=False)
device = context.device("cpu")
saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=context)
x = np.arange(1 << 20, dtype=np.float32)
buffer, mapped = device.upload(x), device.buffer(8, usage="shared").map()
r = device.run(saxpy, a=1.0, x=x, y=x).r
futures = [device.submit(saxpy, a=1.0, x=buffer, y=x) for _ in range(8)]
futures[-1].add_done_callback(lambda _: os.write(1, b"called\\n"))
device.submit(saxpy, wye.Options(borrow=True), a=1.0, x=x.copy(), y=x)
""")
        self.assertEqual(out, "called\n")

    def test_every_end_is_one_without_a_crash(self):
        self.assertEqual(self.python(pathlib.Path(__file__).with_name("endings.py")), "")

    def test_a_fork_makes_its_own_context(self):
        # During the fork, another thread of the parent holds the lock of the context.
        out = self.python("-c", """
import os, threading
import numpy as np, programs, wye
first, one = wye.Context(plugins=False), np.ones(4, np.float32)
saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=first)
device, buffer = first.device("cpu"), first.device("cpu").buffer(4)
wye.default_context()
held, over = threading.Event(), threading.Event()
def hold():
    with first._core._lock:
        held.set()
        over.wait()
threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if child == 0:
    def code(call):
        try:
            call()
        except wye.Error as error:
            return error.code.name
    run = lambda: device.run(saxpy, a=2.0, x=one, y=one)
    print(code(run), code(buffer.free), code(first.close), code(run))
    saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye")
    print(wye.default_context().device("cpu").run(saxpy, a=2.0, x=one, y=one).r.tolist(), flush=True)
else:
    status = os.waitpid(child, 0)[1]
    over.set()
    os._exit(os.waitstatus_to_exitcode(status))
""")
        self.assertEqual(out, "WRONG_OWNER None None SHUTTING_DOWN\n[3.0, 3.0, 3.0, 3.0]\n")

    def test_a_subinterpreter_is_refused(self):
        inner = "\n".join((
            "import warnings", "warnings.simplefilter('ignore')  # of numpy", "import wye",
            "try:", "    wye.Context()",
            "except wye.Error as error:", "    print(error.code.name, error, flush=True)"))
        out = self.python("-c", f"""
try:
    import _xxsubinterpreters as interpreters
    made = interpreters.create(isolated=False)
except ImportError:
    import _interpreters as interpreters
    made = interpreters.create("legacy")
interpreters.run_string(made, {inner!r})
""")
        self.assertRegex(out, "^UNSUPPORTED wye is used in a subinterpreter[.\n] ?Fix: .*\n$")


if __name__ == "__main__":
    unittest.main()
