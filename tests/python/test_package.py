# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: its library, names, declarations and README."""
import ast
import dataclasses
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import cdef_check
import programs
import wye
import wye._c
import wye._library

ROOT = pathlib.Path(os.environ["WYE_TEST_SOURCE"])
PACKAGE = pathlib.Path(wye.__file__).parent


class Package(unittest.TestCase):
    def test_it_is_the_installed_one(self):
        self.assertNotIn(ROOT / "runtime", PACKAGE.parents)
        self.assertTrue((PACKAGE / "py.typed").is_file())

    def test_declarations_are_those_of_the_headers(self):
        self.assertEqual(cdef_check.check(wye._c, ROOT, os.environ["WYE_TEST_CC"].split()), "")

    def test_codes_are_those_of_the_declarations(self):
        types = wye._c.ENUMS["wye_status_code"]
        self.assertEqual({f"WYE_{one.name}": one.value for one in wye.Code},
                         {name: value for name, value in types.items() if value != 0})

    def test_every_public_name_is_described_and_has_types(self):
        faults = []
        for name in wye.__all__:
            one = getattr(wye, name)
            if isinstance(one, str):
                continue
            faults += [] if inspect.getdoc(one) else [name]
            members = vars(one).items() if inspect.isclass(one) else [("", one)]
            for member, value in members:
                public = not member.startswith("_") or member == "__init__"
                value = getattr(value, "__func__", value)
                if not public or not inspect.isfunction(value):
                    continue
                generated = member == "__init__" and dataclasses.is_dataclass(one)
                if not inspect.getdoc(value) and not generated and member != "__init__":
                    faults.append(f"{name}.{member}: no docstring")
                parameters = inspect.signature(value).parameters.values()
                untyped = [p.name for p in parameters
                           if p.name not in ("self", "cls") and p.annotation is p.empty]
                if untyped or inspect.signature(value).return_annotation is inspect.Signature.empty:
                    faults.append(f"{name}.{member}: types are missing {untyped}")
        self.assertEqual(faults, [])

    def test_members_that_are_annotated_are_described(self):
        faults, classes = [], set()
        for file in PACKAGE.glob("*.py"):
            for one in ast.parse(file.read_text()).body:
                if not isinstance(one, ast.ClassDef) or one.name not in wye.__all__:
                    continue
                classes.add(one.name)
                for member, after in zip(one.body, one.body[1:] + [None]):
                    described = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                    if isinstance(member, ast.AnnAssign) and not described:
                        faults.append(f"{one.name}.{member.target.id}")
        self.assertEqual(faults, [])
        self.assertEqual(classes, {name for name in wye.__all__
                                   if inspect.isclass(getattr(wye, name))})

    def test_the_examples_of_the_readme(self):
        examples = re.findall(r"```python\n(.*?)```", (ROOT / "runtime/python/README.md").read_text(), re.S)
        self.assertEqual([one.count("\n") for one in examples][0], 4)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(programs.EXAMPLES / "saxpy.wye", folder)
            done = subprocess.run([sys.executable, "-c", "\n".join(examples[:1] + ["print(r.shape, r[1, :2])"] + examples[1:])],
                                  cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((done.stderr, done.stdout), ("", "(4, 5) [10.5 12.5]\n"))

    def test_the_report(self):
        report = wye.info("cpu")
        self.assertEqual(report["schema_version"] > 0, True)
        cpu, = wye.devices("cpu:0")
        self.assertEqual((cpu.plugin, cpu.usable, cpu.reason), ("cpu", True, ""))
        self.assertEqual(cpu.facts["max_workgroup_size"],
                         list(wye.default_context().device("cpu").fact("max_workgroup_size")))
        self.assertEqual(wye.default_context().device("cpu").name, cpu.name)

    def test_programs_describe_themselves(self):
        program = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye")
        self.assertEqual(program.params, (("a", "f32"),))
        self.assertEqual([one[:3] for one in program.buffers],
                         [("x", "input", "f32"), ("y", "input", "f32"), ("r", "output", "f32")])
        self.assertEqual(program.analysis()["name"], "saxpy")
        self.assertIn(b"program saxpy;", program.lower("text"))
        device = wye.default_context().device("cpu", program)
        program.prepare(device)
        before = device.counters()["programs_compiled"]
        self.assertGreaterEqual(before, 1)


class Library(unittest.TestCase):
    def loads(self, prefix, code, *arguments, **environment):
        """Runs code with the package of a prefix; nothing else of the prefix is known."""
        site = next(prefix.glob("lib/python*/site-packages"))
        return subprocess.run(
            [sys.executable, "-B", "-c", code, *arguments], capture_output=True, text=True, timeout=600,
            check=False, env={"PYTHONPATH": str(site), "PATH": os.environ["PATH"],
                              "HOME": os.environ.get("HOME", "/"), **environment})

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name)
        site = self.prefix / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        site.mkdir(parents=True)
        shutil.copytree(PACKAGE, site / "wye")

    def test_the_library_of_its_own_prefix(self):
        (self.prefix / "lib" / wye._library.SONAME).symlink_to(
            pathlib.Path(os.environ["WYE_TEST_LIBRARY"]).resolve())
        done = self.loads(self.prefix, "import wye; wye.Context(plugins=False); "
                          "print([l.split()[-1] for l in open('/proc/self/maps') if 'libwye' in l][0])")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("libwye.so.0", done.stdout)

    def test_no_library(self):
        done = self.loads(self.prefix, """
import wye, wye._library
wye._library.SONAME = "libnone.so.0"  # which no system has
try:
    wye.devices()
except wye.Error as error:
    print(error.code.name, error)
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("MISSING_DEPENDENCY libnone.so.0 cannot be opened", done.stdout)
        self.assertIn(f"{self.prefix}/lib/libnone.so.0", done.stdout)
        self.assertIn("\nFix: ", done.stdout)

    def test_no_numpy(self):
        (self.prefix / "lib" / wye._library.SONAME).symlink_to(
            pathlib.Path(os.environ["WYE_TEST_LIBRARY"]).resolve())
        done = self.loads(self.prefix, """
import sys
for name in ("cffi", "numpy"):
    sys.modules[name] = None  # as if it were not installed
import array, wye
wye.Context(plugins=False)
device = wye.default_context().device("cpu")
saxpy = wye.Program.from_file(sys.argv[1])
x = array.array("f", range(6))
r = device.run(saxpy, a=2.0, x=memoryview(x).cast("B").cast("f", (2, 3)), y=[[1, 1, 1], [2, 2, 2]]).r
assert (type(r), r.shape, r.tolist()) == (memoryview, (2, 3), [[1, 3, 5], [8, 10, 12]]), r.tolist()
r[0, 0] = 7  # it may be written
assert device.run(saxpy, a=1.0, x=bytes(8), y=0.5).r.tolist() == [0.5, 0.5]
assert device.run(saxpy, a=1.0, x=[], y=[]).r.tolist() == []
target = array.array("f", [0] * 6)
device.submit(saxpy, wye.Options(borrow=True), a=1.0, x=r, y=r, r=target).result()
assert list(target) == [14, 6, 10, 16, 20, 24]
for wrong in (x[::2][:3], array.array("d", x), memoryview(x)[::2], [1, "two"], bytearray(7), (1, True)):
    try:
        device.run(saxpy, a=1.0, x=wrong, y=x)
    except wye.ArgumentError as error:
        assert "Fix: " in str(error)
    else:
        assert False, wrong
shared = device.buffer((2, 2), "f32", usage="shared")
shared.fill(3)
seen = shared.map()
seen[1, 1] = 4
assert (shared.download().tolist(), str(shared.dtype)) == ([[3, 3], [3, 4]], "float32")
assert device.run(saxpy, a=1.0, x=shared, y=shared).r.tolist() == [[6, 6], [6, 8]]
class Tensor:  # another library's
    __dlpack__, __dlpack_device__ = shared.__dlpack__, shared.__dlpack_device__
assert device.run(saxpy, a=1.0, x=Tensor(), y=1).r.tolist() == [[4, 4], [4, 5]]
halves = device.upload([1.5, -2], "f16")
assert (halves.dtype.name, halves.download().tolist()) == ("float16", [0x3e00, 0xc000])
halves.upload(halves.download())
assert device.buffer(3).download().nbytes == 3
for name in ("f32", "i64", "uint8", "bool"):
    device.buffer(2, name).fill(True if name == "bool" else 1)
print("done")
""", str(programs.EXAMPLES / "saxpy.wye"))
        self.assertEqual((done.stderr, done.stdout), ("", "done\n"))

    def test_a_file_that_is_no_library(self):
        (self.prefix / "lib" / wye._library.SONAME).write_text("no library")
        done = self.loads(self.prefix, "import wye; wye.devices()")
        self.assertIn(f"{self.prefix}/lib/libwye.so.0", done.stderr)
        self.assertIn("Fix: ", done.stderr)

    def test_another_version(self):
        class Older:
            @staticmethod
            def wye_version():
                return b"0.0.9"
        with self.assertRaises(wye.Error) as caught:
            wye._library.check_version(Older, "libwye.so.0")
        self.assertEqual(caught.exception.code, wye.Code.ABI_MISMATCH)
        self.assertIn("0.0.9", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
