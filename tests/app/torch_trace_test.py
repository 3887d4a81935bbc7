"""The layers in a trace of PyTorch's profiler, by scripts/frameworks/torch_trace.py: python torch_trace_test.py FOLDER-OF-THE-SCRIPTS."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv.pop(1))
import torch_trace


def event(category: str, name: str, start: float, duration: float, thread: int = 1, **arguments: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "tid": thread, "ts": start, "dur": duration, "args": arguments}


def operator(name: str, start: float, duration: float, thread: int = 1, **arguments: Any) -> dict[str, Any]:
    return event("cpu_op", name, start, duration, thread, **arguments)


def inference(start: float, duration: float) -> dict[str, Any]:
    return event("user_annotation", torch_trace.INFERENCE, start, duration)


def read(events: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
        return torch_trace.read_inferences(path)


class TorchTrace(unittest.TestCase):
    def test_what_an_operator_calls_is_part_of_it(self) -> None:
        shapes: dict[str, Any] = {"Input type": ["float", "float", "Scalar"], "Input Dims": [[1, 3, 8, 8], [4, 3, 3, 3], []]}
        (calls,) = read([
            inference(0, 100),
            operator("aten::conv2d", 10, 50, **shapes),
            operator("aten::convolution", 10, 49),
            operator("aten::relu_", 70, 5),
        ])  # fmt: skip
        self.assertEqual([(call["op"], call["us"]) for call in calls], [("aten::conv2d", 50), ("aten::relu_", 5)])
        self.assertEqual(
            calls[0]["tensors"], [{"dtype": "f32", "dims": [1, 3, 8, 8]}, {"dtype": "f32", "dims": [4, 3, 3, 3]}]
        )

    def test_what_runs_outside_an_inference_or_on_another_thread_is_no_layer(self) -> None:
        calls = read([
            operator("aten::randn", 0, 5),
            inference(10, 20), operator("aten::add", 12, 3), operator("aten::mul", 13, 3, thread=2),
            operator("aten::copy_", 31, 5),
            inference(40, 20), operator("aten::add", 42, 4),
        ])  # fmt: skip
        self.assertEqual([[call["us"] for call in one] for one in calls], [[3], [4]])

    def test_on_a_gpu_a_layer_takes_as_long_as_its_kernels(self) -> None:
        (calls,) = read([
            inference(0, 100),
            operator("aten::linear", 10, 30),
            event("cuda_runtime", "cudaLaunchKernel", 15, 2, correlation=7),
            event("cuda_runtime", "cudaLaunchKernel", 20, 2, correlation=8),
            event("kernel", "gemm", 60, 25.5, thread=70, correlation=7),
            event("kernel", "reduce", 86, 4, thread=70, correlation=8),
            operator("aten::view", 45, 1),
        ])  # fmt: skip
        self.assertEqual([(call["op"], call["us"]) for call in calls], [("aten::linear", 29.5), ("aten::view", 0)])

    def test_ranges_of_the_compiler_and_of_modules_are_looked_into(self) -> None:
        (calls,) = read([
            inference(0, 100),
            operator("Torch-Compiled Region: 0/0", 1, 90),
            event("user_annotation", torch_trace.MODULE + "layer1.0", 2, 60),
            event("user_annotation", torch_trace.MODULE + "layer1.0.conv1", 3, 20),
            operator("aten::convolution", 4, 10),
            operator("aten::add_", 30, 5),
            operator("graph_0_cpp_fused_relu_0", 70, 5),
        ])  # fmt: skip
        self.assertEqual(
            [(call["op"], call["module"]) for call in calls],
            [("aten::convolution", "layer1.0.conv1"), ("aten::add_", "layer1.0"), ("graph_0_cpp_fused_relu_0", "")],
        )

    def test_generated_loops_are_no_operator_of_their_names(self) -> None:
        names = ["graph_0_cpp_fused_convolution_relu_2", "aten::convolution", "triton_poi_fused_add_1"]
        calls = [{"op": name, "module": "", "tensors": [], "us": 1.0} for name in names]
        layers, _ = torch_trace.layers_of([calls], [])
        self.assertEqual(
            [(layer["name"], layer["op"]) for layer in layers],
            [
                ("cpp_fused_convolution_relu_2", "generated"), ("convolution", "aten::convolution"),
                ("triton_poi_fused_add_1", "generated"),
            ],
        )  # fmt: skip

    def test_layers_have_a_name_each_and_a_sample_of_each_inference_that_is_like_the_others(self) -> None:
        def call(op: str, us: float) -> dict[str, Any]:
            return {"op": op, "module": "", "tensors": [], "us": us}

        usual = [[call("aten::add", 1), call("aten::add", 2)], [call("aten::add", 3), call("aten::add", 4)]]
        layers, warnings = torch_trace.layers_of([*usual, [call("aten::mul", 9)]], ["block", "block"])
        self.assertEqual([layer["name"] for layer in layers], ["block:add", "block:add 2"])
        self.assertEqual([layer["samples_us"] for layer in layers], [[1, 3], [2, 4]])
        self.assertIn("1 of 3 profiled inferences", warnings[0])
        self.assertEqual(torch_trace.layers_of([[]], []), ([], ["no layers: the profiler saw no operator"]))


if __name__ == "__main__":
    unittest.main()
