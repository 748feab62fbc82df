"""Wrap a transformers model: our attention if parity holds, else the weights that it returns."""

from typing import Any

from attnviz.models.huggingface import parity
from attnviz.models.huggingface.architecture import Architecture, vocabulary_of
from attnviz.models.huggingface.errors import ModelError, NoAttentionInterface, reason
from attnviz.models.huggingface.generate import GenerationRules
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network.network import Batch, uses_segments
from attnviz.models.huggingface.replay import ReplayedModel
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer


def verified_model(
    model: Any, text: CheckpointTokenizer, architecture: Architecture, *, is_known: bool = False
) -> HuggingFaceModel | ReplayedModel:
    """Wrap a model as attnviz shows it. Raises ModelError for one that ours does not reproduce, or without any weights.

    `is_known` leaves the comparison out, of a model that was compared in a finer type.
    """
    sample, target = _samples(model, text, architecture)
    where = next(model.parameters()).device
    sample, target = sample.to(where), None if target is None else target.to(where)
    try:
        model.set_attn_implementation("eager")
        expected = parity.run_eager(model, sample, target)
        try:
            network = parity.install_attention(model, sample, target)
        except NoAttentionInterface:
            model.set_attn_implementation("eager")
            return ReplayedModel(model, text, expected, sample, target)
        if not is_known:
            parity.assert_equal(network, expected, sample, target)
        rules = GenerationRules.from_model(model, has_both=architecture.has_both)
    except ModelError:
        raise
    except Exception as error:  # a model that cannot even run has its own reasons, of every type
        raise ModelError(f"The model cannot run on a sentence ({reason(error)}).") from error
    return HuggingFaceModel(network, text, rules, writes=architecture.writes)


def _samples(model: Any, text: CheckpointTokenizer, architecture: Architecture) -> tuple[Batch, Batch | None]:
    config = model.config
    long, short = text.probe()
    highest, known = max((*long.ids, *short.ids, text.pad_id)), vocabulary_of(config)
    if highest >= known:
        raise ModelError(f"The tokenizer gives ids up to {highest}; the model knows {known} tokens.")
    segments = [long.segments, short.segments] if uses_segments(config) else None
    sample = Batch.from_rows([long.ids, short.ids], text.pad_id, segments)
    if not architecture.has_both:
        return sample, None
    start = getattr(config, "decoder_start_token_id", None) or 0
    return sample, Batch.from_rows([(start, *long.ids[:3]), (start, *short.ids[:2])], text.pad_id)
