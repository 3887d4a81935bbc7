#!/usr/bin/env python3
"""Times whole inferences of a compiled PyTorch module with the compiler's own switches on and off, for infimum to read.

    python explain_pytorch.py model.onnx --module models.py:resnet50 --output switches.json
    python explain_pytorch.py model.onnx --module models.py:resnet50 --switch "fusion of loops" \\
        --design runs.txt --seconds 60 --output times.json

The program as it is by default is what torch.compile makes; what the module takes without it is said beside. Level 1 of a switch is
what it is by its option, off or on. The first form compiles once for each switch and leaves out those that change no generated code.
The module is what the ONNX file was exported from, as for measure_pytorch.py.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import statistics
from collections.abc import Callable
from typing import Any

import measure_pytorch
import sampling
import switching

MOST_PROGRAMS = 18  # each is compiled: 16 settings of a design and its ends
PROBE_SECONDS = 5.0


@dataclasses.dataclass(frozen=True)
class Switch:
    """What torch.compile does by default, or does not, and how it is told otherwise."""

    name: str
    level1: str
    options: tuple[tuple[str, Any], ...]  # of torch.compile


# Not torch.compile itself: without it all others are nothing, so that effects would not add up.
SWITCHES = [
    Switch("freezing (packed weights)", "freezing=True", (("freezing", True),)),
    Switch("fusion of loops", "max_fusion_size=1", (("max_fusion_size", 1), ("epilogue_fusion", False))),
    Switch("vector instructions in generated loops", "cpp.simdlen=1", (("cpp.simdlen", 1),)),
    Switch("search for patterns", "pattern_matcher=False", (("pattern_matcher", False),)),
]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the ONNX file")
    parser.add_argument("--module", required=True, help="FILE.pt2, FILE.py:NAME or PACKAGE.MODULE:NAME")
    switching.add_arguments(parser, [switch.name for switch in SWITCHES])
    # What measure_pytorch.prepare asks for.
    parser.set_defaults(mode="eager", device="cpu", contract="strict-f32", child=None)
    return parser.parse_args()


def flat(outputs: Any) -> list[Any]:
    if hasattr(outputs, "detach"):
        return [outputs.detach().float().numpy()]
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    return [one for part in outputs for one in flat(part)] if isinstance(outputs, (list, tuple)) else []


class Programs:
    """One module, compiled by what is switched, on the same inputs and weights."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        import torch

        self._module, self._inputs, _ = measure_pytorch.prepare(arguments)
        # All programs are compiled from one function.
        torch._dynamo.config.recompile_limit = 4 * MOST_PROGRAMS
        self.outputs = switching.Outputs("PyTorch")

    def make(self, off: list[Switch]) -> Callable[[], Any]:
        import torch

        module = torch.compile(self._module, options={name: value for switch in off for name, value in switch.options})
        infer: Callable[[], Any] = torch.no_grad()(functools.partial(module, *self._inputs))
        self.outputs.check(flat(infer()), [switch.name for switch in off])
        return infer

    def eager(self) -> Callable[[], Any]:
        import torch

        infer: Callable[[], Any] = torch.no_grad()(functools.partial(self._module, *self._inputs))
        return infer

    def code(self, off: list[Switch]) -> str:
        """What is generated for it."""
        import torch
        from torch._inductor.utils import run_and_get_code

        torch._dynamo.reset()
        compiled = torch.compile(self._module, options={name: value for switch in off for name, value in switch.options})
        with torch.no_grad():
            _, code = run_and_get_code(compiled, *self._inputs)
        return "".join(code)


def find_switches(arguments: argparse.Namespace) -> dict[str, Any]:
    programs = Programs(arguments)
    infer = programs.make([])
    samples = sampling.warm_up(sampling.timed_on_host(infer), PROBE_SECONDS)
    as_it_is = programs.code([])
    eager = sampling.warm_up(sampling.timed_on_host(programs.eager()), PROBE_SECONDS)
    found: list[Switch] = []
    idle: list[Switch] = []
    for place, switch in enumerate(SWITCHES):
        sampling.progress(place, len(SWITCHES), f"what changes by {switch.level1}")
        (found if programs.code([switch]) != as_it_is else idle).append(switch)
    notes = [f"a first look: {statistics.median(samples) / 1000:.3g} ms as by default, {statistics.median(eager) / 1000:.3g} ms without torch.compile"]
    if idle:
        notes.append("left out, since they change no code for this model: " + ", ".join(switch.name for switch in idle))
    return {
        "factors": [{"name": switch.name, "level0": "as by default", "level1": switch.level1} for switch in found],
        "inference_us": statistics.median(samples),
        "notes": notes,
    }


def time_runs(arguments: argparse.Namespace) -> dict[str, Any]:
    programs = Programs(arguments)
    programs.make([])

    def make(off: list[str]) -> Callable[[], Any]:
        return programs.make([switch for switch in SWITCHES if switch.name in off])

    return switching.time_design(arguments, make, MOST_PROGRAMS, "compiled programs", programs.outputs)


def main() -> None:
    arguments = parse_arguments()
    import torch

    sampling.pin(arguments.cores, arguments.threads)
    answer = time_runs(arguments) if arguments.design else find_switches(arguments)
    switching.write(arguments.output, "pytorch", torch.__version__.split("+")[0], answer)


if __name__ == "__main__":
    main()
