#!/usr/bin/env bash
# WavLM returns the same attention map for every head.
#
# Versions: transformers 5.23.0, torch 2.13.0 (CPU), Python 3.11.
# One would expect: with attn_implementation="eager" and output_attentions=True, layer 0 has a map for each of its four
# heads, and random heads differ. The shape (1, 4, frames, frames) says so, too.
# What happens: all four maps are equal to the last bit. WavLM calls torch's multi_head_attention_forward, which gives the
# mean over heads, and copies this mean to every head. A study of single heads compares copies.
# Seen:
#   shape of layer 0: (1, 4, 38, 38)
#   largest difference between two heads: 0.0
#   rows sum to 1: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import sys

import torch

from transformers import WavLMConfig, WavLMModel

logging.disable(logging.WARNING)
torch.manual_seed(0)
sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
convolutions = {"conv_dim": (16, 16), "conv_stride": (5, 4), "conv_kernel": (10, 8), "num_feat_extract_layers": 2}
config = WavLMConfig(
    **sizes, **convolutions, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, attn_implementation="eager"
)
model = WavLMModel(config).eval()
with torch.no_grad():
    for weight in model.parameters():
        weight.add_(0.2 * torch.randn_like(weight))
    attention = model(torch.randn(1, 800), output_attentions=True).attentions[0]
apart = float((attention - attention[:, :1]).abs().max())
print("shape of layer 0:", tuple(attention.shape))
print("largest difference between two heads:", apart)
print("rows sum to 1:", bool(torch.allclose(attention.sum(-1), torch.ones(()))))
sys.exit(0 if apart == 0 and attention.shape[1] == 4 else 1)
PYTHON
