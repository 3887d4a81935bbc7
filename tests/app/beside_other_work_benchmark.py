"""What `infimum measure` says of ONNX Runtime beside other work, against what it says on the quiet machine, alternating.

    python beside_other_work_benchmark.py INFIMUM MODEL... [--rounds 3] [--seconds 2]

Loads: `other` a busy loop on every core but the one that is measured on; `half` a loop on the measured core, one second of two;
`all` a loop on every core. Wanted: other: a time within 5 %; half: a time, in twice the budget, within 10 %; all: within 10 %, or
noisy. On a machine that does nothing else. Ends with 1 where a promise did not hold.

A virtual machine's quiet runs differ by up to 12 % from each other. So the median of the loaded runs is held against the median of the
quiet ones, and each loaded run against all that the quiet ones gave: it may lie beyond the slowest or the fastest by the limit.
"""

from __future__ import annotations

import argparse
import json
import os
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


def measure(infimum: str, model: Path, seconds: float, folder: Path) -> tuple[float | None, float]:
    """The time in ms, None where the run is noisy; and how long the command took."""
    start = time.monotonic()
    command = [infimum, "measure", str(model), "--db", str(folder / "runs.db"), "-o", str(folder / "run.json"), "--seconds", str(seconds)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    run: dict[str, Any] = json.loads((folder / "run.json").read_text())
    medians = [statistics.median(repetition["samples_us"]) for repetition in run["end_to_end"]]
    return (None if run.get("noisy") else min(medians) / 1000), time.monotonic() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infimum")
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    arguments = parser.parse_args()
    measured = max(os.sched_getaffinity(0))  # where a quiet machine's run goes
    failed = False
    with tempfile.TemporaryDirectory() as name:
        for model in arguments.models:
            for kind, most in LIMITS.items():
                quiet: list[float] = []
                loaded: list[float | None] = []
                took: list[float] = []
                for _ in range(arguments.rounds):
                    with load("quiet", measured):
                        time_ms, _elapsed = measure(arguments.infimum, model, arguments.seconds, Path(name))
                        quiet += [] if time_ms is None else [time_ms]
                    with load(kind, measured):
                        time_ms, elapsed = measure(arguments.infimum, model, arguments.seconds, Path(name))
                        loaded.append(time_ms)
                        took.append(elapsed)
                told = [value for value in loaded if value is not None]
                if not quiet:
                    raise SystemExit(f"{model.name}: the quiet machine was not quiet")
                reference = statistics.median(quiet)
                typical = abs(statistics.median(told) / reference - 1) if told else 0.0
                worst = max((max(value / max(quiet) - 1, min(quiet) / value - 1, 0.0) for value in told), default=0.0)
                held = max(typical, worst) <= most and (kind == "all" or len(told) == len(loaded))
                failed = failed or not held
                print(
                    f"{model.stem} {kind}: {'held' if held else 'DID NOT HOLD'}: quiet {reference:.2f} ms "
                    f"({min(quiet):.2f} to {max(quiet):.2f}), loaded {', '.join(f'{v:.2f}' if v else 'noisy' for v in loaded)}; "
                    f"medians differ by {100 * typical:.1f} %, the worst run is {100 * worst:.1f} % beyond the quiet ones, "
                    f"{100 * most:.0f} % allowed; took {max(took):.1f} s",
                    flush=True,
                )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
