#!/usr/bin/env python3
"""Runs an ONNX model in OpenVINO on the processor and writes how long it took, for infimum to read.

    python measure_openvino.py model.onnx --dim batch=8 --threads 1 --output run.json

One stream, for latency. OpenVINO would compute in bf16 where the processor has matrix units for it: it is told the precision of
the contract, which is f32 unless bf16 or f16 are asked for.

End-to-end samples come first, from fresh processes without counters; then one more process compiles the model with OpenVINO's
performance counters, several times, as these are means since the model was compiled: each part of the profiled run is of a
compiled model of its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measuring
import model_values
import openvino_layers
import sampling

# Of the other contracts a model's own types say what is narrower than f32.
PRECISIONS = {"bf16": "bf16", "f16": "f16"}

# So many parts has the profiled run at most, and so many inferences each of them.
MOST_PARTS = 20
MOST_INFERENCES = 10

MICROSECOND = datetime.timedelta(microseconds=1)


def parse_arguments() -> argparse.Namespace:
    parser = measuring.parser(__doc__ or "")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--contract", default="", help="bf16 and f16 compute so; else the model's own types decide")
    return parser.parse_args()


def read_model(path: Path, feeds: dict[str, Any], seed: int) -> Any:
    """With the shapes of its inputs fixed, as ONNX Runtime is told the dimensions."""
    import openvino

    source = model_values.with_random_weights(path, seed)
    core = openvino.Core()
    model = core.read_model(source, b"") if isinstance(source, bytes) else core.read_model(source)
    known = {name for declared in model.inputs for name in declared.names}
    model.reshape({name: list(value.shape) for name, value in feeds.items() if name in known})
    return model


def compile_model(model: Any, arguments: argparse.Namespace, counts: bool) -> Any:
    import openvino

    precision = PRECISIONS.get(arguments.contract, "f32")
    properties = {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": arguments.threads,
        "INFERENCE_PRECISION_HINT": precision,
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,  # no activations in 8 bits where the model has none
        "ENABLE_CPU_PINNING": False,  # the process is pinned, and moves
        "PERF_COUNT": counts,
    }
    compiled = openvino.Core().compile_model(model, "CPU", properties)
    computes = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
    if computes != precision:
        raise SystemExit(f"infimum: error: OpenVINO computes in {computes} on this processor, not in {precision}")
    return compiled


def request_of(compiled: Any, feeds: dict[str, Any]) -> Any:
    """With its inputs in place. An input that nothing reads is none of OpenVINO's."""
    import openvino

    request = compiled.create_infer_request()
    known = {name for declared in compiled.inputs for name in declared.names}
    for name, value in feeds.items():
        if name in known:
            request.set_tensor(name, openvino.Tensor(value, shared_memory=True))
    return request


def timed_inference(request: Any) -> Callable[[], float]:
    # In this thread, not in another one that it would wait for; the outputs stay where they are.
    return sampling.timed_on_host(lambda: request.infer(share_outputs=True))


def settings_of(compiled: Any) -> dict[str, str]:
    names = ["PERFORMANCE_HINT", "EXECUTION_MODE_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS", "DYNAMIC_QUANTIZATION_GROUP_SIZE"]
    said = {name.lower(): str(compiled.get_property(name)).rpartition(".")[2] for name in names}
    return {**said, "inference_precision_hint": compiled.get_property("INFERENCE_PRECISION_HINT").to_string()}


def run_child(model: Path, cores: list[int], arguments: argparse.Namespace, work_directory: Path) -> dict[str, Any]:
    dims = model_values.read_dims(arguments.dim)
    feeds = model_values.random_inputs(model_values.declared_inputs(model), model, dims, arguments.seed, arguments.inputs)
    read = read_model(model, feeds, arguments.seed)
    if arguments.child == "profile":
        return profile(model, read, feeds, arguments)
    compiled = compile_model(read, arguments, counts=False)
    request = request_of(compiled, feeds)
    names = [declared.name for declared in model_values.declared_outputs(model)]

    def infer() -> list[Any]:
        request.infer()
        return [request.get_tensor(name).data for name in names]

    return measuring.sampled(timed_inference(request), cores, arguments, names, infer, settings_of(compiled))


def read_counters(request: Any) -> dict[str, int]:
    """Of what ran, in microseconds."""
    return {one.node_name: one.real_time // MICROSECOND for one in request.profiling_info if one.status == one.Status.EXECUTED}


def profile(path: Path, model: Any, feeds: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    samples: list[list[float | None]] = []
    inferences: list[float] = []
    disturbed: list[int] = []
    core_time = sampling.CoreTime(arguments.threads)
    operators: list[openvino_layers.Operator] = []
    sampled = 0.0

    def goes_on() -> bool:
        enough = len(samples) - len(disturbed) >= sampling.LEAST_SAMPLES
        time_left = sampled < (1 if enough else 2) * arguments.seconds
        return len(samples) < sampling.LEAST_SAMPLES or (time_left and len(samples) < MOST_PARTS)

    while goes_on():
        compiled = compile_model(model, arguments, counts=True)
        request = request_of(compiled, feeds)
        timed = timed_inference(request)
        warm = [timed() for _ in range(sampling.LEAST_WARM_UP)]
        before = read_counters(request)
        count = int(arguments.seconds * 1e6 / sampling.LEAST_SAMPLES / warm[-1])
        count = max(sampling.LEAST_WARM_UP, min(count, MOST_INFERENCES))
        core_time.begin()
        times = [timed() for _ in range(count)]
        if core_time.share(sum(times)) < sampling.COUNTS:
            disturbed.append(len(samples))
        after = read_counters(request)
        # Names that OpenVINO makes up have other numbers each time that it compiles; the order is the same.
        operators = operators_of(compiled, request)
        samples.append([
            openvino_layers.time_between(before.get(name, 0), len(warm), after.get(name, 0), len(warm) + count)
            if name in before or name in after
            else None
            for name in (operator["name"] for operator in operators)
        ])  # fmt: skip
        inferences.append(statistics.fmean(times))
        sampled += sum(times) * 1e-6
    if len(samples) - len(disturbed) < sampling.LEAST_SAMPLES:
        disturbed = []
    computed = [one for one in model.get_ordered_ops() if one.get_type_name() not in ("Parameter", "Constant")]
    frontend = [(one.get_friendly_name(), readers_of(one)) for one in computed]
    file = {
        node["name"] or node["outputs"][0]: openvino_layers.Node(node["op"], node["inputs"], [name for name in node["outputs"] if name])
        for node in model_values.describe_nodes(path)
    }
    owner = openvino_layers.owners(frontend, openvino_layers.makers_of(file))
    layers = openvino_layers.layers_of(operators, samples, owner, file)
    if arguments.keep_profile:
        arguments.keep_profile.write_text(json.dumps({"operators": operators, "frontend": frontend}))
    return {"layers": layers, "profiled_us": inferences, "disturbed": disturbed}


def readers_of(operator: Any) -> list[str]:
    return [reader.get_node().get_friendly_name() for output in operator.outputs() for reader in output.get_target_inputs()]


def operators_of(compiled: Any, request: Any) -> list[openvino_layers.Operator]:
    """What runs, in order."""
    # The counters know an operator of the model's by its own name, the graph by that of its kind: "GroupConvolution", "Convolution".
    types = {one.node_name: one.node_type for one in request.profiling_info}
    found = []
    for node in compiled.get_runtime_model().get_ordered_ops():
        said = {name: str(value.value) for name, value in node.get_rt_info().items()}
        name, makers = node.get_friendly_name(), [source.get_source_output() for source in node.inputs()]
        found.append((int(said["execOrder"]), {
            "name": name,
            "type": types.get(name, said["layerType"]),
            "kernel": said["primitiveType"],
            "original": said["originalLayersNames"],
            "inputs": [[maker.get_node().get_friendly_name(), maker.get_index()] for maker in makers],
            "input_tensors": [tensor_of(maker) for maker in makers],
            "output_tensors": [tensor_of(output) for output in node.outputs()],
        }))  # fmt: skip
    return [operator for _, operator in sorted(found, key=lambda one: one[0])]


def tensor_of(output: Any) -> dict[str, Any]:
    """Its type as OpenVINO's, of several outputs the layouts come in their order."""
    said = output.get_node().get_rt_info()
    layouts = str(said["outputLayouts"].value).split(",")
    dims = output.get_partial_shape()
    return {
        "dtype": openvino_layers.type_name(output.get_element_type().to_string()),
        "dims": list(dims.to_shape()) if dims.is_static else [],
        "layout": layouts[min(output.get_index(), len(layouts) - 1)],
    }


def check(arguments: argparse.Namespace) -> None:
    if arguments.device != "cpu":
        raise SystemExit("infimum: error: OpenVINO is measured on processors alone")


if __name__ == "__main__":
    measuring.run(measuring.Framework("openvino", "OpenVINO", run_child, {"device": "CPU"}, check), parse_arguments())
