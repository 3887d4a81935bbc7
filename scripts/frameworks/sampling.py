"""How the scripts here sample an inference: in processes of their own, pinned, after a warm-up; and what they say meanwhile.

    sampling.progress(1, 4, "process 2 of 3, no profiler")            "progress 1 4 process 2 of 3, no profiler"
    answer = sampling.call_child("ONNX Runtime", "sample", folder, threads=1)     this script again, with --child sample
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WARM_UP_SHARE = 0.2  # of the sampling time
LEAST_WARM_UP = 2  # inferences
LEAST_SAMPLES = 5


def progress(done: int, total: int, stage: str) -> None:
    """The stage that begins now, for infimum's progress line."""
    print(f"progress {done} {total} {stage}", file=sys.stderr, flush=True)


def pin(cores: str, threads: int) -> list[int]:
    """Binds this process to its cores, so that a sample is not split between two of them."""
    available = sorted(os.sched_getaffinity(0))
    chosen = [int(core) for core in cores.split(",")] if cores else available[:threads]
    os.sched_setaffinity(0, chosen)
    return chosen


def timed_on_host(infer: Callable[[], Any]) -> Callable[[], float]:
    """Of an inference that has ended when it returns: one that says how many microseconds it took."""

    def timed() -> float:
        start = time.perf_counter_ns()
        infer()
        return (time.perf_counter_ns() - start) / 1000.0

    return timed


def warm_up(timed: Callable[[], float], seconds: float, most: int = 100_000) -> list[float]:
    """By time and count; what it took, since a profiler counts these inferences too."""
    samples: list[float] = []
    end = time.perf_counter() + WARM_UP_SHARE * seconds
    while len(samples) < most and (len(samples) < LEAST_WARM_UP or time.perf_counter() < end):
        samples.append(timed())
    return samples


def sample(timed: Callable[[], float], seconds: float, most: int = 100_000) -> list[float]:
    """Latencies in microseconds, until `seconds` are over."""
    samples: list[float] = []
    end = time.perf_counter() + seconds
    while len(samples) < most and (len(samples) < LEAST_SAMPLES or time.perf_counter() < end):
        samples.append(timed())
    return samples


def describe_warm_up(seconds: float) -> str:
    return f"{WARM_UP_SHARE * seconds:g} s, at least {LEAST_WARM_UP} inferences"


def keep(profile: Path, target: Path | None) -> None:
    if target is None:
        return
    try:
        shutil.copyfile(profile, target)
    except OSError as error:
        raise SystemExit(f"infimum: error: {target}: cannot be written: {error.strerror}") from error


def call_child(framework: str, kind: str, work_directory: Path, threads: int) -> dict[str, Any]:
    """This program again in a process of its own, so that no repetition inherits another's memory."""
    with tempfile.NamedTemporaryFile(dir=work_directory, suffix=".json") as answer:
        command = [sys.executable, *sys.argv, "--child", kind, "--output", answer.name]
        command += ["--work-directory", str(work_directory)]
        # No OpenMP or BLAS pool may add threads to those that were asked for.
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
        finished = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
        if finished.returncode != 0:
            lines = [line for line in finished.stderr.splitlines() if line.strip()]
            last = lines[-1] if lines else "ended without a word"
            lead = "infimum: error: "
            raise SystemExit(last if last.startswith(lead) else f"{lead}{framework}: {last}")
        result: dict[str, Any] = json.loads(Path(answer.name).read_text())
        return result
