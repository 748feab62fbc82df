"""The runs behind the Decoding page, in bounded caches: whoever asks for the same thing again gets it at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.models.shelf import Shelf
from attnviz.ui import decoding_checkpoint, session
from attnviz.ui.decoding_link import DROPOUT, DecodingView
from attnviz.ui.session import Request

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.analysis.loss_table import LossTable
    from attnviz.analysis.next_tokens import NextToken
    from attnviz.analysis.tolerance import Pass
    from attnviz.analysis.verdict import Verdict
    from attnviz.models.model import Model
    from attnviz.models.stepped import Stepped
    from attnviz.models.stepwise import Plan
    from attnviz.models.translator import Translator
    from attnviz.tracing.trace import Trace
    from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class Decoded:
    """One request, run: the training pass as a table, the steps, the verdict on both, and each step's candidates.

    `passed` is what one pass over the steps' own tokens computed, kind by kind as in `made.attn`; `coarse` the verdict
    by the rounding of the steps' type, where the pass ran in a finer one; `turned` in how many steps another token is
    likeliest than in the pass; `intact_loss` the mean loss with nothing broken.
    """

    losses: "LossTable"
    made: "Stepped"
    verdict: "Verdict"
    candidates: "tuple[tuple[NextToken, ...], ...]"
    passed: "Mapping[Kind, Tensor]"
    coarse: "Verdict | None" = None
    turned: int = 0
    intact_loss: float = float("nan")

    def nbytes(self) -> int:
        """Bytes of memory that its maps, hidden states and logits take."""
        return self.made.nbytes() + sum(maps.nbytes for maps in self.passed.values())


def own(name: str) -> "Translator":
    """A model whose computation can be broken on purpose: one of ours. Raises ValueError with one sentence."""
    from attnviz.models.translator import Translator

    loaded = session.model(name)
    if not isinstance(loaded, Translator):
        raise ValueError("This takes the translators that come with attnviz apart; choose one of them as the model.")
    return loaded


def is_own(request: Request) -> bool:
    """Whether the model is one of ours, whose computation can be broken on purpose."""
    return "to" in session.inputs(request.entry)


def stepping(request: Request, view: DecodingView) -> "Model":
    """The model that steps, in the type that the view asks for: a copy where it was loaded in another."""
    return _translator(request, view) if is_own(request) else session.model(request.entry.name)


def decoded(request: Request, trace: "Trace", view: DecodingView) -> Decoded:
    """What the page shows, computed or remembered. Raises ValueError with one sentence."""
    ids = tuple(token.id for token in trace.tokens("tgt"))

    def read(*_) -> Decoded:
        with st.spinner("Decoding step by step …"):
            return _decoded(request, ids, view.computed())

    return _runs.get(repr((request, trace.model_id, ids, view.computed())), read=read)


# By size: a sentence's maps and logits take a few megabytes, those of a long prompt hundreds.
_RUNS = 0.5e9  # bytes
_runs: Shelf[str, Decoded] = Shelf(most=_RUNS, size=lambda run: run.nbytes())


@st.cache_resource(max_entries=2, show_spinner="Making a copy of the model …")
def _copy(name: str, weights: str, dtype: str) -> "Translator":
    import torch

    return own(name).in_dtype(getattr(torch, dtype))


def _decoded(request: Request, ids: tuple[int, ...], view: DecodingView) -> Decoded:
    if not is_own(request):
        return decoding_checkpoint.decoded(request, view)
    from attnviz.analysis.loss_table import loss_table
    from attnviz.analysis.next_tokens import next_tokens
    from attnviz.models.stepped import stepped
    from attnviz.models.stepwise import steps, teacher_forced
    from attnviz.transformer.decoding import Sampling

    model, plan = own(request.entry.name), _plan(request, ids, view)
    how = {"to": request.to, "breakage": plan.breakage}
    # Training stays in the type that it was done in; a coarser one is a choice of whoever decodes.
    made = stepped(steps(_translator(request, view), request.src, plan))
    trained = teacher_forced(model, request.src, ids, padding=view.padding, **how)
    losses = loss_table(trained, pad_id=model.codec.pad_id, smoothing=view.smoothing, name=lambda id_: name(model, id_))
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


def compared(losses: "LossTable", made: "Stepped", candidates: tuple, one_pass: "Pass") -> Decoded:
    """All of it, with the verdict on the steps and `one_pass` over their tokens."""
    from attnviz.analysis.tolerance import tolerance
    from attnviz.analysis.verdict import verdict

    whole = one_pass(None)
    found = verdict(made, whole, tolerance(whole, one_pass))
    coarse = None
    if made.dtype != whole.info.dtype:
        coarse = verdict(made, whole, tolerance(whole, one_pass, dtype=made.dtype))
    rows = len(made.logits)
    passed: dict[Kind, Tensor] = {kind: whole.attn(kind)[:, :, :rows] for kind in made.attn if kind != "encoder_self"}
    assert whole.logits is not None  # the verdict has compared them
    turned = int((whole.logits[0, :rows].argmax(dim=-1).cpu() != made.logits.argmax(dim=-1)).sum())
    return Decoded(losses, made, found, candidates, passed, coarse, turned)


def _translator(request: Request, view: DecodingView) -> "Translator":
    loaded = own(request.entry.name)
    return loaded if view.dtype == "float32" else _copy(request.entry.name, loaded.model_id, view.dtype)


def name(model: "Model", id_: int) -> str:
    """An id's piece of text, as people see it."""
    from attnviz.text.display import display_token

    return display_token(model.spelled((id_,))[1][0])


def _plan(request: Request, ids: tuple[int, ...], view: DecodingView) -> "Plan":
    import torch

    from attnviz.models.breakage import Breakage
    from attnviz.models.stepwise import Plan
    from attnviz.transformer.beam import Beam
    from attnviz.transformer.decoding import Sampling, likeliest

    loaded = own(request.entry.name)
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
        breakage=Breakage(
            mask=view.causal,  # type: ignore[arg-type]
            dropout=DROPOUT if view.dropout else 0.0,
            seed=view.seed,
            restart_positions=view.restart,
        ),
    )
