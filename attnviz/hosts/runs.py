"""Pictures of a model and its runs: Decoding, Masks, Causes and Learning."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from attnviz.causes.attribution import attribution as attributions
from attnviz.causes.compared.compared import CompareState, Side, compared
from attnviz.causes.numbers.pair import pair_of
from attnviz.causes.numbers.switched_off import rerun_under
from attnviz.causes.patching import patching as patches
from attnviz.causes.switches.switches import SwitchOffState, head_name, switches
from attnviz.decoding.decoding import DecodingInput, DecodingState, run_decoding
from attnviz.decoding.stepper import stepper
from attnviz.guards.arguments import reads_arguments
from attnviz.hosts.traces import EVERYTHING
from attnviz.kit.focus import SiteBounds
from attnviz.kit.subject import Subject, caption_by, site_bounds
from attnviz.kit.views.captions import Caption
from attnviz.kit.wire import Payload
from attnviz.learning.learning import TRANSLATORS_TITLE, LearningState, RecordingState, learning
from attnviz.masks.mask_lab import mask_lab, site_name
from attnviz.masks.masks import MasksState
from attnviz.models import chat
from attnviz.models.protocol import Model
from attnviz.text.conversation import Turn, read_turns
from attnviz.toys.recording import Recording
from attnviz.toys.switches import title_of
from attnviz.toys.translator.recording import TranslatorRecording
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.making import Put
from attnviz.tracing.causes.switches import Head, every_head, replace_heads, replacements
from attnviz.tracing.trace import Trace


@reads_arguments
def stepper_of(
    model: Model, text: str = "", *, to: str = "", target: str = "", new_tokens: int = 0,
    interventions: Sequence[Intervention] = (), messages: Sequence[Mapping[str, Any] | Turn] = (),
) -> Subject:  # fmt: skip
    """Show the training pass beside every step of decoding `text`, both with `interventions`.

    `messages` are a conversation instead of the text, for a model with a chat template. Raises ValueError for a model
    that writes no text, and for a model with several languages if `to` is missing.
    """
    if len(model.languages) > 1 and not to:
        raise ValueError(f"Say which language is written: to= one of {', '.join(model.languages)}.")
    more = {"to": to, "tgt_text": target, "new_tokens": new_tokens, "interventions": interventions}
    said = {name: value for name, value in more.items() if value}
    turns = read_turns(messages) if messages else ()
    if turns:
        chat.require(model)
        said |= {"messages": [turn.as_message for turn in turns], "new_tokens": chat.reply_tokens(turns, new_tokens)}
    trace = model.trace(text, **said)
    asked = DecodingInput(text, trace.to, new_tokens, turns)

    def draw(state: DecodingState, **how: int) -> Payload:
        return stepper(model, trace, state, run=run_decoding(model, trace, state, asked=asked), **how)

    layers, heads = trace.shape(trace.kinds[-1])
    silent = ("more", "ids_src", "ids_tgt", "ids_seed", "ids_causal")
    bounds, whole = {"layer": layers, "head": heads}, partial(draw, most=EVERYTHING)
    return Subject(DecodingState(), draw, _caption(trace, model), bounds, silent, draw_whole=whole, trace=trace)


@reads_arguments
def mask_lab_of(model: Model, trace: Trace) -> Subject:
    """Show scores, masked scores, weights and context of one head, with a mask to paint."""
    causal = "decoder_self" in trace.kinds
    start = MasksState(rules=(("causal", ()),)) if causal else MasksState(trace.kinds[0])
    bounds = site_bounds(trace) | {"item": len(trace.sentences)}
    return Subject(
        start, lambda state: mask_lab(model, trace, state),
        lambda state: replace(caption_by(trace, model, item=state.item), site=site_name(state)),
        bounds, silent=("second",), settle=_bake, trace=trace,
    )  # fmt: skip


def _bake(state: MasksState, told: Mapping[str, Any], before: MasksState) -> MasksState:
    """Remove the rules if the paint now contains all of them."""
    return replace(state, rules=()) if told.get("bake") is True else state


@reads_arguments
def switches_of(model: Model, trace: Trace) -> Subject:
    """Show every head as a switch, and what the model does without the heads that are off."""
    plain = trace if not trace.interventions else model.rerun(replace(trace, interventions=()))
    shapes = model.shapes
    start = SwitchOffState(off=tuple(map(head_name, replacements(trace.interventions, shapes))))

    def draw(state: SwitchOffState) -> Payload:
        wanted: dict[Head, Put] = {head: state.put for head in every_head(shapes) if head_name(head) in state.off}
        done = trace.interventions if state.off == start.off else replace_heads(trace.interventions, shapes, wanted)
        return switches(model, rerun_under(model, plain, done), state)

    silent = ("measure", "count")
    return Subject(start, draw, _caption(trace, model), silent=silent, unanswered=silent, trace=trace)


@reads_arguments
def patching_of(model: Model, trace: Trace, other: Trace | str) -> Subject:
    """Put activations of one run into another; `other` is that run, or its sentence.

    Raises ValueError for two runs that cannot be compared position by position.
    """
    to = {"to": trace.to} if trace.to else {}
    pair = pair_of(model, trace, model.trace(other, **to) if isinstance(other, str) else other)

    def caption(state: patches.PatchState) -> Caption:
        asked = patches.patch_question(model, pair, state)
        return replace(caption_by(trace, model), site=patches.site_name(model, asked))

    def draw(state: patches.PatchState) -> Payload:
        return patches.patching(model, pair, state)

    def settle(state: patches.PatchState, told: Mapping[str, Any], before: patches.PatchState) -> patches.PatchState:
        """Clear the tokens that were chosen for another step; the browser also reports the drawn step."""
        is_same = told.get("step") in (None, patches.patch_question(model, pair, before).step)
        return state if is_same else replace(state, a="", b="", c="", d="")

    rows = max(pair.rows, default=0) + 1
    return Subject(patches.PatchState(), draw, caption, {"step": rows}, silent=("changed",), settle=settle,
                   trace=trace)  # fmt: skip


@reads_arguments
def attribution_of(model: Model, trace: Trace) -> Subject:
    """Show the contributions to a token's logit. Raises ValueError for a trace without logits."""
    if trace.logits is None:
        raise ValueError("Attribution needs logits, and this trace was recorded without them.")

    def caption(state: attributions.AttributeState) -> Caption:
        asked = attributions.question(model, trace, state).asked
        return replace(caption_by(trace, model), site=attributions.site_name(model, asked))

    def draw(state: attributions.AttributeState) -> Payload:
        return attributions.attribution(model, trace, state)

    def settle(
        state: attributions.AttributeState, told: Mapping[str, Any], before: attributions.AttributeState
    ) -> attributions.AttributeState:
        """Clear the tokens that were chosen for another step; the browser also reports the drawn step."""
        if told.get("step") in (None, before.step or 0):
            return state
        against = state.against if state.against == attributions.RUNNER_UP else attributions.NONE
        return replace(state, token="", against=against)

    bounds = {"step": len(attributions.rows(trace))}
    return Subject(attributions.AttributeState(), draw, caption, bounds, settle=settle, trace=trace)


@reads_arguments
def compared_of(here: Any, there: Any) -> Subject:
    """Show two runs side by side, each given as `(name, model, trace)`. Raises ValueError for any other argument."""
    here, there = _side(here), _side(there)
    trace, silent = here.trace, ("by", "other", "into", "against", "rule")
    # Bounds for an empty kind, which drawing replaces by the kind that differs most.
    most = (trace.n_layers, trace.n_heads)
    shapes = {"": most, **SiteBounds.from_trace(trace).shapes}
    bounds = SiteBounds(shapes).by_field()
    draw = partial(compared, here, there)
    return Subject(CompareState(), draw, _caption(trace, here.model), bounds, silent,
                   draw_whole=partial(draw, most=EVERYTHING), trace=trace)  # fmt: skip


def _side(given: Any) -> Side:
    """Read one of two runs. Raise ValueError, with one sentence, unless it is a name, a model and a trace."""
    if isinstance(given, Side):
        return given
    parts = tuple(given) if isinstance(given, tuple | list) else ()
    if len(parts) != 3 or not isinstance(parts[0], str) or not isinstance(parts[2], Trace):
        raise ValueError('Give each run to compare as (name, model, trace), such as ("one", model, trace).')
    name, model, trace = parts
    return Side(name, model, trace, trace.tgt_text if model.writes else "")


@reads_arguments
def learning_of(
    recording: Recording | TranslatorRecording, other: Recording | TranslatorRecording | None = None
) -> Subject:
    """Show one or two recordings of training, step by step."""
    recordings = [recording] if other is None else [recording, other]
    are_toys = all(isinstance(one, Recording) for one in recordings)
    start = LearningState(guess="open") if are_toys else RecordingState()
    silent = ("task", "seed", "first", "second", "train", "recording", "of")
    titles = [title_of(one.experiment) if isinstance(one, Recording) else TRANSLATORS_TITLE for one in recordings]
    caption = Caption("", " | ".join(titles))
    return Subject(start, lambda state: learning(recordings, state), lambda state: caption, {}, silent)


def _caption(trace: Trace, model: Model) -> Any:
    caption = caption_by(trace, model)
    return lambda state: caption
