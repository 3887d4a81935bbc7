"""OpenVINO's layers from its graph and counters, from what a run said; and a real run where this Python has OpenVINO.

    python openvino_layers_test.py SCRIPTS

SCRIPTS: the folder of measure_openvino.py.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

SCRIPTS = Path(sys.argv.pop(1))
sys.path.insert(0, str(SCRIPTS))
import openvino_layers
from openvino_layers import Node

# As the ONNX frontend names what it makes of a convolution with a bias, a normalization, an LSTM of three outputs and a
# dequantization: the last operator bears the node's name, or its output's, or both.
FILE = {
    "conv": Node("Conv", ["x", "w", "b"], ["c"]),
    "relu": Node("Relu", ["c"], ["r"]),
    "norm": Node("LayerNormalization", ["r"], ["n"]),
    "/r/LSTM": Node("LSTM", ["n"], ["h", "h_last", "c_last"]),
    "unnamed": Node("Softmax", ["h"], ["unnamed"]),
}
FRONTEND = [
    ("conv/WithoutBiases", ["ShapeOf_7", "conv"]),
    ("ShapeOf_7", ["Reshape_8"]),
    ("Reshape_8", ["conv"]),
    ("conv", ["relu"]),
    ("relu", ["MVN_9"]),
    ("MVN_9", ["n"]),
    ("n", ["LSTMSequence_10", "ShapeOf_11"]),
    ("ShapeOf_11", ["LSTMSequence_10", "unnamed"]),
    ("LSTMSequence_10", ["/r/LSTM_h"]),
    ("/r/LSTM_h", ["unnamed"]),
    ("unnamed", ["unnamed/sink_port_0"]),
    ("unnamed/sink_port_0", []),
]


def tensor(*dims: int) -> dict[str, Any]:
    return {"dtype": "f32", "dims": list(dims), "layout": "abcd"}


def operator(name: str, kind: str, original: str, inputs: list[str]) -> openvino_layers.Operator:
    return {
        "name": name, "type": kind, "kernel": "jit_avx512_f32", "original": original, "inputs": [[one, 0] for one in inputs],
        "input_tensors": [tensor(1, 8)] * len(inputs), "output_tensors": [tensor(1, 8)],
    }  # fmt: skip


class Layers(unittest.TestCase):
    def test_what_has_no_nodes_name_is_of_the_node_that_reads_it(self) -> None:
        owners = openvino_layers.owners(FRONTEND, openvino_layers.makers_of(FILE))
        self.assertEqual(owners["conv/WithoutBiases"], "conv")
        self.assertEqual(owners["MVN_9"], "norm")
        self.assertEqual(owners["LSTMSequence_10"], "/r/LSTM")
        self.assertEqual(owners["unnamed"], "unnamed")
        self.assertNotIn("ShapeOf_11", owners)  # of two nodes

    def test_a_fused_layer_makes_what_its_last_node_makes(self) -> None:
        owners = openvino_layers.owners(FRONTEND, openvino_layers.makers_of(FILE))
        operators = [
            operator("x", "Parameter", "x", []),
            operator("x_abcd_acdb_conv", "Reorder", "", ["x"]),
            operator("conv/WithoutBiases", "Convolution", "conv/WithoutBiases,conv,relu", ["x_abcd_acdb_conv", "w"]),
            operator("MVN_9", "MVN", "MVN_9,n", ["conv/WithoutBiases"]),
        ]
        layers = openvino_layers.layers_of(operators, [[None, 2.0, 9.0, 3.0], [None, 2.5, 9.5, 3.5]], owners, FILE)
        self.assertEqual([layer["nodes"] for layer in layers], [[], ["conv", "relu"], ["norm"]])
        self.assertEqual([layer["outputs"] for layer in layers], [["x_abcd_acdb_conv"], ["r"], ["n"]])
        self.assertEqual(layers[1]["inputs"], ["x_abcd_acdb_conv", "w"])
        self.assertEqual(layers[2]["inputs"], ["r"])
        self.assertEqual(layers[1]["samples_us"], [9.0, 9.5])

    def test_a_layer_of_less_than_a_microsecond_is_reported_as_run_now_and_then(self) -> None:
        operators = [operator("x", "Parameter", "x", []), operator("relu", "Eltwise", "relu", ["x"])]
        layers = openvino_layers.layers_of(operators, [[None, None], [None, 1.5]], {"relu": "relu"}, FILE)
        self.assertEqual([(layer["name"], layer["samples_us"]) for layer in layers], [("relu", [0.5, 1.5])])

    def test_a_layer_that_quantizes_leaves_the_dequantization_to_its_readers(self) -> None:
        file = {
            "conv": Node("Conv", ["x"], ["c"]),
            "q": Node("QuantizeLinear", ["c"], ["c8"]),
            "dq": Node("DequantizeLinear", ["c8"], ["c32"]),
        }
        operators = [operator("conv", "Convolution", "conv,q,dq", ["x"]), operator("dq", "Subgraph", "dq", ["conv"])]
        layers = openvino_layers.layers_of(operators, [[5.0, 1.0]], {name: name for name in file}, file)
        self.assertEqual([layer["nodes"] for layer in layers], [["conv", "q"], ["dq"]])
        self.assertEqual(layers[0]["outputs"], ["c8"])

    def test_types_have_infimums_names(self) -> None:
        named = {word: openvino_layers.type_name(word) for word in ("f32", "bf16", "i8", "u8", "i64", "boolean")}
        self.assertEqual(named, {"f32": "f32", "bf16": "bf16", "i8": "s8", "u8": "u8", "i64": "s64", "boolean": "bool"})


class Counters(unittest.TestCase):
    def test_two_readings_of_a_running_mean_give_the_time_between_them(self) -> None:
        for true in (0.7, 2.3, 40.6, 1234.5):
            # The first inference is far slower, each time is cut to whole microseconds, and so is the mean.
            times = [int(20 * true)] + [int(true + 0.1 * (step % 7 - 3)) for step in range(11)]
            before, after = sum(times[:2]) // 2, sum(times) // 12
            found = openvino_layers.time_between(before, 2, after, 12)
            self.assertAlmostEqual(found, true, delta=1.2, msg=str(true))

    def test_what_took_less_than_a_microsecond_took_half_of_one(self) -> None:
        self.assertEqual(openvino_layers.time_between(0, 2, 0, 12), 0.5)
        self.assertEqual(openvino_layers.time_between(99, 2, 15, 12), 0.5)  # never less


MODEL = """<ir_version: 10, opset_import: ["" : 20]>
g (float[16, 8, 3, 3] w, float[16] b, float[batch, 8, 32, 32] x) => (float[batch, 16, 32, 32] y) {
  [conv] c = Conv <pads = [1, 1, 1, 1]> (x, w, b)
  [relu] y = Relu (c) }"""


@unittest.skipUnless(all(importlib.util.find_spec(name) for name in ("openvino", "onnx", "numpy")), "this Python has no openvino, onnx and numpy")
class RealRun(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

        import numpy
        import onnx.parser
        from onnx import numpy_helper

        model = onnx.parser.parse_model(MODEL)
        generator = numpy.random.default_rng(1)
        for value in list(model.graph.input)[:2]:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            model.graph.initializer.append(numpy_helper.from_array(generator.standard_normal(shape).astype("float32"), value.name))
            model.graph.input.remove(value)
        onnx.save(model, str(self.folder / "model.onnx"))

    def run_script(self, framework: str, *extra: str) -> Any:
        output = self.folder / f"{framework}.json"
        command = [sys.executable, "-B", str(SCRIPTS / f"measure_{framework}.py"), str(self.folder / "model.onnx"), "--dim", "batch=2"]
        command += ["--seconds", "0.2", "--repetitions", "1", "--output", str(output), *extra]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        return json.loads(output.read_text()) if finished.returncode == 0 else finished.stderr.splitlines()[-1]

    def test_layers_are_the_files_nodes_and_add_up(self) -> None:
        run = self.run_script("openvino")
        self.assertEqual(run["settings"]["inference_precision_hint"], "f32")
        self.assertIn(["conv", "relu"], [layer["nodes"] for layer in run["layers"]])
        of_layers = sum(statistics.median(layer["samples_us"]) for layer in run["layers"])
        self.assertLess(of_layers, 1.1 * statistics.median(run["profiled_us"]))
        self.assertTrue(all(len(layer["samples_us"]) == len(run["profiled_us"]) for layer in run["layers"]))

    @unittest.skipUnless(importlib.util.find_spec("onnxruntime"), "this Python has no onnxruntime")
    def test_computes_what_onnx_runtime_does_of_the_same_inputs(self) -> None:
        ours, theirs = (json.loads(self.run_script(name)["settings"]["outputs"]) for name in ("openvino", "onnxruntime"))
        self.assertEqual([one["dims"] for one in ours], [one["dims"] for one in theirs])
        for one, other in zip(ours[0]["values"], theirs[0]["values"], strict=True):
            self.assertAlmostEqual(one, other, delta=1e-4)

    def test_a_graphics_processor_is_refused(self) -> None:
        self.assertEqual(self.run_script("openvino", "--device", "cuda"), "infimum: error: OpenVINO is measured on processors alone")


class Missing(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("openvino"), "this Python has openvino")
    @unittest.skipUnless(importlib.util.find_spec("onnx"), "this Python has no onnx")
    def test_a_missing_package_costs_a_line_of_advice(self) -> None:
        command = [sys.executable, "-B", str(SCRIPTS / "measure_openvino.py"), "model.onnx", "--output", "run.json"]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertNotEqual(finished.returncode, 0)
        self.assertRegex(finished.stderr, r"^infimum: error: this Python has no openvino .*; pip install openvino\n$")


if __name__ == "__main__":
    unittest.main()
