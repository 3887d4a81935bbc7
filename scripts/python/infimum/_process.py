"""Runs the program `infimum` and reads its JSON; its messages go on as they come."""

from __future__ import annotations

import json
import os
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


def program() -> str:
    """INFIMUM_PROGRAM, else the wheel's own, else the one on the PATH."""
    own = Path(__file__).parent / "prefix" / "bin" / "infimum"
    found = os.environ.get("INFIMUM_PROGRAM") or (str(own) if own.exists() else shutil.which("infimum"))
    if not found:
        raise Failed(1, "the program infimum is not there: INFIMUM_PROGRAM names it")
    return found


def environment() -> dict[str, str]:
    return {"INFIMUM_PYTHON": sys.executable, **os.environ}


def _words(options: Mapping[str, Option]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
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


def run(command: str, positional: Sequence[object], options: Mapping[str, Option]) -> str:
    """What the command wrote to standard output. Messages go to sys.stderr as they come, which a notebook shows, but
    with progress=False among the options; Ctrl-C stops the program, which keeps what it has measured."""
    progress = options.get("progress", True) is not False
    call = [program(), command, *(str(one) for one in positional), *_words(options)]
    messages: list[str] = []
    output: list[str] = []
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout is not None and process.stderr is not None
        reader = threading.Thread(target=lambda answers: output.append(answers.read()), args=(process.stdout,))
        reader.start()
        try:
            for line in process.stderr:
                messages.append(line.rstrip("\n"))
                if progress and not line.startswith(ERROR):
                    print(line, end="", file=sys.stderr)
            code = process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            reader.join()
    if code != 0:
        errors = [line.removeprefix(ERROR) for line in messages if line.startswith(ERROR)]
        raise Failed(code, "\n".join(errors or messages[-3:]) or f"infimum {command} ended with {code}")
    return output[0]


def answer(command: str, positional: Sequence[object], options: Mapping[str, Option]) -> dict[str, Any]:
    document = json.loads(run(command, positional, {**options, "format": "json"}))
    assert isinstance(document, dict)
    return document
