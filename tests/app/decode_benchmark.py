"""Steps of a language model's decoding in ONNX Runtime, with caches in one buffer, against their floor and their bound.

    python decode_benchmark.py INFIMUM MODEL.onnx [--contexts 128,1024,4096,8192] [--buffer 4096] [--processes 10] [--budget 5m]
        [--db FILE] [--threads 1]

MODEL.onnx as ONNX Runtime GenAI's builder writes it, with its weights: attention takes its caches as buffers. Of each context the best
known kernels are measured and ONNX Runtime's run, wanted: floor <= bound <= time, time / bound <= 1.5. Then of a buffer that is half
full and full so many processes (--contexts "": these alone), wanted: each above the floor, the floor at least half of the best. Ends with 1 where that does not hold.
"""

from __future__ import annotations

import argparse
import collections
import json
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

MOST_OVER_BOUND = 1.5
LEAST_FLOOR = 0.5


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infimum", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--contexts", default="128,1024,4096,8192")
    parser.add_argument("--buffer", type=int, default=4096)
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--budget", default="5m")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--db", default="")
    return parser.parse_args()


class Decoding:
    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self._arguments = arguments
        self._folder = folder
        self._common = ["--db", arguments.db or str(folder / "decode.db"), "--threads", arguments.threads]

    def run(self, *command: str) -> str:
        done = subprocess.run([str(self._arguments.infimum), *command], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"infimum {command[0]}: {done.stderr.splitlines()[-1:]}")
        return done.stdout

    def dims(self, contexts: str) -> dict[int, dict[str, str]]:
        """Of a step behind so many positions, by these."""
        file = self._folder / "cells.json"
        self.run("llm", str(self._arguments.model), "--batch", "1", "--context", contexts, "--evaluation", str(file))
        models: list[dict[str, Any]] = json.loads(file.read_text())["models"]
        steps = models[len(models) // 2 :]  # behind the prefills, in the same order
        return {int(context): step["dims"] for context, step in zip(contexts.split(","), steps, strict=True)}

    def options(self, dims: dict[str, str]) -> list[str]:
        texts = [("--assume" if name == "cache.positions" else "--dim", f"{name}={size}") for name, size in dims.items()]
        return [word for text in texts for word in text] + self._common

    def bound(self, dims: dict[str, str]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.run("bound", str(self._arguments.model), *self.options(dims), "--format", "json"))
        return answer

    def floor_us(self, dims: dict[str, str]) -> float:
        floors = self.bound(dims)["floors"]
        return float(next(one["latency_us"] for one in floors if one["class"] == "textbook"))

    def of_context(self, dims: dict[str, str]) -> tuple[float, float, float, str]:
        """Floor, bound and time, and the families of layers that hold most of what is between the last two."""
        report = self._folder / "report.json"
        self.run("analyze", str(self._arguments.model), *self.options(dims), "--no-replay", "--budget", self._arguments.budget, "--report", str(report))
        bound = next(one["latency_us"] for one in self.bound(dims)["bounds"] if one["variant"] == "sequential")
        over: collections.Counter[str] = collections.Counter()
        for row in json.loads(report.read_text())["rows"]:
            if row["measured_us"] is not None and row["bound_us"] is not None:
                over[row["family"]] += row["measured_us"] - row["bound_us"]
        reason = ", ".join(f"{family} {us / 1000:.1f} ms" for family, us in over.most_common(2))
        return self.floor_us(dims), float(bound), statistics.fmean(self.processes(dims, 3)), reason

    def processes(self, dims: dict[str, str], count: int) -> list[float]:
        """Each process's median."""
        file = self._folder / "run.json"
        self.run("measure", str(self._arguments.model), *self.options(dims), "--repetitions", str(count), "-o", str(file))
        run = json.loads(file.read_text())
        if run.get("settings", {}).get("shared_buffers", "0") == "0":
            raise SystemExit(f"{self._arguments.model}: its caches are no buffers that ONNX Runtime can share")
        return [statistics.median(one["samples_us"]) for one in run["end_to_end"]]


def main() -> None:
    arguments = parse_arguments()
    fails = 0
    with tempfile.TemporaryDirectory() as name:
        decoding = Decoding(arguments, Path(name))
        for context, dims in decoding.dims(arguments.contexts).items() if arguments.contexts else ():
            floor, bound, time, reason = decoding.of_context(dims)
            holds = floor <= bound <= time and time / bound <= MOST_OVER_BOUND
            fails += not holds
            print(
                f"{context:6} positions: floor {floor / 1000:7.2f} ms, bound {bound / 1000:7.2f}, ONNX Runtime {time / 1000:7.2f}, "
                f"time / bound {time / bound:.2f} ({reason}){'' if holds else '  FAILS'}",
                flush=True,
            )
        for filled in (arguments.buffer // 2, arguments.buffer):
            dims = decoding.dims(str(filled - 1))[filled - 1]
            for symbol, size in dims.items():
                if "past" in symbol and size == str(filled):
                    dims[symbol] = str(arguments.buffer)
            floor = decoding.floor_us(dims)
            times = decoding.processes(dims, arguments.processes)
            above = sum(time > floor for time in times)
            holds = above == len(times) and floor >= LEAST_FLOOR * min(times)
            fails += not holds
            print(
                f"{filled} of {arguments.buffer} positions: {above} of {len(times)} above the floor of {floor / 1000:.2f} ms, "
                f"floor / best {floor / min(times):.2f}{'' if holds else '  FAILS'}",
                flush=True,
            )
    raise SystemExit(1 if fails else 0)


if __name__ == "__main__":
    main()
