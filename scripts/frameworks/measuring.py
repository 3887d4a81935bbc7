"""What the scripts that run an ONNX file itself share: their arguments, their processes and the file that they write.

    measuring.run(Framework(name="onnxruntime", ...), arguments)

End-to-end samples come from fresh processes without a profiler; one more runs under the framework's profiler. Several
models are measured in turn, each process going through all of them.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import hashlib
import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import model_values
import sampling

SCHEMA = "infimum.run/1"


@dataclasses.dataclass(frozen=True)
class Framework:
    name: str  # "onnxruntime"
    title: str  # "ONNX Runtime"
    run_child: Callable[[Path, list[int], argparse.Namespace, Path], dict[str, Any]]  # of one model: what a process answers
    settings: dict[str, str]
    check: Callable[[argparse.Namespace], None] = lambda _: None  # ends the program where the framework cannot do what is asked
    no_layers: str = ""  # why its profiler gives none


def parser(description: str) -> argparse.ArgumentParser:
    """With the arguments that all of them have."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("model", type=Path, nargs="+", help="of several no layers are measured")
    made.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="binds a symbolic dimension")
    made.add_argument("--inputs", type=Path, help="a file .npz of inputs by name; the others are made up")
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--cores", default="", help="cores to run on, such as 0 or 0,1 (default: quiet ones)")
    made.add_argument("--repetitions", type=int, default=3, help="processes for the end-to-end samples")
    made.add_argument("--seconds", type=float, default=4.0, help="sampling time of each process")
    made.add_argument("--no-layers", action="store_true", help="no process under the profiler")
    made.add_argument("--metronome", default="", help="infimum's runner, whose fixed loops tell how fast the machine is meanwhile")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--memory-limit", type=int, help="bytes that its processes may take, each")
    made.add_argument("--keep-profile", type=Path, help="where the framework's own profile is kept, too")
    made.add_argument("--work-directory", type=Path, help="for the profile (default: beside the output)")
    made.add_argument("--output", type=Path, required=True)
    made.add_argument("--child", choices=["sample", "profile"], help=argparse.SUPPRESS)
    made.add_argument("--only", type=Path, nargs="+", default=[], help=argparse.SUPPRESS)
    made.add_argument("--patience", type=float, default=0.0, help=argparse.SUPPRESS)
    return made


def imported(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise SystemExit(f"infimum: error: this Python has no {package} ({error}); pip install {package}") from error


def sampled(
    timed: Callable[[], float], cores: list[int], arguments: argparse.Namespace, names: Sequence[str],
    infer: Callable[[], Sequence[Any]], settings: dict[str, str],
) -> dict[str, Any]:  # fmt: skip
    """What a process without a profiler answers; `infer` says what the outputs `names` are."""
    # On a GPU the host's thread waits, in whatever way the framework likes.
    on_host = arguments.device == "cpu"
    core_time = sampling.CoreTime(arguments.threads if on_host else 2)
    sampling.warm_up(timed, arguments.seconds)
    metronome = sampling.Metronome(arguments.metronome if on_host else "", arguments.threads)
    movable = None if arguments.cores else cores
    samples = sampling.sample(timed, arguments.seconds, core_time, arguments.patience, cores=movable, metronome=metronome)
    described = model_values.describe_outputs(names, infer())
    return {**samples.answer(), "settings": {"outputs": described, **settings}}


def run(framework: Framework, arguments: argparse.Namespace) -> None:
    work_directory: Path = arguments.work_directory or arguments.output.resolve().parent
    if arguments.child:
        cores = sampling.pin(arguments.cores, arguments.threads)
        models = arguments.only or arguments.model
        answers = [framework.run_child(model, cores, arguments, work_directory) for model in models]
        arguments.output.write_text(json.dumps({"models": answers}))
        return

    imported(framework.name)
    framework.check(arguments)
    for file in [*arguments.model, *([arguments.inputs] if arguments.inputs else [])]:
        if not file.is_file():
            raise SystemExit(f"infimum: error: {file}: no such file")
    sampling.limit_memory(arguments.memory_limit)
    if len(arguments.model) == 1:
        arguments.output.write_text(json.dumps(_measure(framework, arguments, work_directory)))
        return
    answers = _measure_each(framework, arguments, work_directory)
    runs = [_described(framework, model, arguments) | answer for model, answer in zip(arguments.model, answers)]
    arguments.output.write_text(json.dumps({"runs": runs}))


def _described(framework: Framework, model: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """A run without its times."""
    return {
        "schema": SCHEMA,
        "framework": framework.name,
        "framework_version": imported(framework.name).__version__.partition("-")[0],  # without the build
        "model": model.stem,
        "model_sha256": hashlib.sha256(model.read_bytes()).hexdigest(),
        "dims": model_values.read_dims(arguments.dim),
        "threads": arguments.threads,
        "settings": {
            **framework.settings,
            "seed": str(arguments.seed),
            "warm_up": sampling.describe_warm_up(arguments.seconds),
        },
    }


def _measure(framework: Framework, arguments: argparse.Namespace, work_directory: Path) -> dict[str, Any]:
    """One model, and its layers where they are asked for."""
    profiles = not framework.no_layers and not arguments.no_layers
    stages = arguments.repetitions + profiles
    settings: list[dict[str, str]] = []

    def call(repetition: int, patience: float) -> dict[str, Any]:
        sampling.progress(repetition, stages, f"process {repetition + 1} of {arguments.repetitions}, no profiler")
        answer = _sole(_call_child(framework, "sample", arguments.model, work_directory, patience))
        settings.append(answer.pop("settings"))
        return answer

    end_to_end, noisy = sampling.in_processes(arguments.repetitions, arguments.seconds, call)
    profiled: dict[str, Any] = {}
    if profiles:
        sampling.progress(arguments.repetitions, stages, "one process under the profiler")
        profiled = _sole(_call_child(framework, "profile", arguments.model, work_directory))
    run = _described(framework, arguments.model[0], arguments)
    run["settings"] |= settings[0]
    if arguments.inputs:
        run["settings"]["inputs"] = hashlib.sha256(arguments.inputs.read_bytes()).hexdigest()
    lacks = bool(framework.no_layers) and not arguments.no_layers
    return run | {"end_to_end": end_to_end, "noisy": noisy, **profiled, "warnings": [f"no layers: {framework.no_layers}"] * lacks}


def _answer(answers: Sequence[dict[str, Any]], index: int, _patience: float) -> dict[str, Any]:
    return answers[index]


def _measure_each(framework: Framework, arguments: argparse.Namespace, work_directory: Path) -> list[dict[str, Any]]:
    """Several models end to end: what each run has beside its description."""
    processes: list[list[dict[str, Any]]] = []
    for repetition in range(arguments.repetitions):
        sampling.progress(repetition, arguments.repetitions, f"process {repetition + 1} of {arguments.repetitions}")
        processes.append(_call_child(framework, "sample", arguments.model, work_directory, 2 * arguments.seconds))
    runs: list[dict[str, Any]] = []
    for answers in zip(*processes):
        failed = [answer["failed"] for answer in answers if "failed" in answer]
        if failed:
            runs.append({"failed": failed[0]})
            continue
        end_to_end, noisy = sampling.in_processes(len(answers), arguments.seconds, functools.partial(_answer, answers))
        runs.append({"end_to_end": end_to_end, "noisy": noisy, "warnings": []})
    return runs


def _call_child(framework: Framework, kind: str, models: list[Path], work_directory: Path, patience: float = 0.0) -> list[dict[str, Any]]:
    """What a process of its own answers about each. Of several it is asked again in halves where it ended at one of them."""
    try:
        only = ["--only", *(str(model) for model in models)]
        answer = sampling.call_child(framework.title, kind, work_directory, 1, "--patience", str(patience), *only)
    except SystemExit as failure:
        if len(models) == 1:
            return [{"failed": str(failure).removeprefix("infimum: error: ")}]
        half = len(models) // 2
        halves = (models[:half], models[half:])
        return [one for part in halves for one in _call_child(framework, kind, part, work_directory, patience)]
    answers: list[dict[str, Any]] = answer["models"]
    return answers


def _sole(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Of one model, whose failure is the script's."""
    if "failed" in answers[0]:
        raise SystemExit(f"infimum: error: {answers[0]['failed']}")
    return answers[0]
