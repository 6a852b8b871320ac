# SPDX-License-Identifier: Apache-2.0
"""Each argument of each public function, with values that it cannot have."""
import inspect
import mmap
import unittest

import numpy as np

import programs
import wye


class Hostile:
    """An object of which every attribute, conversion and text raises an error."""

    def __getattribute__(self, name):
        raise RuntimeError("asked for " + name)

    def __repr__(self):
        raise RuntimeError("asked for its text")

    __index__ = __float__ = __len__ = __iter__ = __fspath__ = __bool__ = __repr__


class Word(str):
    """A subclass of str that the package does not define."""


ENDLESS = 10**5000  # has more digits than Python prints
NO_MEMORY = [object(), Hostile(), type, 1j, {}, {1: 2}, {3}, lambda: None]
OTHERS = [*NO_MEMORY, np.complex64(1 + 2j)]
NOT_TEXT = [None, True, 3, 1.5, ENDLESS, b"cpu", ["cpu"], np.float32(1), np.array(["cpu"]), "\ud800",
            Word("x\udfff"), *OTHERS]
NOT_A_WORD = [*NOT_TEXT, "", "REQUIRE", "device\0", Word("?")]
NOT_A_PATH = [None, True, 3, b"name", ["name"], "a\0b", "\ud800", Word("a\0b"), np.array(["name"]), *OTHERS]
NOT_A_FLAG = [None, 0, 1, 2.0, "", "no", [], [True], np.int8(1), np.array(True), np.array([True]), *OTHERS]
NOT_WHOLE = [None, True, np.bool_(True), 1.0, 1.5, float("nan"), float("inf"), np.float32(1), "1", b"1",
             [1], np.array([1]), np.array([1, 2]), np.array(1.0), -1, np.int8(-1), -2**70, 2**64, ENDLESS,
             *OTHERS]
NOT_COUNTING = [*NOT_WHOLE, 0, np.uint8(0), 2**32]
NOT_A_SHAPE = [None, True, 1.5, float("nan"), "12", b"12", -1, 2**63, (2**62, 4), ENDLESS, [1, None], [1, True],
               [1.0], (1, -1), np.array([1.5]), np.array([[1]]), (1,) * 33, (0, 2**63 - 1, 2), *OTHERS]
NOT_SIZES = [True, 1.5, "1", b"1", (), (1, 1, 1, 1), (1, 1, 1, 9), -1, (1, -1), 2**32, (1, 2**32), [None],
             np.array([1.5]), np.array([[1]]), ENDLESS, *OTHERS]
NOT_SECONDS = [True, "1", b"1", -1, -0.001, float("nan"), float("-inf"), np.float32("nan"), [1], np.array([1.0]),
               ENDLESS, *OTHERS]
NOT_MEMORY = [None, True, 3, 1.5, "text", [1, 2], np.array([object()]), np.empty(3, "V0"), np.arange(8)[::2],
              np.ones(3, ">f4"), np.ndarray, memoryview(bytes(8))[::2], *NO_MEMORY]
NOT_A_LIST = [None, True, "text", [1.0, "two"], [[1], [1, 2]], [True], [None], [1e39], [2**24 + 1], *NOT_MEMORY[6:]]
NOT_A_TENSOR = [None, True, 3, 1.5, "text", [1, 2], np.ones(4, np.float32), bytes(4), *NO_MEMORY]
NOT_A_TYPE = [None, 3, "no such type", "(2,", object, "O", "S", ">f4", (np.int32, (3,)), "\ud800", *NO_MEMORY]
NOT_A_NUMBER = [None, True, np.bool_(1), "1", b"1", [1.0], np.array([1.0]), 1e39, ENDLESS, *OTHERS]
NOT_A_U32 = [None, True, "1", [1, 2], 1.0, 1.5, float("nan"), -1, 2**32, 2**40, np.array([1]), ENDLESS, *OTHERS]
OF_ANOTHER_CLASS = [True, 0, 3, "", "text", b"", [], (), np.array([1]), *OTHERS]
NO_OBJECT = [None, *OF_ANOTHER_CLASS]
NOT_CALLED = [None, True, 3, "name", b"", [], np.array([1]), object(), {}]
NOT_FILES = [True, 3, "text", b"bytes", ["k"], [("k", b"")], *[one for one in OTHERS if type(one) is not dict]]
NOT_PATHS = [None, True, 3, "folder", b"folder", [None], [3], ["a\0b"], {}, {"a": "b"}, [Hostile()], *OTHERS[:4]]
NOT_SETTINGS = [True, 3, "k=v", b"", [], [("k", "v")], {"cpu.threads": 2}, {3: "x"}, {"\ud800": "1"}, {"k": None}]
NOT_FUTURES = [None, 3, "text", b"b", [], (), [None], [3], {}, object(), np.array([1]), Hostile()]

NOT_PARAMS = [True, 3, "text", [], [{}, {}], {"b": 1}, [{"b": 1}], {"a": "1"}, [{"a": None}], [3], {3: 1}]

# Types of results, status codes and errors. Applications do not make such objects, so there are no arguments to test.
RESULTS = {"BufferParam", "Choice", "Code", "DeviceInfo", "DeviceList", "Outputs", "Param", "Report",
           *(name for name in wye.__all__ if name.endswith("Error"))}
# Constructors that are not for applications, as their docstrings say, and a method of the DLPack protocol.
INNER = {"Buffer.__init__", "Buffer.__dlpack__", "Device.__init__", "Future.__init__", "Graph.__init__", "Pipeline.__init__",
         "Program.__init__", "Queue.__init__", "RegisteredMemory.__init__"}


class Arguments(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.context = wye.Context(plugins=False)
        cls.device = cls.context.device("cpu")
        cls.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=cls.context)
        cls.buffer = cls.device.buffer(4, np.uint32, usage="shared")
        cls.x = np.ones(4, np.float32)
        cls.future = cls.device.submit(cls.saxpy, a=1.0, x=cls.x, y=cls.x)
        cls.future.result()

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def calls(self):
        """By name: a function, arguments that it takes, and those that it refuses."""
        context, device, buffer, x, future = self.context, self.device, self.buffer, self.x, self.future
        given = {"a": 1.0, "x": x, "y": x}
        program, text = self.saxpy, (programs.EXAMPLES / "saxpy.wye").read_text()
        mapped = buffer.map()  # so that `sync` can be called
        self.addCleanup(lambda: mapped)

        def dispatch(function):
            def call(program=program, options=None, **changes):
                return function(program, options, **{**given, **changes})
            return call
        counts = {name: NOT_WHOLE for name in ("offset", "target_offset", "nbytes")}
        optional = {**counts, "nbytes": [one for one in NOT_WHOLE if one is not None]}
        queue, pipeline, graph = device.queue(), device.pipeline(program), device.graph()
        source, target = device.upload(x), device.buffer(4, "f32")
        graph.dispatch(program, a=1.0, x=source, y=source, r=target)
        graph.record()
        row = [{"x": source, "y": source, "r": target}]
        memory = np.frombuffer(mmap.mmap(-1, 4096), np.uint8)
        aside = {"queue": OF_ANOTHER_CLASS, "timed": NOT_A_FLAG}

        def step(name):
            def call(*positional, **named):
                return getattr(device.graph(), name)(*positional, **named)
            return call

        def piped(function):
            return lambda options=None, **changes: function(options, **{**given, **changes})
        dispatched = {"program": NO_OBJECT, "options": OF_ANOTHER_CLASS, "a": NOT_A_NUMBER, "x": NOT_A_LIST,
                      "r": NOT_MEMORY, "no_such": NO_OBJECT}
        return {
            "info": (wye.info, {"selector": "cpu"}, {"selector": NOT_TEXT}),
            "devices": (wye.devices, {"selector": "cpu"}, {"selector": NOT_TEXT}),
            "default_context": (wye.default_context, {}, {}),
            "wait_any": (wye.wait_any, {"futures": [future]}, {"futures": NOT_FUTURES, "timeout": NOT_SECONDS}),
            "Context.__init__": (
                wye.Context, {"plugins": False},
                {"plugin_paths": NOT_PATHS, "config": NOT_SETTINGS, "read_environment": NOT_A_FLAG,
                 "plugins": NOT_A_FLAG}),
            "Context.device": (
                context.device, {"selector": "cpu"},
                {"selector": NOT_TEXT, "program": OF_ANOTHER_CLASS, "policy": NOT_A_WORD}),
            "Context.info": (context.info, {}, {"selector": NOT_TEXT}),
            "Context.devices": (context.devices, {}, {"selector": NOT_TEXT}),
            "Context.run": (dispatch(context.run), {}, dispatched),
            "Context.submit": (dispatch(context.submit), {}, dispatched),
            "Device.run": (dispatch(device.run), {}, dispatched),
            "Device.submit": (dispatch(device.submit), {}, dispatched),
            "Device.buffer": (
                device.buffer, {"shape": 4},
                {"shape": NOT_A_SHAPE, "dtype": NOT_A_TYPE, "usage": NOT_A_WORD, "label": NOT_TEXT}),
            "Device.upload": (
                device.upload, {"source": x}, {"source": NOT_MEMORY, "usage": NOT_A_WORD, "label": NOT_TEXT,
                                               "dtype": [one for one in NOT_A_TYPE if one is not None]}),
            "Device.adopt": (lambda tensor=x, label="": tensor is x or device.adopt(tensor, label=label), {},
                             {"tensor": NOT_A_TENSOR, "label": []}),
            "Device.pipeline": (device.pipeline, {"program": program}, {"program": NO_OBJECT, "options": OF_ANOTHER_CLASS}),
            "Device.submit_pipeline": (
                device.submit_pipeline, {"program": program}, {"program": NO_OBJECT, "options": OF_ANOTHER_CLASS}),
            "Device.graph": (device.graph, {}, {"label": NOT_TEXT}),
            "Device.limit_memory": (device.limit_memory, {"nbytes": 0}, {"nbytes": NOT_WHOLE}),
            "Context.limit_memory": (context.limit_memory, {"nbytes": 0}, {"nbytes": NOT_WHOLE}),
            "Device.register": (
                lambda array=memory: device.register(array).free(), {},
                {"array": [bytes(16), *NOT_MEMORY]}),
            "Device.queue": (
                lambda **given: device.queue(given.pop("kind", "any"), **given).free(), {},
                {"kind": NOT_A_WORD, "priority": [2**31, -2**31 - 1, None, True, 1.0, "1", *OTHERS], "own": NOT_A_FLAG,
                 "label": NOT_TEXT}),
            "Queue.run": (dispatch(queue.run), {}, dispatched),
            "Queue.submit": (dispatch(queue.submit), {}, dispatched),
            "Pipeline.run": (piped(pipeline.run), {}, {**dispatched, "program": []}),
            "Pipeline.submit": (piped(pipeline.submit), {}, {**dispatched, "program": []}),
            "Pipeline.batch": (
                pipeline.batch, {"items": [given]},
                {"items": [None, 3, "text", [None], [3], ["x"], {}, [Hostile()], *OTHERS[:2]], "options": OF_ANOTHER_CLASS}),
            "Pipeline.rows": (
                lambda rows=row, options=None: pipeline.rows(rows, options, a=1.0), {},
                {"rows": [None, 3, "text", [None], [3], ["x"], {}, [{}], [Hostile()], [{**row[0], "x": x}],
                          [{**row[0], "z": source}], *OTHERS[:2]], "options": OF_ANOTHER_CLASS}),
            "Program.__call__": (piped(program), {}, {**dispatched, "program": []}),
            "Graph.dispatch": (
                lambda program=program, options=None, **changes: device.graph().dispatch(
                    program, options, **{"a": 1.0, "x": source, "y": source, "r": target, **changes}), {},
                {**dispatched, "x": NOT_A_LIST}),
            "Graph.upload": (
                step("upload"), {"buffer": buffer, "source": bytes(16)},
                {"buffer": NO_OBJECT, "source": NOT_MEMORY, "offset": NOT_WHOLE}),
            "Graph.download": (
                step("download"), {"buffer": buffer, "target": bytearray(16)},
                {"buffer": NO_OBJECT, "target": NOT_MEMORY, "offset": NOT_WHOLE}),
            "Graph.copy": (
                step("copy"), {"source": source, "target": target}, {"source": NO_OBJECT, "target": NO_OBJECT, **optional}),
            "Graph.fill": (step("fill"), {"buffer": buffer, "value": 1}, {"buffer": NO_OBJECT, "value": NOT_A_U32}),
            "Graph.run": (graph.run, {}, {"params": NOT_PARAMS, "timed": NOT_A_FLAG, "queue": OF_ANOTHER_CLASS,
                                       "timeout": NOT_SECONDS}),
            "Graph.submit": (graph.submit, {}, {"params": NOT_PARAMS, "timed": NOT_A_FLAG, "queue": OF_ANOTHER_CLASS,
                                             "timeout": NOT_SECONDS}),
            "Graph.rebind": (
                graph.rebind, {"buffers": {}}, {"buffers": [None, 3, "text", [], {3: target}, {target: None}]}),
            "Device.fact": (device.fact, {"name": "int64"}, {"name": NOT_TEXT}),
            "Buffer.range": (
                buffer.range, {"offset": 0, "nbytes": 4},
                {"offset": [*NOT_WHOLE, 17], "nbytes": [*NOT_WHOLE, 17]}),
            "BufferRange.__init__": (
                wye.BufferRange, {"buffer": buffer, "offset": 0, "nbytes": 16},
                {"buffer": NO_OBJECT, "offset": NOT_WHOLE, "nbytes": [*NOT_WHOLE, 17]}),
            "Buffer.upload": (
                buffer.upload, {"source": bytes(16)},
                {"source": [None, True, "text", 1.5, [1, 2.5], *NOT_MEMORY[6:]], "offset": NOT_WHOLE}),
            "Buffer.download": (
                buffer.download, {"out": np.zeros(4, np.uint32)},
                {"out": [one for one in [*NOT_MEMORY, bytes(16)] if one is not None], "offset": NOT_WHOLE}),
            "Buffer.copy_to": (
                buffer.copy_to, {"target": device.buffer(4, np.uint32)},
                {"target": NO_OBJECT, "across": NOT_A_FLAG, **optional}),
            "Buffer.submit_upload": (
                buffer.submit_upload, {"source": bytes(16)},
                {"source": [None, True, "text", 1.5, [1, 2.5], *NOT_MEMORY[6:]], "offset": NOT_WHOLE, **aside,
                 "borrow": NOT_A_FLAG}),
            "Buffer.submit_download": (
                buffer.submit_download, {"out": np.zeros(4, np.uint32)},
                {"out": [one for one in [*NOT_MEMORY, bytes(16)] if one is not None], "offset": NOT_WHOLE, **aside}),
            "Buffer.submit_copy_to": (
                buffer.submit_copy_to, {"target": device.buffer(4, np.uint32)}, {"target": NO_OBJECT, **optional, **aside}),
            "Buffer.submit_fill": (buffer.submit_fill, {"value": 1}, {"value": NOT_A_U32, **aside}),
            "Buffer.fill": (buffer.fill, {"value": 1}, {"value": NOT_A_U32}),
            "Buffer.sync": (buffer.sync, {"direction": "to_host"}, {"direction": NOT_A_WORD}),
            "Future.result": (future.result, {}, {"timeout": NOT_SECONDS}),
            "Future.add_done_callback": (
                future.add_done_callback, {"function": lambda _: None}, {"function": NOT_CALLED}),
            "Program.from_text": (
                wye.Program.from_text, {"text": text, "context": context},
                {"text": NOT_TEXT, "name": NOT_TEXT, "files": NOT_FILES, "context": OF_ANOTHER_CLASS}),
            "Program.from_wire": (
                wye.Program.from_wire, {"wire": program.lower("wire"), "context": context},
                {"wire": NOT_MEMORY, "name": NOT_TEXT, "context": OF_ANOTHER_CLASS}),
            "Program.from_file": (
                wye.Program.from_file, {"path": programs.EXAMPLES / "saxpy.wye", "context": context},
                {"path": NOT_A_PATH, "context": OF_ANOTHER_CLASS}),
            "Program.lower": (
                program.lower, {"format": "text"}, {"format": NOT_TEXT, "device": OF_ANOTHER_CLASS}),
            "Program.prepare": (program.prepare, {"device": device}, {"device": NO_OBJECT}),
            "Program.submit_prepare": (
                program.submit_prepare, {"device": device}, {"device": NO_OBJECT, "timeout": NOT_SECONDS}),
            "Options.__init__": (
                wye.Options, {},
                {"grid": NOT_SIZES, "elements": [one for one in NOT_WHOLE if one is not None],
                 "workgroup": [*NOT_SIZES, 0, (1, 0)], "timeout": NOT_SECONDS, "iterations": NOT_COUNTING,
                 "max_output_bytes": [0, *[one for one in NOT_WHOLE if one is not None]],
                 "ulp_budget": [*NOT_WHOLE, 2**32], "queue": OF_ANOTHER_CLASS, "variants": NOT_A_FLAG, "cooperative": NOT_A_FLAG,
                 "timed": NOT_A_FLAG, "borrow": NOT_A_FLAG, "at_once": NOT_A_FLAG, "label": NOT_TEXT,
                 "profile": NOT_TEXT}),
            "InOut.__init__": (
                lambda **both: device.run(self.increment, x=wye.InOut(**both)), {"source": np.ones(4, np.uint32)},
                {"source": NOT_A_LIST, "target": [one for one in NOT_MEMORY if one is not None]}),
            "Discard.__init__": (wye.Discard, {}, {"nbytes": NOT_WHOLE}),
        }

    def test_each_is_refused(self):
        self.increment = wye.Program.from_text(programs.INCREMENT, context=self.context)
        faults = []
        for function, (call, valid, bad) in self.calls().items():
            call(**valid)
            for name, values in bad.items():
                for at, value in enumerate(values):
                    where = f"{function}({name}) of {type(value).__name__} {at}"
                    try:
                        call(**{**valid, name: value})
                        faults.append(f"{where} is accepted")
                    except wye.Error as error:
                        subject = "x" if function == "InOut.__init__" else name
                        if (error.code != wye.Code.INVALID_ARGUMENT or not error.subject.startswith(subject)
                                or subject not in error.message or not error.remedy.startswith("Fix: ")):
                            faults.append(f"{where}: {error.code!r} {error} ({error.subject})")
                    except BaseException as error:  # pylint: disable=broad-except
                        faults.append(f"{where}: {error!r}")
        self.assertEqual(faults, [])

    def test_each_is_in_the_table(self):
        found = {}
        for name in wye.__all__:
            one = getattr(wye, name)
            if name in RESULTS or isinstance(one, str):
                continue
            members = vars(one).items() if inspect.isclass(one) else [("", one)]
            for member, value in members:
                value = getattr(value, "__func__", value)
                whole = f"{name}.{member}".rstrip(".")
                if inspect.isfunction(value) and whole not in INNER and (
                        not member.startswith("_") or member in ("__init__", "__call__", "__dlpack__")):
                    kinds = inspect.signature(value).parameters
                    found[whole] = {one for one, kind in kinds.items()
                                    if one not in ("self", "cls") and kind.kind != kind.VAR_KEYWORD}
        table = {function: set(bad) for function, (_, _, bad) in self.calls().items()}
        self.assertEqual([], [
            f"{function}({name})" for function, names in found.items()
            for name in names - table.get(function, set())])

    def test_what_is_a_number_elsewhere_is_one_here(self):
        device, one = self.device, np.ones(2, np.float32)
        for a in (2, 2.0, np.float64(2), np.int8(2), np.array(2)):
            self.assertEqual(device.run(self.saxpy, a=a, x=one, y=one).r.tolist(), [3, 3])
        self.assertEqual(wye.Options(grid=np.array([2, 3]), elements=np.uint64(5), timeout=float("inf")),
                         wye.Options(grid=[2, 3], elements=5, timeout=1e300))
        buffer = device.buffer(np.array([2, 2]), "i2")
        for value in (np.int16(-7), -7, np.array(-7)):
            buffer.fill(0)
            buffer.fill(value)
            self.assertEqual(buffer.download().tolist(), [[-7, -7], [-7, -7]])
        for dtype, value in (("f2", 1.5), ("f4", -2), ("f8", float("inf")), ("?", True), ("u64", 2**64 - 1)):
            buffer = device.buffer(2, dtype)
            buffer.fill(value)
            self.assertEqual(buffer.download().tolist(), [value, value])
        self.assertEqual(self.future.result(timeout=float("inf")).r.tolist(), [2, 2, 2, 2])


if __name__ == "__main__":
    unittest.main()
