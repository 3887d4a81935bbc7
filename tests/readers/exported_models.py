"""Models as PyTorch's exporter writes them, made from configurations without weights, against a table written by hand.

    python exported_models.py INFIMUM [FAMILY...]

INFIMUM inspects each of them: nothing is unknown, all attentions and normalizations of the configuration are
recognized, and there are as many multiply-adds as PyTorch counts. exported_models.txt has the numbers and says where
and why they differ. Few layers, real widths, small vocabularies.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
try:
    import diffusers
    import onnx_ir
    import timm
    import torch
    import transformers
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

TABLE = Path(__file__).with_suffix(".txt")
PAST, PROMPT = 128, 32


@dataclass
class Export:
    """A module and what it is called with; `make` is only called when it is this one's turn."""

    name: str
    make: Callable[[], tuple[Any, tuple[Any, ...], dict[str, Any]]]
    dtype: Any = field(default_factory=lambda: torch.float32)
    opset: int = 18

    @property
    def family(self) -> str:
        return self.name.split("/")[0]


class WithPast(torch.nn.Module):  # type: ignore[misc]
    """A language model whose cache is a list of tensors, keys and values in turn."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Any, *past: Any) -> tuple[Any, ...]:
        pairs = list(zip(past[0::2], past[1::2], strict=True))
        cache = transformers.DynamicCache(pairs or None, config=self.model.config)
        result = self.model(input_ids=ids, past_key_values=cache, use_cache=True)
        layers = result.past_key_values.layers
        return (result.logits, *(tensor for layer in layers for tensor in (layer.keys, layer.values)))


class WithStates(torch.nn.Module):  # type: ignore[misc]
    """A language model of recurrent layers: of each its convolution's state and its recurrence's, of attentions the
    cache; `kinds` says which, by layer."""

    def __init__(self, model: Any, kinds: list[tuple[str, ...]]) -> None:
        super().__init__()
        self.model, self.kinds = model, kinds

    def forward(self, ids: Any, *states: Any) -> tuple[Any, ...]:
        if not states:
            return (self.model(input_ids=ids, use_cache=False).logits,)
        cache = transformers.DynamicCache(config=self.model.config)
        given = iter(states)
        for layer, kinds in zip(cache.layers, self.kinds, strict=True):
            for kind in kinds:
                state = next(given)
                if kind == "keys":
                    layer.lazy_initialization(state, state)
                if kind in ("keys", "values"):
                    setattr(layer, kind, state)
                    continue
                layer.device, layer.dtype = state.device, state.dtype
                getattr(layer, kind)[0] = state.clone()  # the cache writes into it
                getattr(layer, f"is_{kind}_initialized")[0] = True
                layer.has_previous_state[0] = True
                if kind == "conv_states":
                    layer.conv_kernel_size[0] = state.shape[-1]
        name = "cache_params" if "Mamba" in type(self.model).__name__ else "past_key_values"
        result = self.model(input_ids=ids, use_cache=True, **{name: cache})
        kept = []
        for layer, kinds in zip(cache.layers, self.kinds, strict=True):
            for kind in kinds:
                kept.append(getattr(layer, kind) if kind in ("keys", "values") else getattr(layer, kind)[0])
        return (result.logits, *kept)


class DecoderWithPast(torch.nn.Module):  # type: ignore[misc]
    """An encoder-decoder's decoder, with what it keeps of itself and of the encoder."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Any, encoded: Any, *past: Any) -> tuple[Any, ...]:
        pairs = list(zip(past[0::2], past[1::2], strict=True))
        half = len(pairs) // 2
        cache = transformers.EncoderDecoderCache(
            transformers.DynamicCache(pairs[:half] or None), transformers.DynamicCache(pairs[half:] or None)
        )
        result = self.model(
            decoder_input_ids=ids, encoder_outputs=(encoded,), past_key_values=cache, use_cache=bool(pairs)
        )
        return (result.logits,)


def integers(*shape: int) -> Any:
    return torch.ones(shape, dtype=torch.long)


def language_models() -> Iterator[Export]:
    """Each at batch 1 and 8, decode and prefill, f16 and f32, operator sets 18 and 23."""
    tokens = {"vocab_size": 1024, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    wide: dict[str, Any] = dict(tokens, num_hidden_layers=2)
    one_b = dict(wide, hidden_size=2048, num_attention_heads=32, num_key_value_heads=8, intermediate_size=8192)
    small = dict(wide, hidden_size=1024, num_attention_heads=16, num_key_value_heads=8, intermediate_size=3072)
    experts = dict(small, num_experts_per_tok=2, experts_implementation="batched_mm")
    gemma = dict(small, head_dim=256, layer_types=["sliding_attention", "full_attention"], sliding_window=64)
    models: dict[str, dict[str, Any]] = {
        "Llama": one_b,
        "Qwen2": dict(small, num_attention_heads=14, num_key_value_heads=2, hidden_size=896, intermediate_size=4864),
        "Qwen3": dict(small, head_dim=128),
        "Qwen3Moe": dict(experts, num_experts=8, moe_intermediate_size=768, head_dim=128),
        "Phi": dict(small, num_key_value_heads=16),
        "Phi3": dict(small, hidden_size=3072, num_attention_heads=32, num_key_value_heads=32),
        "Mistral": dict(small, sliding_window=64),
        "Mixtral": dict(experts, num_local_experts=8),
        "Gemma": dict(small, head_dim=256),
        "Gemma2": dict(gemma, attn_implementation="eager"),
        "Gemma3": dict(gemma),
        "GptOss": dict(experts, num_local_experts=8, head_dim=64, attn_implementation="eager"),
        "Olmo2": small,
        "Granite": small,
        "SmolLM3": small,
        "Cohere2": dict(small, sliding_window=64),
        "Falcon": dict(wide, hidden_size=1024, num_attention_heads=16, multi_query=True),
        "GPT2": dict(wide, n_embd=768, n_layer=2, n_head=12),
        "OPT": dict(wide, hidden_size=768, num_attention_heads=12, ffn_dim=3072, word_embed_proj_dim=768),
        "Bloom": dict(wide, hidden_size=1024, n_layer=2, n_head=16),
        "GPTNeoX": dict(wide, hidden_size=1024, num_attention_heads=16, intermediate_size=4096),
    }
    classes = {"GPT2": "GPT2LMHeadModel", "Gemma3": "Gemma3ForCausalLM"}
    configurations = {"Gemma3": "Gemma3TextConfig"}
    main = ("Llama", "Qwen3", "Phi", "Phi3", "Mistral", "Gemma2", "Gemma3", "GptOss", "Mixtral")
    variants = [("decode", 1, torch.float16, 18), ("prefill", 8, torch.float16, 23)]
    for name, options in models.items():
        more = [("decode", 8, torch.float32, 23), ("prefill", 1, torch.float32, 18)] if name in main else []
        for phase, batch, dtype, opset in variants + more:

            def make(
                name: str = name, options: dict[str, Any] = options, phase: str = phase, batch: int = batch,
                dtype: Any = dtype,
            ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
                configuration = getattr(transformers, configurations.get(name, name + "Config"))(**options)
                model = getattr(transformers, classes.get(name, name + "ForCausalLM"))(configuration)
                heads = getattr(configuration, "num_key_value_heads", None) or configuration.num_attention_heads
                if getattr(configuration, "multi_query", False):
                    heads = 1
                head = getattr(configuration, "head_dim", None) or (
                    configuration.hidden_size // configuration.num_attention_heads
                )
                kept = 4 if phase == "decode" else 0
                past = [torch.zeros(batch, heads, PAST, head, dtype=dtype) for _ in range(kept)]
                return WithPast(model), (integers(batch, 1 if past else PROMPT), *past), {}

            if name == "Falcon":  # with one head of keys the exporter's Attention fails
                opset = 18
            number = "f16" if dtype == torch.float16 else "f32"
            yield Export(f"{name}/{phase}/b{batch}/{number}/opset{opset}", make, dtype, opset)


def recurrent_models() -> Iterator[Export]:
    """State space models, linear attention, short convolutions: a step of decoding, and a prefill."""
    wide: dict[str, Any] = {"vocab_size": 1024, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "hidden_size": 512}
    wide["num_hidden_layers"] = 2
    dense = dict(wide, num_attention_heads=8, num_key_value_heads=2, intermediate_size=1024)
    delta = dict(
        dense, head_dim=64, layer_types=["linear_attention", "full_attention"], linear_num_key_heads=4,
        linear_num_value_heads=8, linear_key_head_dim=64, linear_value_head_dim=64,
    )  # fmt: skip
    ssm = dict(wide, state_size=16, expand=2)
    conv, recurrent, keys = "conv_states", "recurrent_states", ("keys", "values")
    past = (2, PAST, 64)  # of keys, without the batch
    # The configuration, what each layer keeps, and of what size.
    models: dict[str, tuple[dict[str, Any], list[tuple[str, ...]], list[tuple[int, ...]]]] = {
        "Mamba": (ssm, [(conv, recurrent)] * 2, [(1024, 4), (1024, 16)] * 2),
        "FalconMamba": (ssm, [(conv, recurrent)] * 2, [(1024, 4), (1024, 16)] * 2),
        "Mamba2": (
            dict(wide, num_heads=16, head_dim=64, state_size=64, n_groups=1, chunk_size=16),
            [(conv, recurrent)] * 2, [(1152, 4), (16, 64, 64)] * 2,
        ),
        "Qwen3Next": (
            dict(delta, num_experts=0, mlp_only_layers=[0, 1]), [(conv, recurrent), keys],
            [(1024, 4), (8, 64, 64), past, past],
        ),
        "Qwen3_5": (delta, [(conv, recurrent), keys], [(1024, 4), (8, 64, 64), past, past]),
        "Jamba": (
            dict(dense, attn_layer_period=2, attn_layer_offset=1, num_experts=1, use_mamba_kernels=False),
            [(conv, recurrent), keys], [(1024, 4), (1024, 16), past, past],
        ),
        "Lfm2": (dict(dense, layer_types=["conv", "full_attention"]), [(conv,), keys], [(512, 3), past, past]),
    }  # fmt: skip
    for name, (options, kinds, sizes) in models.items():
        half, single = torch.float16, torch.float32
        for phase, batch, dtype in (("decode", 1, half), ("decode", 8, single), ("prefill", 1, single)):

            def make(
                name: str = name, options: dict[str, Any] = options, kinds: list[tuple[str, ...]] = kinds,
                sizes: list[tuple[int, ...]] = sizes, phase: str = phase, batch: int = batch,
            ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
                configuration = name + ("TextConfig" if name == "Qwen3_5" else "Config")
                model = getattr(transformers, name + "ForCausalLM")(getattr(transformers, configuration)(**options))
                states = [torch.zeros(batch, *size) for size in sizes] if phase == "decode" else []
                return WithStates(model, kinds), (integers(batch, 1 if states else PROMPT), *states), {}

            yield Export(f"{name}/{phase}/b{batch}", make, dtype)


def encoders() -> Iterator[Export]:
    bert = {"num_hidden_layers": 2, "vocab_size": 1024, "pad_token_id": 0}
    mini = dict(bert, hidden_size=384, num_attention_heads=12, intermediate_size=1536)
    modern = dict(mini, num_hidden_layers=3, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)
    deberta = dict(
        mini, relative_attention=True, position_biased_input=False, pos_att_type=["p2c", "c2p"],
        norm_rel_ebd="layer_norm", share_att_key=True, position_buckets=256,
    )  # fmt: skip
    models: dict[str, dict[str, Any]] = {
        "Bert": bert,
        "MiniLM": mini,
        "Roberta": bert,
        "DistilBert": {"n_layers": 2, "vocab_size": 1024},
        "Albert": dict(mini, embedding_size=128),
        "MPNet": bert,
        "DebertaV2": deberta,
        "ModernBert": modern,
        "T5Encoder": {"d_model": 512, "num_layers": 2, "d_ff": 1024, "vocab_size": 1024},
    }
    for name, options in models.items():
        for batch, dtype in ((1, torch.float32), (8, torch.float16)):

            def make(
                name: str = name, options: dict[str, Any] = options, batch: int = batch
            ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
                configuration = {"MiniLM": "Bert", "T5Encoder": "T5"}.get(name, name) + "Config"
                model = {"MiniLM": "Bert"}.get(name, name) + "Model"
                module = getattr(transformers, model)(getattr(transformers, configuration)(**options))
                return module, (), {"input_ids": integers(batch, 64), "attention_mask": integers(batch, 64)}

            yield Export(f"{name}/b{batch}", make, dtype, 18 if batch == 1 else 23)


def encoder_decoders() -> Iterator[Export]:
    t5 = {"d_model": 512, "num_layers": 2, "d_ff": 1024, "vocab_size": 1024}
    whisper = {
        "d_model": 384, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 6, "decoder_attention_heads": 6,
        "vocab_size": 1024, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
    }  # fmt: skip
    bart = dict(whisper, d_model=768, encoder_attention_heads=12, decoder_attention_heads=12)
    of = transformers
    made: dict[str, tuple[Any, int, int]] = {  # model, heads, width of a head
        "T5": (lambda: of.T5ForConditionalGeneration(of.T5Config(**t5)), 8, 64),
        "Whisper": (lambda: of.WhisperForConditionalGeneration(of.WhisperConfig(**whisper)), 6, 64),
        "Bart": (lambda: of.BartForConditionalGeneration(of.BartConfig(**bart)), 12, 64),
    }
    for name, (model, heads, head) in made.items():
        for past, batch, dtype in ((0, 8, torch.float32), (PAST, 1, torch.float16)):

            def make(
                model: Any = model, heads: int = heads, head: int = head, past: int = past, batch: int = batch,
                dtype: Any = dtype,
            ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
                kept = [torch.zeros(batch, heads, past, head, dtype=dtype) for _ in range(8 if past else 0)]
                width = heads * head
                encoded = torch.zeros(batch, PAST, width, dtype=dtype)
                return DecoderWithPast(model()), (integers(batch, 1 if past else PROMPT), encoded, *kept), {}

            yield Export(f"{name}Decoder/{'decode' if past else 'prefill'}/b{batch}", make, dtype)
    yield Export(
        "WhisperEncoder",
        lambda: (of.WhisperModel(of.WhisperConfig(**whisper)).encoder, (torch.zeros(1, 80, 3000),), {}),
    )
    yield Export(
        "Wav2Vec2",
        lambda: (of.Wav2Vec2Model(of.Wav2Vec2Config(num_hidden_layers=2)), (torch.zeros(1, 16000),), {}),
    )


def vision_models() -> Iterator[Export]:
    of = transformers

    def image(batch: int, size: int) -> Any:
        return torch.zeros(batch, 3, size, size)

    def clip() -> Any:
        layers = {"num_hidden_layers": 2}
        model = of.CLIPModel(of.CLIPConfig(text_config=dict(layers, vocab_size=1024), vision_config=layers))
        texts = {"input_ids": integers(1, 77), "attention_mask": integers(1, 77)}
        return model, (), dict(texts, pixel_values=image(1, 224))

    def siglip() -> Any:
        return of.SiglipVisionModel(of.SiglipVisionConfig(num_hidden_layers=2)), (image(1, 224),), {}

    def sam(attention: str) -> Any:
        sizes = {"num_hidden_layers": 4, "image_size": 512, "global_attn_indexes": [1, 3]}
        configuration = of.SamVisionConfig(**sizes, attn_implementation=attention)
        return of.SamVisionModel(configuration), (image(1, 512),), {}

    def dinov2() -> Any:
        backbone = of.Dinov2Config(
            num_hidden_layers=4, image_size=224, patch_size=14, out_indices=[1, 2, 3, 4], apply_layernorm=True,
            reshape_hidden_states=False,
        )  # fmt: skip
        configuration = of.DepthAnythingConfig(
            backbone_config=backbone, reassemble_hidden_size=768, neck_hidden_sizes=[96, 192, 384, 768]
        )
        return of.DepthAnythingForDepthEstimation(configuration), (image(1, 224),), {}

    def detr() -> Any:
        backbone = of.ResNetConfig(out_features=["stage4"])
        configuration = of.DetrConfig(backbone_config=backbone, encoder_layers=2, decoder_layers=2)
        return of.DetrForObjectDetection(configuration), (), {"pixel_values": image(1, 224)}

    def rt_detr() -> Any:
        configuration = of.RTDetrConfig(decoder_layers=2)
        return of.RTDetrForObjectDetection(configuration), (image(1, 320),), {}

    def segformer() -> Any:
        return of.SegformerModel(of.SegformerConfig()), (image(1, 224),), {}

    made: dict[str, Callable[[], Any]] = {
        "Clip": clip,
        "Siglip": siglip,
        "Sam": lambda: sam("sdpa"),
        "SamEager": lambda: sam("eager"),
        "DepthAnything": dinov2,
        "Detr": detr,
        "RtDetr": rt_detr,
        "Segformer": segformer,
    }
    for name, make in made.items():
        yield Export(name, make)

    def of_timm(name: str, batch: int, size: int, **options: Any) -> Any:
        return timm.create_model(name, **options), (image(batch, size),), {}

    listed: list[tuple[str, int, dict[str, Any]]] = [
        ("vit_small_patch16_224", 224, {"depth": 2}),
        ("deit3_small_patch16_224", 224, {"depth": 2}),
        ("beit_base_patch16_224", 224, {"depth": 2}),
        ("eva02_small_patch14_224", 224, {"depth": 2}),
        ("vit_small_patch14_reg4_dinov2", 224, {"depth": 2, "img_size": 224}),
        ("vit_small_patch16_dinov3", 224, {"depth": 2}),
        ("swin_tiny_patch4_window7_224", 224, {"depths": (2, 2, 2, 2)}),
        ("swinv2_tiny_window8_256", 256, {"depths": (2, 2, 2, 2)}),
        ("maxvit_tiny_tf_224", 224, {}),
        ("convnextv2_tiny", 224, {"depths": (1, 1, 2, 1)}),
        ("mobilenetv4_conv_small", 224, {}),
        ("mobilenetv4_hybrid_medium", 224, {}),
        ("efficientvit_b0", 224, {}),
        ("fastvit_t8", 224, {}),
        ("levit_128", 224, {}),
        ("mobilevitv2_050", 224, {}),
        ("tiny_vit_5m_224", 224, {}),
        ("resnet50", 224, {}),
        ("efficientnet_b0", 224, {}),
    ]
    for number, (name, size, options) in enumerate(listed):
        batch = 8 if number % 2 else 1
        dtype = torch.float16 if number % 3 == 0 else torch.float32
        yield Export(name, functools.partial(of_timm, name, batch, size, **options), dtype)
    for name in ("yolo11n", "yolov8n", "yolo12n"):
        yield Export(name, functools.partial(yolo, name))


def yolo(name: str) -> Any:
    with contextlib.redirect_stdout(sys.stderr):
        import ultralytics

        return ultralytics.YOLO(name + ".yaml").model, (torch.zeros(1, 3, 320, 320),), {}


def diffusion_models() -> Iterator[Export]:
    class Noise(torch.nn.Module):  # type: ignore[misc]
        """Takes tensors, returns tensors."""

        def __init__(self, model: Any, names: list[str]) -> None:
            super().__init__()
            self.model, self.names = model, names

        def forward(self, *tensors: Any) -> Any:
            return self.model(**dict(zip(self.names, tensors, strict=True)), return_dict=False)[0]

    def unet() -> Any:
        model = diffusers.UNet2DConditionModel(cross_attention_dim=768, layers_per_block=1)
        tensors = (torch.zeros(2, 4, 32, 32), torch.zeros(2), torch.zeros(2, 77, 768))
        return Noise(model, ["sample", "timestep", "encoder_hidden_states"]), tensors, {}

    def decoder() -> Any:
        wide = (128, 256, 512, 512)
        model = diffusers.AutoencoderKL(
            block_out_channels=wide, up_block_types=("UpDecoderBlock2D",) * 4,
            down_block_types=("DownEncoderBlock2D",) * 4, layers_per_block=1,
        )  # fmt: skip
        model.forward = model.decode
        return Noise(model, ["z"]), (torch.zeros(1, 4, 16, 16),), {}

    def flux() -> Any:
        model = diffusers.FluxTransformer2DModel(
            num_layers=1, num_single_layers=1, attention_head_dim=128, num_attention_heads=8, joint_attention_dim=1024,
            pooled_projection_dim=768,
        )  # fmt: skip
        names = ["hidden_states", "encoder_hidden_states", "pooled_projections", "timestep", "img_ids", "txt_ids"]
        tensors = (
            torch.zeros(1, 256, 64), torch.zeros(1, 64, 1024), torch.zeros(1, 768), torch.zeros(1),
            torch.zeros(256, 3), torch.zeros(64, 3),
        )  # fmt: skip
        return Noise(model, names), tensors, {}

    def dit() -> Any:
        model = diffusers.DiTTransformer2DModel(num_layers=2, num_attention_heads=16, attention_head_dim=72)
        names = ["hidden_states", "timestep", "class_labels"]
        return Noise(model, names), (torch.zeros(1, 4, 32, 32), integers(1), integers(1)), {}

    yield Export("SdUnet", unet, torch.float16)
    yield Export("SdVaeDecoder", decoder)
    yield Export("Flux", flux)
    yield Export("DiT", dit)


def cast(tensors: Any, dtype: Any) -> Any:
    if isinstance(tensors, dict):
        return {name: cast(tensor, dtype) for name, tensor in tensors.items()}
    if isinstance(tensors, tuple):
        return tuple(cast(tensor, dtype) for tensor in tensors)
    return tensors.to(dtype) if tensors.is_floating_point() else tensors


def multiply_adds(module: Any, args: Any, options: Any) -> int:
    """As PyTorch counts them, on tensors without elements where the model looks at none."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    for fake in (True, False):
        with (
            contextlib.suppress(Exception),
            torch.no_grad(),
            sdpa_kernel(SDPBackend.MATH),
            FakeTensorMode(allow_non_fake_inputs=True) if fake else contextlib.nullcontext(),
            FlopCounterMode(display=False) as counter,
        ):
            module(*args, **options)
            return int(counter.get_total_flops()) // 2
    return 0


def write(export: Export, path: Path) -> int:
    """Writes the graph, its weights left out; returns PyTorch's multiply-adds."""
    module, args, options = export.make()
    module = module.eval().to(export.dtype)
    with torch.no_grad():  # the exporter makes one of norms that read the same and have equal weights
        for parameter in module.parameters():
            if parameter.dim() < 2:
                parameter.copy_(torch.rand_like(parameter))
    args, options = cast(args, export.dtype), cast(options, export.dtype)
    counted = multiply_adds(copy.deepcopy(module), args, options)
    with torch.no_grad():
        program = torch.onnx.export(
            module, args, kwargs=options, dynamo=True, opset_version=export.opset, verbose=False
        )
    for value in program.model.graph.initializers.values():
        tensor = value.const_value
        if tensor.nbytes > 4096:
            value.const_value = onnx_ir.ExternalTensor(
                "absent.data", 0, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=value.name
            )
    onnx_ir.save(program.model, path)
    return counted


@dataclass
class Found:
    attentions: int
    norms: int
    multiply_adds: int
    unknown: list[str]
    convolutions: int  # with their state, or cut out of a padded one
    steps: int  # of linear attention


def inspect(infimum: str, path: Path) -> Found:
    command = [infimum, "inspect", str(path), "--regions", "--format", "json"]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"infimum inspect: {run.stderr.strip()}")
    graph = json.loads(run.stdout)
    layers, regions = graph["layers"], graph["regions"]
    within = {name for region in regions if region["rule"] == "attention" for name in region["layers"]}
    attentions = sum(region["rule"] == "attention" for region in regions)
    attentions += sum("attention " in (layer["config"] or "") and layer["name"] not in within for layer in layers)
    norms = sum(region["rule"] == "normalization" for region in regions)
    norms += sum(bool(re.search(r"normalization kind=(?!batch)", layer["config"] or "")) for layer in layers)
    products = graph["totals"]["multiply_adds"]
    for layer in layers:
        for text in re.findall(r"attention ([^\]]*)", layer["config"] or ""):
            sizes = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)(?= |$)", text)}
            heads = sizes["n"] * sizes["heads"] * sizes["q"] * sizes["kv"]
            products += heads * (sizes["head"] + sizes.get("value_head", sizes["head"]))
    unknown = [f"{layer['name']}: {layer['reason']}" for layer in layers if layer["status"] == "unknown"]
    # Of each convolution the regions of its epilogue begin alike.
    convolutions = {region["layers"][0] for region in regions if region["rule"] == "causal-convolution"}
    steps = sum(region["rule"] == "linear-attention" for region in regions)
    return Found(attentions, norms, products, unknown, len(convolutions), steps)


@dataclass
class Row:
    attentions: int
    norms: int
    ratio: tuple[float, float]  # of the multiply-adds to PyTorch's, least and most
    convolutions: int
    steps: int


def read_table() -> dict[str, Row]:
    rows = {}
    for line in TABLE.read_text().splitlines():
        if not line.strip() or line.startswith(("#", " ")):
            continue
        name, attentions, norms, ratio = line.split()[:4]
        least, _, most = ratio.partition("..")
        named = dict(re.findall(r" (convolutions|steps)=(\d+)", line))
        rows[name] = Row(
            int(attentions), int(norms), (float(least), float(most or least)), int(named.get("convolutions", 0)),
            int(named.get("steps", 0)),
        )  # fmt: skip
    return rows


def row_of(rows: dict[str, Row], name: str) -> Row | None:
    """The row of the longest part of the name: "Llama/decode" before "Llama"."""
    parts = name.split("/")
    return next((rows[part] for n in range(len(parts), 0, -1) if (part := "/".join(parts[:n])) in rows), None)


def check(infimum: str, export: Export, row: Row | None, folder: Path) -> list[str]:
    path = folder / (export.name.replace("/", "_") + ".onnx")
    try:
        counted = write(export, path)
    except Exception as error:  # noqa: BLE001 (PyTorch and the models raise whatever they like)
        return [f"does not export: {str(error).splitlines()[0][:200]}"]
    found = inspect(infimum, path)
    ratio = round(found.multiply_adds / counted, 3) if counted else 0.0
    print(
        f"{export.name:44} {found.attentions:3} attentions {found.norms:3} norms"
        f" {found.multiply_adds:13} multiply-adds, {ratio} of PyTorch's",
        flush=True,
    )
    wrong = found.unknown[:3]
    if row is None:
        return [*wrong, "no row in the table"]
    if found.attentions != row.attentions:
        wrong.append(f"{found.attentions} of {row.attentions} attentions")
    if found.norms != row.norms:
        wrong.append(f"{found.norms} of {row.norms} normalizations")
    if (found.convolutions, found.steps) != (row.convolutions, row.steps):
        wrong.append(
            f"{found.convolutions} of {row.convolutions} causal convolutions, {found.steps} of {row.steps} steps of"
            " linear attention"
        )
    if counted and not row.ratio[0] <= ratio <= row.ratio[1]:
        wrong.append(f"{found.multiply_adds} multiply-adds where PyTorch has {counted}: {ratio}")
    return wrong


def main() -> int:
    infimum, only = sys.argv[1], sys.argv[2:]
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    rows = read_table()
    exports = [*language_models(), *recurrent_models(), *encoders(), *encoder_decoders(), *vision_models(), *diffusion_models()]
    failures = 0
    start = time.monotonic()
    kept = os.environ.get("INFIMUM_KEEP_EXPORTS")
    with tempfile.TemporaryDirectory() as temporary:
        for export in exports:
            if only and export.family not in only and export.name not in only:
                continue
            wrong = check(infimum, export, row_of(rows, export.name), Path(kept or temporary))
            failures += bool(wrong)
            for text in wrong:
                print(f"FAILED: {export.name}: {text}", flush=True)
            gc.collect()
    print(f"{failures} of {len(exports)} models failed, {time.monotonic() - start:.0f} s")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
