"""Decoding with a translator of ours: how it steps, and what may be broken in it on purpose."""

from dataclasses import replace

import streamlit as st
import torch

from attnviz.analysis.decoding.comparison import Decoded, compared, token_text
from attnviz.analysis.decoding.loss_table import loss_table
from attnviz.analysis.decoding.next_tokens import next_tokens
from attnviz.models.decoding_record import decoding_record
from attnviz.models.translator.faults import Faults
from attnviz.models.translator.stepwise import Plan, steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Sampling, likeliest
from attnviz.ui.cache import traces
from attnviz.ui.decoding.state import DROPOUT, DecodingState
from attnviz.ui.request import Request


def translator_of(name: str) -> Translator:
    """A model whose computation can be broken on purpose: one of ours. Raises ValueError with one sentence."""
    loaded = traces.model(name)
    if not isinstance(loaded, Translator):
        raise ValueError("This takes the translators that come with attnviz apart; choose one of them as the model.")
    return loaded


def is_translator(request: Request) -> bool:
    """Whether the model is one of ours, whose computation can be broken on purpose."""
    return traces.inputs(request.entry).has_language


def decoded(request: Request, ids: tuple[int, ...], view: DecodingState) -> Decoded:
    """Training, steps and verdict of a translator. Raises ValueError with one sentence."""
    model, plan = translator_of(request.entry.name), _plan(request, ids, view)
    how = {"to": request.to, "breakage": plan.breakage}
    # Training stays in the type that it was done in; a coarser one is a choice of whoever decodes.
    made = decoding_record(steps(stepping(request, view), request.src, plan))
    trained = teacher_forced(model, request.src, ids, padding=view.padding, **how)
    losses = loss_table(
        trained, pad_id=model.codec.pad_id, smoothing=view.smoothing, name=lambda id_: token_text(model, id_)
    )
    chosen = tuple(token.id for token in made.chosen)
    candidates = next_tokens(
        made.logits,
        model.vocabulary,
        sampling=plan.choose if isinstance(plan.choose, Sampling) else None,
        with_ids=lambda step: (chosen[step], *ids[step + 1 : step + 2]),
    )
    found = compared(
        losses, made, candidates, lambda probe: teacher_forced(model, request.src, made.ids, probe=probe, **how)
    )
    if plan.breakage.mask == "causal" and not plan.breakage.dropout:
        return replace(found, intact_loss=losses.mean)
    intact = teacher_forced(model, request.src, ids, to=request.to)
    return replace(found, intact_loss=loss_table(intact, pad_id=model.codec.pad_id, smoothing=view.smoothing).mean)


def stepping(request: Request, view: DecodingState) -> Translator:
    """The model that steps, in the type that the view asks for: a copy where it was loaded in another."""
    loaded = translator_of(request.entry.name)
    return loaded if view.dtype == "float32" else _copy(request.entry.name, loaded.model_id, view.dtype)


@st.cache_resource(max_entries=2, show_spinner="Making a copy of the model …")
def _copy(name: str, weights: str, dtype: str) -> Translator:
    return translator_of(name).in_dtype(getattr(torch, dtype))


def _plan(request: Request, ids: tuple[int, ...], view: DecodingState) -> Plan:
    loaded = translator_of(request.entry.name)
    is_taught = view.way == "teacher"
    choose = likeliest
    if view.choose == "sampled":
        generator = torch.Generator(loaded.device).manual_seed(view.seed)
        top_p = view.top_p if view.top_p < 1 else None
        choose = Sampling(generator, view.temperature, view.top_k or None, top_p)
    elif view.choose == "beam" and not is_taught:  # a beam chooses for itself
        choose = Beam(view.beam)
    return Plan(
        request.to,
        teacher=ids if is_taught else None,
        cached=view.way != "recomputed",
        choose=choose,
        max_tokens=loaded.decoding_limit(request.src),
        breakage=Faults(
            mask=view.causal,  # type: ignore[arg-type]
            dropout=DROPOUT if view.dropout else 0.0,
            seed=view.seed,
            restart_positions=view.restart,
        ),
    )
