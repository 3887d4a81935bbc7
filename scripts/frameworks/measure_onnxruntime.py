#!/usr/bin/env python3
"""Runs an ONNX model in ONNX Runtime and writes how long it took, for infimum to read.

    python measure_onnxruntime.py model.onnx --dim batch=8 --threads 1 --output run.json

End-to-end samples come first, from fresh processes without a profiler; then one more process runs with
ONNX Runtime's own profiler for the layers' times, and says what each of those inferences took as a whole, which is
what the profiler costs. Nothing is analysed here: the file written holds the samples, the profile's path and the
nodes of the graph that ONNX Runtime made of the model.

Several models are measured in turn, each process going through all of them; the file then has a list, {"runs": [...]},
where a model that cannot be run has {"failed": "why"}.

A cache that the model takes and returns in as many positions is one buffer for both, as programs that generate text
have it: a step then writes its own position alone.

With --device cuda inputs and outputs stay on the GPU. There are no layers then: ONNX Runtime's profiler takes the time
until a node has been launched, not until its kernels have run.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import model_values
import sampling

SCHEMA = "infimum.run/1"

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}

# The profiler keeps a million events and drops what comes later without a word: of these and as many of the warm-up
# there are less.
MOST_PROFILED_INFERENCES = 500
MOST_PROFILED_NODES = 200_000


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="+", help="of several no layers are measured")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="binds a symbolic dimension")
    parser.add_argument("--inputs", type=Path, help="a file .npz of inputs by name; the others are made up")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=sorted(PROVIDERS), default="cpu")
    parser.add_argument("--contract", default="", help="tf32 allows it on a GPU; else the model's own types decide")
    parser.add_argument("--cores", default="", help="cores to run on, such as 0 or 0,1 (default: quiet ones)")
    parser.add_argument("--repetitions", type=int, default=3, help="processes for the end-to-end samples")
    parser.add_argument("--seconds", type=float, default=4.0, help="sampling time of each process")
    parser.add_argument("--no-layers", action="store_true", help="no process under the profiler")
    parser.add_argument("--profiled-inferences", type=int, default=0, help="0: as many as fit into --seconds")
    parser.add_argument("--optimization", choices=["all", "extended", "basic", "disabled"], default="all")
    parser.add_argument("--metronome", default="", help="infimum's runner, whose fixed loops tell how fast the machine is meanwhile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory-limit", type=int, help="bytes that its processes may take, each")
    parser.add_argument("--keep-profile", type=Path, help="where ONNX Runtime's own profile is kept, too")
    parser.add_argument("--work-directory", type=Path, help="for the profile (default: beside the output)")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--child", choices=["sample", "profile"], help=argparse.SUPPRESS)
    parser.add_argument("--only", type=Path, nargs="+", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--patience", type=float, default=0.0, help=argparse.SUPPRESS)
    return parser.parse_args()


def session_options(threads: int, dims: dict[str, int]) -> Any:
    """As a program gets them by default, on so many threads."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    for name, extent in dims.items():
        if name.split("@")[0] in (model_values.CACHE_POSITIONS, model_values.IF_THEN):
            continue
        # With its dimensions known, ONNX Runtime folds the shape arithmetic that it would run each time.
        options.add_free_dimension_override_by_name(name, extent)
    return options


def make_session(model: Path, arguments: argparse.Namespace, profile_prefix: str | None, optimized: str | None) -> Any:
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    options = session_options(arguments.threads, model_values.read_dims(arguments.dim))
    options.graph_optimization_level = {
        "all": levels.ORT_ENABLE_ALL,
        "extended": levels.ORT_ENABLE_EXTENDED,
        "basic": levels.ORT_ENABLE_BASIC,
        "disabled": levels.ORT_DISABLE_ALL,
    }[arguments.optimization]
    if profile_prefix is not None:
        options.enable_profiling = True
        options.profile_file_prefix = profile_prefix
    if optimized is not None:
        options.optimized_model_filepath = optimized
    source = model_values.with_random_weights(model, arguments.seed)
    wanted = PROVIDERS[arguments.device]
    provider_options = {"use_tf32": "1" if arguments.contract == "tf32" else "0"} if arguments.device == "cuda" else {}
    session = onnxruntime.InferenceSession(source, sess_options=options, providers=[wanted], provider_options=[provider_options])
    # It goes on without a provider whose libraries do not load.
    if wanted not in session.get_providers():
        raise SystemExit(f"infimum: error: ONNX Runtime could not start {wanted}: are CUDA and cuDNN of its version there?")
    return session


def timed_inference(session: Any, feeds: dict[str, Any], device: str, caches: dict[str, str]) -> Callable[[], float]:
    """`caches`: the inputs that are one buffer with an output, by the output."""
    outputs = [output.name for output in session.get_outputs()]
    if device == "cpu" and not caches:
        return sampling.timed_on_host(lambda: session.run(outputs, feeds))
    import onnxruntime

    binding = session.io_binding()
    # What a step writes into a cache is not what the next description of the outputs shall find.
    shared = set(caches.values())
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(value.copy() if name in shared else value, device, 0) for name, value in feeds.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for name in outputs:
        if name in caches:
            binding.bind_ortvalue_output(name, values[caches[name]])
        else:
            binding.bind_output(name, device, 0)

    def infer() -> None:
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()

    return sampling.timed_on_host(infer)


def caches_in_place(session: Any, model: Path, feeds: dict[str, Any]) -> dict[str, str]:
    """Those whose results have the size of what was fed, so that one buffer holds both."""
    pairs = model_values.caches_in_place(model)
    if not pairs:
        return {}
    results = session.run(list(pairs), feeds)
    return {
        output: name
        for (output, name), result in zip(pairs.items(), results, strict=True)
        if result.shape == feeds[name].shape and result.dtype == feeds[name].dtype
    }


def run_child(model: Path, cores: list[int], arguments: argparse.Namespace, work_directory: Path) -> dict[str, Any]:
    dims = model_values.read_dims(arguments.dim)
    profiles = arguments.child == "profile"
    optimized = work_directory / "optimized.onnx"
    prefix = str(work_directory / "profile")
    session = make_session(model, arguments, prefix if profiles else None, str(optimized) if profiles else None)
    feeds = model_values.random_inputs(session.get_inputs(), model, dims, arguments.seed, arguments.inputs)
    caches = caches_in_place(session, model, feeds)
    timed = timed_inference(session, feeds, arguments.device, caches)
    # On a GPU the host's thread waits, in whatever way the provider likes.
    core_time = sampling.CoreTime(arguments.threads if arguments.device == "cpu" else 2)
    movable = None if arguments.cores else cores
    if not profiles:
        sampling.warm_up(timed, arguments.seconds)
        metronome = sampling.Metronome(arguments.metronome if arguments.device == "cpu" else "", arguments.threads)
        samples = sampling.sample(timed, arguments.seconds, core_time, arguments.patience, cores=movable, metronome=metronome)
        names = [output.name for output in session.get_outputs()]
        described = model_values.describe_outputs(names, session.run(names, feeds))
        return {**samples.answer(), "outputs": described, "shared_buffers": len(caches)}
    nodes = model_values.describe_nodes(optimized)
    optimized.unlink(missing_ok=True)
    most = arguments.profiled_inferences or MOST_PROFILED_INFERENCES
    most = max(sampling.LEAST_SAMPLES, min(most, MOST_PROFILED_NODES // max(len(nodes), 1)))
    warm = sampling.warm_up(timed, arguments.seconds, most)
    samples = sampling.sample(timed, arguments.seconds, core_time, most=most, cores=movable)
    profile = session.end_profiling()
    # The reader takes the layers' times from the same inferences, and drops the disturbed ones from both.
    dropped = max(0, max(1, (len(warm) + len(samples.every)) // 5) - len(warm))
    disturbed = [i for i, share in enumerate(samples.shares[dropped:]) if share < sampling.COUNTS]
    if len(samples.every) - dropped - len(disturbed) < sampling.LEAST_SAMPLES:
        disturbed = []
    return {
        "profile": str(Path(profile).resolve()),
        "engine_nodes": nodes,
        "profiled_us": samples.every[dropped:],
        "disturbed": disturbed,
    }


def main() -> None:
    arguments = parse_arguments()
    work_directory: Path = arguments.work_directory or arguments.output.resolve().parent
    if arguments.child:
        arguments.output.write_text(json.dumps(run_children(arguments, work_directory)))
        return

    try:
        import onnxruntime
    except ImportError as error:
        raise SystemExit(f"infimum: error: this Python has no onnxruntime ({error}); pip install onnxruntime") from error
    for file in [*arguments.model, *([arguments.inputs] if arguments.inputs else [])]:
        if not file.is_file():
            raise SystemExit(f"infimum: error: {file}: no such file")

    offered = onnxruntime.get_available_providers()
    if PROVIDERS[arguments.device] not in offered:
        raise SystemExit(
            f"infimum: error: this Python's onnxruntime has no {PROVIDERS[arguments.device]}, only {', '.join(offered)}; "
            "pip install onnxruntime-gpu"
        )

    sampling.limit_memory(arguments.memory_limit)
    if len(arguments.model) == 1:
        arguments.output.write_text(json.dumps(measure(arguments, work_directory)))
        return
    runs = [described(model, arguments) | answer for model, answer in zip(arguments.model, measure_each(arguments, work_directory))]
    arguments.output.write_text(json.dumps({"runs": runs}))


def described(model: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """A run without its times."""
    import onnxruntime

    return {
        "schema": SCHEMA,
        "framework": "onnxruntime",
        "framework_version": onnxruntime.__version__,
        "model": model.stem,
        "model_sha256": hashlib.sha256(model.read_bytes()).hexdigest(),
        "dims": model_values.read_dims(arguments.dim),
        "threads": arguments.threads,
        "settings": {
            "graph_optimization_level": arguments.optimization,
            "provider": PROVIDERS[arguments.device],
            "seed": str(arguments.seed),
            "warm_up": sampling.describe_warm_up(arguments.seconds),
        },
    }


def measure(arguments: argparse.Namespace, work_directory: Path) -> dict[str, Any]:
    """One model, and its layers where they are asked for."""
    stages = arguments.repetitions + (arguments.device == "cpu" and not arguments.no_layers)
    outputs: list[str] = []
    shared: list[int] = []

    def call(repetition: int, patience: float) -> dict[str, Any]:
        sampling.progress(repetition, stages, f"process {repetition + 1} of {arguments.repetitions}, no profiler")
        answer = sole(call_child("sample", arguments.model, work_directory, patience))
        outputs.append(answer.pop("outputs"))
        shared.append(answer.pop("shared_buffers"))
        return answer

    end_to_end, noisy = sampling.in_processes(arguments.repetitions, arguments.seconds, call)
    profiled: dict[str, Any] = {}
    warnings: list[str] = []
    if arguments.no_layers:
        pass
    elif arguments.device == "cpu":
        sampling.progress(arguments.repetitions, stages, "one process under the profiler")
        profiled = sole(call_child("profile", arguments.model, work_directory))
        sampling.keep(Path(profiled["profile"]), arguments.keep_profile)
    else:
        warnings.append(
            "no layers: on a GPU ONNX Runtime's profiler takes the time until a node has been launched, not until its "
            "kernels have run; nsys profile sees them"
        )
    run = described(arguments.model[0], arguments)
    run["settings"]["outputs"] = outputs[0]
    if shared[0]:
        run["settings"]["shared_buffers"] = str(shared[0])
    if arguments.inputs:
        run["settings"]["inputs"] = hashlib.sha256(arguments.inputs.read_bytes()).hexdigest()
    return run | {"end_to_end": end_to_end, "noisy": noisy, **profiled, "warnings": warnings}


def _answer(answers: Sequence[dict[str, Any]], index: int, _patience: float) -> dict[str, Any]:
    return answers[index]


def measure_each(arguments: argparse.Namespace, work_directory: Path) -> list[dict[str, Any]]:
    """Several models end to end: what each run has beside its description."""
    processes: list[list[dict[str, Any]]] = []
    for repetition in range(arguments.repetitions):
        sampling.progress(repetition, arguments.repetitions, f"process {repetition + 1} of {arguments.repetitions}")
        processes.append(call_child("sample", arguments.model, work_directory, 2 * arguments.seconds))
    runs: list[dict[str, Any]] = []
    for answers in zip(*processes):
        failed = [answer["failed"] for answer in answers if "failed" in answer]
        if failed:
            runs.append({"failed": failed[0]})
            continue
        end_to_end, noisy = sampling.in_processes(len(answers), arguments.seconds, functools.partial(_answer, answers))
        runs.append({"end_to_end": end_to_end, "noisy": noisy, "warnings": []})
    return runs


def call_child(kind: str, models: list[Path], work_directory: Path, patience: float = 0.0) -> list[dict[str, Any]]:
    """What a process of its own answers about each. Of several it is asked again in halves where it ended at one of them."""
    try:
        only = ["--only", *(str(model) for model in models)]
        answer = sampling.call_child("ONNX Runtime", kind, work_directory, 1, "--patience", str(patience), *only)
    except SystemExit as failure:
        if len(models) == 1:
            return [{"failed": str(failure).removeprefix("infimum: error: ")}]
        half = len(models) // 2
        return call_child(kind, models[:half], work_directory, patience) + call_child(kind, models[half:], work_directory, patience)
    answers: list[dict[str, Any]] = answer["models"]
    return answers


def sole(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Of one model, whose failure is the script's."""
    if "failed" in answers[0]:
        raise SystemExit(f"infimum: error: {answers[0]['failed']}")
    return answers[0]


def run_children(arguments: argparse.Namespace, work_directory: Path) -> dict[str, Any]:
    cores = sampling.pin(arguments.cores, arguments.threads)
    return {"models": [run_child(model, cores, arguments, work_directory) for model in arguments.only or arguments.model]}


if __name__ == "__main__":
    main()
