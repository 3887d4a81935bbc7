#!/usr/bin/env python3
"""Runs a model in PyTorch and writes how long it took, for infimum to read (infimum.run/1).

    python measure_pytorch.py resnet50.onnx --module models.py:resnet50 --threads 1 --output run.json

The ONNX file says which model the run is of and what its inputs are; the module is what it was exported from:

    FILE.pt2            what torch.export.save wrote
    FILE.pt             what torch.jit.save wrote
    models.py:resnet50  a module, or a function that makes one, or one and its inputs; also package.module:name.
                        The function gets those dimensions (--dim) that are its parameters.

End-to-end samples come first, from fresh processes without a profiler; then one more runs under torch.profiler, from
whose trace the layers are, and says what each of those inferences took as a whole. `compiled` is torch.compile;
`cuda-graph` replays one captured inference, so that the host is out of it. On a GPU times are those of CUDA events
around each inference.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import inspect
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sampling
import torch_trace

SCHEMA = "infimum.run/1"

# Of a trace, so that it stays small; and inferences, of which the first fifth is dropped.
MOST_EVENTS = 200_000
MOST_PROFILED_INFERENCES = 200


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the ONNX file; with --model-sha256 the name alone")
    parser.add_argument("--module", required=True, help="FILE.pt2, FILE.pt, FILE.py:NAME or PACKAGE.MODULE:NAME")
    parser.add_argument("--model-sha256", default="", help="of the ONNX file, where it is not here")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="binds a symbolic dimension")
    parser.add_argument("--mode", choices=["eager", "compiled", "cuda-graph"], default="eager")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--contract", default="strict-f32", help="f16 and bf16 convert the module; tf32 allows it on a GPU")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cores", default="", help="cores to run on, such as 0 or 0,1 (default: quiet ones)")
    parser.add_argument("--repetitions", type=int, default=3, help="processes for the end-to-end samples")
    parser.add_argument("--one-process", action="store_true", help="all repetitions in one process, and none with the profiler")
    parser.add_argument("--seconds", type=float, default=4.0, help="sampling time of each process")
    parser.add_argument("--metronome", default="", help="infimum's runner, whose fixed loops tell how fast the machine is meanwhile")
    parser.add_argument("--no-layers", action="store_true", help="no process under the profiler")
    parser.add_argument("--inputs", type=Path, help="a file .npz of inputs by name; the others are made up")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory-limit", type=int, help="bytes that its processes may take, each")
    parser.add_argument("--device-key", default="", help="what infimum calls the device (infimum devices)")
    parser.add_argument("--keep-profile", type=Path, help="where the trace is kept, too")
    parser.add_argument("--work-directory", type=Path, help="for the trace (default: beside the output)")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--child", choices=["sample", "profile"], help=argparse.SUPPRESS)
    parser.add_argument("--patience", type=float, default=0.0, help=argparse.SUPPRESS)
    return parser.parse_args()


def fail(why: str) -> SystemExit:
    return SystemExit(f"infimum: error: {why}")


def read_dims(texts: list[str]) -> dict[str, int]:
    dims = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name or not number.isdigit():
            raise fail(f"--dim {text!r} is not NAME=N")
        dims[name] = int(number)
    return dims


def import_named(spec: str) -> Any:
    where, _, name = spec.rpartition(":")
    if where.endswith(".py"):
        path = Path(where)
        if not path.is_file():
            raise fail(f"--module {spec}: no such file")
        found = importlib.util.spec_from_file_location(path.stem, path)
        assert found is not None and found.loader is not None
        module = importlib.util.module_from_spec(found)
        sys.path.insert(0, str(path.resolve().parent))
        sys.modules[path.stem] = module
        found.loader.exec_module(module)
    else:
        sys.path.insert(0, "")
        try:
            module = importlib.import_module(where)
        except ModuleNotFoundError as error:
            raise fail(f"--module {spec}: {error}") from error
    if not hasattr(module, name):
        raise fail(f"--module {spec}: {where} has no {name!r}")
    return getattr(module, name)


def load_module(spec: str, dims: dict[str, int]) -> tuple[Any, Any]:
    """The module, and its inputs where it brings them."""
    import torch

    if ":" not in spec:
        if not Path(spec).is_file():
            raise fail(f"--module {spec}: no such file; a function is FILE.py:NAME or PACKAGE.MODULE:NAME")
        if spec.endswith(".pt2"):
            return torch.export.load(spec).module(), None
        return torch.jit.load(spec).eval(), None
    made = import_named(spec)
    if callable(made) and not (isinstance(made, torch.nn.Module)):
        try:
            wanted = set(inspect.signature(made).parameters)
        except (TypeError, ValueError):  # a function that Python knows no parameters of
            wanted = set()
        made = made(**{name: extent for name, extent in dims.items() if name in wanted})
    inputs = None
    if isinstance(made, tuple) and len(made) == 2:
        made, inputs = made
    if not isinstance(made, torch.nn.Module):
        raise fail(f"--module {spec}: gives a {type(made).__name__}, not a torch.nn.Module")
    return made.eval(), inputs


def inputs_of(arguments: argparse.Namespace, dims: dict[str, int]) -> tuple[Any, ...]:
    """Random ones, as the ONNX file declares them."""
    import torch

    try:
        import model_values
    except ImportError as error:
        raise fail(f"the model's inputs cannot be read ({error}): pip install onnx, or let --module return them too") from error
    path = Path(arguments.model)
    made = model_values.random_inputs(model_values.declared_inputs(path), path, dims, arguments.seed, arguments.inputs)
    return tuple(torch.from_numpy(value) for value in made.values())


def prepare(arguments: argparse.Namespace) -> tuple[Any, tuple[Any, ...], float]:
    """The module as it shall run, its inputs, and how many seconds the first inference took (it may compile)."""
    import torch

    torch.set_num_threads(arguments.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(arguments.seed)
    if arguments.device == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = arguments.contract == "tf32"
        torch.backends.cudnn.allow_tf32 = arguments.contract == "tf32"
        torch.backends.cudnn.benchmark = True
    dims = read_dims(arguments.dim)
    module, inputs = load_module(arguments.module, dims)
    if inputs is not None and arguments.inputs:
        raise fail("--inputs: --module brings its own")
    if inputs is None:
        inputs = inputs_of(arguments, dims)
    elif isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    stored = {"f16": torch.float16, "bf16": torch.bfloat16}.get(arguments.contract)
    module = module.to(arguments.device) if stored is None else module.to(arguments.device, stored)
    inputs = tuple(one.to(arguments.device, stored if stored and one.is_floating_point() else one.dtype) for one in inputs)
    if arguments.device == "cuda" and inputs[0].dim() == 4:
        module = module.to(memory_format=torch.channels_last)
        inputs = tuple(one.to(memory_format=torch.channels_last) if one.dim() == 4 else one for one in inputs)
    if arguments.mode == "compiled":
        if arguments.child == "profile" and arguments.device == "cpu":
            # So that the profiler sees the loops that were generated, too.
            torch._inductor.config.cpp.enable_kernel_profile = True
        # A CUDA graph would hide the operators.
        tuned = "max-autotune-no-cudagraphs" if arguments.child == "profile" else "max-autotune"
        module = torch.compile(module, mode=tuned if arguments.device == "cuda" else None)
    begin = time.perf_counter()
    module(*inputs)
    if arguments.device == "cuda":
        torch.cuda.synchronize()
    return module, inputs, time.perf_counter() - begin


def captured(infer: Callable[[], Any]) -> Callable[[], Any]:
    """Replays one inference that was captured as a CUDA graph."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            infer()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        infer()
    replay: Callable[[], Any] = graph.replay
    return replay


def timed_by_events(infer: Callable[[], Any]) -> Callable[[], float]:
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def timed() -> float:
        begin.record()
        infer()
        end.record()
        end.synchronize()
        microseconds: float = begin.elapsed_time(end) * 1e3
        return microseconds

    return timed


def shapes_of(outputs: Any) -> list[list[int]]:
    if hasattr(outputs, "shape"):
        return [list(outputs.shape)]
    if isinstance(outputs, dict):
        outputs = outputs.values()
    return [shape for one in outputs for shape in shapes_of(one)] if isinstance(outputs, (list, tuple, type({}.values()))) else []


def compare_outputs(arguments: argparse.Namespace, outputs: Any) -> list[str]:
    """A warning where the module cannot be the ONNX file's model."""
    if not Path(arguments.model).is_file():
        return []
    try:
        import model_values
    except ImportError:
        return []
    dims = read_dims(arguments.dim)
    made = shapes_of(outputs)
    for declared in model_values.declared_outputs(Path(arguments.model)):
        shape = [dims.get(extent, extent) for extent in declared.shape]
        fits = [
            one for one in made
            if len(one) == len(shape) and all(a == b or not isinstance(b, int) for a, b in zip(one, shape, strict=True))
        ]  # fmt: skip
        if not fits:
            text = "x".join(str(extent) for extent in shape)
            return [f"the model's output {declared.name!r} is {text}, and none of {arguments.module} is: are they one model?"]
    return []


def profile(arguments: argparse.Namespace, module: Any, inputs: tuple[Any, ...], trace: Path) -> dict[str, Any]:
    import torch

    activities = [torch.profiler.ProfilerActivity.CPU]
    if arguments.device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)

    def infer() -> None:
        with torch.profiler.record_function(torch_trace.INFERENCE):
            module(*inputs)

    timed = timed_by_events(infer) if arguments.device == "cuda" else sampling.timed_on_host(infer)

    def traced(count: int) -> list[float]:
        with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
            times = [timed() for _ in range(count)]
        profiler.export_chrome_trace(str(trace))
        return times

    # Two alone, for how large a trace gets; and, in eager mode, for which module calls what.
    hooks = name_modules(module) if arguments.mode == "eager" else []
    traced(2)
    calls = torch_trace.read_inferences(trace)
    names = [call["module"] for call in calls[-1]] if hooks and calls else []
    events = trace.read_text(errors="replace").count('"ph"') / 2
    for hook in hooks:
        hook.remove()

    usual = statistics.median(sampling.warm_up(timed, arguments.seconds))
    count = int(min(arguments.seconds * 1e6 / usual, MOST_EVENTS / events, MOST_PROFILED_INFERENCES))
    count = max(sampling.LEAST_SAMPLES, count)
    times = traced(count)
    dropped = max(1, count // 5)
    layers, warnings = torch_trace.layers_of(torch_trace.read_inferences(trace)[dropped:], names)
    if arguments.mode == "compiled" and arguments.device == "cuda":
        warnings.append("the profiled process ran without torch.compile's CUDA graph: what it took more is not the profiler's alone")
    return {"profiled_us": times[dropped:], "layers": layers, "warnings": warnings}


def name_modules(module: Any) -> list[Any]:
    """Hooks that note in the trace which module is running. A module of torch.jit takes none."""
    import torch

    if isinstance(module, torch.jit.ScriptModule):
        return []
    open_ranges: list[Any] = []
    hooks: list[Any] = []

    def opening(name: str) -> Callable[..., None]:
        def enter(*_: Any) -> None:
            open_ranges.append(torch.profiler.record_function(torch_trace.MODULE + name))
            open_ranges[-1].__enter__()

        return enter

    def leave(*_: Any) -> None:
        open_ranges.pop().__exit__(None, None, None)

    for name, part in module.named_modules():
        if name:
            hooks += [part.register_forward_pre_hook(opening(name)), part.register_forward_hook(leave)]
    return hooks


def run_child(arguments: argparse.Namespace, work_directory: Path) -> dict[str, Any]:
    import torch

    on_host = arguments.device == "cpu"  # else a GPU's events take the time, and the host does not matter
    cores = sampling.pin(arguments.cores, arguments.threads) if on_host else []
    with torch.inference_mode():
        module, inputs, first = prepare(arguments)
        if arguments.child == "profile":
            return profile(arguments, module, inputs, work_directory / "trace.json")
        warnings = compare_outputs(arguments, module(*inputs))

        def run() -> Any:
            return module(*inputs)

        infer = captured(run) if arguments.mode == "cuda-graph" else run
        timed = timed_by_events(infer) if arguments.device == "cuda" else sampling.timed_on_host(infer)
        sampling.warm_up(timed, arguments.seconds)
        count = arguments.repetitions if arguments.one_process else 1
        core_time = sampling.CoreTime(arguments.threads) if on_host else None
        movable = cores if on_host and not arguments.cores else None
        samples = []
        for _ in range(count):
            metronome = sampling.Metronome(arguments.metronome if on_host else "", arguments.threads)
            taken = sampling.sample(timed, arguments.seconds, core_time, arguments.patience, cores=movable, metronome=metronome)
            samples.append(taken.answer())
    gpu = torch.cuda.get_device_name() if arguments.device == "cuda" else ""
    return {"samples": samples, "warnings": warnings, "first_s": first, "gpu": gpu}


def main() -> None:
    arguments = parse_arguments()
    work_directory: Path = arguments.work_directory or arguments.output.resolve().parent
    if arguments.child:
        arguments.output.write_text(json.dumps(run_child(arguments, work_directory)))
        return

    try:
        import torch
    except ImportError as error:
        raise fail(f"this Python has no torch ({error}); --python names one that has") from error
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise fail("PyTorch sees no GPU here")
    if arguments.mode == "cuda-graph" and arguments.device != "cuda":
        raise fail("--mode cuda-graph needs a GPU")
    sha = arguments.model_sha256
    if not sha:
        if not Path(arguments.model).is_file():
            raise fail(f"{arguments.model}: no such file")
        sha = hashlib.sha256(Path(arguments.model).read_bytes()).hexdigest()

    processes = 1 if arguments.one_process else arguments.repetitions
    profiles = arguments.mode != "cuda-graph" and not arguments.one_process and not arguments.no_layers
    answer: dict[str, Any] = {}

    def call(repetition: int, patience: float) -> dict[str, Any]:
        nonlocal answer
        if not arguments.one_process or not answer:
            sampling.progress(repetition, processes + profiles, f"process {repetition + 1} of {processes}, no profiler")
            answer = sampling.call_child("PyTorch", "sample", work_directory, arguments.threads, "--patience", str(patience))
        samples: dict[str, Any] = answer["samples"][repetition if arguments.one_process else 0]
        return samples

    sampling.limit_memory(arguments.memory_limit)
    end_to_end, noisy = sampling.in_processes(arguments.repetitions, arguments.seconds, call)
    module = arguments.module
    if Path(module.rpartition(":")[0] or module).is_file():
        module = str(Path(module).absolute())  # so that it is found again
    settings = {
        "device": arguments.device,
        "mode": arguments.mode,
        "module": module,
        "seed": str(arguments.seed),
        "warm_up": sampling.describe_warm_up(arguments.seconds),
    }
    if arguments.inputs:
        settings["inputs"] = hashlib.sha256(arguments.inputs.read_bytes()).hexdigest()
    if arguments.mode == "compiled":
        settings["first_inference_s"] = f"{answer['first_s']:.1f}"
    if answer["gpu"]:
        settings["gpu"] = answer["gpu"]
    profiled: dict[str, Any] = {"layers": []}
    if profiles:
        sampling.progress(processes, processes + 1, "one process under the profiler")
        profiled = sampling.call_child("PyTorch", "profile", work_directory, arguments.threads)
        sampling.keep(work_directory / "trace.json", arguments.keep_profile)
    elif arguments.mode == "cuda-graph":
        answer["warnings"].append("no layers: a replayed CUDA graph calls no operators; --mode eager has them")
    run: dict[str, Any] = {
        "schema": SCHEMA,
        "framework": "pytorch",
        "framework_version": torch.__version__,
        "model": Path(arguments.model).stem,
        "model_sha256": sha,
        "dims": read_dims(arguments.dim),
        "threads": arguments.threads,
        "contract": arguments.contract,
        "settings": settings,
        "end_to_end": end_to_end,
        "noisy": noisy,
        **profiled,
        "warnings": answer["warnings"] + profiled.get("warnings", []),
    }
    if arguments.device_key:
        run["device"] = arguments.device_key
    arguments.output.write_text(json.dumps(run))


if __name__ == "__main__":
    main()
