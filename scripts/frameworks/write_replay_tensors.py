#!/usr/bin/env python3
"""Writes the tensors that a replay of a model needs, as raw little-endian files with an index.

    python write_replay_tensors.py model.onnx --schedule resnet50.replay.json --dim batch=1 --output tensors

Inputs and weights are the seeded random ones of measure_onnxruntime.py; a quantized model gets scales that fit them
(fitting_scales.py). Weights that the model computes from others, and the outputs that a replay is compared with, are
those of ONNX Runtime without optimisations, node by node what the model says: its optimised run of a ShuffleNet on 8
bits differed by as much as the largest output. Where the schedule wants f32 numbers of the model in f16 or bf16, they
are rounded.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import fitting_scales
import model_values
import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

SCHEMA = "infimum.tensors/1"
NAMES = {
    "float32": "f32", "float64": "f64", "float16": "f16", "int64": "s64", "int32": "s32", "int16": "s16", "int8": "s8",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool",
}  # fmt: skip


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--schedule", type=Path, required=True, help="the replay schedule that names the tensors")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="binds a symbolic dimension")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="the folder, made where it is missing")
    return parser.parse_args()


def make_session(source: Any, dims: dict[str, int], optimized: bool) -> Any:
    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    for name, extent in dims.items():
        options.add_free_dimension_override_by_name(name, extent)
    return onnxruntime.InferenceSession(source, sess_options=options, providers=["CPUExecutionProvider"])


def load(source: Any) -> Any:
    if isinstance(source, bytes):
        return onnx.load_model_from_string(source)
    return onnx.load(source)


def stored_weights(graph: Any) -> dict[str, Any]:
    """Initializers and Constant nodes by the name of their value."""
    stored: dict[str, Any] = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            stored[node.output[0]] = node.attribute[0].t
    return stored


def fitted(source: Any, path: Path, feeds: dict[str, Any], dims: dict[str, int], seed: int) -> Any:
    """The model with scales that fit its random weights, where it is quantized and came without them."""
    if not isinstance(source, bytes):
        return source
    made_up = {node.output[0] for node in load(str(path)).graph.node if node.op_type == "ConstantOfShape"}

    def run(model: Any, names: list[str]) -> dict[str, Any]:
        inputs = {value.name for value in model.graph.input}
        wanted = [name for name in names if name not in inputs]
        known = {output.name for output in model.graph.output}
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted if name not in known)
        session = make_session(model.SerializeToString(), dims, optimized=True)
        return {**feeds, **dict(zip(wanted, session.run(wanted, feeds)))}

    return fitting_scales.with_fitting_scales(load(source), made_up, seed, run).SerializeToString()


def computed_weights(model: Any, names: list[str], feeds: dict[str, Any], dims: dict[str, int]) -> dict[str, Any]:
    if not names:
        return {}
    produced = {output for node in model.graph.node for output in node.output}
    for name in names:
        if name not in produced:
            raise SystemExit(f"infimum: error: the model has no value {name!r}")
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    session = make_session(model.SerializeToString(), dims, optimized=False)
    return dict(zip(names, session.run(names, feeds)))


def rounded_to_bf16(array: Any) -> Any:
    """As the upper halves of f32 numbers, rounded to even; infinities and NaNs stay what they are."""
    bits = numpy.ascontiguousarray(array, dtype="<f4").view("<u4")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return numpy.where(numpy.isfinite(array), rounded, (bits >> 16) | numpy.isnan(array) * 0x40).astype("<u2")


def write(folder: Path, tensors: dict[str, Any], wanted: dict[str, str]) -> None:
    entries: list[dict[str, Any]] = []
    for number, (name, array) in enumerate(tensors.items()):
        kind = NAMES.get(str(array.dtype))
        if kind == "f32" and wanted.get(name) == "bf16":
            array, kind = rounded_to_bf16(array), "bf16"
        elif kind == "f32" and wanted.get(name) == "f16":
            array, kind = array.astype("float16"), "f16"
        if kind is None:
            raise SystemExit(f"infimum: error: {name!r} has type {array.dtype}, which no replay takes")
        file = f"{number}.bin"
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        (folder / file).write_bytes(numpy.ascontiguousarray(little).tobytes())
        entries.append({"name": name, "dtype": kind, "shape": list(array.shape), "file": file})
    (folder / "index.json").write_text(json.dumps({"schema": SCHEMA, "tensors": entries}))


def main() -> None:
    arguments = parse_arguments()
    dims = model_values.read_dims(arguments.dim)
    schedule = json.loads(arguments.schedule.read_text())
    made = {index for step in schedule["steps"] for index in step["outputs"]}
    wanted: dict[str, list[str]] = {"input": [], "weight": [], "output": []}
    for index, tensor in enumerate(schedule["tensors"]):
        if tensor["output"]:
            wanted["output"].append(tensor["name"])
        elif index not in made and "fill" not in tensor:
            wanted[tensor["kind"]].append(tensor["name"])

    source = model_values.with_random_weights(arguments.model, arguments.seed)
    session = make_session(source, dims, optimized=True)
    feeds = model_values.random_inputs(session.get_inputs(), arguments.model, dims, arguments.seed)
    source = fitted(source, arguments.model, feeds, dims, arguments.seed)
    session = make_session(source, dims, optimized=False)
    outputs = dict(zip(wanted["output"], session.run(wanted["output"], feeds)))
    del session
    model = load(source)
    stored = stored_weights(model.graph)
    tensors: dict[str, Any] = {name: feeds[name] for name in wanted["input"]}
    tensors.update({name: numpy_helper.to_array(stored[name]) for name in wanted["weight"] if name in stored})
    computed = [name for name in wanted["weight"] if name not in stored]
    tensors.update(computed_weights(model, computed, feeds, dims))
    tensors.update(outputs)
    arguments.output.mkdir(parents=True, exist_ok=True)
    write(arguments.output, tensors, {tensor["name"]: tensor["dtype"] for tensor in schedule["tensors"]})


if __name__ == "__main__":
    main()
