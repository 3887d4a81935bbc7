"""What models are fed when they are measured: caches in one buffer, stated positions, real inputs.

    python framework_inputs_test.py SCRIPTS

SCRIPTS: the folder of measure_onnxruntime.py.
"""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

try:
    import numpy
    import onnx.parser
    import onnxruntime
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

sys.path.insert(0, sys.argv.pop(1))
import measure_onnxruntime
import model_values

HEAD = '<ir_version: 10, opset_import: ["" : 24, "com.microsoft" : 1]> '

# A step of two sequences whose caches are buffers of 512 positions.
GROUPED = (
    HEAD
    + """g (float[2, 1, 256] q, float[2, 1, 64] k, float[2, 1, 64] v, float[2, 2, 512, 32] past_k, float[2, 2, 512, 32] past_v,
       int32[2] lengths, int32[1] total)
      => (float[2, 1, 256] y, float[2, 2, p, 32] present_k, float[2, 2, p, 32] present_v) {
      y, present_k, present_v = com.microsoft.GroupQueryAttention <num_heads = 8, kv_num_heads = 2>
          (q, k, v, past_k, past_v, lengths, total) }"""
)
SCATTERED = (
    HEAD
    + """g (float[2, 8, 1, 32] q, float[2, 2, 1, 32] k, float[2, 2, 512, 32] past, int64[2] at, int64[2] valid)
      => (float[2, 8, 1, 32] y, float[2, 2, 512, 32] present) {
      present = TensorScatter (past, k, at)
      y = Attention (q, present, present, , , , valid) }"""
)
GROWN = (
    HEAD
    + """g (float[2, 2, 1, 32] k, float[2, 2, 511, 32] past) => (float[2, 2, 512, 32] present) {
      present = Concat <axis = 2> (past, k) }"""
)


class Inputs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def model(self, text: str) -> tuple[Path, Any]:
        path = self.folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(text), str(path))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        return path, onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def feeds(self, text: str, dims: dict[str, int], given: Path | None = None) -> dict[str, Any]:
        path, session = self.model(text)
        return model_values.random_inputs(session.get_inputs(), path, dims, 1, given)

    def test_a_cache_that_comes_back_as_long_as_it_was_is_one_buffer(self) -> None:
        for text, pairs in (
            (GROUPED, {"present_k": "past_k", "present_v": "past_v"}),
            (SCATTERED, {"present": "past"}),
            (GROWN, {}),
        ):
            path, session = self.model(text)
            feeds = model_values.random_inputs(session.get_inputs(), path, {"cache.positions": 100}, 1)
            caches = measure_onnxruntime.caches_in_place(session, path, feeds)
            self.assertEqual(caches, pairs)
            wanted = session.run(None, feeds)
            timed = measure_onnxruntime.timed_inference(session, {name: one.copy() for name, one in feeds.items()}, "cpu", caches)
            self.assertGreater(min(timed() for _ in range(3)), 0)
            for name, value in zip([output.name for output in session.get_outputs()], wanted, strict=True):
                if name in caches:
                    changed = (value != feeds[caches[name]]).any(axis=(0, 1, 3))[:101]  # what is behind is anybody's
                    self.assertEqual(numpy.flatnonzero(changed).tolist(), [100])

    def test_the_second_of_two_readers_keeps_a_cache_apart(self) -> None:
        path, _ = self.model(
            HEAD
            + """g (float[1, 2, 1, 32] k, float[1, 2, 64, 32] past, int64[1] at)
              => (float[1, 2, 64, 32] present, float[1, 2, 64, 32] old) {
              present = TensorScatter (past, k, at)
              old = Relu (past) }"""
        )
        self.assertEqual(model_values.caches_in_place(path), {})
        path, _ = self.model(
            HEAD
            + """g (bool b, float[1, 2, 1, 32] k, float[1, 2, 64, 32] past, int64[1] at)
              => (float[1, 2, 64, 32] present, float[1, 2, 64, 32] old) {
              present = TensorScatter (past, k, at)
              old = If (b) <then_branch = t () => (float[1, 2, 64, 32] r) { r = Relu (past) },
                            else_branch = e () => (float[1, 2, 64, 32] n) { n = Neg (past) }> }"""
        )
        self.assertEqual(model_values.caches_in_place(path), {})

    def test_what_is_stated_of_a_cache_is_what_the_model_is_told(self) -> None:
        feeds = self.feeds(GROUPED, {"cache.positions": 100})
        self.assertEqual((feeds["lengths"].tolist(), feeds["total"].tolist()), ([100, 100], [101]))
        feeds = self.feeds(SCATTERED, {"cache.positions": 100})
        self.assertEqual((feeds["at"].tolist(), feeds["valid"].tolist()), ([100, 100], [101, 101]))
        masked = HEAD + (
            "g (int64[1, 4] input_ids, int64[1, 4] position_ids, int64[1, 16] attention_mask) => (int64[1, 4] a, int64[1, 16] b)"
            "{ a = Add (input_ids, position_ids) b = Identity (attention_mask) }"
        )
        feeds = self.feeds(masked, {"cache.positions": 8})
        self.assertEqual(feeds["position_ids"].tolist(), [[8, 9, 10, 11]])
        self.assertEqual(feeds["attention_mask"].tolist(), [[1] * 12 + [0] * 4])

    def test_a_filled_number_limits_no_indices(self) -> None:
        text = (
            HEAD
            + """g (int64[4] i) => (float[4, 2] y)
              <int64[0] none = {}, int64[2] extents = {3, 2}> {
              one = ConstantOfShape <value = float[1] {1.0}> (none)
              table = ConstantOfShape (extents)
              rows = Gather (table, i)
              y = Mul (rows, one) }"""
        )
        self.assertLess(int(self.feeds(text, {})["i"].max()), 3)
        path, _ = self.model(text)
        filled = onnx.load_from_string(model_values.with_random_weights(path, 1))
        self.assertEqual({tensor.name: list(tensor.dims) for tensor in filled.graph.initializer}["one"], [])

    def test_a_stated_branch_is_the_one_that_runs(self) -> None:
        text = (
            HEAD
            + """g (bool[1] use_cache_branch, float[2, 3] x) => (float[2, 3] y) {
              y = If (use_cache_branch) <then_branch = t () => (float[2, 3] a) { a = Relu (x) },
                                         else_branch = e () => (float[2, 3] b) { b = Neg (x) }> }"""
        )
        for dims, expected in ({"if.then@If_0": 0}, False), ({"if.then@If_0": 1}, True), ({}, True):
            self.assertEqual(self.feeds(text, dims)["use_cache_branch"].tolist(), [expected])

    def test_real_inputs_are_taken_by_name_and_checked(self) -> None:
        file = self.folder / "inputs.npz"
        keys = numpy.arange(2 * 2 * 32, dtype=numpy.float32).reshape(2, 2, 1, 32)
        numpy.savez(file, k=keys)
        self.assertTrue((self.feeds(GROWN, {}, file)["k"] == keys).all())
        for values, complaint in (
            ({"key": keys}, "the model has no input 'key'; it has k, past"),
            ({"k": keys[:1]}, "'k' is float32 of [1, 2, 1, 32] there, and tensor(float) of [2, 2, 1, 32] by the model and --dim"),
            ({"k": keys.astype(numpy.float64)}, "'k' is float64 of"),
        ):
            numpy.savez(file, **values)
            with self.assertRaises(SystemExit) as refused:
                self.feeds(GROWN, {}, file)
            self.assertIn(complaint, str(refused.exception))
        file.write_text("no numbers")
        with self.assertRaisesRegex(SystemExit, "not a file of numpy.savez"):
            self.feeds(GROWN, {}, file)


if __name__ == "__main__":
    unittest.main()
