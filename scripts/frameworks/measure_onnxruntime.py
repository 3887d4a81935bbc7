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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measuring
import model_values
import sampling

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}

# The profiler keeps a million events and drops what comes later without a word: of these and as many of the warm-up
# there are less.
MOST_PROFILED_INFERENCES = 500
MOST_PROFILED_NODES = 200_000


def parse_arguments() -> argparse.Namespace:
    parser = measuring.parser(__doc__ or "")
    parser.add_argument("--device", choices=sorted(PROVIDERS), default="cpu")
    parser.add_argument("--contract", default="", help="tf32 allows it on a GPU; else the model's own types decide")
    parser.add_argument("--profiled-inferences", type=int, default=0, help="0: as many as fit into --seconds")
    parser.add_argument("--optimization", choices=["all", "extended", "basic", "disabled"], default="all")
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
    if not profiles:
        names = [output.name for output in session.get_outputs()]
        settings = {"shared_buffers": str(len(caches))} if caches else {}
        return measuring.sampled(timed, cores, arguments, names, lambda: session.run(names, feeds), settings)
    nodes = model_values.describe_nodes(optimized)
    optimized.unlink(missing_ok=True)
    most = arguments.profiled_inferences or MOST_PROFILED_INFERENCES
    most = max(sampling.LEAST_SAMPLES, min(most, MOST_PROFILED_NODES // max(len(nodes), 1)))
    warm = sampling.warm_up(timed, arguments.seconds, most)
    core_time = sampling.CoreTime(arguments.threads)
    samples = sampling.sample(timed, arguments.seconds, core_time, most=most, cores=None if arguments.cores else cores)
    profile = session.end_profiling()
    sampling.keep(Path(profile), arguments.keep_profile)
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


def check(arguments: argparse.Namespace) -> None:
    import onnxruntime

    offered = onnxruntime.get_available_providers()
    if PROVIDERS[arguments.device] not in offered:
        raise SystemExit(
            f"infimum: error: this Python's onnxruntime has no {PROVIDERS[arguments.device]}, only {', '.join(offered)}; "
            "pip install onnxruntime-gpu"
        )


if __name__ == "__main__":
    given = parse_arguments()
    measuring.run(
        measuring.Framework(
            name="onnxruntime",
            title="ONNX Runtime",
            check=check,
            run_child=run_child,
            settings={"graph_optimization_level": given.optimization, "provider": PROVIDERS[given.device]},
            no_layers=""
            if given.device == "cpu"
            else "on a GPU ONNX Runtime's profiler takes the time until a node has been launched, not until its kernels have run; "
            "nsys profile sees them",
        ),
        given,
    )
