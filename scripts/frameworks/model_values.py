"""Seeded random weights and inputs for models that come without them, and the nodes of a saved graph.

Random, because all-equal or zero weights can run faster than real ones; of a scale that keeps activations
finite, because infinities and denormals run slower.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import numpy_helper

# Nothing is sent anywhere: ONNX Runtime 1.31 uploads events, from a thread of its own, unless this stands before it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# Operators whose output is a weight when their inputs are: the path from a ConstantOfShape to its reader.
_PASSING = {"Transpose", "Reshape", "Cast", "Identity", "Unsqueeze", "Squeeze", "DequantizeLinear", "QuantizeLinear"}

_PRODUCTS = ("Conv", "MatMul", "Gemm", "ConvTranspose", "QLinearConv", "QLinearMatMul")

# Of random 8-bit weights: as where the largest of some hundred normal numbers is scaled to 127.
_INTEGER_DEVIATION = 36.0


def _readers(graph: onnx.GraphProto) -> dict[str, list[tuple[onnx.NodeProto, int]]]:
    readers: dict[str, list[tuple[onnx.NodeProto, int]]] = {}
    for node in graph.node:
        for position, name in enumerate(node.input):
            if name:
                readers.setdefault(name, []).append((node, position))
    return readers


def _role(name: str, readers: dict[str, list[tuple[onnx.NodeProto, int]]], depth: int = 0) -> tuple[str, int]:
    for node, position in readers.get(name, []):
        if node.op_type in _PASSING and position == 0 and depth < 8 and node.output:
            return _role(node.output[0], readers, depth + 1)
        return node.op_type, position
    return "", 0


def _fill(generator: numpy.random.Generator, shape: tuple[int, ...], dtype: Any, value: float, role: tuple[str, int]) -> Any:
    op, position = role
    if numpy.issubdtype(dtype, numpy.integer):
        if dtype in (numpy.int8, numpy.uint8) and op in _PRODUCTS:
            limits = numpy.iinfo(dtype)
            middle = (limits.min + limits.max + 1) // 2
            spread = generator.standard_normal(shape) * _INTEGER_DEVIATION + middle
            return numpy.clip(numpy.rint(spread), limits.min + 1, limits.max).astype(dtype)
        if op == "DequantizeLinear" and position == 2:
            value = 0 if numpy.issubdtype(dtype, numpy.signedinteger) else (int(numpy.iinfo(dtype).max) + 1) // 2
        return numpy.full(shape, value, dtype=dtype)
    if op == "BatchNormalization" and position == 4:
        filled = generator.uniform(0.5, 1.5, shape)
    elif "Normalization" in op and position == 1:
        filled = generator.uniform(0.8, 1.2, shape)
    elif op in ("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN") and len(shape) >= 2:
        # Var(w) = 1 / fan-in keeps the variance of the activations near one through any depth.
        filled = generator.standard_normal(shape) / numpy.sqrt(max(_fan_in(shape, op), 1.0))
    else:
        filled = generator.uniform(0.5, 1.5, shape) * (value if value else 0.01)
    return filled.astype(dtype)


def _fan_in(shape: tuple[int, ...], op: str) -> float:
    """Products summed for each output of a product with these weights."""
    elements = float(numpy.prod(shape))
    if op in ("Conv", "ConvTranspose"):
        return elements / shape[0]
    if op == "Gemm":
        return float(min(shape))
    return float(shape[-2]) if op == "MatMul" and len(shape) > 1 else float(shape[-1])


def read_dims(texts: list[str]) -> dict[str, int]:
    dims: dict[str, int] = {}
    for text in texts:
        name, separator, number = text.rpartition("=")
        if not separator or not number.isdigit():
            raise SystemExit(f"infimum: error: --dim {text!r} is not NAME=N")
        dims[name] = int(number)
    return dims


def with_random_weights(path: Path, seed: int) -> Any:
    """The model with each ConstantOfShape weight replaced by random values; the path where it has none."""
    model = onnx.load(str(path), load_external_data=False)
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    weights = [node for node in graph.node if node.op_type == "ConstantOfShape" and node.input[0] in constants]
    if not weights:
        return str(path)
    readers = _readers(graph)
    generator = numpy.random.default_rng(seed)
    total = 0
    replaced: list[onnx.NodeProto] = []
    for node in weights:
        shape = tuple(int(extent) for extent in numpy_helper.to_array(constants[node.input[0]]))
        value = numpy_helper.to_array(node.attribute[0].t) if node.attribute else numpy.zeros(1, numpy.float32)
        array = _fill(generator, shape, value.dtype, float(value.reshape(-1)[0]), _role(node.output[0], readers))
        total += array.nbytes
        if total > 1_900_000_000:
            return str(path)  # a protobuf message ends at 2 GB; the constants stay as the file has them
        graph.initializer.append(numpy_helper.from_array(array, node.output[0]))
        replaced.append(node)
    kept = [node for node in graph.node if not any(node is other for other in replaced)]
    del graph.node[:]
    graph.node.extend(kept)
    return model.SerializeToString()


def _index_limits(path: Path) -> dict[str, int]:
    """For integer inputs that index a table: how many rows the smallest such table has."""
    model = onnx.load(str(path), load_external_data=False)
    rows: dict[str, int] = {tensor.name: tensor.dims[0] for tensor in model.graph.initializer if tensor.dims}
    shapes = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            shapes[node.output[0]] = node.attribute[0].t
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in shapes:
            extents = numpy_helper.to_array(shapes[node.input[0]])
            if extents.size:
                rows[node.output[0]] = int(extents[0])
    limits: dict[str, int] = {}
    aliases: dict[str, str] = {}
    for node in model.graph.node:
        if node.op_type in ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze") and node.input:
            aliases[node.output[0]] = aliases.get(node.input[0], node.input[0])
        if node.op_type == "Gather" and node.input[0] in rows:
            source = aliases.get(node.input[1], node.input[1])
            limits[source] = min(limits.get(source, rows[node.input[0]]), rows[node.input[0]])
    return limits


# Of each output so many elements are kept.
_KEPT_OF_OUTPUTS = 16


def describe_outputs(names: Sequence[str], values: Sequence[Any]) -> str:
    """A few elements of each output, evenly spaced, and its norm: whether two runs computed the same, without keeping all."""
    described = []
    for name, value in zip(names, values, strict=True):
        array = numpy.asarray(value)
        flat = array.reshape(-1).astype(numpy.float64)
        places = numpy.linspace(0, len(flat) - 1, min(_KEPT_OF_OUTPUTS, len(flat))).astype(int)
        norm = float(numpy.sqrt(numpy.sum(flat * flat)))
        described.append({"name": name, "dims": list(array.shape), "type": str(array.dtype), "norm": norm, "values": flat[places].tolist()})
    return json.dumps(described)


_TYPES: dict[str, Any] = {
    "tensor(float)": numpy.float32, "tensor(double)": numpy.float64, "tensor(float16)": numpy.float16,
    "tensor(int64)": numpy.int64, "tensor(int32)": numpy.int32, "tensor(int16)": numpy.int16, "tensor(int8)": numpy.int8,
    "tensor(uint8)": numpy.uint8, "tensor(uint16)": numpy.uint16, "tensor(uint32)": numpy.uint32,
    "tensor(uint64)": numpy.uint64, "tensor(bool)": numpy.bool_,
}  # fmt: skip


@dataclasses.dataclass
class Declared:
    """An input as a model declares it, in the words of ONNX Runtime's session."""

    name: str
    shape: list[Any]  # an extent, or the name of one
    type: str


def declared_inputs(path: Path) -> list[Declared]:
    graph = onnx.load(str(path), load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    return [_declared(value) for value in graph.input if value.name not in weights]


def declared_outputs(path: Path) -> list[Declared]:
    return [_declared(value) for value in onnx.load(str(path), load_external_data=False).graph.output]


def _declared(value: onnx.ValueInfoProto) -> Declared:
    tensor = value.type.tensor_type
    shape = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param for dim in tensor.shape.dim]
    word = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
    return Declared(value.name, shape, f"tensor({word})")


# Stated as a dimension is, but of no shape: so many positions of each cache are valid before the inference.
CACHE_POSITIONS = "cache.positions"
IF_THEN = "if.then"

# Operators that take a cache and return it, by the places of cache and result; and inputs of them that say how much of it is valid:
# positions before this inference, with its own included, and one less than that.
_CACHES = {"GroupQueryAttention": [(3, 1), (4, 2)], "TensorScatter": [(0, 0)]}
_BEFORE, _AFTER, _LAST = 0, 1, 2
_LENGTHS = {
    "GroupQueryAttention": {5: _LAST, 6: _AFTER},
    "TensorScatter": {2: _BEFORE},
    "Attention": {6: _AFTER},
}


def caches_in_place(path: Path) -> dict[str, str]:
    """Inputs that may be one buffer with an output, by the output: nothing else reads them, which might come later."""
    graph = onnx.load(str(path), load_external_data=False).graph
    readers = _readers(graph)
    of_bodies = _read_by_bodies(graph)
    inputs = {value.name for value in graph.input if len(readers.get(value.name, [])) == 1 and value.name not in of_bodies}
    outputs = {value.name for value in graph.output}
    pairs: dict[str, str] = {}
    for node in graph.node:
        for place, result in _CACHES.get(node.op_type, []):
            if place < len(node.input) and node.input[place] in inputs and result < len(node.output) and node.output[result] in outputs:
                pairs[node.output[result]] = node.input[place]
    return pairs


def _read_by_bodies(graph: onnx.GraphProto) -> set[str]:
    """Names that bodies of its nodes read, theirs included."""
    names: set[str] = set()
    for node in graph.node:
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                names |= {name for inner in body.node for name in inner.input} | {output.name for output in body.output}
                names |= _read_by_bodies(body)
    return names


def _lengths_of_caches(path: Path) -> dict[str, int]:
    """Which of the inputs say how much of the caches is valid."""
    graph = onnx.load(str(path), load_external_data=False).graph
    return {
        node.input[place]: kind
        for node in graph.node
        for place, kind in _LENGTHS.get(node.op_type, {}).items()
        if place < len(node.input) and node.input[place]
    }


def _new_positions(shapes: dict[str, list[int]]) -> int:
    """How many tokens of each sequence go in."""
    words = ("ids", "tokens", "embed")
    named = (shape for name, shape in shapes.items() if name in ("x", "input") or any(word in name for word in words))
    return next((shape[1] for shape in named if len(shape) > 1), 1)


def random_inputs(declared_ones: Sequence[Any], path: Path, dims: dict[str, int], seed: int, given: Path | None = None) -> dict[str, Any]:
    """Seeded ones; those that the file `given` (.npz) has by name are its."""
    generator = numpy.random.default_rng(seed + 1)
    limits = _index_limits(path)
    real = _given_values(given) if given else {}
    if unknown := sorted(set(real) - {declared.name for declared in declared_ones}):
        names = ", ".join(declared.name for declared in declared_ones)
        raise SystemExit(f"infimum: error: {given}: the model has no input {unknown[0]!r}; it has {names}")
    shapes = {declared.name: _bound_shape(declared, dims) for declared in declared_ones}
    positions = dims.get(CACHE_POSITIONS)
    lengths = _lengths_of_caches(path) if positions is not None else {}
    # Inputs that are true or false choose a branch, where one is stated.
    condition = min((value for name, value in dims.items() if name.split("@")[0] == IF_THEN), default=1)
    feeds: dict[str, Any] = {}
    for declared in declared_ones:
        shape = shapes[declared.name]
        dtype = _TYPES.get(declared.type)
        if declared.name in real:
            feeds[declared.name] = _checked(real[declared.name], declared, shape, dtype, given)
            continue
        if dtype is None:
            raise SystemExit(
                f"infimum: error: input {declared.name!r} has type {declared.type}, which cannot be made up; --inputs FILE.npz gives real ones"
            )
        if dtype is numpy.bool_:
            feeds[declared.name] = numpy.full(shape, condition, dtype)
        elif numpy.issubdtype(dtype, numpy.integer):
            limit = limits.get(declared.name)
            feeds[declared.name] = generator.integers(0, limit, shape, dtype=dtype) if limit else numpy.ones(shape, dtype)
        else:
            feeds[declared.name] = generator.standard_normal(shape).astype(dtype)
        if positions is None or not numpy.issubdtype(dtype, numpy.integer):
            continue
        new = _new_positions(shapes)
        if declared.name in lengths:
            feeds[declared.name][...] = {_BEFORE: positions, _AFTER: positions + new, _LAST: positions + new - 1}[lengths[declared.name]]
        elif "position" in declared.name and shape and shape[-1] == new:
            feeds[declared.name][...] = numpy.arange(positions, positions + new)
        elif "mask" in declared.name and len(shape) == 2:
            feeds[declared.name][:, positions + new :] = 0
    return feeds


def _given_values(path: Path) -> dict[str, Any]:
    try:
        with numpy.load(path, allow_pickle=False) as values:
            return {name: values[name] for name in values.files}
    except (ValueError, OSError, AttributeError, TypeError) as error:
        raise SystemExit(f"infimum: error: --inputs {path}: not a file of numpy.savez with numbers ({error})") from error


def _bound_shape(declared: Any, dims: dict[str, int]) -> list[int]:
    shape: list[int] = []
    for axis, extent in enumerate(declared.shape):
        if isinstance(extent, int):
            shape.append(extent)
        elif extent in dims:
            shape.append(dims[extent])
        elif f"{declared.name}.{axis}" in dims:
            shape.append(dims[f"{declared.name}.{axis}"])
        else:
            raise SystemExit(f"infimum: error: input {declared.name!r}, dimension {axis} ({extent}) is not bound: give --dim {extent}=N")
    return shape


def _checked(value: Any, declared: Any, shape: list[int], dtype: Any, given: Path | None) -> Any:
    if list(value.shape) != shape or (dtype is not None and value.dtype != dtype):
        has = f"{value.dtype} of {list(value.shape)}"
        raise SystemExit(
            f"infimum: error: {given}: {declared.name!r} is {has} there, and {declared.type} of {shape} by the model and --dim; bind its size with --dim"
        )
    return value


def describe_nodes(path: Path) -> list[dict[str, Any]]:
    """Name, operator and the value names of each node of a saved graph, to align a profile by."""
    model = onnx.load(str(path), load_external_data=False)
    return [
        {"name": node.name, "op": node.op_type, "domain": node.domain, "inputs": list(node.input), "outputs": list(node.output)}
        for node in model.graph.node
    ]
