"""Models of torchvision and transformers with random weights, for `--module torch_models.py:resnet50` of measure_pytorch.py.

Each function makes a module and its inputs, f32 on the host, and takes the dimensions that it has.
"""

from __future__ import annotations

from typing import Any

import torch


def _image_model(name: str, batch: int) -> tuple[Any, Any]:
    import torchvision

    return getattr(torchvision.models, name)(weights=None), (torch.randn(batch, 3, 224, 224),)


def resnet50(batch: int = 1) -> tuple[Any, Any]:
    return _image_model("resnet50", batch)


def mobilenet_v2(batch: int = 1) -> tuple[Any, Any]:
    return _image_model("mobilenet_v2", batch)


def vit_b16(batch: int = 1) -> tuple[Any, Any]:
    return _image_model("vit_b_16", batch)


def bert_base(batch: int = 1, sequence: int = 128) -> tuple[Any, Any]:
    import transformers

    model = transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False)
    return model, (torch.randint(0, model.config.vocab_size, (batch, sequence)),)


def gpt2(batch: int = 1, sequence: int = 128) -> tuple[Any, Any]:
    import transformers

    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False))
    return model, (torch.randint(0, model.config.vocab_size, (batch, sequence)),)
