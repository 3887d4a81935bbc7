#!/usr/bin/env python3
"""Runs an ONNX model in ONNX Runtime and writes how long it took, for infimum to read.

    python measure_onnxruntime.py model.onnx --dim batch=8 --threads 1 --output run.json

End-to-end samples come first, from fresh processes without a profiler; then one more process runs with
ONNX Runtime's own profiler for the layers' times. Nothing is analysed here: the file written holds the
samples, the profile's path and the nodes of the graph that ONNX Runtime made of the model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import model_values

SCHEMA = "infimum.run/1"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="binds a symbolic dimension")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cores", default="", help="cores to run on, such as 0 or 0,1 (default: the first ones)")
    parser.add_argument("--repetitions", type=int, default=3, help="processes for the end-to-end samples")
    parser.add_argument("--seconds", type=float, default=4.0, help="sampling time of each process")
    parser.add_argument("--profiled-inferences", type=int, default=0, help="0: as many as fit into --seconds")
    parser.add_argument("--optimization", choices=["all", "extended", "basic", "disabled"], default="all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work-directory", type=Path, help="for the profile (default: beside the output)")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--child", choices=["sample", "profile"], help=argparse.SUPPRESS)
    return parser.parse_args()


def pin(cores: str, threads: int) -> list[int]:
    """Binds this process to its cores, so that a sample is not split between two of them."""
    available = sorted(os.sched_getaffinity(0))
    chosen = [int(core) for core in cores.split(",")] if cores else available[:threads]
    os.sched_setaffinity(0, chosen)
    return chosen


def make_session(arguments: argparse.Namespace, profile_prefix: str | None, optimized: str | None) -> Any:
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.graph_optimization_level = {
        "all": levels.ORT_ENABLE_ALL,
        "extended": levels.ORT_ENABLE_EXTENDED,
        "basic": levels.ORT_ENABLE_BASIC,
        "disabled": levels.ORT_DISABLE_ALL,
    }[arguments.optimization]
    for name, extent in model_values.read_dims(arguments.dim).items():
        # With its dimensions known, ONNX Runtime folds the shape arithmetic that it would run each time.
        options.add_free_dimension_override_by_name(name, extent)
    if profile_prefix is not None:
        options.enable_profiling = True
        options.profile_file_prefix = profile_prefix
    if optimized is not None:
        options.optimized_model_filepath = optimized
    source = model_values.with_random_weights(arguments.model, arguments.seed)
    return onnxruntime.InferenceSession(source, sess_options=options, providers=["CPUExecutionProvider"])


def sample(session: Any, feeds: dict[str, Any], seconds: float, least: int, most: int) -> list[float]:
    """Latencies in microseconds: warm-up by time and count, then until `seconds` are over."""
    outputs = [output.name for output in session.get_outputs()]
    warm_until = time.perf_counter() + 0.2 * seconds
    warm_runs = 0
    while warm_runs < 2 or time.perf_counter() < warm_until:
        session.run(outputs, feeds)
        warm_runs += 1
        if warm_runs >= most:
            break
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while len(samples) < most and (len(samples) < least or time.perf_counter() < end):
        start = time.perf_counter_ns()
        session.run(outputs, feeds)
        samples.append((time.perf_counter_ns() - start) / 1000.0)
    return samples


def run_child(arguments: argparse.Namespace, work_directory: Path) -> dict[str, Any]:
    cores = pin(arguments.cores, arguments.threads)
    dims = model_values.read_dims(arguments.dim)
    if arguments.child == "sample":
        session = make_session(arguments, None, None)
        feeds = model_values.random_inputs(session, arguments.model, dims, arguments.seed)
        return {"samples_us": sample(session, feeds, arguments.seconds, 5, 100_000), "cores": cores}
    optimized = work_directory / "optimized.onnx"
    session = make_session(arguments, str(work_directory / "profile"), str(optimized))
    feeds = model_values.random_inputs(session, arguments.model, dims, arguments.seed)
    most = arguments.profiled_inferences or 500
    sample(session, feeds, arguments.seconds, 5, most)
    profile = session.end_profiling()
    nodes = model_values.describe_nodes(optimized)
    optimized.unlink(missing_ok=True)
    return {"profile": str(Path(profile).resolve()), "engine_nodes": nodes}


def call_child(kind: str, work_directory: Path) -> dict[str, Any]:
    """This program again in a process of its own, so that no repetition inherits another's memory."""
    with tempfile.NamedTemporaryFile(dir=work_directory, suffix=".json") as answer:
        command = [sys.executable, __file__, *sys.argv[1:], "--child", kind, "--output", answer.name]
        command += ["--work-directory", str(work_directory)]
        # One thread is one thread: no OpenMP or BLAS pool may add others.
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        finished = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
        if finished.returncode != 0:
            lines = [line for line in finished.stderr.splitlines() if line.strip()]
            raise SystemExit("infimum: error: ONNX Runtime: " + (lines[-1] if lines else "ended without a word"))
        result: dict[str, Any] = json.loads(Path(answer.name).read_text())
        return result


def main() -> None:
    arguments = parse_arguments()
    work_directory: Path = arguments.work_directory or arguments.output.resolve().parent
    if arguments.child:
        arguments.output.write_text(json.dumps(run_child(arguments, work_directory)))
        return

    try:
        import onnxruntime
    except ImportError as error:
        raise SystemExit(f"infimum: error: this Python has no onnxruntime ({error}); pip install onnxruntime") from error
    if not arguments.model.is_file():
        raise SystemExit(f"infimum: error: {arguments.model}: no such file")

    end_to_end: list[dict[str, Any]] = []
    for repetition in range(arguments.repetitions):
        print(f"progress {repetition} {arguments.repetitions + 1}", file=sys.stderr, flush=True)
        answer = call_child("sample", work_directory)
        end_to_end.append({"samples_us": answer["samples_us"]})
    print(f"progress {arguments.repetitions} {arguments.repetitions + 1}", file=sys.stderr, flush=True)
    profiled = call_child("profile", work_directory)
    run = {
        "schema": SCHEMA,
        "framework": "onnxruntime",
        "framework_version": onnxruntime.__version__,
        "model": arguments.model.stem,
        "model_sha256": hashlib.sha256(arguments.model.read_bytes()).hexdigest(),
        "dims": model_values.read_dims(arguments.dim),
        "threads": arguments.threads,
        "settings": {"graph_optimization_level": arguments.optimization, "seed": str(arguments.seed)},
        "end_to_end": end_to_end,
        "profile": profiled["profile"],
        "engine_nodes": profiled["engine_nodes"],
        "warnings": [],
    }
    arguments.output.write_text(json.dumps(run))


if __name__ == "__main__":
    main()
