#!/usr/bin/env bash
# ViLT in eval() puts the patches of an image into another order at every call, and does not say which.
#
# Versions: transformers 5.23.0, torch 2.13.0 (CPU), Python 3.11.
# One would expect: with eval() and the same input the attention maps of two calls are equal, and column 3 + 1 + p is
# patch p of the image.
# What happens: the pooled output is the same to rounding, but the columns of the patches are shuffled by torch's random
# numbers, in eval() too. No field of the output has the order, so that no weight can be drawn at its place.
# Seen:
#   maps of two calls differ by 0.69
#   pooled outputs of two calls differ by less than 1e-5: True
#   the same row, its weights sorted, differs by less than 1e-5: True
#   fields of the output: last_hidden_state, pooler_output, attentions
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import sys

import torch

from transformers import ViltConfig, ViltModel

logging.disable(logging.WARNING)
torch.manual_seed(0)
sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
config = ViltConfig(**sizes, image_size=32, patch_size=8, vocab_size=50, attn_implementation="eager")
model = ViltModel(config).eval()
given = {
    "input_ids": torch.tensor([[1, 2, 3]]),
    "pixel_values": torch.randn(1, 3, 32, 32),
    "pixel_mask": torch.ones(1, 32, 32, dtype=torch.long),
}
with torch.no_grad():
    for weight in model.parameters():
        weight.add_(0.2 * torch.randn_like(weight))
    one, other = (model(**given, output_attentions=True) for _ in range(2))
maps = one.attentions[0], other.attentions[0]
moved = float((maps[0] - maps[1]).abs().max())
rows = [attention[:, :, 0].sort(dim=-1).values for attention in maps]  # of the first word, which is not shuffled
pooled = bool(torch.allclose(one.pooler_output, other.pooler_output, atol=1e-5))
permuted = bool(torch.allclose(*rows, atol=1e-5))
print(f"maps of two calls differ by {moved:.2f}")
print("pooled outputs of two calls differ by less than 1e-5:", pooled)
print("the same row, its weights sorted, differs by less than 1e-5:", permuted)
print("fields of the output:", ", ".join(one.keys()))
sys.exit(0 if moved > 0.01 and pooled and permuted and not any("order" in key or "index" in key for key in one) else 1)
PYTHON
