"""Verify a transformers model and wrap it: with attnviz's attention if parity holds, otherwise with its returned
weights.
"""

import functools
from typing import Any

from torch import Tensor

from attnviz.models.huggingface import parity, returned_maps
from attnviz.models.huggingface.architecture import Architecture, vocabulary_of
from attnviz.models.huggingface.as_given import GivenCheck, GivenModel, ShownPass
from attnviz.models.huggingface.errors import ModelError, NoAttentionInterface, describe_failure, reason
from attnviz.models.huggingface.generate import GenerationRules, check_steps
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network import patches
from attnviz.models.huggingface.network.network import Batch, Network, uses_segments
from attnviz.models.huggingface.replay import ReplayedModel
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.transformer.device import is_out_of_memory


def verified_model(
    model: Any,
    text: CheckpointTokenizer,
    architecture: Architecture,
    *,
    given: GivenModel | None = None,
    is_known: bool = False,
) -> HuggingFaceModel | ReplayedModel:
    """Return a model as attnviz shows it.

    `given` is the model as the user gave it; the shown pass must equal its pass. By default it is the model as it is
    now. `is_known` skips both comparisons, for a model that was already compared in a finer dtype. Raises ModelError
    for a model that attnviz does not reproduce, or that returns no weights.
    """
    given = given or GivenModel(model)
    patches.keep_apart(model)
    patches.attend_fully(model)
    sample, target = _samples(model, text, architecture)
    where = next(model.parameters()).device
    sample, target = sample.to(where), None if target is None else target.to(where)
    try:
        patches.set_attention(model, "eager")
        expected = parity.run_eager(model, sample, target)
        rules = GenerationRules.from_model(model, has_both=architecture.has_both)
        made, run, shown = _wrap_model(model, text, architecture, (expected, sample, target), rules, is_known=is_known)
        first_layers = made.network.last_new_layer if isinstance(made, HuggingFaceModel) else ""
        made.as_given = GivenCheck(given, run, made.n_layers, first_layers)
        begun = None
        if not is_known:
            begun = made.as_given.check(sample, target, shown, is_decoder=made.family == "decoder")
        if made.writes and isinstance(made, HuggingFaceModel):
            made.steps_note = check_steps(made.network, sample, target, shown=shown, begun=begun)
    except ModelError:
        raise
    except Exception as error:  # a model that cannot run may raise any type of error
        if is_out_of_memory(error):
            raise
        raise ModelError(f"The model cannot run on a text alone: {describe_failure(error)}.") from error
    return made


def _wrap_model(
    model: Any, text: CheckpointTokenizer, architecture: Architecture,
    eager: tuple[parity.Eager, Batch, Batch | None], rules: GenerationRules, *, is_known: bool,
) -> tuple[HuggingFaceModel | ReplayedModel, ShownPass, Tensor]:  # fmt: skip
    """Wrap a model: with its attention replaced if possible, otherwise watched, otherwise with its returned weights.

    Also return the function that runs attnviz's pass, and the output of that pass.
    """
    expected, sample, target = eager
    shown = expected.output
    if returned_maps.are_joint(expected):
        made = ReplayedModel(model, text, expected, sample, target)
        made.obstacle = "uses one softmax for its target and its source together, instead of two"
        return made, functools.partial(_run_eager, model), shown
    try:
        network = parity.install_attention(model, sample, target)
        tgt_len = None if target is None else target.ids.shape[1]
        returned_maps.require_token_axes(expected, model.config, sample.ids.shape[1], tgt_len)
        if not is_known:
            shown = parity.assert_equal(network, expected, sample, target)
    except NoAttentionInterface:
        patches.set_attention(model, "eager")
        try:
            network, shown = watch_network(model, eager, is_known=is_known)
        except Exception as error:  # a model's own code may raise any error while it is watched
            if is_out_of_memory(error):
                raise
            patches.set_attention(model, "eager")
            made = ReplayedModel(model, text, expected, sample, target)
            made.refusal = reason(error)
            return made, functools.partial(_run_eager, model), shown
    made = HuggingFaceModel(network, text, rules, writes=architecture.writes)
    return made, functools.partial(parity.run_network, network), shown


def _run_eager(model: Any, sample: Batch, target: Batch | None, last_only: bool = False, until: str = "") -> Tensor:
    """Run the model with eager attention, and return the output of this pass.

    A `ReplayedModel` shows the weights that such a pass returns.
    """
    return parity.run_eager(model, sample, target).output


def watch_network(
    model: Any, eager: tuple[parity.Eager, Batch, Batch | None], *, is_known: bool
) -> tuple[Network, Tensor]:
    """Return the network with its attention watched, and its output for the sample.

    Unless `is_known`, which says that the model was compared before in a finer dtype, the watched pass is first
    compared with the model's own eager pass, `eager`. For Falcon, which calls PyTorch's fused kernel itself, the
    comparison is with the fused pass, because its eager pass computes something else with ALiBi.
    """
    expected, sample, target = eager
    if patches.set_fused(model):
        expected = parity.run_without_weights(model, sample, target)
    network = parity.watch_attention(model, sample, target)
    if is_known:
        return network, expected.output
    return network, parity.assert_equal(network, parity.leave_out_scores(expected), sample, target)


def _samples(model: Any, text: CheckpointTokenizer, architecture: Architecture) -> tuple[Batch, Batch | None]:
    config = model.config
    long, short = text.probe()
    highest, known = max((*long.ids, *short.ids, text.pad_id)), vocabulary_of(config)
    if highest >= known:
        raise ModelError(f"The tokenizer returns ids up to {highest}, but the model knows only {known} tokens.")
    segments = [long.segments, short.segments] if uses_segments(config) else None
    sample = Batch.from_rows([long.ids, short.ids], text.pad_id, segments)
    if not architecture.has_both:
        return sample, None
    start = getattr(config, "decoder_start_token_id", None) or 0
    return sample, Batch.from_rows([(start, *long.ids[:3]), (start, *short.ids[:2])], text.pad_id)
