# SPDX-License-Identifier: Apache-2.0
"""Refused calls, and the texts of their errors."""
import copy
import os
import pathlib
import pickle
import socket
import tempfile
import threading
import time
import unittest

import numpy as np

import programs
import wye
from wye import Code


def outputs_error(outputs):
    try:
        return outputs["R"]
    except wye.Error as error:
        return error


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = wye.Context(plugins=False)
        cls.device = cls.context.device("cpu")
        cls.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=cls.context)

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def refused(self, code, words, function, *arguments, **named):
        with self.assertRaises(wye.Error) as caught:
            function(*arguments, **named)
        error = caught.exception
        self.assertEqual(error.code, code, str(error))
        self.assertIn(words, error.message)
        self.assertTrue(error.remedy.startswith("Fix: "), error.remedy)
        self.assertIn(error.remedy, str(error))
        return error

    def saxpy_refused(self, words, **changes):
        one = np.ones(4, np.float32)
        error = self.refused(Code.INVALID_ARGUMENT, words, self.device.run, self.saxpy,
                             **{"a": 2.0, "x": one, "y": one, **changes})
        return error

    def test_arrays_that_would_be_copied(self):
        x = np.arange(8, dtype=np.float32)
        error = self.saxpy_refused("not contiguous", x=x[::2])
        self.assertIn("ascontiguousarray", error.remedy)
        self.saxpy_refused("not contiguous", x=np.ones((2, 4), np.float32).T)
        self.saxpy_refused("byte order", x=np.ones(4, ">f4"))
        self.saxpy_refused("elements of type float64", x=np.ones(4))
        self.saxpy_refused("elements of type uint8", x=np.ones(16, np.uint8))
        self.saxpy_refused("is a list", r=[1.0, 2.0, 3.0, 4.0])
        self.saxpy_refused("not contiguous", r=np.zeros(8, np.float32)[::2])

    def test_memory_that_cannot_be_used(self):
        fixed = np.zeros(4, np.float32)
        fixed.flags.writeable = False
        self.saxpy_refused("read-only", r=fixed)
        self.saxpy_refused("read-only", r=bytes(16))

        class OnDevice:
            def __dlpack__(self, **_):
                raise AssertionError("asked for a capsule")

            def __dlpack_device__(self):
                return (2, 0)
        self.saxpy_refused("memory of a device", x=OnDevice())

    def test_arguments_that_do_not_fit_the_program(self):
        self.saxpy_refused("no parameter or buffer `z`", z=1)
        one = np.ones(4, np.float32)
        error = self.refused(Code.INVALID_ARGUMENT, "it takes a: f32, x: f32[], y: f32[], and gives r: f32[]",
                             self.device.run, self.saxpy, a=2.0, x=one, Y=one)
        self.assertIn("did you mean `y`", error.remedy)
        self.assertIn("wye.Options(timeout=...)", self.saxpy_refused("buffer `timeout`", timeout=1).remedy)
        error = self.refused(Code.INVALID_ARGUMENT, "no option `timout`", wye.Options, timout=1)
        self.assertIn("did you mean `timeout`", error.remedy)
        self.saxpy_refused("`r`", r=np.zeros(5, np.float32))
        self.saxpy_refused("is 'two'", a="two")
        one = np.ones(4, np.float32)
        self.refused(Code.INVALID_ARGUMENT, "`y` of program `saxpy` is not given",
                     self.device.run, self.saxpy, a=1.0, x=one)
        self.refused(Code.INVALID_ARGUMENT, "parameter `a`", self.device.run, self.saxpy, x=one, y=one)
        self.saxpy_refused("not both read and written", x=wye.InOut(one))
        error = self.saxpy_refused("is a buffer of int32", x=self.device.buffer(4, np.int32))
        self.assertIn("make the buffer of float32", error.remedy)

    def test_the_ranges_of_parameters(self):
        program = wye.Program.from_text(
            "wye 1; program ranges; workgroup 1; param i: i32; param u: u32; output r: u32[2]; "
            "grid groups 1; main { r[0u] = bitcast<u32>(i); r[1u] = u; }", context=self.context)
        for i, u in ((-2**31, 2**32 - 1), (2**31 - 1, 0), (np.int8(-1), np.uint16(9))):
            got = self.device.run(program, i=i, u=u).r
            np.testing.assert_array_equal(got, np.array([i, u]).astype(np.uint32))
        for name, value in (("i", 2**31), ("i", -2**31 - 1), ("u", -1), ("u", 2**32), ("u", 1.5)):
            self.refused(Code.INVALID_ARGUMENT, f"parameter `{name}`", self.device.run, program,
                         **{"i": 0, "u": 0, name: value})

    def test_errors_of_the_library(self):
        error = self.refused(Code.INVALID_TEXT, "broken.wye:1:", wye.Program.from_text,
                             "wye 1; program ;", name="broken.wye", context=self.context)
        self.assertIsInstance(error, Exception)
        error = self.refused(Code.NO_DEVICE, "", self.context.device, "opencl:99")
        self.assertTrue(str(error))
        self.refused(Code.UNKNOWN_KEY, "", self.device.fact, "no such fact")
        self.refused(Code.IO, "nowhere.wye", wye.Program.from_file, "/nowhere.wye",
                     context=self.context)
        with self.assertRaises(wye.Error) as caught:
            wye.Context(config={"transfer.no_such": "1"})
        self.assertIn("transfer.no_such", caught.exception.message)

    def test_another_context(self):
        with wye.Context(plugins=False) as other:
            one = np.ones(4, np.float32)
            self.refused(Code.WRONG_OWNER, "another context", other.device("cpu").run, self.saxpy,
                         a=1.0, x=one, y=one)

    def test_what_was_freed(self):
        program = wye.Program.from_text(programs.INCREMENT, context=self.context)
        program.close()
        program.close()
        self.refused(Code.STALE_HANDLE, "", self.device.run, program, x=np.ones(4, np.uint32))
        with self.device.buffer(16) as buffer:
            buffer.fill(1)
        self.refused(Code.STALE_HANDLE, "", buffer.download)

    def test_each_error_is_the_exception_of_python_that_fits(self):
        one = np.ones(4, np.float32)
        outputs = self.device.run(self.saxpy, a=2.0, x=one, y=one)
        cpu, = self.context.devices("cpu:0")
        calls = [
            ((ValueError, TypeError), wye.ArgumentError, lambda: self.device.run(self.saxpy, a="2", x=one, y=one)),
            (ValueError, wye.ProgramError, lambda: wye.Program.from_text("wye 1;", context=self.context)),
            (KeyError, wye.NotFoundError, lambda: outputs["R"]),
            (AttributeError, wye.NotFoundError, lambda: outputs.R),
            (KeyError, wye.NotFoundError, lambda: cpu["max_workgroup_siz"]),
            (AttributeError, wye.NotFoundError, lambda: cpu.max_workgroup_siz),
            (LookupError, wye.NotFoundError, lambda: self.device.fact("no such fact")),
            (OSError, wye.FileError, lambda: wye.Program.from_file("/nowhere.wye", context=self.context)),
            (RuntimeError, wye.DeviceError, lambda: self.context.device("opencl:99")),
            (TypeError, wye.ArgumentError, lambda: wye.Program("wye 1;")), (TypeError, wye.ArgumentError, lambda: wye.Device("cpu"))]
        for python, kind, call in calls:
            with self.assertRaises(kind) as caught:
                call()
            for one_kind in python if isinstance(python, tuple) else (python,):
                self.assertIsInstance(caught.exception, one_kind)
            self.assertTrue(caught.exception.remedy.startswith("Fix: "))
        self.assertIn("did you mean `r`", outputs_error(outputs).remedy)
        self.assertFalse(hasattr(cpu, "nothing_of_that_name"))
        for code in [*Code, Code(4711)]:
            error = wye.Error(code, "message", "Fix: remedy", "subject", native_code=7)
            for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error), error._again()):
                self.assertIs(type(copied), type(error))
                self.assertEqual((str(copied), copied.args, copied.native_code),
                                 ("message\nFix: remedy", (code, "message", "Fix: remedy", "subject"), 7))
        self.assertIsInstance(wye.Error(Code.TIMEOUT, "", ""), TimeoutError)
        self.assertIsInstance(wye.Error(Code.DEVICE_MEMORY, "", ""), MemoryError)

    def test_unknown_codes_are_kept(self):
        self.assertEqual((Code(4711), Code(4711).name), (4711, "UNKNOWN_4711"))

    def test_special_files(self):
        def read(path):
            return wye.Program.from_file(path, context=self.context)
        text = (programs.EXAMPLES / "saxpy.wye").read_bytes()
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
            pipe, listening = f"{folder}/pipe", f"{folder}/socket"
            os.mkfifo(pipe)
            server.bind(listening)
            self.refused(Code.INVALID_ARGUMENT, "pipe into which nothing writes", read, pipe)
            self.refused(Code.INVALID_ARGUMENT, "no regular file", read, "/dev/zero")
            self.refused(Code.IO, listening, read, listening)
            self.refused(Code.IO, "directory", read, folder)

        def write(end):
            time.sleep(0.1)
            with os.fdopen(end, "wb") as file:
                file.write(text)
        out, end = os.pipe()
        writer = threading.Thread(target=write, args=[end])
        writer.start()
        try:
            self.assertEqual(read(f"/dev/fd/{out}").fingerprint, self.saxpy.fingerprint)
        finally:
            writer.join()
            os.close(out)

    def test_names_that_are_no_text(self):
        shown = "\\x1b[2J\\xff\\xe2\\x80\\xae.wye"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, os.fsdecode(b"\x1b[2J\xff\xe2\x80\xae.wye"))
            absent = self.refused(Code.IO, shown, wye.Program.from_file, path, context=self.context)
            self.assertIn(shown, str(absent))
            pathlib.Path(path).write_text("wye 1; program ;")
            with self.assertRaises(wye.Error) as caught:
                wye.Program.from_file(path, context=self.context)
            self.assertIn(f"{shown}:1:16: ", str(caught.exception))
        one = np.ones(4, np.float32)
        error = self.refused(Code.INVALID_ARGUMENT, "no parameter", self.device.run, self.saxpy,
                             **{"a": 2.0, "x": one, "y": one, "\x1b[2J\u202e\ud800": 1})
        self.assertIn("`\\x1b[2J\\xe2\\x80\\xae\\xed\\xa0\\x80`", str(error))

    def test_files_of_variants(self):
        text = programs.VARIANT
        self.refused(Code.INVALID_PROGRAM, "k.cl", wye.Program.from_text, text, context=self.context)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "v.wye"
            path.write_text(text)
            self.refused(Code.NOT_FOUND, "k.cl", wye.Program.from_file, path, context=self.context)
            source = b"__kernel void k(__global uint* r) {}"
            (pathlib.Path(folder) / "k.cl").write_bytes(source)
            from_file = wye.Program.from_file(path, context=self.context)
            (pathlib.Path(folder) / "k.cl").unlink()
            os.mkfifo(pathlib.Path(folder) / "k.cl")
            self.refused(Code.INVALID_ARGUMENT, "no regular file", wye.Program.from_file, path,
                         context=self.context)
            (pathlib.Path(folder) / "inner").mkdir()
            (pathlib.Path(folder) / "secret").write_bytes(source)
            for name in ("../secret", f"{folder}/secret"):
                inner = pathlib.Path(folder) / "inner" / os.fsdecode(b"v\xff.wye")
                inner.write_text(text.replace("k.cl", name))
                with self.assertRaises(wye.Error) as caught:  # from the parser, or from the reader of files
                    wye.Program.from_file(inner, context=self.context)
                self.assertIn(caught.exception.code, (Code.INVALID_TEXT, Code.INVALID_ARGUMENT))
                self.assertIn(name, caught.exception.message)
        for files in ({"k.cl": "text"}, {"k.cl": 3}, {"k.cl": memoryview(bytes(8))[::2]}):
            self.refused(Code.INVALID_ARGUMENT, "files['k.cl']", wye.Program.from_text, text, files=files,
                         context=self.context)
        from_text = wye.Program.from_text(text, files={"k.cl": source}, context=self.context)
        self.assertEqual(from_file.fingerprint, from_text.fingerprint)
        self.assertIn(source, from_text.lower("wire"))
        again = wye.Program.from_wire(from_text.lower("wire"), context=self.context)
        self.assertEqual(again.fingerprint, from_text.fingerprint)


if __name__ == "__main__":
    unittest.main()
