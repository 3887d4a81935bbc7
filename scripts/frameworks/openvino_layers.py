"""OpenVINO's layers: from the graph that it runs, its counters, and the nodes of the ONNX file behind its names.

Its counters are means over all inferences of a compiled model, the first ones included, in whole microseconds: so
`time_between` takes the difference of two readings. Neither OpenVINO nor ONNX is needed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

# Of one that runs: "name", "type", "kernel", "original" (names with commas between), "inputs" (each its maker's name and which of
# that one's outputs it is), "input_tensors" and "output_tensors" (as a run file has them).
Operator = dict[str, Any]


class Node(NamedTuple):
    """Of the file."""

    op: str
    inputs: list[str]
    outputs: list[str]


def makers_of(file: dict[str, Node]) -> dict[str, str]:
    """Each node by its own name, by those of its outputs, and by both, which the frontend joins where there are several."""
    makers: dict[str, str] = {}
    for name, node in file.items():
        makers |= {output: name for output in node.outputs} | {f"{name}_{output}": name for output in node.outputs}
    return makers | {name: name for name in file}


def owners(operators: Iterable[tuple[str, list[str]]], makers: dict[str, str]) -> dict[str, str]:
    """The node of the file that each operator of OpenVINO's frontend is of.

    `operators`: a name and those of its readers, in topological order. The last operator of those that stand for a node bears one
    of its names (makers_of); what has another name belongs to the node of its readers, where that is one.
    """
    found: dict[str, str] = {}
    for name, readers in reversed(list(operators)):
        of_readers = {found.get(reader, "") for reader in readers}
        owner = makers.get(name) or (of_readers.pop() if len(of_readers) == 1 else "")
        if owner:
            found[name] = owner
    return found


# Microseconds, of what took less than one in the mean: OpenVINO reports it as not run.
SHORTEST = 0.5


def time_between(mean_before: int, before: int, mean_after: int, after: int) -> float:
    """Microseconds of an inference in the mean, of those from the one reading to the other: behind so many inferences each.

    Each inference's time was cut to whole microseconds before the mean was: half of one is missing each time.
    """
    if mean_after == 0:
        return SHORTEST
    return max(SHORTEST, (after * (mean_after + 0.5) - before * (mean_before + 0.5)) / (after - before) + 0.5)


def layers_of(
    operators: list[Operator], samples: list[list[float | None]], owner: dict[str, str], file: dict[str, Node]
) -> list[dict[str, Any]]:
    """One layer for each operator that ran, in the order of execution.

    `samples`: of each part of the profiled run the operators' times, None where it was not seen to run; `file`: its nodes.
    """
    made: dict[str, list[str]] = {}
    layers: list[dict[str, Any]] = []
    for operator, times in zip(operators, zip(*samples, strict=True), strict=True):
        nodes = list(dict.fromkeys(owner[name] for name in operator["original"].split(",") if name in owner))
        # What follows a quantization moves into those that read the 8 bits; this one makes them.
        nodes = [node for node in nodes if file[node].op != "DequantizeLinear"] or nodes
        # What its own nodes read of each other stays inside.
        inside = {value for node in nodes for value in file[node].inputs}
        outputs = [value for node in nodes for value in file[node].outputs]
        outputs = [value for value in outputs if value not in inside] or [operator["name"]]
        made[operator["name"]] = outputs
        if all(time is None for time in times):
            continue
        layers.append({
            "name": operator["name"],
            "op": operator["type"],
            "provider": "CPU",
            "nodes": nodes,
            "inputs": [_nth(made.get(maker, [maker]), index) for maker, index in operator["inputs"]],
            "outputs": outputs,
            "samples_us": [SHORTEST if time is None else time for time in times],
            "input_tensors": operator["input_tensors"],
            "output_tensors": operator["output_tensors"],
            "algorithm": operator["kernel"],
        })  # fmt: skip
    return layers


def _nth(names: list[str], index: int) -> str:
    return names[min(index, len(names) - 1)]


def type_name(word: str) -> str:
    """Infimum's, of OpenVINO's: "s8" of "i8"."""
    return "bool" if word == "boolean" else f"s{word[1:]}" if word[:1] == "i" else word
