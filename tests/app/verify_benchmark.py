"""How often `infimum evaluate --verify` errs: on an untouched machine, and with every inference made slower.

    python verify_benchmark.py INFIMUM [--times 40] [--slower 1.15] [--seconds 0.3] [--processes 8] [--nodes 256]

Two cells (a fully connected net, of 1,024 nodes with 25 MB of weights, and a convolutional one), each verified half of the times; then as often with inferences that
take as much longer as told, by a loop behind ONNX Runtime's own run. Wanted of 40: untouched at most one faster or slower and at
most eight undecided; slower: found in at least 38. On a machine that does nothing else. Ends with 1 where that did not hold.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# Python runs a module of this name before anything else.
SLOWER = '''
import time, onnxruntime
original = onnxruntime.InferenceSession.run
def run(self, *arguments, **named):
    begin = time.perf_counter()
    answer = original(self, *arguments, **named)
    end = begin + FACTOR * (time.perf_counter() - begin)
    while time.perf_counter() < end:
        pass
    return answer
onnxruntime.InferenceSession.run = run
'''


def evaluate(arguments: argparse.Namespace, folder: Path, *more: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    command = [arguments.infimum, "evaluate", "verify.json", "--quiet", "--format", "json", *more]
    process = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})}
    )  # fmt: skip
    if process.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}\n{process.stderr}")
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


def verdicts(arguments: argparse.Namespace, folder: Path, environment: dict[str, str] | None = None) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for _ in range(arguments.times // 2):
        for cell in evaluate(arguments, folder, "--verify", environment=environment)["cells"]:
            found[cell["verdict"]] += 1
            print(f"  {cell['model']}: {cell['verdict']} {cell['ratio']} {cell['why']}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infimum", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--slower", type=float, default=1.15)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--nodes", type=int, default=256, help="of the fully connected net's four layers")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        method = {"seconds": arguments.seconds, "processes": arguments.processes}
        models = [
            {"family": "fc", "choices": {"layers": 4, "nodes": arguments.nodes}},
            {"family": "cnn", "choices": {"filters": 16, "image": 64}},
        ]
        (folder / "verify.json").write_text(json.dumps({"schema": "infimum.evaluation/1", "models": models, "method": method}))
        (folder / "sitecustomize.py").write_text(SLOWER.replace("FACTOR", str(arguments.slower)))
        while any(cell["state"] != "ok" for cell in evaluate(arguments, folder)["cells"]):
            print("noisy: waiting for a quiet machine", flush=True)
        untouched = verdicts(arguments, folder)
        print(f"untouched: {dict(untouched)}", flush=True)
        slower = verdicts(arguments, folder, {"PYTHONPATH": name})
        print(f"{arguments.slower:g} times slower: {dict(slower)}", flush=True)
    share = arguments.times / 40
    wrong = untouched["faster"] + untouched["slower"]
    undecided = sum(untouched.values()) - wrong - untouched["same"]
    sys.exit(wrong > share or undecided > 8 * share or slower["slower"] < 38 * share)


if __name__ == "__main__":
    main()
