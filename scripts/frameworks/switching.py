"""What the scripts share that switch a framework's own optimizations on and off: a design of whole inferences, timed in turn.

    outputs = Outputs("ONNX Runtime")
    answer = time_design(arguments, make, 64, "sessions", outputs)    make(["NCHWc layout"]) is an inference without that switch
    write(arguments.output, "onnxruntime", "1.31.1", answer)          infimum.switches/1

A design is a file of one run a line, "01": '1' where the switch of this place is off. There is one program for each combination, all
in this process; the runs are timed in their order, each behind an untimed inference of the same program, which finds the caches and the
memory as it would alone.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import sampling

SCHEMA = "infimum.switches/1"
TOLERANCE = 1e-3  # of an output's largest element
ATTEMPTS = 3  # at a run, until the process had its cores
REST_SECONDS = 0.005  # without work of this process, after which no thread spins
MOST_REST_SECONDS = 0.1


class Outputs:
    """Of all programs, held against those of the first, which is as a user gets it."""

    def __init__(self, framework: str) -> None:
        self._framework = framework
        self._expected: list[Any] = []
        self.difference = 0.0

    def check(self, outputs: Sequence[Any], off: Sequence[str]) -> None:
        if not self._expected:
            self._expected = list(outputs)
        for wanted, got in zip(self._expected, outputs, strict=True):
            wanted, got = numpy.asarray(wanted, numpy.float64), numpy.asarray(got, numpy.float64)
            error = float(numpy.max(numpy.abs(got - wanted), initial=0.0)) / max(float(numpy.max(numpy.abs(wanted), initial=0.0)), 1e-30)
            self.difference = max(self.difference, error)
            if not error <= TOLERANCE:
                raise SystemExit(
                    f"infimum: error: with {', '.join(off) or 'nothing'} off {self._framework} computes other outputs: they differ by "
                    f"{error:.2g} of the largest element, {TOLERANCE:g} is allowed"
                )


def add_arguments(parser: argparse.ArgumentParser, switches: Sequence[str]) -> None:
    """What infimum gives to each of these scripts, beside the model."""
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="binds a symbolic dimension")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cores", default="", help="cores to run on, such as 0 or 0,1 (default: quiet ones)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of inferences")
    parser.add_argument("--switch", action="append", default=[], choices=switches, metavar="NAME")
    parser.add_argument("--design", type=Path, help="the runs; without it the switches that change anything are found")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)


def rest() -> None:
    """Until the threads of the session before no longer spin for work: they do so for some 25 ms, on the same cores."""
    end = time.perf_counter() + MOST_REST_SECONDS
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(REST_SECONDS)
        if time.process_time() - before < 0.1 * REST_SECONDS:
            return


def time_design(
    arguments: argparse.Namespace, make: Callable[[list[str]], Callable[[], Any]], most: int, programs: str, outputs: Outputs
) -> dict[str, Any]:  # fmt: skip
    """`make` gets the names of those that are off, and checks its program's outputs."""
    names: list[str] = arguments.switch
    design = arguments.design.read_text().split()
    wanted = sorted(set(design))
    if any(len(levels) != len(names) or set(levels) - {"0", "1"} for levels in wanted):
        raise SystemExit(f"infimum: error: {arguments.design}: a run has not one level, 0 or 1, for each --switch")
    if len(wanted) > most:
        raise SystemExit(f"infimum: error: {arguments.design}: {len(wanted)} combinations, {most} at most are {programs} at once")
    timed: dict[str, Callable[[], float]] = {}
    for levels in wanted:
        sampling.progress(len(timed), len(wanted), programs)
        infer = make([name for name, level in zip(names, levels, strict=True) if level == "1"])
        for _ in range(sampling.LEAST_WARM_UP):
            infer()
        timed[levels] = sampling.timed_on_host(infer)
    gc.collect()
    gc.disable()
    core_time = sampling.CoreTime(arguments.threads)
    times: list[float] = []
    shares: list[float] = []
    start = said = time.perf_counter()
    for levels in design:
        if arguments.threads > 1:
            rest()
        timed[levels]()
        best, share = 0.0, -1.0
        for _ in range(ATTEMPTS):
            core_time.begin()
            took = timed[levels]()
            had = core_time.share(took)
            if had > share:
                best, share = took, had
            if share >= sampling.COUNTS:
                break
        times.append(best)
        shares.append(share)
        now = time.perf_counter()
        if now - start >= arguments.seconds:
            break
        if now - said >= 1.0:
            said = now
            sampling.progress(int(now - start), int(arguments.seconds), f"{len(times)} inferences")
    counted = [share >= sampling.COUNTS for share in shares]
    # As everywhere: a run in which few count is kept as it is, and says so.
    noisy = 2 * sum(counted) < len(counted)
    typical = f"the typical one for {100 * statistics.median(shares):.0f} %"
    disturbed = f"{len(counted) - sum(counted)} of {len(counted)} inferences had their cores for less than {100 * sampling.COUNTS:g} % of their time"
    notes = [f"outputs of {len(wanted)} combinations differ by {outputs.difference:.2g} of the largest element at most"]
    if not noisy and not all(counted):
        notes.append(f"{disturbed} and are left out")
    return {
        "inferences_us": times,
        "noisy": f"{disturbed} ({typical}): other programs ran on them" if noisy else "",
        "disturbed": [] if noisy else [run for run, count in enumerate(counted) if not count],
        "largest_difference": outputs.difference,
        "notes": notes,
    }


def write(output: Path, framework: str, version: str, answer: dict[str, Any]) -> None:
    output.write_text(json.dumps({"schema": SCHEMA, "framework": framework, "framework_version": version, **answer}))
