"""Scales for a quantized model whose weights are stand-ins, as a quantizer would choose them for these weights and inputs.

The scales in the file of a light model belong to weights that it has no more. With random ones its activations saturate or
vanish, and outputs that are all limits would agree whatever a program computes. So the model runs once in floating point,
without its QuantizeLinear nodes, and each activation's scale is made to hold the largest number that was seen. Which
tensors share a scale, and all zero points, stay as they are, since what a runtime fuses depends on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import onnx
from onnx import numpy_helper

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
MOVES = {
    "MaxPool", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather", "DepthToSpace", "SpaceToDepth",
}  # fmt: skip


def _fan_in(node: onnx.NodeProto, shape: tuple[int, ...]) -> float:
    transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
    if node.op_type in ("Conv", "ConvTranspose") or transposed:
        return float(numpy.prod(shape[1:]))
    return float(shape[-2]) if len(shape) > 1 else float(shape[0])


class _Scales:
    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self.producers = {output: node for node in model.graph.node for output in node.output}
        self.readers: dict[str, list[onnx.NodeProto]] = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)

    def array(self, name: str) -> Any:
        return numpy_helper.to_array(self.constants[name])

    def put(self, name: str, array: Any) -> None:
        old = self.array(name)
        new = numpy.broadcast_to(numpy.asarray(array, dtype=old.dtype), old.shape)
        self.constants[name].CopyFrom(numpy_helper.from_array(numpy.array(new, order="C"), name))

    def is_activation(self, node: onnx.NodeProto) -> bool:
        producer = self.producers.get(node.input[0])
        return node.op_type == QUANTIZE or (producer is not None and producer.op_type == QUANTIZE)

    def fit_weights(self, stand_ins: set[str], generator: Any) -> None:
        """Variance 1 / fan-in keeps the variance of the activations near one."""
        for node in self.model.graph.node:
            if node.op_type != DEQUANTIZE or node.input[0] not in stand_ins or node.input[1] not in self.constants:
                continue
            readers = self.readers.get(node.output[0], [])
            weights = self.array(node.input[0])
            if not readers or weights.dtype.itemsize != 1:
                continue
            deviation = max(float(weights.std()), 1.0)
            unit = 1 / (deviation * numpy.sqrt(max(_fan_in(readers[0], weights.shape), 1.0)))
            self.put(node.input[1], generator.uniform(0.8, 1.2, self.array(node.input[1]).shape) * unit)

    def floating_twin(self) -> tuple[onnx.ModelProto, dict[str, str]]:
        """The model without quantization of activations, and for each value that is gone the one in its place. Where the
        zero point is the least integer, quantization is also the ReLU."""
        twin = onnx.ModelProto()
        twin.CopyFrom(self.model)
        same: dict[str, str] = {}
        kept: list[onnx.NodeProto] = []
        for node in twin.graph.node:
            if node.op_type in (QUANTIZE, DEQUANTIZE) and self.is_activation(node):
                before = same.get(node.input[0], node.input[0])
                if node.op_type == QUANTIZE and self.zero_point(node) == self.limits(node)[0]:
                    kept.append(onnx.helper.make_node("Relu", [before], [node.output[0]]))
                else:
                    same[node.output[0]] = before
                continue
            for position, name in enumerate(node.input):
                node.input[position] = same.get(name, name)
            kept.append(node)
        for output in twin.graph.output:
            if output.name in same:
                kept.append(onnx.helper.make_node("Identity", [same[output.name]], [output.name]))
        del twin.graph.node[:]
        twin.graph.node.extend(kept)
        return twin, same

    def limits(self, node: onnx.NodeProto) -> tuple[int, int]:
        is_signed = len(node.input) > 2 and self.array(node.input[2]).dtype == numpy.int8
        return (-128, 127) if is_signed else (0, 255)

    def zero_point(self, node: onnx.NodeProto) -> int:
        return int(self.array(node.input[2])) if len(node.input) > 2 and node.input[2] else 0

    def shared_scales(self, nodes: list[onnx.NodeProto]) -> dict[str, str]:
        """For each scale one that stands for all that must stay equal to it: over a quantization and what reads it, and
        across nodes that only move elements."""
        leaders = {node.input[1]: node.input[1] for node in nodes}

        def leader(name: str) -> str:
            while leaders[name] != name:
                name = leaders[name]
            return name

        def join(one: str, other: str) -> None:
            if one in leaders and other in leaders and self.array(one) == self.array(other):
                leaders[leader(one)] = leader(other)

        for node in nodes:
            producer = self.producers.get(node.input[0])
            if node.op_type == DEQUANTIZE and producer is not None:
                join(node.input[1], producer.input[1])
            if node.op_type == QUANTIZE and producer is not None and producer.op_type in MOVES:
                before = self.producers.get(producer.input[0])
                if before is not None and before.op_type == DEQUANTIZE:
                    join(node.input[1], before.input[1])
        return {name: leader(name) for name in leaders}

    def fit_activations(self, run: Callable[[onnx.ModelProto, list[str]], dict[str, Any]]) -> None:
        nodes = [
            node
            for node in self.model.graph.node
            if node.op_type in (QUANTIZE, DEQUANTIZE)
            and self.is_activation(node)
            and node.input[1] in self.constants
            and self.array(node.input[1]).size == 1
        ]
        twin, same = self.floating_twin()
        quantizes = [node for node in nodes if node.op_type == QUANTIZE]
        wanted = {node.output[0]: same.get(node.output[0], node.output[0]) for node in quantizes}
        seen = run(twin, sorted(set(wanted.values())))
        leaders = self.shared_scales(nodes)
        scales: dict[str, float] = {}
        for node in quantizes:
            zero = self.zero_point(node)
            low, high = self.limits(node)
            values = seen[wanted[node.output[0]]]
            above = float(values.max()) / (high - zero) if high > zero else 0.0
            below = float(values.min()) / (low - zero) if low < zero else 0.0
            group = leaders[node.input[1]]
            scales[group] = max(scales.get(group, 1e-6), above, below)
        for name, group in leaders.items():
            if group in scales:
                self.put(name, scales[group])

    def fit_biases(self) -> None:
        """A bias of 32 bits is in the scale of the products that it is added to."""
        for node in self.model.graph.node:
            if node.op_type not in ("Conv", "Gemm") or len(node.input) < 3:
                continue
            x, w, bias = (self.producers.get(name) for name in node.input[:3])
            if x is None or w is None or bias is None or {x.op_type, w.op_type, bias.op_type} != {DEQUANTIZE}:
                continue
            if bias.input[0] in self.constants and bias.input[1] in self.constants and x.input[1] in self.constants:
                self.put(bias.input[1], self.array(x.input[1]) * self.array(w.input[1]))


def with_fitting_scales(
    model: onnx.ModelProto, stand_ins: set[str], seed: int, run: Callable[[onnx.ModelProto, list[str]], dict[str, Any]]
) -> onnx.ModelProto:
    """`stand_ins`: weights that were made up; `run` gives a model's values for the inputs that will be used."""
    scales = _Scales(model)
    eight_bits = {name for name in stand_ins if name in scales.constants and scales.array(name).dtype.itemsize == 1}
    if not eight_bits or not any(node.op_type == QUANTIZE for node in model.graph.node):
        return model
    scales.fit_weights(eight_bits, numpy.random.default_rng(seed + 2))
    scales.fit_activations(run)
    scales.fit_biases()
    return model
