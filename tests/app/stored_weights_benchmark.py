"""Products whose weights are read as they are stored, against ONNX Runtime's MatMulNBits at the same accuracy level, alternating.

    python stored_weights_benchmark.py RUNNER [--bits 4] [--zero-points] [--blocks 32 128] [--rows 1 128] [--levels 0 4]
        [--shapes 4096x14336 ...] [--rounds 5] [--seconds 0.2] [--all]

RUNNER: infimum-microbench-onednn. One thread. Each round times ONNX Runtime, then every candidate in the runner, both with warm
caches; a candidate's ratio is the median over rounds of its least time over ONNX Runtime's. Wanted: the best candidate's at most 1.15
everywhere and 1.00 in the geometric mean. Ends with 1 where that does not hold. --all: oneDNN's candidates on all layouts too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import time
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

# Of models of 1 to 8 billion parameters: rows x columns of the weights.
SHAPES = (
    "4096x4096 4096x14336 14336x4096 4096x1024 2048x8192 8192x2048 2048x2048 2560x9728 9728x2560 2560x4096 4096x11008 11008x4096"
)
CANDIDATES = ("stored-rows", "stored-panels", "stored-dots", "as-f32/brg:avx512_core", "as-f32/brg:avx512_core/b-transposed")


@dataclass(frozen=True)
class Case:
    depth: int
    columns: int
    rows: int
    block: int
    level: int
    bits: int
    zero_points: bool

    def workload(self) -> str:
        weights = f"{'u' if self.zero_points else 's'}{self.bits}"
        zeros = f":{weights}" if self.zero_points else ""
        activations = " activations=s8" if self.level == 4 else ""
        return (
            f"matmul dtype=f32:{weights}:f32 a=1x{self.rows}x{self.depth} b=1x{self.depth}x{self.columns} bias=no weights=const "
            f"scales={self.block}x1:f32{zeros}{activations}"
        )

    def session(self) -> onnxruntime.InferenceSession:
        random = np.random.default_rng(1)
        blocks = -(-self.depth // self.block)
        tensors = {
            "w": random.integers(0, 256, (self.columns, blocks, self.block * self.bits // 8), dtype=np.uint8),
            "s": random.random(self.columns * blocks, dtype=np.float32) * np.float32(0.01) + np.float32(0.01),
        }
        if self.zero_points:
            tensors["z"] = random.integers(0, 256, self.columns * -(-blocks * self.bits // 8), dtype=np.uint8)
        node = helper.make_node(
            "MatMulNBits",
            ["x", *tensors],
            ["y"],
            domain="com.microsoft",
            K=self.depth,
            N=self.columns,
            bits=self.bits,
            block_size=self.block,
            accuracy_level=self.level,
        )
        graph = helper.make_graph(
            [node],
            "product",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [self.rows, self.depth])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [self.rows, self.columns])],
            [numpy_helper.from_array(tensor, name) for name, tensor in tensors.items()],
        )
        operator_sets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=operator_sets, ir_version=10)
        onnx.checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def time_onnxruntime(case: Case, session: onnxruntime.InferenceSession, seconds: float) -> float:
    """The least time in us."""
    binding = session.io_binding()
    values = np.random.default_rng(2).random((case.rows, case.depth), dtype=np.float32)
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(values))
    result = onnxruntime.OrtValue.ortvalue_from_shape_and_type([case.rows, case.columns], np.float32)
    binding.bind_ortvalue_output("y", result)
    for _ in range(3):
        session.run_with_iobinding(binding)
    least, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        least = min(least, time.perf_counter() - start)
    return least * 1e6


def time_candidates(runner: str, case: Case, seconds: float, core: int, every: bool) -> dict[str, float]:
    command = [runner, "--layer", case.workload(), "--rounds", "1", "--candidate-budget", f"{round(seconds * 1000)}ms", "--quiet"]
    command += ["--cores", str(core)]
    listed = subprocess.run([runner, "--layer", case.workload(), "--list-json"], capture_output=True, text=True, check=True)
    names = [one["algorithm"] for one in json.loads(listed.stdout.splitlines()[0])["candidates"]]
    for name in names:
        if every or name.split(":")[0].removesuffix("-vnni") in CANDIDATES or name in CANDIDATES:
            command += ["--candidate", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    times = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row["kind"] != "measurement":
            continue
        if row["outcome"] == "measured":
            times[row["candidate"]["algorithm"]] = min(one["minimum_us"] for one in row["repetitions"])
        elif row["outcome"] != "skipped":
            print(f"{row['candidate']['algorithm']}: {row['outcome']}, {row.get('reason', '')}")
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("--bits", type=int, default=4)
    parser.add_argument("--zero-points", action="store_true")
    parser.add_argument("--blocks", type=int, nargs="+", default=[32, 128])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 128])
    parser.add_argument("--levels", type=int, nargs="+", default=[0, 4])
    parser.add_argument("--shapes", nargs="+", default=SHAPES.split())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    print("| weights | rows | block | level | candidate | us | ONNX Runtime, us | ratio |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |")
    ratios = []
    for shape in arguments.shapes:
        depth, columns = (int(extent) for extent in shape.split("x"))
        for rows in arguments.rows:
            for block in arguments.blocks:
                for level in arguments.levels:
                    case = Case(depth, columns, rows, block, level, arguments.bits, arguments.zero_points)
                    session = case.session()
                    theirs: list[float] = []
                    ours: dict[str, list[float]] = {}
                    for _ in range(arguments.rounds):
                        theirs.append(time_onnxruntime(case, session, arguments.seconds))
                        for name, took in time_candidates(
                            arguments.runner, case, arguments.seconds, core, arguments.all
                        ).items():
                            ours.setdefault(name, []).append(took)
                    of = {name: [a / b for a, b in zip(took, theirs)] for name, took in ours.items()}
                    best = min(of, key=lambda name: statistics.median(of[name]))
                    ratio = statistics.median(of[best])
                    ratios.append(ratio)
                    print(
                        f"| {shape} | {rows} | {block} | {level} | {best} | {min(ours[best]):.1f} | {min(theirs):.1f} | {ratio:.2f} |",
                        flush=True,
                    )
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    print(f"\n{len(ratios)} cases: geometric mean {mean:.3f}, largest {max(ratios):.2f}")
    return 0 if mean <= 1 and max(ratios) <= 1.15 else 1


if __name__ == "__main__":
    raise SystemExit(main())
