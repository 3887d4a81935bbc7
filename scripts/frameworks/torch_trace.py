"""The layers in a trace of PyTorch's profiler (export_chrome_trace): the operators that the model itself called.

    infimum inference        |-------------------------------------------|       one range an inference
      aten::conv2d             |-----------------|                               a layer
        aten::convolution        |-------------|                                 part of it
      aten::relu_                                  |----|                        a layer

On a GPU a layer takes as long as the kernels that it launched; on a processor as long as its call.
"""

from __future__ import annotations

import collections
import json
import re
from pathlib import Path
from typing import Any

INFERENCE = "infimum inference"
MODULE = "infimum module "  # and its name

# Of torch.compile: ranges around the calls that count, and what it does before them. Of torch.jit: a module's call.
_WRAPPERS = (
    "forward", "Torch-Compiled Region", "## Call CompiledFxGraph", "CompiledFunction", "TorchDynamo Cache Lookup",
    "Pregraph bytecode", "AOTDispatcher Runtime Wrapper",
)  # fmt: skip

# What torch.compile generated is called after all operators that its loops do a part of, also after a convolution
# whose operands they reorder: that says nothing of what it is.
_GENERATED = re.compile(r"^(graph_\d+_)?((cpp|triton)_\w+)$")

_TYPES = {
    "float": "f32", "double": "f64", "c10::Half": "f16", "c10::BFloat16": "bf16", "signed char": "s8", "unsigned char": "u8",
    "int": "s32", "long int": "s64", "long": "s64", "bool": "bool",
}  # fmt: skip

Call = dict[str, Any]


def read_inferences(trace: Path) -> list[list[Call]]:
    """The layers' calls of each inference, in their order; each with "op", "module", "tensors" and "us"."""
    events = [event for event in json.loads(trace.read_text(errors="replace"))["traceEvents"] if event.get("ph") == "X"]
    kernels: dict[int, float] = collections.defaultdict(float)
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            kernels[event["args"].get("correlation", -1)] += event["dur"]
    hosts = [event for event in events if event.get("cat") in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")]
    # Of calls that begin at once the longer is the caller.
    hosts.sort(key=lambda event: (event["ts"], -event["dur"]))
    by_thread: dict[Any, list[Any]] = collections.defaultdict(list)
    for event in hosts:
        by_thread[event["tid"]].append(event)
    inferences: list[tuple[float, list[Call]]] = []
    for ones in by_thread.values():
        inferences += _of_thread(ones, kernels)
    return [calls for _, calls in sorted(inferences, key=lambda inference: inference[0])]


def _of_thread(events: list[Any], kernels: dict[int, float]) -> list[tuple[float, list[Call]]]:
    inferences: list[tuple[float, list[Call]]] = []
    inference_end = layer_end = float("-inf")
    modules: list[tuple[float, str]] = []  # the ends and names of those that are open
    on_device = bool(kernels)
    for event in events:
        start, end, name = event["ts"], event["ts"] + event["dur"], event["name"]
        if event["cat"] == "user_annotation" and name == INFERENCE:
            inferences.append((start, []))
            inference_end, layer_end, modules = end, float("-inf"), []
            continue
        if start >= inference_end:
            continue
        calls = inferences[-1][1]
        if event["cat"] == "user_annotation":
            modules = [module for module in modules if module[0] > start]
            if name.startswith(MODULE):
                modules.append((end, name.removeprefix(MODULE)))
        elif event["cat"] != "cpu_op":
            if calls and start < layer_end:
                calls[-1]["us"] += kernels.get(event["args"].get("correlation", -1), 0.0)
        elif start >= layer_end and not name.startswith(_WRAPPERS):
            layer_end = end
            inside = [module for until, module in modules if until > start]
            tensors = _tensors(event.get("args", {}))
            calls.append({"op": name, "module": inside[-1] if inside else "", "tensors": tensors})
            calls[-1]["us"] = 0.0 if on_device else event["dur"]
    return inferences


def _tensors(arguments: dict[str, Any]) -> list[dict[str, Any]]:
    tensors: list[dict[str, Any]] = []
    for dtype, dims in zip(arguments.get("Input type", []), arguments.get("Input Dims", []), strict=False):
        if dtype == "TensorList":
            tensors += [{"dtype": "", "dims": one} for one in dims]
        elif dtype in _TYPES:
            tensors.append({"dtype": _TYPES[dtype], "dims": dims})
    return tensors


def layers_of(inferences: list[list[Call]], module_names: list[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """One layer for each call, with a sample of each inference; and what was left out."""
    sequences = collections.Counter(tuple(call["op"] for call in calls) for calls in inferences)
    if not sequences or not sequences.most_common(1)[0][0]:
        return [], ["no layers: the profiler saw no operator"]
    usual = sequences.most_common(1)[0][0]
    kept = [calls for calls in inferences if tuple(call["op"] for call in calls) == usual]
    warnings = []
    if len(kept) < len(inferences):
        other = f"{len(inferences) - len(kept)} of {len(inferences)} profiled inferences"
        warnings.append(f"{other} called other operators than the rest and are left out of the layers")
    named = module_names if len(module_names) == len(usual) else [""] * len(usual)
    layers: list[dict[str, Any]] = []
    seen: collections.Counter[str] = collections.Counter()
    for index, (op, module) in enumerate(zip(usual, named, strict=True)):
        generated = _GENERATED.match(op)
        plain = generated.group(2) if generated else op.rpartition("::")[2]
        name = f"{module}:{plain}" if module else plain
        seen[name] += 1
        layers.append({
            "name": name if seen[name] == 1 else f"{name} {seen[name]}",
            "op": "generated" if generated else op,
            "provider": "PyTorch",
            "samples_us": [calls[index]["us"] for calls in kept],
            "input_tensors": kept[0][index]["tensors"],
        })  # fmt: skip
    return layers, warnings
