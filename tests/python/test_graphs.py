# SPDX-License-Identifier: Apache-2.0
"""Graphs, pipelines, batches and queues, with numpy as the reference."""
import gc
import unittest

import numpy as np

import programs
import wye
from wye import Code

SCALE = "wye 1; program scale; workgroup 64; param a: f32; param b: f32; input x: f32[]; output r: f32[len(x)]; " \
        "grid elements len(x); main { let i = global_id.x; if i < len(r) { r[i] = x[i] * a + b; } }"


class OnEachDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = wye.Context()
        cls.devices = [cls.context.device(one) for one in programs.selectors()]
        cls.saxpy = wye.Program.from_file(programs.EXAMPLES / "saxpy.wye", context=cls.context)
        cls.scale = wye.Program.from_text(SCALE, context=cls.context)
        cls.x = np.arange(300, dtype=np.float32)

    @classmethod
    def tearDownClass(cls):
        cls.context.close()

    def refused(self, code, function, *arguments, **named):
        with self.assertRaises(wye.Error) as caught:
            function(*arguments, **named)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        self.assertIn("Fix: ", str(caught.exception))
        return caught.exception

    def test_a_graph_reads_and_writes_host_memory_each_time(self):
        for device in self.devices:
            with self.subTest(device.selector), device.graph(label="g") as graph:
                x, out = self.x.copy(), np.zeros_like(self.x)
                a, b, c, d = (device.buffer(300, "f32") for _ in range(4))
                graph.upload(a, x)
                graph.fill(d, 1)
                graph.dispatch(self.saxpy, a=2.0, x=a, y=d, r=b)
                graph.dispatch(device.pipeline(self.scale), a=3.0, b=0.0, x=b, r=c)
                graph.copy(c, b)
                graph.download(b, out)
                report = graph.run()
                np.testing.assert_array_equal(out, 3 * (2 * x + 1))
                self.assertEqual((report.bytes_uploaded, report.bytes_downloaded), (1200, 1200))
                info = graph.info()
                self.assertEqual((info["dispatches"], info["transfers"]), (2, 4))
                x[:] = 5
                graph.run({"a": 4.0})  # sets `a` of both dispatches
                self.assertEqual(set(out), {4 * (4 * 5 + 1)})
                graph.run([{}, {"b": 0.5}])  # the change of `a` stays
                self.assertEqual(set(out), {84.5})
                future = graph.submit([{"a": 0.0}, {}])
                self.assertEqual((len(future.result()), set(out)), (0, {4.5}))
                with device.queue() as queue:
                    self.assertIsInstance(graph.run(queue=queue), wye.Report)
                self.refused(Code.INVALID_ARGUMENT, graph.fill, a)
                self.refused(Code.INVALID_ARGUMENT, graph.run, {"c": 1})
                self.refused(Code.INVALID_ARGUMENT, graph.run, [{"b": 1}, {}])
                self.refused(Code.INVALID_ARGUMENT, graph.run, {"a": "x"})
                graph.run()
                self.assertEqual(set(out), {4.5})  # a refused change has changed nothing

    def test_buffers_of_a_graph_are_replaced(self):
        for device in self.devices:
            with self.subTest(device.selector):
                a, b, c = device.upload(self.x), device.upload(2 * self.x), device.buffer(300, "f32")
                graph = device.graph()
                graph.dispatch(self.saxpy, a=1.0, x=a, y=a, r=c)
                graph.run()
                np.testing.assert_array_equal(c.download(), 2 * self.x)
                graph.rebind({a: b})
                graph.run()
                np.testing.assert_array_equal(c.download(), 4 * self.x)
                self.refused(Code.NOT_FOUND, graph.rebind, {a: b})
                del a, b
                gc.collect()
                graph.run()  # the graph keeps its buffers
                graph.free()
                self.refused(Code.STALE_HANDLE, graph.run)

    def test_faults_of_a_graph(self):
        device, other = self.devices[0], wye.Context(plugins=False)
        graph, a = device.graph(), device.upload(self.x)
        graph.dispatch(self.saxpy, a=1.0, x=a, y=a)  # the dispatch's output is no buffer
        self.refused(Code.UNSUPPORTED, graph.record)
        foreign = other.device("cpu").buffer(4)
        self.refused(Code.WRONG_OWNER, device.graph().fill, foreign)
        self.refused(Code.WRONG_OWNER, device.graph().copy, foreign, a)
        self.refused(Code.INVALID_ARGUMENT, device.graph().upload, a, np.ones(300))
        self.refused(Code.INVALID_ARGUMENT, device.graph().upload, a, [1.0])
        fixed = self.x.copy()
        fixed.flags.writeable = False
        self.refused(Code.INVALID_ARGUMENT, device.graph().download, a, fixed)
        del foreign
        other.close()

    def test_pipelines_and_batches(self):
        for device in self.devices:
            with self.subTest(device.selector), device.pipeline(self.saxpy) as pipeline:
                x = self.x.reshape(30, 10)
                np.testing.assert_array_equal(pipeline.run(a=2.0, x=x, y=x).r, 3 * x)
                np.testing.assert_array_equal(pipeline.submit(a=2.0, x=x, y=x).result().r, 3 * x)
                got = pipeline.batch([{"a": a, "x": x, "y": 1} for a in range(5)])
                self.assertEqual([one.r.shape for one in got], [(30, 10)] * 5)
                for a, one in enumerate(got):
                    np.testing.assert_array_equal(one.r, a * x + 1)
                mine, buffer = np.zeros_like(self.x), device.buffer(300, "f32")
                rest = pipeline.batch([{"a": 1, "x": x, "y": x, "r": mine}, {"a": 1, "x": x, "y": 0, "r": buffer},
                                       {"a": 3, "x": [1], "y": [0]}])
                np.testing.assert_array_equal(mine, 2 * self.x)
                np.testing.assert_array_equal(buffer.download(), self.x)
                self.assertEqual((rest[0].r is mine, len(rest[1]), rest[2].r.tolist()), (True, 0, [3]))
                self.assertEqual((pipeline.info()["bindings"], pipeline.info()["outputs"]), (3, 1))
                self.assertGreater(pipeline.info()["launches"], 0)
                self.refused(Code.INVALID_ARGUMENT, pipeline.batch, [])
                bad = self.refused(Code.INVALID_ARGUMENT, pipeline.batch,
                                   [{"a": 1, "x": [1], "y": [1]}, {"a": 1, "x": [1], "y": [1, 2]}])
                self.assertRegex(bad.message, r"\b1\b")
                pipeline.free()
                self.refused(Code.STALE_HANDLE, pipeline.run, a=2.0, x=x, y=x)
        self.refused(Code.INVALID_ARGUMENT, self.devices[0].pipeline, self.saxpy, wye.Options(elements=4))
        self.refused(Code.INVALID_ARGUMENT, self.devices[0].pipeline, self.saxpy, wye.Options(workgroup=7))

    def test_rows_of_buffers(self):
        for device in self.devices:
            with self.subTest(device.selector), device.pipeline(self.saxpy) as pipeline:
                rows = [{"x": device.upload(self.x + n), "y": device.upload(self.x), "r": device.buffer(300, "f32")}
                        for n in range(3)]
                report = pipeline.rows(rows, a=2.0)
                self.assertEqual((report.bytes_uploaded, report.bytes_downloaded), (0, 0))
                for n, row in enumerate(rows):
                    np.testing.assert_array_equal(row["r"].download(), 2 * (self.x + n) + self.x)
                report = pipeline.rows(rows[1:], wye.Options(timed=True, label="rows"), a=0.0)
                self.assertIsInstance(report, wye.Report)
                np.testing.assert_array_equal(rows[0]["r"].download(), 3 * self.x)
                np.testing.assert_array_equal(rows[1]["r"].download(), self.x)
                self.refused(Code.INVALID_ARGUMENT, pipeline.rows, [], a=1.0)
                self.refused(Code.INVALID_ARGUMENT, pipeline.rows, rows)
                self.refused(Code.INVALID_ARGUMENT, pipeline.rows, rows, a=1.0, b=2.0)
                missing = self.refused(Code.INVALID_ARGUMENT, pipeline.rows, [rows[0], {"x": rows[0]["x"]}], a=1.0)
                self.assertIn("`rows[1]` has no buffer `y`", missing.message)
                more = self.refused(Code.INVALID_ARGUMENT, pipeline.rows, [{**rows[0], "z": rows[0]["x"]}], a=1.0)
                self.assertIn("`rows[0]` has `z`", more.message)
                self.refused(Code.INVALID_ARGUMENT, pipeline.rows, [{**rows[0], "x": self.x}], a=1.0)
                wrong = device.buffer(300, "i32")
                self.refused(Code.INVALID_ARGUMENT, pipeline.rows, [{**rows[0], "x": wrong}], a=1.0)
                bad = self.refused(Code.INVALID_ARGUMENT, pipeline.rows,
                                   [rows[0], {**rows[1], "y": device.buffer(299, "f32")}], a=5.0)
                self.assertRegex(bad.message, r"\b1\b")

    def test_queues(self):
        for device in self.devices:
            with self.subTest(device.selector), device.queue("compute", priority=1, label="mine") as queue:
                before = queue.info()["submits"]
                np.testing.assert_array_equal(queue.run(self.saxpy, a=2.0, x=self.x, y=1).r, 2 * self.x + 1)
                # Work on one buffer runs in order, whatever its queue.
                a, b = device.upload(self.x), device.buffer(300, "f32")
                first = queue.submit(self.saxpy, a=1.0, x=a, y=a, r=b)
                second = device.submit(self.saxpy, a=1.0, x=b, y=b, r=a)
                second.result()
                self.assertTrue(first.done())
                np.testing.assert_array_equal(a.download(), 4 * self.x)
                queue.flush()
                info = queue.info()
                self.assertEqual((info["label"], info["kind"], info["priority"]), ("mine", "compute", 1))
                self.assertGreater(info["submits"], before)
                options = wye.Options(queue=queue)
                self.assertEqual(device.pipeline(self.saxpy).run(options, a=1.0, x=[1], y=[1]).r.tolist(), [2])
                queue.free()
                self.refused(Code.STALE_HANDLE, queue.run, self.saxpy, a=1.0, x=self.x, y=1)
        several = [self.devices[0].queue() for _ in range(8)]
        self.refused(Code.LIMIT_EXCEEDED, self.devices[0].queue)
        del several
        gc.collect()
        self.devices[0].queue().free()


if __name__ == "__main__":
    unittest.main()
