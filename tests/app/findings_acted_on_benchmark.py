"""Acts on what infimum finds in runs of ONNX Runtime on a processor, and holds what was promised against what that won.

    python findings_acted_on_benchmark.py INFIMUM MODEL[:NAME=N,...]... [--only KIND] [--budget 40s] [--seconds 12] [--stores FOLDER]

For each case of CASES: `infimum analyze` fills a store, the run before the change is measured, `infimum compare` says what is found in
it; then inferences before and after the change are timed in turn in this process, on new sessions in each of ROUNDS. Observed is the
median of the pairs' differences, with the 95 % interval of their order statistics. Models that a case needs are given by their files'
names, such as bert-base.onnx:batch=1,sequence=128; a case whose model is not given is left out; some models are made here.

A gain that was not observed is an upper limit: what the change wins at most. So a bounded gain holds where it is not below the
observed interval. One that counts only a part of what the change wins (gain_is_part) is a lower limit, and holds where it is not above
the interval. A guessed gain promises nothing and is shown beside the others. Ends with 1 where a gain that is not guessed does not
hold, or a case has no finding of its kind.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import gc
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts/frameworks"
sys.path.insert(0, str(SCRIPTS))
import explain_onnxruntime
import measure_onnxruntime
import model_values
import numpy
import onnx
import onnxruntime
import sampling
import switching
from onnx import TensorProto, helper, numpy_helper

SEED = 1
ROUNDS = 3
NOISY_RUNS = 3  # a run before the change is measured again as often, where other programs disturbed it
LEAST_PAIRS = 24
MOST_PAIRS = 900
LEAST_SHARE = 0.5  # of its time in which one thread had its core: caches are another's after a long wait
PATIENCE = 4  # times the seconds of a case, for pairs that had their cores
TOLERANCE = 0.25  # of an output's largest element: another precision rounds otherwise, and on 8 bits random weights have no fitting scales
LEVELS = {"all": "ORT_ENABLE_ALL", "extended": "ORT_ENABLE_EXTENDED", "basic": "ORT_ENABLE_BASIC", "disabled": "ORT_DISABLE_ALL"}


class Graph:
    """A model that is made here, node by node; weights are seeded."""

    def __init__(self, shape: list[int], inputs: int = 1) -> None:
        self.shape = shape
        self.inputs = ["input", *(f"input_{index}" for index in range(1, inputs))]
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.generator = numpy.random.default_rng(SEED)

    def constant(self, value: Any) -> str:
        self.weights.append(numpy_helper.from_array(value, f"constant_{len(self.weights)}"))
        return str(self.weights[-1].name)

    def random(self, *shape: int) -> str:
        deviation = math.sqrt(1 / math.prod(shape[1:] if len(shape) > 2 else shape[:1]))
        return self.constant((self.generator.standard_normal(shape) * deviation).astype(numpy.float32))

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [f"value_{len(self.nodes)}"], f"{op}_{len(self.nodes)}", **attributes))
        return str(self.nodes[-1].output[0])

    def quantized(self, value: str) -> str:
        """QuantizeLinear and DequantizeLinear, unsigned."""
        parameters = [self.constant(numpy.float32(0.1)), self.constant(numpy.uint8(128))]
        return self.add("DequantizeLinear", self.add("QuantizeLinear", value, *parameters), *parameters)

    def save(self, output: str | list[str], path: Path) -> None:
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape) for name in self.inputs]
        names = [output] if isinstance(output, str) else output
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), str(path))


def needless_copies(path: Path, _changed: bool) -> None:
    """Convolutions, between which a Slice, an Expand and a Dropout change nothing."""
    graph = Graph([1, 32, 112, 112])
    value = "input"
    whole = [graph.constant(numpy.array([number], numpy.int64)) for number in (0, numpy.iinfo(numpy.int64).max, 1)]
    shape = graph.constant(numpy.array([1, 32, 112, 112], numpy.int64))
    for _ in range(4):
        value = graph.add("Relu", graph.add("Conv", value, graph.random(32, 32, 1, 1)))
        value = graph.add("Slice", value, whole[0], whole[1], whole[2])
        value = graph.add("Dropout", graph.add("Expand", value, shape))
    graph.save(value, path)


def divisions(path: Path, changed: bool) -> None:
    """Convolutions and divisions, for which the blocked layout has no kernel: after each of them, or all at the end, which is the same."""
    graph = Graph([1, 64, 56, 56])
    value = "input"
    divisor = graph.constant(numpy.float32(1.1))
    for _ in range(4):
        value = graph.add("Relu", graph.add("Conv", value, graph.random(64, 64, 1, 1)))
        value = value if changed else graph.add("Div", value, divisor)
    for _ in range(4 if changed else 0):
        value = graph.add("Div", value, divisor)
    graph.save(value, path)


def products_on_8_bits(path: Path, changed: bool, op: str = "Gemm") -> None:
    """Products on 8 bits with residual sums, these in floating point or on 8 bits."""
    graph = Graph([256, 512])
    value = graph.quantized("input") if changed else "input"
    for _ in range(6):
        weight = graph.generator.integers(-127, 128, (512, 512)).astype(numpy.int8)
        scales = [graph.constant(numpy.float32(0.0004)), graph.constant(numpy.int8(0))]
        read = value if changed else graph.quantized(value)
        product = graph.add(op, read, graph.add("DequantizeLinear", graph.constant(weight), *scales))
        value = graph.add("Add", graph.quantized(product) if changed else product, value)
        value = graph.quantized(value) if changed else value
    graph.save(value, path)


def products_in_float(path: Path, changed: bool) -> None:
    """The same of MatMul, which stays in floating point where its output is not quantized."""
    products_on_8_bits(path, changed, "MatMul")


def branches(path: Path, _changed: bool) -> None:
    """Four chains of matmuls that do not read each other, too small for two threads each."""
    graph = Graph([8, 128])
    ends = []
    for _ in range(4):
        value = "input"
        for _ in range(8):
            value = graph.add("Relu", graph.add("MatMul", value, graph.random(128, 128)))
        ends.append(value)
    graph.save(graph.add("Sum", *ends), path)


def many_layers(path: Path, _changed: bool) -> None:
    """Matmuls, and between them layers that do nothing and take less than the profiler's microsecond."""
    graph = Graph([64, 256])
    value = "input"
    for _ in range(20):
        value = graph.add("Relu", graph.add("MatMul", value, graph.random(256, 256)))
        for _ in range(4):
            value = graph.add("Identity", value)
    graph.save(graph.add("Relu", value), path)


def many_inputs(path: Path, _changed: bool) -> None:
    """Few layers, and so many inputs and outputs that to hand them over is a part of the time."""
    graph = Graph([4, 256], 64)
    value = graph.add("Concat", *graph.inputs, axis=0)
    value = graph.add("Relu", graph.add("MatMul", value, graph.random(256, 256)))
    parts = [f"part_{index}" for index in range(64)]
    graph.nodes.append(helper.make_node("Split", [value], parts, "Split_3", axis=0))
    graph.save(parts, path)


MADE: dict[str, Callable[[Path, bool], None]] = {
    made.__name__: made for made in (needless_copies, divisions, products_on_8_bits, products_in_float, branches, many_layers, many_inputs)
}


def to_unsigned(model: onnx.ModelProto) -> None:
    """Activations that are quantized to signed 8 bits are quantized to unsigned ones: the same steps, counted from another zero."""
    points = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            points[node.output[0]] = node.attribute[0].t
    quantized = {node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"}
    names = {node.input[2] for node in model.graph.node if node.op_type == "QuantizeLinear" or node.input[0] in quantized}
    for name in names:
        value = numpy_helper.to_array(points[name])
        if value.dtype == numpy.int8:
            points[name].CopyFrom(numpy_helper.from_array((value.astype(numpy.int16) + 128).astype(numpy.uint8), name))
    del model.graph.value_info[:]


@dataclasses.dataclass(frozen=True)
class Program:
    level: str = "all"
    parallel: bool = False  # branches at once, each on one thread
    binding: bool = False  # inputs and outputs bound once
    without: tuple[str, ...] = ()  # optimizers


FUSIONS = tuple(name for switch in explain_onnxruntime.SWITCHES if switch.name.endswith("fusions") for name in switch.optimizers)


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str
    model: str  # the stem of a file that is given, or one of MADE
    action: str
    before: Program = Program()
    after: Program = Program()
    edit: Callable[[onnx.ModelProto], None] | None = None  # of the model
    instead: str = ""  # another file that is given
    threads: int = 1
    with_bound: bool = True
    about: str = ""  # how the finding's evidence begins
    beside: bool = False  # the finding is about the run beside that of `instead`


CASES = [
    Case("unfused-chain", "mobilenet_v2", "basic to extended", Program("basic"), Program("extended")),
    Case("unfused-chain", "needless_copies", "basic to extended", Program("basic"), Program("extended")),
    Case("slower-algorithm", "resnet50", "extended to all: NCHWc", Program("extended"), about="convolution"),
    Case("slower-algorithm", "mobilenet_v2", "extended to all: NCHWc", Program("extended"), about="convolution"),
    Case("serial-branches", "branches", "ORT_PARALLEL", after=Program(parallel=True), threads=2),
    Case("needless-layers", "needless_copies", "disabled to basic", Program("disabled"), Program("basic")),
    Case("needless-layers", "many_layers", "disabled to basic", Program("disabled"), Program("basic", without=FUSIONS)),
    Case("layout-changes", "divisions", "divisions at the end"),
    Case("framework-overhead", "many_inputs", "IO binding", after=Program(binding=True)),
    Case("quantized-layers-in-float", "resnet50-int8", "unsigned activations", edit=to_unsigned, with_bound=False),
    Case("quantized-layers-in-float", "resnet50-int8", "unsigned activations", edit=to_unsigned),
    Case("quantized-layers-in-float", "products_in_float", "outputs and sums on 8 bits", with_bound=False),
    Case("quantization-conversions", "products_on_8_bits", "sums on 8 bits", with_bound=False),
    Case("half-precision-not-used", "resnet50-f16", "the f32 model", instead="resnet50", with_bound=False),
    Case("low-precision-does-not-pay", "resnet50-f16", "the f32 model", instead="resnet50", with_bound=False, beside=True),
]


@dataclasses.dataclass
class Given:
    path: Path
    dims: list[str]

    def dim_options(self) -> list[str]:
        return [word for dim in self.dims for word in ("--dim", dim)]


def call(command: list[str]) -> None:
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{process.stderr}")


class Bench:
    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self._arguments = arguments
        self._folder = folder
        self._given: dict[str, Given] = {}
        for text in arguments.models:
            file, _, dims = text.partition(":")
            self._given[Path(file).stem] = Given(Path(file), [dim for dim in dims.split(",") if dim])

    def has(self, case: Case) -> bool:
        return all(name in self._given or name in MADE for name in (case.model, case.instead) if name)

    def before(self, case: Case) -> Given:
        return self._given.get(case.model) or self._made(case.model, False)

    def after(self, case: Case) -> Given:
        before = self.before(case)
        if case.instead:
            return self._given[case.instead]
        if case.edit:
            model = onnx.load(str(before.path))
            case.edit(model)
            path = self._folder / f"{case.model}_changed.onnx"
            onnx.save(model, str(path))
            return Given(path, before.dims)
        return self._made(case.model, True) if case.model in MADE else before

    def _made(self, name: str, changed: bool) -> Given:
        path = self._folder / (f"{name}_changed.onnx" if changed else f"{name}.onnx")
        MADE[name](path, changed)
        return Given(path, [])

    def _measure(self, given: Given, case: Case, level: str, name: str) -> str:
        run = str(self._folder / name)
        command = [str(given.path), *given.dim_options(), "--threads", str(case.threads), "--seconds", str(self._arguments.seconds / 6)]
        if level == "all":
            command = [self._arguments.infimum, "measure", *command, "--db", str(self._folder / "runs.db"), "-o", run]
        else:
            command = [sys.executable, "-B", str(SCRIPTS / "measure_onnxruntime.py"), *command, "--optimization", level, "--output", run]
        for _ in range(NOISY_RUNS):
            call(command)
            if not json.loads(Path(run).read_text()).get("noisy"):
                return run
        print(f"{given.path.stem}: its run is noisy, and what it promises is as exact as that", file=sys.stderr)
        return run

    def findings(self, case: Case) -> list[dict[str, Any]]:
        """Of the case's kind, in the run before the change."""
        infimum, given = self._arguments.infimum, self.before(case)
        store = self._folder / "none.db"
        if case.with_bound:
            store = (self._arguments.stores or self._folder) / f"{case.model}-{case.threads}.db"
            # Branches at once have a part of the threads each.
            for threads in [] if store.is_file() else sorted({1, case.threads}):
                command = [infimum, "analyze", str(given.path), *given.dim_options(), "--db", str(store), "--threads", str(threads)]
                call([*command, "--budget", self._arguments.budget, "--report", str(self._folder / "report.json"), "--quiet"])
        runs = [self._measure(given, case, case.before.level, "before.json")]
        if case.beside:
            runs.append(self._measure(self.after(case), case, case.after.level, "after.json"))
        answer = self._folder / "compare.json"
        command = [infimum, "compare", str(given.path), "--db", str(store), "--format", "json", "--output", str(answer)]
        call([*command, *(word for run in runs for word in ("--run", run))])
        found = [finding for run in json.loads(answer.read_text())["runs"] for finding in run["findings"]]
        for finding in found if self._arguments.verbose else []:
            shown = ", ".join(str(finding[key]) for key in ("kind", "known", "gain_us", "evidence", "action"))
            print(f"{case.model}: {shown}", file=sys.stderr)
        return [finding for finding in found if finding["kind"] == case.kind and finding["evidence"].startswith(case.about)]


def inference(given: Given, program: Program, threads: int) -> Callable[[], Any]:
    """On a session of its own."""
    dims = model_values.read_dims(given.dims)
    options = measure_onnxruntime.session_options(threads, dims)
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[program.level])
    if program.parallel:
        options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
        options.inter_op_num_threads, options.intra_op_num_threads = threads, 1
    source = model_values.with_random_weights(given.path, SEED)
    session = onnxruntime.InferenceSession(
        source, sess_options=options, providers=["CPUExecutionProvider"], disabled_optimizers=list(program.without) or None
    )
    feeds = model_values.random_inputs(session.get_inputs(), given.path, dims, SEED)
    outputs = [output.name for output in session.get_outputs()]
    if not program.binding:
        return functools.partial(session.run, outputs, feeds)
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    bound = session.run(outputs, feeds)
    for name, value in zip(outputs, bound, strict=True):
        binding.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))

    def infer() -> Any:
        session.run_with_iobinding(binding)
        return bound

    return infer


def difference(wanted: list[Any], got: list[Any]) -> float:
    """Of the largest element of each output."""
    worst = 0.0
    for one, other in zip(wanted, got, strict=True):
        one, other = numpy.asarray(one, numpy.float64), numpy.asarray(other, numpy.float64)
        largest = max(float(numpy.max(numpy.abs(one), initial=0.0)), 1e-30)
        worst = max(worst, float(numpy.max(numpy.abs(one - other), initial=0.0)) / largest)
    return worst


def pairs(inferences: list[Callable[[], Any]], threads: int, seconds: float) -> Iterator[tuple[float, float]]:
    """Microseconds before and after the change, in turn. Of one thread its processor's time, which other programs do not lengthen; of
    several that of inferences which had their cores."""
    core_time = sampling.CoreTime(threads)
    start = time.perf_counter()
    counted = 0
    for index in range(MOST_PAIRS // ROUNDS):
        elapsed = time.perf_counter() - start
        if elapsed > PATIENCE * seconds or (elapsed > seconds and ROUNDS * counted >= LEAST_PAIRS):
            return
        took = [0.0, 0.0]
        for which in (0, 1) if index % 2 == 0 else (1, 0):
            if threads > 1:
                switching.rest()
            inferences[which]()
            for _ in range(switching.ATTEMPTS):
                core_time.begin()
                sample = sampling.timed_on_host(inferences[which])()
                share = core_time.share(sample)
                if share >= (LEAST_SHARE if threads == 1 else sampling.COUNTS):
                    took[which] = sample * share if threads == 1 else sample
                    break
        if min(took) > 0:
            counted += 1
            yield took[0], took[1]


def interval(values: list[float]) -> tuple[float, float]:
    """Of the median, 95 %: the order statistics that it lies between with that probability, whatever the distribution."""
    ordered, count = sorted(values), len(values)
    place = math.floor(count / 2 - 0.98 * math.sqrt(count))  # the binomial distribution of those below the median, as a normal one
    return ordered[place - 1], ordered[count - place]


def judge(case: Case, promised: float, known: str, is_part: bool, low: float, high: float) -> tuple[str, bool]:
    place = "below" if promised < low else "above" if promised > high else "inside"
    if known.endswith("guessed") or place == "inside":
        return place, True
    if place == "above":
        return (f"above, but promised at {'least' if is_part else 'most'}"), not is_part
    return (f"below, but promised at {'least' if is_part else 'most'}"), is_part


def milliseconds(microseconds: float) -> str:
    return f"{microseconds / 1000:.3g}"


def act(bench: Bench, case: Case, seconds: float, cores: list[int]) -> bool:
    os.sched_setaffinity(0, cores)  # what children inherit
    found = bench.findings(case)
    before, after = bench.before(case), bench.after(case)
    times: list[tuple[float, float]] = []
    differs = 0.0
    for _ in range(ROUNDS):
        os.sched_setaffinity(0, cores)
        sampling.pin("", case.threads)
        inferences = [inference(before, case.before, case.threads), inference(after, case.after, case.threads)]
        differs = max(differs, difference(inferences[0](), inferences[1]()))
        for one in inferences:
            for _ in range(sampling.LEAST_WARM_UP):
                one()
        times += pairs(inferences, case.threads, seconds / ROUNDS)
        del inferences
        gc.collect()
    if len(times) < LEAST_PAIRS:
        raise SystemExit(f"{case.kind} of {case.model}: only {len(times)} pairs had their cores: other programs run on them")
    gains = [one - other for one, other in times]
    low, high = interval(gains)
    text, holds = "NOT FOUND", False
    promised, known = 0.0, "-"
    if found:
        promised, known = sum(finding["gain_us"] for finding in found), " and ".join(dict.fromkeys(finding["known"] for finding in found))
        text, holds = judge(case, promised, known, any(finding["gain_is_part"] for finding in found), low, high)
    if differs > TOLERANCE:
        text, holds = f"{text}; OUTPUTS DIFFER by {differs:.2g}", False
    name = f"{case.model}, {case.threads} threads" if case.threads > 1 else case.model
    cells = [case.kind if case.with_bound else f"{case.kind} (no bound)", name, case.action]
    cells += [f"{milliseconds(statistics.median(one for one, _ in times))}", f"{milliseconds(promised)}", known]
    cells += [f"{milliseconds(statistics.median(gains))} [{milliseconds(low)}, {milliseconds(high)}]", str(len(times))]
    print("| " + " | ".join([*cells, text if holds else f"**{text}**"]) + " |", flush=True)
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infimum")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--only", action="append", default=[], metavar="KIND")
    parser.add_argument("--budget", default="40s")
    parser.add_argument("--seconds", type=float, default=12.0, help="of inferences in turn, for each case")
    parser.add_argument("--stores", type=Path, metavar="FOLDER", help="where stores are kept, for another time")
    parser.add_argument("--verbose", action="store_true", help="also all other findings")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    held = True
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(arguments, Path(name))
        print("| finding | model | acted on by | before | promised | known | observed [95 %] | pairs | promised lies |")
        print("| --- | --- | --- | ---: | ---: | --- | ---: | ---: | --- |", flush=True)
        for case in CASES:
            if arguments.only and case.kind not in arguments.only:
                continue
            if not bench.has(case):
                print(f"left out, its model was not given: {case.kind} of {case.model}", file=sys.stderr)
                continue
            held = act(bench, case, arguments.seconds, cores) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
