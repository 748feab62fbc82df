"""Hugging Face checkpoints, loaded with transformers. No other folder imports `transformers`.

    from attnviz.models.huggingface import load
    model = load("gpt2", device=torch.device("cpu"), dtype=torch.float32)
    model.trace("I love you.").attn("decoder_self", layer=2, head=5)

A model is shown only if attnviz's pass computes the same as transformers' pass (`parity`). Otherwise it is refused with
a message of one sentence.
"""

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.loading import load
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.replay import ReplayedModel

__all__ = ["HuggingFaceModel", "ModelError", "ReplayedModel", "load"]
