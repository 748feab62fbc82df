#!/usr/bin/env bash
# FSMT's decoder looks at later tokens of a whole target while use_cache is on, which is the default.
#
# Versions: transformers 5.23.0, torch 2.13.0 (CPU), Python 3.11.
# One would expect: logits of the first three target tokens do not depend on the fourth, whatever use_cache says: a cache
# is about speed. A loss over given labels, which passes the whole target, would be wrong else.
# What happens: by default no causal mask is made, and another fourth token changes the logits before it. With
# use_cache=False they stay to the last bit.
# Seen:
#   default: logits before the changed token move by 0.31
#   use_cache=True: logits before the changed token move by 0.31
#   use_cache=False: logits before the changed token move by 0.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import logging
import sys

import torch

from transformers import FSMTConfig, FSMTForConditionalGeneration

logging.disable(logging.WARNING)
torch.manual_seed(0)
sizes = {
    f"{side}_{name}": size
    for side in ("encoder", "decoder")
    for name, size in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 48))
}
vocabulary = {"src_vocab_size": 40, "tgt_vocab_size": 40, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
model = FSMTForConditionalGeneration(FSMTConfig(langs=["en", "de"], d_model=32, **sizes, **vocabulary)).eval()
source, moved = torch.tensor([[5, 6, 7, 2]]), {}
with torch.no_grad():
    for weight in model.parameters():
        weight.add_(0.2 * torch.randn_like(weight))
    for name, how in (("default", {}), ("use_cache=True", {"use_cache": True}), ("use_cache=False", {"use_cache": False})):
        one, other = (
            model(input_ids=source, decoder_input_ids=torch.tensor([[2, 9, 10, last]]), **how).logits[0, :3]
            for last in (11, 12)
        )
        moved[name] = float((one - other).abs().max())
        print(f"{name}: logits before the changed token move by {moved[name]:.2f}")
sys.exit(0 if moved["default"] > 0.01 and moved["use_cache=True"] > 0.01 and moved["use_cache=False"] == 0 else 1)
PYTHON
