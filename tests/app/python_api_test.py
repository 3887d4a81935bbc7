"""The Python package over the program: every function and its example, what it says of a failure, and that it stops
with its caller.

    python python_api_test.py PACKAGE_FOLDER INFIMUM MODEL.onnx [PYTHON]

PYTHON: one with ONNX Runtime, if this one has none; without it what measures a framework's run is skipped.
"""

import contextlib
import doctest
import functools
import inspect
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

PACKAGE, PROGRAM, MODEL = (os.path.abspath(word) for word in sys.argv[1:4])
sys.path.insert(0, PACKAGE)
os.environ["INFIMUM_PROGRAM"] = PROGRAM
if len(sys.argv) > 4:
    os.environ["INFIMUM_PYTHON"] = sys.argv[4]

import infimum
from infimum._process import _words

_RUN = (
    '{"schema":"infimum.run/1","framework":"engine","framework_version":"1","model":"m","threads":1,'
    '"end_to_end":[{"samples_us":[50.0,51.0,52.0]}],"layers":[{"name":"a","op":"Conv","samples_us":[40.0]}]}'
)
_PYTHON = os.environ.get("INFIMUM_PYTHON", sys.executable)
_TRIED = subprocess.run([_PYTHON, "-c", "import onnxruntime, onnx"], stderr=subprocess.DEVNULL, check=False)
_LACKS_FRAMEWORK = _TRIED.returncode != 0
if _LACKS_FRAMEWORK and len(sys.argv) > 4:
    print(f"{_PYTHON} has no ONNX Runtime: measure and explain are not tested")
_needs_framework = unittest.skipIf(_LACKS_FRAMEWORK, f"{_PYTHON} has no ONNX Runtime")


class PythonApi(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    analysis: infimum.Analysis

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        cls.analysis = infimum.analyze(MODEL, budget="20s", progress=False, backend="fake", framework="none")

    @classmethod
    def tearDownClass(cls) -> None:
        os.chdir("/")
        cls.folder.cleanup()

    def test_an_analysis_has_page_and_numbers(self) -> None:
        analysis = self.analysis
        self.assertEqual(analysis.schema, "infimum.report/2")
        self.assertIn("<!doctype html>", analysis.page.lower())
        self.assertTrue(analysis.headline)
        best = analysis.best_known
        assert best is not None and best.low_us is not None and best.high_us is not None
        self.assertLessEqual(best.low_us, best.latency_us)
        self.assertLessEqual(best.latency_us, best.high_us)
        shown = analysis._repr_html_()
        self.assertTrue(shown.startswith("<iframe srcdoc="))
        self.assertNotIn("<!doctype", shown.lower().split("srcdoc=", 1)[1][:40])  # escaped
        again = infimum.report(MODEL, progress=False, backend="fake")
        self.assertEqual(again["model"], analysis["model"])
        self.assertEqual(again.bounds.keys(), analysis.bounds.keys())

    def test_files_that_are_named_are_kept(self) -> None:
        kept = infimum.report(MODEL, progress=False, backend="fake", output="kept.html")
        self.assertIn("<!doctype html>", Path("kept.html").read_text().lower())
        self.assertEqual(kept["model"], self.analysis["model"])
        infimum.report(MODEL, progress=False, backend="fake", output=Path("kept.md"))
        self.assertTrue(Path("kept.md").exists())
        page = infimum.analyze(MODEL, device="h100-sxm", progress=False, report="mine.html").page
        self.assertEqual(page, Path("mine.html").read_text())
        with self.assertRaises(infimum.Failed):
            infimum.analyze(MODEL, device="h100-sxm", progress=False, report="mine.json")

    def test_a_file_may_begin_as_an_option_does(self) -> None:
        Path("-dash.onnx").symlink_to(MODEL)
        self.assertGreater(len(infimum.inspect("-dash.onnx")["layers"]), 5)

    def test_answers_are_keys(self) -> None:
        answers = [infimum.inspect(MODEL), infimum.bound(MODEL, device="h100-sxm"), self.analysis]
        self.assertEqual(len(set(answers)), 3)

    def test_floors_of_a_device_that_is_not_here(self) -> None:
        bracket = infimum.bound(MODEL, device="h100-sxm")
        self.assertGreater(bracket.floors["textbook"], 0)
        self.assertLessEqual(bracket.floors["dense-read"], bracket.floors["textbook"])
        self.assertEqual(bracket.bounds, {})
        self.assertIsNone(bracket.best_known)
        faster = infimum.bound(MODEL, device="h100-sxm", what_if=["peak:memory=2x", "peak:f32=2x"])
        self.assertEqual(len(faster["what_ifs"]), 2)

    def test_layers_are_a_table(self) -> None:
        layers = infimum.inspect(MODEL).table()
        self.assertGreater(len(layers), 5)
        plain = layers if isinstance(layers, list) else layers.to_dict("records")
        self.assertIn("flops", plain[0])

    def test_questions_to_the_store(self) -> None:
        names = infimum.query().table()
        plain = names if isinstance(names, list) else names.to_dict("records")
        self.assertIn("best-candidate", [row["query"] for row in plain])
        counted = infimum.query(sql="select count(*) as n from measurements")
        self.assertGreater(counted["rows"][0][0], 0)
        self.assertGreater(len(infimum.query("outcomes").table()), 0)
        self.assertTrue(any(device["here"] for device in infimum.devices()["devices"]))

    def test_parameters_of_questions(self) -> None:
        every = infimum.query("coverage", all="yes", progress=False)["rows"]
        self.assertGreater(len(every), 0)
        self.assertEqual(infimum.query("coverage", all=True, model=None)["rows"], every)
        self.assertEqual(
            infimum.query("coverage", all=False)["rows"], infimum.query("coverage", all="no")["rows"]
        )
        infimum.query("precision-gain", from_="f32", device="")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        with self.assertRaisesRegex(infimum.Failed, "0.2 s"):
            infimum.query(sql=endless, timeout=0.2)
        with self.assertRaises(infimum.Failed) as raised:
            infimum.query(sql="SELECT 1", nonsense=3)
        self.assertEqual(raised.exception.code, 2)

    def test_a_table_without_rows_has_columns(self) -> None:
        pandas = types.ModuleType("pandas")
        pandas.__dict__["DataFrame"] = lambda rows, columns: (rows, columns)
        with mock.patch.dict(sys.modules, pandas=pandas):
            self.assertEqual(infimum.query(sql="SELECT 1 AS a, 2 AS b WHERE 1 = 0").table(), ([], ["a", "b"]))

    def test_synthesized_models_are_evaluated(self) -> None:
        made = infimum.synth("fc", output="models", layers="1,2", nodes="8", inputs="8", outputs="8", progress=False)
        self.assertEqual(len(made), 2)
        models, frameworks = [{"file": str(made[0])}], [{"name": "onnxruntime"}]
        file = {"schema": "infimum.evaluation/1", "models": models, "frameworks": frameworks}
        Path("cells.json").write_text(json.dumps(file))
        cells = infimum.evaluate("cells.json", list=True, progress=False)
        self.assertEqual(len(cells["cells"]), 1)

    def test_tokens_per_second(self) -> None:
        infimum.synth("decoder", output="decoders", progress=False, layers="1", hidden="64", heads="2", kv_heads="1")
        (model,) = Path("decoders").glob("*.onnx")
        table = infimum.llm(model, device="h100-sxm", context="1024", batch="1", progress=False)
        self.assertEqual({cell["fields"]["phase"] for cell in table["cells"]} - {"prefill", "decode"}, set())
        self.assertGreater(len(table.table()), 0)

    def test_a_run_is_compared(self) -> None:
        Path("run.json").write_text(_RUN)
        self.assertEqual(infimum.compare(run="run.json")["schema"], "infimum.compare/1")

    def test_every_function_has_an_example_that_runs(self) -> None:
        Path("examples").mkdir()
        infimum.synth("fc", output="examples/fc", layers="2", nodes="64", progress=False)[0].rename("examples/model.onnx")
        small = {"layers": "1", "hidden": "64", "heads": "2", "kv_heads": "1"}
        infimum.synth("decoder", output="examples/d", progress=False, **small)[0].rename("examples/decoder.onnx")
        models, frameworks = [{"file": "model.onnx"}, {"file": "decoder.onnx"}], [{"name": "onnxruntime"}]
        cells = {"schema": "infimum.evaluation/1", "models": models, "frameworks": frameworks}
        Path("examples/cells.json").write_text(json.dumps(cells))
        Path("examples/profile.json").write_text(_RUN)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        os.chdir("examples")
        try:
            for name, function in vars(infimum).items():
                if name not in infimum.__all__ or name == "program" or not inspect.isfunction(function):
                    continue
                if _LACKS_FRAMEWORK and name in ("measure", "explain"):
                    continue
                with self.subTest(name), contextlib.redirect_stderr(io.StringIO()):
                    example = doctest.DocTestFinder(recurse=False).find(function, name, globs={"infimum": infimum})[0]
                    self.assertTrue(example.examples, f"{name} has no example")
                    self.assertEqual(runner.run(example).failed, 0)
        finally:
            os.chdir("..")

    @_needs_framework
    def test_a_framework_is_measured(self) -> None:
        run = infimum.measure(MODEL, db="measured.db", repetitions=1, seconds=0.05, progress=False)
        self.assertEqual((run.schema, run["framework"]), ("infimum.run/1", "onnxruntime"))
        self.assertGreater(len(run.table()), 20)
        self.assertEqual(infimum.query(sql="SELECT count(*) FROM runs", db="measured.db")["rows"], [[1]])

    @_needs_framework
    def test_switches_of_a_framework_are_explained(self) -> None:
        infimum.synth("fc", output="explained", layers="2", nodes="64", progress=False)
        (model,) = Path("explained").glob("*.onnx")
        explained = infimum.explain(model, switches="onnxruntime", budget="3s", progress=False)
        self.assertEqual(explained.schema, "infimum.explain/1")
        self.assertEqual(len(explained.table()), len(explained["factors"]))

    def test_failures_are_exceptions(self) -> None:
        with self.assertRaises(infimum.Failed) as raised:
            infimum.inspect("absent.onnx")
        self.assertEqual(raised.exception.code, 1)
        self.assertIn("absent.onnx", raised.exception.message)
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((again.code, again.message), (1, raised.exception.message))
        with self.assertRaises(infimum.Failed) as raised:
            infimum.bound(MODEL, no_such_option=3)
        self.assertEqual(raised.exception.code, 2)

    def test_options_are_words(self) -> None:
        self.assertEqual(
            _words({"what_if": ["a", "b"], "dim": {"batch": 8}, "layers": True, "again": False, "device": None, "from_": 1}),
            ["--what-if", "a", "--what-if", "b", "--dim", "batch=8", "--layers", "--from", "1"],
        )

    def test_nvidias_libraries_are_those_of_the_environment(self) -> None:
        program = _program("asked", """printf '{"libraries": "%s"}' "$INFIMUM_CUDA_LIBRARIES\"""")
        site = Path("site").absolute()
        folders = [site / "nvidia" / name / "lib" for name in ("cu13", "cudnn")]
        for folder in folders:
            folder.mkdir(parents=True)
        given = {"INFIMUM_PROGRAM": program}
        with mock.patch.object(sys, "path", [str(site)]), mock.patch.dict(os.environ, given):
            self.assertEqual(infimum.inspect("model.onnx")["libraries"], ":".join(map(str, folders)))
            os.environ["INFIMUM_CUDA_LIBRARIES"] = "mine"
            self.assertEqual(infimum.inspect("model.onnx")["libraries"], "mine")

    def test_an_interrupt_stops_the_program_once(self) -> None:
        # A second signal would end the program before it has kept what it measured.
        slow = _program(
            "slow",
            "trap 'echo twice > twice; exit 1' INT; trap 'echo stopped > stopped; exit 1' TERM; echo begun >&2; while :; do sleep 0.1; done",
        )
        script = f"import sys; sys.path.insert(0, {PACKAGE!r}); import infimum; infimum.analyze('model.onnx')"
        caller = subprocess.Popen(
            [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "INFIMUM_PROGRAM": slow}, start_new_session=True,
            # What a shell starts in the background ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )  # fmt: skip
        with caller:
            assert caller.stderr is not None
            self.assertEqual(caller.stderr.readline(), "begun\n")
            os.killpg(caller.pid, signal.SIGINT)  # as a terminal and a notebook do
            self.assertIn("KeyboardInterrupt", caller.stderr.read())
        self.assertNotEqual(caller.returncode, 0)
        self.assertEqual(Path("stopped").read_text(), "stopped\n")
        self.assertFalse(Path("twice").exists())

    def test_progress_is_a_bar_where_tqdm_is_installed(self) -> None:
        said = (
            "begin", "measuring 1/4, 9 s left", "measuring 3/4, 1 min 05 s left", "warning: noise", "next, one 0/2",
            "next, two 2/2", "layers 2/9 of them",
        )  # fmt: skip
        lines = [f"infimum: {line}" for line in said]
        program = _program("talking", "".join(f"echo '{line}' >&2\n" for line in lines) + "echo '{\"a\": 1}'")
        bars: list[_Bar] = []
        with_bars = types.ModuleType("tqdm.auto")
        with_bars.__dict__["tqdm"] = functools.partial(_Bar, bars)
        for module, shown in ((None, lines), (with_bars, [lines[0], lines[3], lines[6]])):
            errors = io.StringIO()
            with (
                mock.patch.dict(os.environ, INFIMUM_PROGRAM=program),
                mock.patch.dict(sys.modules, {"tqdm.auto": module}),
                contextlib.redirect_stderr(errors),
            ):
                infimum.inspect("model.onnx")
            self.assertEqual(errors.getvalue().splitlines(), shown)
        self.assertEqual(
            [(bar.total, bar.steps, bar.closed) for bar in bars],
            [(4, [("measuring", 1), ("measuring", 3)], 1), (2, [("next, one", 0), ("next, two", 2)], 1)],
        )


class _Bar:
    """What of a tqdm is used."""

    def __init__(self, made: list["_Bar"], total: int, file: object) -> None:
        made.append(self)
        self.total = total
        self.n = 0
        self.steps: list[tuple[str, int]] = []
        self.closed = 0
        self._what = ""

    def set_description(self, what: str, refresh: bool) -> None:
        self._what = what

    def update(self, by: int) -> None:
        self.n += by
        self.steps.append((self._what, self.n))

    def close(self) -> None:
        self.closed += 1


def _program(name: str, script: str) -> str:
    path = Path(name).absolute()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
