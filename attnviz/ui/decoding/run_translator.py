"""Decoding with a translator of ours: how it steps, and what may be broken in it on purpose."""

from dataclasses import replace

import streamlit as st
import torch

from attnviz.analysis.decoding.comparison import Decoding
from attnviz.models.translator.faults import Faults
from attnviz.models.translator.stepwise import Plan, steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Sampling, likeliest
from attnviz.ui.decoding.state import DROPOUT, DecodingState
from attnviz.ui.request import Request


def decoding(model: Translator, request: Request, trace: Trace, view: DecodingState) -> Decoding:
    """Its steps and passes. Training stays in the type that it was done in; a coarser one is for the steps alone."""
    ids = tuple(token.id for token in trace.sentences[0].tgt)
    changes = CheckedInterventions.check(trace.interventions, model.shapes, model.model_id)
    plan = replace(_plan(model, request, ids, view), changes=changes)
    how = {"to": request.to, "faults": plan.faults, "changes": changes}
    is_broken = plan.faults.mask != "causal" or plan.faults.dropout
    return Decoding(
        model,
        steps(in_dtype(model, view.dtype), request.src, plan),
        teacher_forced(model, request.src, ids, padding=view.padding, **how),
        one_pass=lambda made: lambda probe: teacher_forced(model, request.src, made.ids, probe=probe, **how),
        sampling=plan.choose if isinstance(plan.choose, Sampling) else None,
        intact=teacher_forced(model, request.src, ids, to=request.to, changes=changes) if is_broken else None,
        pad_id=model.codec.pad_id,
        smoothing=view.smoothing,
    )


def in_dtype(model: Translator, dtype: str) -> Translator:
    """The model in another type: a copy, cached for all visitors."""
    return model if dtype == "float32" else _copy(model.model_id, dtype, model)


@st.cache_resource(max_entries=2, show_spinner="Making a copy of the model …")
def _copy(weights: str, dtype: str, _model: Translator) -> Translator:
    return _model.in_dtype(getattr(torch, dtype))


def _plan(model: Translator, request: Request, ids: tuple[int, ...], view: DecodingState) -> Plan:
    is_taught = view.way == "teacher"
    choose = likeliest
    if view.choose == "sampled":
        generator = torch.Generator(model.device).manual_seed(view.seed)
        top_p = view.top_p if view.top_p < 1 else None
        choose = Sampling(generator, view.temperature, view.top_k or None, top_p)
    elif view.choose == "beam" and not is_taught:  # a beam chooses for itself
        choose = Beam(view.beam)
    return Plan(
        request.to,
        teacher=ids if is_taught else None,
        cached=view.way != "recomputed",
        choose=choose,
        max_tokens=model.decoding_limit(request.src),
        faults=Faults(
            mask=view.causal,  # type: ignore[arg-type]
            dropout=DROPOUT if view.dropout else 0.0,
            seed=view.seed,
            restart_positions=view.restart,
        ),
    )
