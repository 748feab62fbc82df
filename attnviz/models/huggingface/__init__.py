"""Other people's models: Hugging Face checkpoints, as transformers loads them. Nothing else imports `transformers`.

    from attnviz.models.huggingface import load
    model = load("gpt2", device=torch.device("cpu"), dtype=torch.float32)
    model.trace("I love you.").attn("decoder_self", layer=2, head=5)

A model is shown only after it was found to compute what transformers computes (`parity`), or refused with a sentence.
"""

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.loading import load
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.replay import ReplayedModel

__all__ = ["HuggingFaceModel", "ModelError", "ReplayedModel", "load"]
