"""What `infimum measure` says of ONNX Runtime beside other work, against what it says on the quiet machine, alternating.
With --replay: what `infimum replay` says of R, whose best kernels the stores of that folder know by the models' names.

    python beside_other_work_benchmark.py INFIMUM MODEL[:NAME=N,...]... [--rounds 3] [--seconds 2] [--replay FOLDER]

Loads: `other` a busy loop on every core but the one that is measured on; `half` a loop on the measured core, one second of two;
`all` a loop on every core. Wanted: other: a time within 5 %; half: a time, in twice the budget, within 10 %; all: within 10 %, or
noisy. On a machine that does nothing else. Ends with 1 where a promise did not hold.

A virtual machine's quiet runs differ by up to 12 % from each other within minutes. So a quiet run is made before each loaded one, the
median of the loaded runs is held against the median of all quiet ones of the model, and each loaded run against all that the quiet ones
gave: it may lie beyond the slowest or the fastest by the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMITS = {"other": 0.05, "half": 0.10, "all": 0.10}


def busy(core: int, half: bool) -> None:
    os.sched_setaffinity(0, {core})
    while True:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            pass
        if half:
            time.sleep(1)


@contextmanager
def load(kind: str, measured: int) -> Iterator[None]:
    cores = sorted(os.sched_getaffinity(0))
    wanted = {"quiet": [], "other": [core for core in cores if core != measured], "half": [measured], "all": cores}[kind]
    children = []
    for core in wanted:
        child = os.fork()
        if child == 0:
            busy(core, kind == "half")
        children.append(child)
    try:
        yield
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def measure(infimum: str, model: str, seconds: float, folder: Path) -> tuple[float | None, float]:
    """The time in ms, None where the run is noisy; and how long the command took."""
    start = time.monotonic()
    file, _, dims = model.partition(":")
    command = [infimum, "measure", file, "--db", str(folder / "runs.db"), "-o", str(folder / "run.json"), "--seconds", str(seconds)]
    command += [word for dim in dims.split(",") if dim for word in ("--dim", dim)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{process.stderr}")
    run: dict[str, Any] = json.loads((folder / "run.json").read_text())
    medians = [statistics.median(repetition["samples_us"]) for repetition in run["end_to_end"]]
    return (None if run.get("noisy") else min(medians) / 1000), time.monotonic() - start


def replay(infimum: str, model: str, stores: Path) -> tuple[float | None, float]:
    """R in ms, None where it is noisy; and how long the command took."""
    start = time.monotonic()
    file, _, dims = model.partition(":")
    command = [infimum, "replay", file, "--db", str(stores / f"{Path(file).stem}.db"), "--budget", "1s"]
    command += [word for dim in dims.split(",") if dim for word in ("--dim", dim)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"R \(demonstrated\) +([0-9.]+) (ns|µs|ms|s)\n", process.stdout)
    if process.returncode == 0 and "R (demonstrated)    noisy" in process.stdout:
        return None, time.monotonic() - start
    if process.returncode != 0 or not found:
        raise SystemExit(f"{' '.join(command)}\n{process.stderr}")
    return float(found[1]) * {"ns": 1e-6, "µs": 1e-3, "ms": 1, "s": 1e3}[found[2]], time.monotonic() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infimum")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--replay", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    measured = max(os.sched_getaffinity(0))  # where a quiet machine's run goes
    failed = False
    with tempfile.TemporaryDirectory() as name:

        def timed(model: str) -> tuple[float | None, float]:
            if arguments.replay:
                return replay(arguments.infimum, model, arguments.replay)
            return measure(arguments.infimum, model, arguments.seconds, Path(name))

        for model in arguments.models:
            quiet: list[float] = []
            loaded: dict[str, list[float | None]] = {kind: [] for kind in LIMITS}
            took: dict[str, float] = dict.fromkeys(LIMITS, 0.0)
            for _ in range(arguments.rounds):
                for kind in LIMITS:
                    with load("quiet", measured):
                        time_ms, _elapsed = timed(model)
                        quiet += [] if time_ms is None else [time_ms]
                    with load(kind, measured):
                        time_ms, elapsed = timed(model)
                        loaded[kind].append(time_ms)
                        took[kind] = max(took[kind], elapsed)
            if not quiet:
                raise SystemExit(f"{model}: the quiet machine was not quiet")
            reference = statistics.median(quiet)
            print(f"{Path(model).name} quiet: {reference:.2f} ms ({', '.join(f'{value:.2f}' for value in quiet)})")
            for kind, most in LIMITS.items():
                told = [value for value in loaded[kind] if value is not None]
                typical = abs(statistics.median(told) / reference - 1) if told else 0.0
                worst = max((max(value / max(quiet) - 1, min(quiet) / value - 1, 0.0) for value in told), default=0.0)
                held = max(typical, worst) <= most and (kind == "all" or len(told) == arguments.rounds)
                failed = failed or not held
                print(
                    f"{Path(model).name} {kind}: {'held' if held else 'DID NOT HOLD'}: "
                    f"{', '.join(f'{v:.2f}' if v else 'noisy' for v in loaded[kind])} ms; medians differ by {100 * typical:.1f} %, "
                    f"the worst run is {100 * worst:.1f} % beyond the quiet ones, {100 * most:.0f} % allowed; took {took[kind]:.1f} s",
                    flush=True,
                )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
