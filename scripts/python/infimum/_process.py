"""Runs the program `infimum` and reads its JSON; its messages go on as they come."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

Path_ = Union[str, "os.PathLike[str]"]
# True: the option alone; False and None: not given. A mapping and a sequence repeat it: NAME=N, one after the other.
Option = Union[None, bool, int, float, str, "os.PathLike[str]", Sequence[str], Mapping[str, "int | float | str"]]


ERROR = "infimum: error: "


class Failed(Exception):
    """`code` is the program's exit code: 1 failed, 2 a wrong call, 3 a requested gate did not hold."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[Failed], tuple[int, str]]:
        return Failed, (self.code, self.message)


def program() -> str:
    """INFIMUM_PROGRAM, else the wheel's own, else the one on the PATH."""
    own = Path(__file__).parent / "prefix" / "bin" / "infimum"
    found = os.environ.get("INFIMUM_PROGRAM") or (str(own) if own.exists() else shutil.which("infimum"))
    if not found:
        raise Failed(1, "the program infimum is not there: INFIMUM_PROGRAM names it")
    return found


def environment() -> dict[str, str]:
    """What is measured is of this Python: its frameworks, and NVIDIA's libraries where packages of it have them."""
    own = {"INFIMUM_PYTHON": sys.executable}
    nvidia = importlib.util.find_spec("nvidia")
    packages = nvidia.submodule_search_locations if nvidia else None
    if libraries := [str(folder) for package in packages or [] for folder in sorted(Path(package).glob("*/lib"))]:
        own["INFIMUM_CUDA_LIBRARIES"] = ":".join(libraries)
    return {**own, **os.environ}


def _words(options: Mapping[str, Option]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.removesuffix("_").replace("_", "-")
        if value is None or value is False or name == "progress":
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, Mapping):
            for key, number in value.items():
                words += [flag, f"{key}={number}"]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for one in value:
                words += [flag, str(one)]
        else:
            words += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words


class _Messages:
    """Shows what the program says: lines, and how far it is as a bar where tqdm is installed."""

    _PROGRESS = re.compile(r"infimum: (.+) (\d+)/(\d+)(?:, .* left)?\n")

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm = tqdm
        self._bar: Any = None

    def show(self, line: str) -> None:
        progress = self._PROGRESS.fullmatch(line) if self._tqdm else None
        if progress is None:
            self.close()
            print(line, end="", file=sys.stderr)
            return
        what, done, total = progress[1], int(progress[2]), int(progress[3])
        if self._bar is None or self._bar.total != total or done < self._bar.n:
            self.close()
            self._bar = self._tqdm(total=total, file=sys.stderr)
        self._bar.set_description(what, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _start(call: Sequence[str]) -> subprocess.Popen[str]:
    """A terminal and a notebook interrupt all processes of a group, and a second signal ends the program at once: it
    ignores theirs, and `run` passes it on as SIGTERM, which is the same to it."""
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
    try:
        return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    finally:
        if in_main:
            signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def run(command: str, positional: Sequence[object], options: Mapping[str, Option]) -> str:
    """What the command wrote to standard output. Messages go to sys.stderr as they come, which a notebook shows,
    progress as a bar where tqdm is installed, but with progress=False among the options. Ctrl-C stops the program, which
    keeps what it has measured."""
    progress = options.get("progress", True) is not False
    words = [str(one) for one in positional]
    # A file's name that begins as an option does.
    words = [f"./{word}" if word.startswith("-") and word != "-" else word for word in words]
    call = [program(), command, *words, *_words(options)]
    messages: list[str] = []
    shown = _Messages()
    output: list[str] = []
    with _start(call) as process:
        assert process.stdout is not None and process.stderr is not None
        reader = threading.Thread(target=lambda answers: output.append(answers.read()), args=(process.stdout,))
        reader.start()
        try:
            for line in process.stderr:
                messages.append(line.rstrip("\n"))
                if progress and not line.startswith(ERROR):
                    shown.show(line)
            code = process.wait()
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise
        finally:
            reader.join()
            shown.close()
    if code != 0:
        errors = [line.removeprefix(ERROR) for line in messages if line.startswith(ERROR)]
        raise Failed(code, "\n".join(errors or messages[-3:]) or f"infimum {command} ended with {code}")
    return output[0]


def answer(command: str, positional: Sequence[object], options: Mapping[str, Option]) -> dict[str, Any]:
    document = json.loads(run(command, positional, {**options, "format": "json"}))
    assert isinstance(document, dict)
    return document
