#!/usr/bin/env bash
# After one short text BigBird gives another answer to the same long text.
#
# Versions: transformers 5.23.0, torch 2.13.0 (CPU), Python 3.11.
# One would expect: a model in eval() has no memory between two calls, so that a text of 64 tokens has the same hidden
# states before and after a text of ten tokens.
# What happens: ten tokens are too few for block-sparse attention. The model switches itself to full attention, logs one
# warning, and stays there: the long text is from then on computed by another attention.
# Seen:
#   the same text twice: hidden states differ by 0.00
#   after a text of ten tokens: hidden states differ by 1.05
#   attention_type is now original_full
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import sys

import torch

from transformers import BigBirdConfig, BigBirdModel

logging.disable(logging.WARNING)
torch.manual_seed(0)
sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 80}
blocks = {"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 1, "max_position_embeddings": 128}
model = BigBirdModel(BigBirdConfig(**sizes, **blocks)).eval()
long = torch.randint(5, 80, (1, 64))
with torch.no_grad():
    for weight in model.parameters():
        weight.add_(0.2 * torch.randn_like(weight))
    first, second = (model(long).last_hidden_state for _ in range(2))
    model(long[:, :10])
    after = model(long).last_hidden_state
same, moved = float((first - second).abs().max()), float((first - after).abs().max())
print(f"the same text twice: hidden states differ by {same:.2f}")
print(f"after a text of ten tokens: hidden states differ by {moved:.2f}")
print("attention_type is now", model.attention_type)
sys.exit(0 if same == 0 and moved > 0.1 and model.attention_type == "original_full" else 1)
PYTHON
