"""Files of `infimum synth` in ONNX Runtime: a decoder against its formula in NumPy, decoding against a prefill.

    python generated_models_test.py INFIMUM
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

INFIMUM = sys.argv.pop(1)
HIDDEN, HEADS, KV_HEADS, VOCABULARY, BATCH = 64, 4, 2, 100, 2
SIZES = f"--layers 3 --hidden {HIDDEN} --heads {HEADS} --kv-heads {KV_HEADS} --vocabulary {VOCABULARY} --batch {BATCH}"


def synth(family: str, options: str, folder: Path) -> Path:
    command = [INFIMUM, "synth", family, *options.split(), "--seed", "5", "--force", "-o", str(folder)]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0])


def run(model: Path, feeds: dict[str, Any]) -> dict[str, Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, feeds), strict=True))
    for name, output in outputs.items():
        assert numpy.isfinite(output).all(), name
    return outputs


def past_shapes(model: Path) -> dict[str, int]:
    inputs = onnx.load(str(model)).graph.input
    return {value.name: value.type.tensor_type.shape.dim[2].dim_value for value in inputs if "past" in value.name}


def softmax(x: Any) -> Any:
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def normalized(x: Any, scale: Any) -> Any:
    return x / numpy.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale


def rotated(x: Any) -> Any:
    """Elements i and i + width / 2 are a complex number, turned by the token's place / 10000^(2 i / width)."""
    half = x.shape[-1] // 2
    angles = numpy.arange(x.shape[-2])[:, None] * 10_000.0 ** (-numpy.arange(half) / half)
    turned = (x[..., :half] + 1j * x[..., half:]) * numpy.exp(1j * angles)
    return numpy.concatenate([turned.real, turned.imag], -1)


def decoder(weights: list[Any], ids: Any, window: int) -> Any:
    """The logits of the last token; `weights` in the order in which the file has them."""
    table, *blocks, last_scale, head = weights
    x = table[ids]
    count = ids.shape[1]
    distance = numpy.arange(count)[:, None] - numpy.arange(count)
    is_seen = (distance >= 0) & (distance < window)
    while blocks:
        scale, query, key, value, out, inner_scale, gate, up, down, *blocks = blocks
        y = normalized(x, scale)
        q, k, v = (numpy.moveaxis((y @ w).reshape(BATCH, count, -1, HIDDEN // HEADS), 2, 1) for w in (query, key, value))
        k, v = (numpy.repeat(part, HEADS // KV_HEADS, axis=1) for part in (rotated(k), v))
        scores = rotated(q) @ numpy.swapaxes(k, 2, 3) / (HIDDEN // HEADS) ** 0.5
        mixed = softmax(numpy.where(is_seen, scores, -numpy.inf)) @ v
        x = x + numpy.moveaxis(mixed, 1, 2).reshape(BATCH, count, -1) @ out
        y = normalized(x, inner_scale)
        x = x + (y @ gate / (1 + numpy.exp(-(y @ gate))) * (y @ up)) @ down
    return normalized(x, last_scale)[:, -1:] @ head


class Generated(unittest.TestCase):
    def setUp(self) -> None:
        self.random = numpy.random.default_rng(7)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def tokens(self, count: int) -> dict[str, Any]:
        ids = self.random.integers(0, VOCABULARY, (BATCH, count))
        return {"input_ids": ids, "position_ids": numpy.tile(numpy.arange(count), (BATCH, 1))}

    def test_a_decoder_computes_its_formula(self) -> None:
        for window in (0, 5):
            feeds = self.tokens(12)
            model = synth("decoder", f"{SIZES} --context 12 --tokens 0 --window {window}", self.folder)
            stored = [onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(str(model)).graph.initializer if "weight" in tensor.name]
            expected = decoder([weight.astype(numpy.float64) for weight in stored], feeds["input_ids"], window or 12)
            numpy.testing.assert_allclose(run(model, feeds)["logits"], expected, atol=1e-4)

    def test_decoding_continues_a_prefill(self) -> None:
        forms = [("decoder", f"--weights {weights} --type {kind}") for weights in ("as-type", "int8", "int4") for kind in ("f32", "f16")]
        forms += [("decoder", "--window 8"), ("decoder", "--head-width 24"), ("moe", "--experts 6 --top-k 3"), ("moe", "--type f16")]
        for family, options in forms:
            for before in (19, 12):
                with self.subTest(family=family, options=options, before=before):
                    whole = self.tokens(20)
                    first = {name: part[:, :before] for name, part in whole.items()}
                    feeds = {name: part[:, before:] for name, part in whole.items()}
                    prefix = run(synth(family, f"{SIZES} {options} --context {before} --tokens 0", self.folder), first)
                    step = synth(family, f"{SIZES} {options} --context 20 --tokens {20 - before}", self.folder)
                    for name, length in past_shapes(step).items():
                        cache = prefix[name.replace("past_key_values", "present")]
                        feeds[name] = cache[:, :, cache.shape[2] - length :]
                    expected = run(synth(family, f"{SIZES} {options} --context 20 --tokens 0", self.folder), whole)
                    for name, output in run(step, feeds).items():
                        # ONNX Runtime rounds f16 operands of quantized weights once more.
                        tolerance = 0.1 if "f16" in options else 1e-4
                        numpy.testing.assert_allclose(output, expected[name], atol=tolerance, err_msg=name)

    def test_made_weights_give_finite_results(self) -> None:
        for family, options in (("decoder", f"{SIZES} --weights int4"), ("decoder", f"{SIZES} --weights int8"), ("moe", SIZES)):
            command = [INFIMUM, "synth", family, *options.split(), "--context", "6", "--tokens", "0", "-o", str(self.folder)]
            model = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]
            run(Path(model), self.tokens(6))

    def test_a_recommender_gives_shares(self) -> None:
        model = synth("recommender", "--tables 3 --rows 50 --width 8 --lookups 4 --nodes 32 --batch 5", self.folder)
        feeds = {f"indices.{table}": self.random.integers(0, 50, (5, 4)) for table in range(3)}
        scores = run(model, feeds | {"dense": self.random.standard_normal((5, 13)).astype(numpy.float32)})["score"]
        self.assertEqual(scores.shape, (5, 1))
        self.assertTrue(((scores > 0) & (scores < 1)).all())
        self.assertGreater(scores.std(), 0)


if __name__ == "__main__":
    unittest.main()
