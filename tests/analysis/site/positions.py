"""Checkpoints whose sites have positions of their own, as attnviz has them, and as transformers alone runs them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from attnviz.analysis.inputs import observed_inputs
from attnviz.analysis.projections import projections
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.weights import SiteWeights
from attnviz.models.huggingface import HuggingFaceModel, load
from attnviz.transformer.probe import Site
from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import DECODERS, Recipe

CLOSE = 2e-5  # scores of these random weights are large, and so is their rounding
TEXT = "The cat sat on the mat and slept."
_LLAMA, _QWEN = DECODERS["llama"], DECODERS["qwen2"]
_YARN = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 16}
RECIPES = checkpoints.ALL | {
    "cohere": Recipe("CohereForCausalLM", "CohereConfig", _LLAMA.sizes | {"head_dim": None}, _LLAMA.tokenizer),
    "glm": Recipe("GlmForCausalLM", "GlmConfig", _LLAMA.sizes | {"head_dim": 14, "hidden_size": 84}, _LLAMA.tokenizer),
    "yarn": replace(_LLAMA, sizes=_LLAMA.sizes | {"rope_parameters": _YARN}),
}
ROTARY = ("llama", "gpt_neox", "qwen2", "qwen3", "gemma", "phi", "mistral", "cohere", "glm", "yarn", "gemma3_text")
ALL = (*ROTARY, "t5")


class Found:
    """A checkpoint as attnviz has it, and as transformers alone runs it."""

    def __init__(self, folder: Path) -> None:
        made = load(folder, device=torch.device("cpu"), dtype=torch.float32)
        assert isinstance(made, HuggingFaceModel)
        self.model, self.own = made, checkpoints.reference(folder)
        self.trace = made.trace(TEXT, new_tokens=None if made.inputs.takes_target else 0)
        self.sites = projections(made, self.trace, self.trace.calls)

    def weights(self, layer: int = 1) -> SiteWeights:
        """Return the own projections of a layer's self-attention, the first stack's."""
        found = self.sites[Site(self.trace.kinds[0], layer)]
        assert isinstance(found, SiteWeights), found
        return found

    def inputs(self, layer: int = 1, weights: SiteWeights | None = None) -> SiteInputs:
        return observed_inputs(weights or self.weights(layer), self.trace, self.trace.kinds[0], layer)

    def module(self, layer: int) -> Any:
        """Return transformers' own attention of the first stack's layer."""
        if hasattr(self.own, "encoder"):
            return self.own.encoder.block[layer].layer[0].SelfAttention
        stack = self.own.gpt_neox if hasattr(self.own, "gpt_neox") else self.own.model
        return getattr(stack.layers[layer], "self_attn", None) or stack.layers[layer].attention

    @torch.inference_mode()
    def eager(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Output and weights of transformers' own eager attention on the same ids."""
        caught: list[Any] = []
        hook = self.module(layer).register_forward_hook(lambda module, given, made: caught.append(made))
        sentence = self.trace.sentences[0]
        ids = torch.tensor([[token.id for token in sentence.src or sentence.tgt_in]])
        stack = self.own.encoder if hasattr(self.own, "encoder") else self.own
        stack(input_ids=ids, output_attentions=True)
        hook.remove()
        return caught[0][0], caught[0][-1]  # T5 hands its bias out between them
