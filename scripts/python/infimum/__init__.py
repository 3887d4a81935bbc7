"""infimum from Python: how fast a model could run on a device, and where a framework's run loses time.

    import infimum

    page = infimum.analyze("model.onnx", budget="60s")     # measures here; shows itself in a notebook
    page.headline, page.bounds["fused-sequential"].latency_us
    infimum.bound("model.onnx", device="h100-sxm").floors["textbook"]
    infimum.llm("decoder.onnx", device="l40s,h100-sxm", context="1k,8k").table()

Each function is a command of the program: its options are keywords (`--what-if X` is what_if="X"; a dict is an option
for each of its items, dim={"batch": 8}; from_ is `from`), its versioned JSON is in `data`, and what it says goes to standard error.
Times are microseconds. `table()` gives a pandas.DataFrame where pandas is installed, else a list of dicts. A command
that fails raises Failed with its exit code and message; a gate that does not hold is code 3.
"""

from __future__ import annotations

import html
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infimum._process import Failed, Option, Path_, answer, program, run

__all__ = [
    "Analysis", "Answer", "Bound", "Bracket", "Failed", "analyze", "bound", "compare", "devices", "evaluate", "explain",
    "inspect", "llm", "measure", "program", "query", "report", "synth",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Answer:
    """A command's JSON, and the list in it that its table is made of."""

    data: dict[str, Any]
    rows: str = "layers"

    @property
    def schema(self) -> str:
        return str(self.data["schema"])

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def table(self, rows: str | None = None) -> Any:
        """`rows`: another list of the answer, such as "findings"."""
        found = self.data[rows or self.rows]
        columns = self.data.get("columns") if (rows or self.rows) == "rows" else None
        if columns is not None:
            found = [dict(zip(columns, row)) for row in found]
        try:
            import pandas
        except ImportError:
            return found
        return pandas.DataFrame(found, columns=columns)

    def _repr_html_(self) -> str | None:
        table = self.table()
        return str(table._repr_html_()) if hasattr(table, "_repr_html_") else None


@dataclass(frozen=True)
class Bound:
    """A bound, or a limit from above: `low_us` and `high_us` are its 95 % interval."""

    name: str
    latency_us: float
    low_us: float | None
    high_us: float | None

    @staticmethod
    def of(name: str, entry: dict[str, Any]) -> Bound:
        low, high = entry["interval_us"] or (None, None)
        return Bound(name, entry["latency_us"], low, high)


@dataclass(frozen=True, eq=False)
class Bracket(Answer):
    """The floors below a model's latency and the bounds by measured kernels."""

    rows: str = "bounds"

    @property
    def floors(self) -> dict[str, float]:
        """By class of program, in microseconds."""
        return {floor["class"]: floor["latency_us"] for floor in self.data["floors"]}

    @property
    def bounds(self) -> dict[str, Bound]:
        """By variant: "sequential", "fused-sequential", ...; empty where nothing is measured."""
        return {entry["variant"]: Bound.of(entry["variant"], entry) for entry in self.data["bounds"]}

    @property
    def best_known(self) -> Bound | None:
        """F1: the bound that runs are held against; None where nothing is measured."""
        return self.bounds.get("fused-sequential") or self.bounds.get("sequential")


@dataclass(frozen=True, eq=False)
class Analysis(Bracket):
    """A report: its page, which a notebook shows, and its numbers."""

    rows: str = "layers"
    page: str = ""

    @property
    def headline(self) -> str:
        return str(self.data["headline"])

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.page)}" width="100%" height="900" style="border:0"></iframe>'


def analyze(
    model: Path_,
    *,
    db: str = "infimum.db",
    budget: str | None = None,
    device: str | None = None,
    report: Path_ | None = None,
    **options: Option,
) -> Analysis:
    """Measures the model's layers and a framework's run here (or, with `device`, what is known of another one).
    `report`: a file that keeps the page.

    >>> page = infimum.analyze("model.onnx", budget="5s", framework="none", no_replay=True)
    >>> page.headline
    '...A program that reads every weight once takes at least ... µs on this device, by its measured rates.'
    """
    with tempfile.TemporaryDirectory() as folder:
        page = Path(report or Path(folder, "page.html"))
        if page.suffix not in (".html", ".htm"):
            raise Failed(2, f"report={page}: the page is a file that ends with .html")
        given = {**options, "db": db, "budget": budget, "device": device, "report": page}
        data = answer("analyze", [model], given)
        return Analysis(data, page=page.read_text())


def report(
    model: Path_, *, db: str = "infimum.db", output: Path_ | None = None, **options: Option
) -> Analysis:
    """The report of what the store has; measures nothing. `output`: a file that keeps it, in the form of its name.

    >>> infimum.report("model.onnx", device="h100-sxm").page[:15]
    '<!DOCTYPE html>'
    """
    with tempfile.TemporaryDirectory() as folder:
        page, data = Path(folder, "page.html"), Path(folder, "page.json")
        for file in (page, data, *([output] if output else [])):
            run("report", [model], {**options, "db": db, "output": file})
        return Analysis(json.loads(data.read_text()), page=page.read_text())


def inspect(model: Path_, **options: Option) -> Answer:
    """The model's layers: configuration, FLOPs, bytes.

    >>> [layer["op"] for layer in infimum.inspect("model.onnx")["layers"]]
    [..., 'Gemm', 'Relu', 'Gemm']
    """
    return Answer(answer("inspect", [model], options))


def bound(model: Path_, *, db: str = "infimum.db", device: str | None = None, **options: Option) -> Bracket:
    """The bracket by the store's rows and the device's data sheet; measures nothing.

    >>> bracket = infimum.bound("model.onnx", device="h100-sxm", what_if=["peak:memory=2x"])
    >>> bracket.floors["dense-read"] <= bracket.floors["textbook"]
    True
    """
    return Bracket(answer("bound", [model], {**options, "db": db, "device": device}))


def measure(
    model: Path_,
    *,
    db: str = "infimum.db",
    framework: str | None = None,
    output: Path_ | None = None,
    **options: Option,
) -> Answer:
    """A framework's run, end to end and layer by layer; the store keeps it, and the file `output`. `python` names
    another Python's framework.

    >>> run = infimum.measure("model.onnx", framework="onnxruntime", repetitions=1, seconds=0.2)
    >>> min(run["end_to_end"][0]["samples_us"]) > 0
    True
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(output or Path(folder, "run.json"))
        run("measure", [model], {**options, "db": db, "framework": framework, "output": file})
        return Answer(json.loads(file.read_text()))


def compare(model: Path_ | None = None, *, db: str = "infimum.db", **options: Option) -> Answer:
    """Where a profiled run's time went: run="profile.json", several as a list; max_gap=1.3 is a gate.

    >>> infimum.compare(run="profile.json").schema
    'infimum.compare/1'
    """
    return Answer(answer("compare", [] if model is None else [model], {**options, "db": db}))


def llm(model: Path_, *, db: str = "infimum.db", device: str | None = None, **options: Option) -> Answer:
    """Tokens per second at most, over batch, context, device and type of weights: a row is a phase of a place.

    >>> cells = infimum.llm("decoder.onnx", device="l40s,h100-sxm", context="1k", batch=1)["cells"]
    >>> sorted({cell["fields"]["phase"] for cell in cells})
    ['decode']
    """
    return Answer(answer("llm", [model], {**options, "db": db, "device": device}), "cells")


def explain(model: Path_, *, db: str = "infimum.db", **options: Option) -> Answer:
    """What each choice of kernel and fusion wins, or each of a framework's own switches, by switching it on and off.

    >>> infimum.explain("model.onnx", switches="onnxruntime", budget="3s")["level0"]["program"]
    'onnxruntime ... as by default'
    """
    return Answer(answer("explain", [model], {**options, "db": db}), "factors")


def evaluate(file: Path_, *, db: str = "infimum.db", **options: Option) -> Answer:
    """The cells that an evaluation file states; list=True measures nothing.

    >>> len(infimum.evaluate("cells.json", list=True)["cells"])
    2
    """
    return Answer(answer("evaluate", [file], {**options, "db": db}), "cells")


def query(
    name: str | None = None,
    *,
    db: str = "infimum.db",
    sql: str | None = None,
    timeout: float | None = None,
    progress: bool = True,
    **parameters: str | float | None,
) -> Answer:
    """A named question to the store with its parameters as keywords, or `sql` and for how many seconds at most; without
    either the list of questions. None is a parameter that is not given.

    >>> infimum.query("coverage", model="model", all=True)["columns"][:3]
    ['model', 'dims', 'device']
    >>> infimum.query(sql="SELECT count(*) AS devices FROM devices")["rows"]
    [[1]]
    """
    words = [] if name is None else [name]
    for key, value in parameters.items():
        if value is not None:
            text = ("yes" if value else "no") if isinstance(value, bool) else value
            words.append(f"{key.removesuffix('_')}={text}")
    options: dict[str, Option] = {"db": db, "sql": sql, "timeout": timeout, "progress": progress}
    return Answer(answer("query", words, options), "rows")


def devices(*, db: str = "infimum.db") -> Answer:
    """This machine, those with rows in the store, and those with a data sheet.

    >>> any(device["here"] for device in infimum.devices()["devices"])
    True
    """
    return Answer(answer("devices", [], {"db": db}), "devices")


def synth(family: str, *, output: Path_, **options: Option) -> list[Path]:
    """Models of a family as ONNX files in the folder `output`.

    >>> len(infimum.synth("fc", output="models", layers="2,4"))
    2
    """
    folder = Path(output)
    known = set(folder.glob("*.onnx"))
    run("synth", [family], {**options, "output": folder})
    return sorted(set(folder.glob("*.onnx")) - known)
