"""The two runs that are compared, and the controls that say which the second one is."""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st
import torch

from attnviz.analysis.masks.mask_spec import RULES as MASK_RULES
from attnviz.analysis.masks.mask_spec import MaskSpec
from attnviz.analysis.rerun import run_again, write_again
from attnviz.learning import shipped
from attnviz.models.catalogue import Entry, entries, unshipped_entry
from attnviz.pictures.causes.compared import BY, RULES, CompareState, Side
from attnviz.text.languages import named_code
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from attnviz.ui import model_picker, offered_models
from attnviz.ui.address.widgets import segments, select, text_field
from attnviz.ui.cache import traces
from attnviz.ui.cache.pictures import get_or_make
from attnviz.ui.learning import toys
from attnviz.ui.request import Request
from attnviz.views.labels import KINDS

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

_PAIRS = {  # of the examples: a word that a head may notice
    "I love you.": "I love him.",
    "Machine learning is fun.": "Machine learning is hard.",
    "A big red dog jumped over a small pond.": "A big black dog jumped over a small pond.",
    "The animal didn't cross the street because it was too tired.":
        "The animal didn't cross the street because it was too wide.",
    "The cat is sleeping on the table.": "The cat is sleeping under the table.",
    "Tom gave Mary the book yesterday.": "Mary gave Tom the book yesterday.",
    "She doesn't know where he lives.": "She doesn't know where she lives.",
    "I have never been to New York.": "I have often been to New York.",
    "This book is easier to read than that one.": "This car is easier to drive than that one.",
    "There are many old houses in this town.": "There are many old houses in that town.",
    "If I had money, I would buy a bigger house.": "If I had money, I would buy a smaller house.",
    "Nobody knows why she left so early.": "Everybody knows why she left so early.",
}  # fmt: skip


def choose(view: CompareState, request: Request, loaded: "Model") -> str:
    """Draw the controls; return the comparison that is open: the first where this model cannot do the one asked for."""
    ways = [by for by in BY if by != "language" or len(loaded.languages) > 1]
    by = view.by if view.by in ways else "sentence"
    with st.container(key="compare-bar", horizontal=True, vertical_alignment="bottom", gap="small"):
        segments("by", "Compare", {way: BY[way] for way in ways}, by, hide_label=True)
        if by == "sentence":
            text_field(
                "other", "The other sentence", view.other, limit=4_000, empty=_PAIRS.get(request.src, "Type one")
            )
        elif by == "language":
            select(
                "into",
                "The other language",
                _languages(request, loaded),
                _other_language(view, request, loaded),
                named_code,
            )
        elif by == "mask":
            select("rule", "Mask on every layer of the kind in focus", RULES, view.rule, _rule_name)
        elif by == "model":
            names = _models(view, request)
            select("against", "The other model", list(names), _other_model(view, names), names.__getitem__)
    return by


def both(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    """Run both sides. Raises ValueError with one sentence."""
    return {"sentence": _sentence, "language": _language, "do": _changed_sides, "mask": _masked_sides, "model": _model}[
        view.by
    ](view, request, loaded, trace)


def _side(name: str, loaded: "Model", request: Request, fixed: str = "") -> Side:
    trace = traces.full_trace(request)
    return Side(name, loaded, trace, trace.tgt_text if loaded.writes else "", fixed)


def _sentence(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    src = view.other.strip() or _PAIRS.get(request.src, request.src)
    fixed = "Held fixed: model, language and changes to the run. Each sentence has the target that the model writes."
    own = _side(request.src, loaded, replace(request, tgt=""))
    return own, _side(src, loaded, replace(request, src=src, tgt=""), fixed)


def _language(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    into = _other_language(view, request, loaded)
    here = request.to if request.to in loaded.languages else loaded.languages[0]
    fixed = "Held fixed: model, source and changes to the run. Each language has the target that the model writes."
    own = _side(named_code(here), loaded, replace(request, tgt=""))
    return own, _side(named_code(into), loaded, replace(request, to=into, tgt=""), fixed)


def _changed_sides(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    plain = traces.full_trace(replace(request, do=""))
    again = plain if not trace.interventions else loaded.rerun(replace(plain, interventions=trace.interventions))
    fixed = (
        "Held fixed: model, source and target (the unchanged run's), so that rows can be compared. Both runs write "
        "their texts anew."
    )
    texts = (plain.tgt_text, trace.tgt_text) if loaded.writes else ("", "")
    return Side("unchanged", loaded, plain, texts[0]), Side("with the changes", loaded, again, texts[1], fixed)


def _masked_sides(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    kind = view.kind if view.kind in trace.kinds else trace.kinds[0]
    spec = MaskSpec({} if view.rule == "none" else {view.rule: MASK_RULES[view.rule].defaults})

    def mask(q_len: int, k_len: int) -> torch.Tensor:
        return spec.build(q_len, k_len)

    probe = MaskOverride([Site(kind, layer) for layer in range(trace.shape(kind)[0])], mask)
    ahead = kind == "decoder_self" and bool(spec.build(2, 2)[0, 0, 1])

    def again() -> "tuple[Trace, str]":
        written = write_again(loaded, trace, probe, cached=not ahead)[0].text if loaded.writes else ""
        return run_again(loaded, trace, probe), written

    try:
        after, written = get_or_make("masked run", (trace, kind, view.rule), again)
    except RuntimeError as why:
        raise ValueError(f"torch refuses that mask: {str(why).strip().splitlines()[0]}") from None
    texts = (trace.tgt_text if loaded.writes else "", written)
    fixed = (
        f"Held fixed: model, source and target. {'No' if view.rule == 'none' else 'The'} mask replaces the model's own "
        f"in every layer of {KINDS[kind].name.lower()}; the text is written anew."
    )
    return Side("unchanged", loaded, trace, texts[0]), Side(_rule_name(view.rule), loaded, after, texts[1], fixed)


def _model(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    names = _models(view, request)
    name = _other_model(view, names)
    theirs = traces.model(name)
    entry = _entry_named(name)
    to = request.to if request.to in theirs.languages else (theirs.languages[0] if theirs.languages else "")
    asked = Request(entry, request.src, to, new=request.new)
    fixed = (
        "Held fixed: the source text. Vocabularies may differ, so pieces are merged and words compared. Changes to the "
        "run apply to the first model only."
    )
    return _side(request.entry.title, loaded, request), _side(names[name], theirs, asked, fixed)


def _languages(request: Request, loaded: "Model") -> list[str]:
    here = request.to if request.to in loaded.languages else loaded.languages[0]
    return [to for to in loaded.languages if to != here]


def _other_language(view: CompareState, request: Request, loaded: "Model") -> str:
    languages = _languages(request, loaded)
    return view.into if view.into in languages else languages[0]


def _models(view: CompareState, request: Request) -> dict[str, str]:
    """List models to compare with, title by name: shipped ones, opened ones, toys, and the one that a link names."""
    own = request.entry
    made = [toys.entry(toys.name_of(experiment)) for experiment in shipped.WITH_WEIGHTS]
    task = own.title.split(",")[0]  # of a toy: those of the same task read the same lines
    alike = [entry for entry in made if toys.is_toy(own.name) and entry.title.split(",")[0] == task]
    linked = [view.against] if view.against and view.against not in (one.name for one in made) else []
    others = map(_entry_named, (*linked, *model_picker.opened_models()))
    first = [*alike, *(entry for entry in others if offered_models.is_offered(entry.name)), *entries()]
    found = {entry.name: entry.title for entry in first if entry.name != own.name}
    found |= {own.name: f"{own.title} (the same)"}
    found |= {entry.name: entry.title for entry in made if entry.name not in found}
    return model_picker.distinct_titles(found)


def _entry_named(name: str) -> Entry:
    shipped_entry = next((one for one in entries() if one.name == name), None)
    return shipped_entry or (toys.entry(name) if toys.is_toy(name) else unshipped_entry(name))


def _other_model(view: CompareState, names: dict[str, str]) -> str:
    return view.against if view.against in names else next(iter(names))


def _rule_name(rule: str) -> str:
    return "no mask: every key" if rule == "none" else f"{rule}: {MASK_RULES[rule].sees}"
