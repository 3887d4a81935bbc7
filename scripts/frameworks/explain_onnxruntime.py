#!/usr/bin/env python3
"""Times whole inferences of ONNX Runtime with its own switches on and off, for infimum to read.

    python explain_onnxruntime.py model.onnx --dim batch=8 --output switches.json
    python explain_onnxruntime.py model.onnx --dim batch=8 --switch "NCHWc layout" --switch "memory arena" \\
        --design runs.txt --seconds 60 --output times.json

The first form finds the switches that change anything for this model. The second takes a file of one run a line, "01":
'1' where the switch of this place is off. There is one session for each combination, all in this process; the runs are
timed in their order, each behind an untimed inference of the same session, which finds the caches and the memory as a
program finds them that has one session. Outputs are compared with those of the session that a program gets by default.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import gc
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import measure_onnxruntime
import model_values
import onnx
import onnxruntime
import sampling
import switching

MOST_PROGRAMS = 66  # 64 settings of a design and its ends
MEMORY_SHARE = 0.6  # of what is available, for all sessions
PROBE_SECONDS = 5.0


@dataclasses.dataclass(frozen=True)
class Switch:
    """What ONNX Runtime does by default, and how it is told not to."""

    name: str
    optimizers: tuple[str, ...] = ()  # to disable, of this and of earlier versions: names that are unknown change nothing
    attribute: tuple[str, bool] | None = None  # of SessionOptions
    entry: tuple[str, str] | None = None  # of the session's configuration
    is_level: bool = False  # the optimization level
    from_threads: int = 1

    def off(self) -> str:
        if self.is_level:
            return "ORT_ENABLE_BASIC"
        if self.attribute:
            return f"{self.attribute[0]}={self.attribute[1]}"
        return "=".join(self.entry) if self.entry else "without " + ", ".join(self.optimizers)

    def changes_graph(self) -> bool:
        return self.is_level or bool(self.optimizers)


# Neighbours are those that may interact: a layout whose kernels apply activations, a level that includes both.
SWITCHES = [
    Switch("activation fusions", ("ConvActivationFusion", "ConvAddActivationFusion", "GemmActivationFusion", "MatMulActivationFusion")),
    Switch("NCHWc layout", ("NchwcTransformer",)),
    Switch("optimization beyond basic", is_level=True),
    Switch("matmul fusions", ("MatMulAddFusion", "MatMulScaleFusion", "MatmulTransposeFusion")),
    Switch("attention fusions", ("AttentionFusion", "GroupQueryAttentionFusion", "GroupQueryAttentionPreNormFusion")),
    Switch("layer normalization fusions", ("LayerNormFusion", "LayerNormFusionL1", "LayerNormFusionL2", "SimplifiedLayerNormFusion")),
    Switch("skip fusions", ("SkipLayerNormFusion", "BiasSkipLayerNormFusion", "EmbedLayerNormFusion")),
    Switch("Gelu fusions", ("GeluFusion", "GeluFusionL1", "GeluFusionL2", "BiasGeluFusion", "FastGeluFusion", "QuickGeluFusion")),
    Switch("constant folding", ("ConstantFolding", "ConstantFoldingDQ")),
    Switch("weight pre-packing", entry=("session.disable_prepacking", "1")),
    Switch("memory arena", attribute=("enable_cpu_mem_arena", False)),
    Switch("memory pattern", attribute=("enable_mem_pattern", False)),
    Switch("spinning", entry=("session.intra_op.allow_spinning", "0"), from_threads=2),
]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    switching.add_arguments(parser, [switch.name for switch in SWITCHES])
    return parser.parse_args()


class Programs:
    """Sessions of one model by what is switched off, on the same inputs and weights."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._dims = model_values.read_dims(arguments.dim)
        self._source = model_values.with_random_weights(arguments.model, arguments.seed)
        self._feeds: dict[str, Any] = {}
        self.outputs = switching.Outputs("ONNX Runtime")

    def source_bytes(self) -> int:
        return len(self._source) if isinstance(self._source, bytes) else self._arguments.model.stat().st_size

    def make(self, off: Sequence[Switch], optimized: Path | None = None) -> Any:
        options = measure_onnxruntime.session_options(self._arguments.threads, self._dims)
        disabled: list[str] = []
        for switch in off:
            disabled += switch.optimizers
            if switch.is_level:
                options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
            if switch.attribute:
                setattr(options, *switch.attribute)
            if switch.entry:
                options.add_session_config_entry(*switch.entry)
        if optimized:
            options.optimized_model_filepath = str(optimized)
        return onnxruntime.InferenceSession(
            self._source, sess_options=options, providers=["CPUExecutionProvider"], disabled_optimizers=disabled or None
        )

    def graph(self, off: Sequence[Switch]) -> list[tuple[Any, ...]]:
        """What runs, without the names of values."""
        with tempfile.TemporaryDirectory(dir=self._arguments.output.resolve().parent) as folder:
            path = Path(folder) / "optimized.onnx"
            self.make(off, path)
            nodes = onnx.load(str(path), load_external_data=False).graph.node
        return sorted(
            (node.domain, node.op_type, len(node.input), sorted(one.SerializeToString(deterministic=True) for one in node.attribute))
            for node in nodes
        )

    def infer(self, session: Any) -> list[Any]:
        if not self._feeds:
            self._feeds = model_values.random_inputs(session.get_inputs(), self._arguments.model, self._dims, self._arguments.seed)
        outputs: list[Any] = session.run(None, self._feeds)
        return outputs

    def check(self, session: Any, off: Sequence[Switch]) -> None:
        """The first session to be checked is the one with nothing off."""
        self.outputs.check(self.infer(session), [switch.name for switch in off])


def best_of_three(programs: Programs, session: Any) -> float:
    return min(sampling.timed_on_host(lambda: programs.infer(session))() for _ in range(3))


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 1 << 62


def find_switches(arguments: argparse.Namespace) -> dict[str, Any]:
    programs = Programs(arguments)
    before = resident_bytes()
    session = programs.make([])
    programs.check(session, [])
    samples = sampling.warm_up(sampling.timed_on_host(lambda: programs.infer(session)), PROBE_SECONDS)
    of_session = max(resident_bytes() - before, programs.source_bytes())
    as_it_is = programs.graph([])
    layout = next(switch for switch in SWITCHES if switch.optimizers == ("NchwcTransformer",))
    contexts: list[tuple[list[Switch], list[tuple[Any, ...]]]] = [([], as_it_is)]
    if (without := programs.graph([layout])) != as_it_is:
        contexts.append(([layout], without))
    found: list[Switch] = []
    effects: dict[str, float] = {}
    notes: list[str] = []
    idle: list[str] = []
    # The level last: what it includes beside the other switches is what it switches.
    for place, switch in enumerate(sorted(SWITCHES, key=lambda switch: switch.is_level)):
        sampling.progress(place, len(SWITCHES), f"what changes without {switch.name}")
        applies = arguments.threads >= switch.from_threads
        if switch.is_level:
            others = [other for other in found if other.changes_graph()]
            applies = programs.graph([*others, switch]) != programs.graph(others)
        elif switch.optimizers:
            applies = any(programs.graph([*context, switch]) != graph for context, graph in contexts)
        if not applies:
            idle.append(switch.name + (" (beside the others)" if switch.is_level else ""))
            continue
        session = programs.make([switch])
        programs.check(session, [switch])
        effects[switch.name] = abs(best_of_three(programs, session) - min(samples))
        found.append(switch)
    found.sort(key=SWITCHES.index)
    if idle:
        notes.append("left out, since they change nothing for this model and these threads: " + ", ".join(idle))
    gc.collect()
    room = int(MEMORY_SHARE * available_bytes() / of_session)
    dropped: list[str] = []
    while found and min(2 ** len(found), MOST_PROGRAMS) > room:
        found.remove(least := min(found, key=lambda switch: effects[switch.name]))
        dropped.append(least.name)
    if dropped:
        notes.append(f"left out, since the memory holds {room} sessions of this model (they change least alone): " + ", ".join(dropped))
    return {
        "factors": [{"name": switch.name, "level0": "as by default", "level1": switch.off()} for switch in found],
        "inference_us": statistics.median(samples),
        "notes": notes,
    }


def time_runs(arguments: argparse.Namespace) -> dict[str, Any]:
    programs = Programs(arguments)
    programs.check(programs.make([]), [])

    def make(off: Sequence[str]) -> Callable[[], Any]:
        switches = [switch for switch in SWITCHES if switch.name in off]
        session = programs.make(switches)
        programs.check(session, switches)
        return functools.partial(programs.infer, session)

    return switching.time_design(arguments, make, MOST_PROGRAMS, "sessions", programs.outputs)


def main() -> None:
    arguments = parse_arguments()
    if not arguments.model.is_file():
        raise SystemExit(f"infimum: error: {arguments.model}: no such file")
    sampling.pin(arguments.cores, arguments.threads)
    answer = time_runs(arguments) if arguments.design else find_switches(arguments)
    switching.write(arguments.output, "onnxruntime", onnxruntime.__version__, answer)


if __name__ == "__main__":
    main()
