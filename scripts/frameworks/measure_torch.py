#!/usr/bin/env python3
"""Runs a model in PyTorch on a GPU and writes how long it took, for infimum to read (infimum.run/1).

    python measure_torch.py resnet50 --mode cuda-graph --contract f16 --batch 8 \\
        --model-sha256 $(sha256sum resnet50.onnx | cut -c1-64) --output run.json
    infimum import run.json

The models are those of torchvision and transformers with random weights, in inference mode. `eager` is what a
program without further ado gets; `cuda-graph` replays one captured inference, so that the host is out of it;
`compiled` is torch.compile with mode="max-autotune". Times are those of CUDA events around each inference, after a
warm-up; end to end, without layers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCHEMA = "infimum.run/1"
MODELS = ("resnet50", "mobilenet_v2", "vit_b16", "bert-base", "gpt2")
SEQUENCE = 128


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--model-sha256", required=True, help="of the same model's ONNX file, which the run is kept with")
    parser.add_argument("--model-name", help="what infimum calls that model (default: the name here)")
    parser.add_argument("--mode", choices=["eager", "cuda-graph", "compiled"], default="eager")
    parser.add_argument("--contract", choices=["strict-f32", "tf32", "f16", "bf16"], default="strict-f32")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="sampling time of each repetition")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--device-key", default="", help="what infimum calls the device (infimum devices)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    return parser.parse_args()


def make_model(name: str, batch: int) -> tuple[Any, Any]:
    """The module and one input of it, both f32 on the host."""
    import torch

    if name in ("resnet50", "mobilenet_v2", "vit_b16"):
        import torchvision

        make = {
            "resnet50": torchvision.models.resnet50,
            "mobilenet_v2": torchvision.models.mobilenet_v2,
            "vit_b16": torchvision.models.vit_b_16,
        }[name]
        return make(weights=None), torch.randn(batch, 3, 224, 224)
    import transformers

    if name == "bert-base":
        model: Any = transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False)
        vocabulary = model.config.vocab_size
    else:
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False))
        vocabulary = model.config.vocab_size
    return model, torch.randint(0, vocabulary, (batch, SEQUENCE))


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """One inference on the GPU, as the mode says."""
    import torch

    allows_tf32 = arguments.contract == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = allows_tf32
    torch.backends.cudnn.allow_tf32 = allows_tf32
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(arguments.seed)
    model, inputs = make_model(arguments.model, arguments.batch)
    stored = {"f16": torch.float16, "bf16": torch.bfloat16}.get(arguments.contract, torch.float32)
    model = model.eval().to("cuda", stored)
    inputs = inputs.to("cuda", stored if inputs.is_floating_point() else None)
    if inputs.dim() == 4:
        model = model.to(memory_format=torch.channels_last)
        inputs = inputs.to(memory_format=torch.channels_last)
    if arguments.mode == "compiled":
        model = torch.compile(model, mode="max-autotune")

    def infer() -> None:
        with torch.inference_mode():
            model(inputs)

    for _ in range(3):
        infer()
    torch.cuda.synchronize()
    if arguments.mode != "cuda-graph":
        return infer
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            infer()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        infer()

    def replay() -> None:
        graph.replay()

    return replay


def sample(infer: Callable[[], None], seconds: float) -> list[float]:
    """Latencies in microseconds by CUDA events, at least five."""
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    samples: list[float] = []
    while len(samples) < 5 or sum(samples) < seconds * 1e6:
        begin.record()
        infer()
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end) * 1e3)
        if len(samples) == 100_000:
            break
    return samples


def main() -> None:
    arguments = parse_arguments()
    try:
        import torch
    except ImportError as error:
        raise SystemExit(f"infimum: error: this Python has no torch ({error}); pip install torch") from error
    if not torch.cuda.is_available():
        raise SystemExit("infimum: error: PyTorch sees no GPU here")
    infer = prepare(arguments)
    sample(infer, 0.2 * arguments.seconds)
    run: dict[str, Any] = {
        "schema": SCHEMA,
        "framework": "pytorch",
        "framework_version": torch.__version__,
        "model": arguments.model_name or arguments.model,
        "model_sha256": arguments.model_sha256,
        "dims": {"batch": arguments.batch},
        "threads": 1,
        "contract": arguments.contract,
        "settings": {"mode": arguments.mode, "seed": str(arguments.seed), "gpu": torch.cuda.get_device_name()},
        "end_to_end": [{"samples_us": sample(infer, arguments.seconds)} for _ in range(arguments.repetitions)],
        "layers": [],
        "warnings": [],
    }
    if arguments.device_key:
        run["device"] = arguments.device_key
    arguments.output.write_text(json.dumps(run))
    fastest = min(sorted(one["samples_us"])[len(one["samples_us"]) // 2] for one in run["end_to_end"])
    print(f"{arguments.model} {arguments.mode} {arguments.contract} batch {arguments.batch}: {fastest:.1f} us")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
