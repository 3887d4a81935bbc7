#!/usr/bin/env python3
"""Holds bricks against the model that they were cut out of: the same inputs and weights give the same values.

    python bricks_check.py build/bin/infimum scripts/frameworks light_squeezenet.onnx --dim batch=1 --cut fused

The model gets random weights and runs in ONNX Runtime, without optimization, with the values at the bricks' edges as
outputs. Each brick with the model's own weights then has those values as outputs; likewise with weights by a seed, in
the model and in the bricks. It also runs as a program would run it, and with weights that are made as it is loaded.
onnx's checker accepts each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy
import onnx

# Of the largest value.
MOST = 1e-6
MOST_IN_16_BITS = 5e-3  # ONNX Runtime computes on in 32 where it has no kernel
MOST_OPTIMIZED = 0.05  # 8-bit values may fall on the other side of a half


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("program", type=Path)
    parser.add_argument("frameworks", type=Path, help="folder of model_values.py")
    parser.add_argument("model", type=Path)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N")
    arguments, options = parser.parse_known_args()
    arguments.cut = options
    return arguments


def session(source: Any, optimized: bool, dims: dict[str, int]) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")  # without VNNI its products of u8 and s8 saturate
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for name, extent in dims.items():
        options.add_free_dimension_override_by_name(name, extent)
    return onnxruntime.InferenceSession(source, sess_options=options, providers=["CPUExecutionProvider"])


def cut(arguments: argparse.Namespace, model: Path, folder: Path, *options: str) -> list[Path]:
    command = [str(arguments.program), "synth", "bricks", str(model), "-o", str(folder), "--format", "json", "--quiet", *options]
    for dim in arguments.dim:
        command += ["--dim", dim]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [folder / f"{brick['name']}.onnx" for brick in json.loads(answer)["bricks"] if "left_out" not in brick]


def names(values: Any) -> list[str]:
    return [value.name for value in values]


def distance(found: Any, expected: Any) -> float:
    """Of the largest value; infinite where one is no number and the other is."""
    found, expected = numpy.asarray(found, numpy.float64), numpy.asarray(expected, numpy.float64)
    if found.shape != expected.shape or not numpy.array_equal(numpy.isfinite(found), numpy.isfinite(expected)):
        return float("inf")
    finite = numpy.isfinite(expected)
    largest = float(numpy.max(numpy.abs(expected[finite]), initial=0.0))
    return float(numpy.max(numpy.abs(found[finite] - expected[finite]), initial=0.0)) / (largest or 1.0)


def compare(whole: Path, bricks: list[Path], dims: dict[str, int], values_of: Any, levels: tuple[bool, ...]) -> list[float]:
    """How far the bricks' outputs are from the model's values at worst: as they are, and optimized."""
    graphs = [onnx.load(str(brick)).graph for brick in bricks]
    model = onnx.load(str(whole))
    at_edges = {name for graph in graphs for name in (*names(graph.input), *names(graph.output))}
    wanted = sorted(at_edges - set(names(model.graph.output)) - set(names(model.graph.input)))
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    running = session(model.SerializeToString(), False, dims)
    values = values_of(running.get_inputs(), whole, dims, 1)
    values |= dict(zip(names(running.get_outputs()), running.run(None, values), strict=True))
    worst = [0.0, 0.0]
    for brick, graph in zip(bricks, graphs, strict=True):
        onnx.checker.check_model(str(brick), full_check=True)
        for optimized in levels:
            results = session(str(brick), optimized, {}).run(names(graph.output), {name: values[name] for name in names(graph.input)})
            far = max(distance(found, values[name]) for name, found in zip(names(graph.output), results, strict=True))
            worst[optimized] = max(worst[optimized], far)
            in_16_bits = any(values[name].dtype == numpy.float16 for name in (*names(graph.input), *names(graph.output)))
            if far > (MOST_OPTIMIZED if optimized else MOST_IN_16_BITS if in_16_bits else MOST):
                raise SystemExit(f"{brick.name}: {far:.3g} from the model's: {[node.op_type for node in graph.node]}")
    return worst


def main() -> None:
    arguments = parse_arguments()
    sys.path.insert(0, str(arguments.frameworks))
    import model_values

    dims = model_values.read_dims(arguments.dim)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        weighted = folder / "weighted.onnx"
        source = model_values.with_random_weights(arguments.model, 1)
        weighted.write_bytes(source if isinstance(source, bytes) else arguments.model.read_bytes())
        bricks = cut(arguments, weighted, folder / "own", "--weights", "model", *arguments.cut)
        own = compare(weighted, bricks, dims, model_values.random_inputs, (False, True))
        weighted.unlink()

        # A block of all layers is the model.
        (whole,) = cut(arguments, arguments.model, folder / "whole", "--weights", "seed:3", "--block", "1000000")
        seeded = cut(arguments, arguments.model, folder / "seeded", "--weights", "seed:3", *arguments.cut)
        same = compare(whole, seeded, {}, model_values.random_inputs, (False,))

        for brick in (made := cut(arguments, arguments.model, folder / "made", *arguments.cut)):
            onnx.checker.check_model(str(brick), full_check=True)
            running = session(str(brick), True, {})
            for result in running.run(None, model_values.random_inputs(running.get_inputs(), brick, {}, 1)):
                if not numpy.all(numpy.isfinite(numpy.asarray(result, numpy.float64))):
                    raise SystemExit(f"{brick.name}: with made weights its outputs are no numbers")
        largest = max(brick.stat().st_size for brick in made)
    print(f"{len(bricks)} bricks, {largest} bytes at most where weights are made; off by {max(own[0], same[0]):.2g}, optimized {own[1]:.2g}")


if __name__ == "__main__":
    main()
