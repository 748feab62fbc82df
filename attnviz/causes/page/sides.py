"""The tab Compare: the two runs that are compared, and the controls that say which the second one is."""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import captions, layout, model_picker, mount, offered_models
from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments, select, text_field
from attnviz.app.cache import toys, traces
from attnviz.app.cache.pictures import get_or_make
from attnviz.app.frame.image_field import image_names, image_title
from attnviz.app.progress import work_without_bar
from attnviz.app.reports import reported_view
from attnviz.app.request import Request
from attnviz.causes.compared.compared import BY, RULES, CompareState, Side, compare_sides, compared, focus
from attnviz.causes.compared.sides import (
    FIXED_FOR_IMAGES,
    FIXED_FOR_LANGUAGES,
    FIXED_FOR_MODELS,
    FIXED_FOR_SENTENCES,
    PAIRS,
    changed_sides,
    masked_sides,
    other_language,
    other_sentence,
    rule_name,
    side,
)
from attnviz.hosts.registry import PICTURES
from attnviz.kit.fields import write_view
from attnviz.kit.focus import SiteBounds
from attnviz.models.catalogue import Entry, entries, unshipped_entry
from attnviz.models.chat import takes_chat
from attnviz.text.languages import named_code
from attnviz.toys import shipped

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

COMPONENT = "compared"


def choose(view: CompareState, request: Request, loaded: "Model") -> str:
    """Draw the controls for the second run of the comparison; return how it differs: by sentence, language, model or
    mask.

    The result is "sentence" if this model does not support the requested way.
    """
    ways = _ways(request, loaded)
    by = view.by if view.by in ways else "sentence"
    with st.container(key="compare-bar", horizontal=True, vertical_alignment="bottom", gap="small"):
        segments("by", "Compare", ways, by, hide_label=True)
        if request.image:
            _draw_image_controls(by, view, request)
        elif by == "sentence":
            text_field(
                "other", "The other sentence", view.other, limit=4_000, empty=PAIRS.get(request.text, "Type one")
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
            _draw_mask_control(view)
        elif by == "model":
            names = _models(view, request)
            select("against", "The other model", list(names), _other_model(view, names), names.__getitem__)
    return by


def _ways(request: Request, loaded: "Model") -> dict[str, str]:
    """Return the kinds of comparison that are possible for the model's input, with their titles."""
    if request.image:
        return {"sentence": "Two images", "do": BY["do"], "mask": BY["mask"]}
    return {by: title for by, title in BY.items() if by != "language" or len(loaded.languages) > 1}


def _draw_image_controls(by: str, view: CompareState, request: Request) -> None:
    """Draw the control beside the kind of comparison, for a model that reads images."""
    if by == "sentence":
        select("other", "The other image", image_names(request.entry.name), _other_image(view, request), image_title)
    elif by == "mask":
        _draw_mask_control(view)


def _draw_mask_control(view: CompareState) -> None:
    select("rule", "Mask on every layer of the kind in focus", RULES, view.rule, rule_name)


def _other_image(view: CompareState, request: Request) -> str:
    """Return the name of the second image: the requested one, else the first other one."""
    names = image_names(request.entry.name)
    return view.other if view.other in names else next(name for name in names if name != request.image)


def run_both(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    """Run both sides of the comparison. Raise ValueError, with a one-sentence message, if either run is refused."""
    return {"sentence": _sentence, "language": _language, "do": _changed_sides, "mask": _masked_sides, "model": _model}[
        view.by
    ](view, request, loaded, trace)


def _side(name: str, loaded: "Model", request: Request, fixed: str = "") -> Side:
    return side(name, loaded, traces.full_trace(request), fixed)


def _sentence(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    if request.image:
        other = _other_image(view, request)
        there = replace(request, image=other)
        own = _side(image_title(request.image), loaded, request)
        return own, _side(image_title(other), loaded, there, FIXED_FOR_IMAGES)
    other = other_sentence(request.text, view.other)
    own = _side(request.text, loaded, replace(request, tgt=""))
    return own, _side(other, loaded, replace(request.with_text(other), tgt=""), FIXED_FOR_SENTENCES)


def _language(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    into, here = _other_language(view, request, loaded), _language_here(request, loaded)
    own = _side(named_code(here), loaded, replace(request, tgt=""))
    return own, _side(named_code(into), loaded, replace(request, to=into, tgt=""), FIXED_FOR_LANGUAGES)


def _changed_sides(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    return changed_sides(loaded, traces.full_trace(replace(request, do="")), trace)


def _masked_sides(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    return masked_sides(loaded, trace, view.kind, view.rule, cached=get_or_make, work=work_without_bar())


def _model(view: CompareState, request: Request, loaded: "Model", trace: "Trace") -> tuple[Side, Side]:
    names = _models(view, request)
    name = _other_model(view, names)
    theirs = traces.model(name)
    entry = _entry_named(name)
    to = request.to if request.to in theirs.languages else (theirs.languages[0] if theirs.languages else "")
    asked = Request(entry, request.src, to, new=request.new, messages=request.messages)
    if not takes_chat(theirs):
        asked = replace(asked, src=request.text, messages=())
    return _side(request.entry.title, loaded, request), _side(names[name], theirs, asked, FIXED_FOR_MODELS)


def _language_here(request: Request, loaded: "Model") -> str:
    return request.to if request.to in loaded.languages else loaded.languages[0]


def _languages(request: Request, loaded: "Model") -> list[str]:
    return [to for to in loaded.languages if to != _language_here(request, loaded)]


def _other_language(view: CompareState, request: Request, loaded: "Model") -> str:
    return other_language(loaded, _language_here(request, loaded), view.into)


def _models(view: CompareState, request: Request) -> dict[str, str]:
    """Return the models to compare with, as titles by name: shipped, opened and toy models, and a linked model."""
    own = request.entry
    made = [toys.entry(toys.name_of(experiment)) for experiment in shipped.WITH_WEIGHTS]
    task = own.title.split(",")[0]  # a toy's task; toys with the same task read the same lines
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


def draw(request: Request, loaded: "Model", trace: "Trace") -> CompareState:
    """Draw the tab Compare; return its state, which a copied link stores."""
    start = CompareState(kind="cross" if "cross" in trace.kinds else trace.kinds[0])
    view = layout.state_in_address(CompareState, SiteBounds.from_trace(trace).by_field(), start)
    view = replace(view, by=choose(view, request, loaded))
    here, there = layout.run_or_refuse(lambda: run_both(view, request, loaded, trace))
    runs = layout.run_or_refuse(lambda: compare_sides(here, there))
    view = focus(runs, view if persistent.text("kind") else replace(view, kind=""))
    payload = compared(here, there, view, runs=runs)
    mount.picture(PICTURES[COMPONENT], captions.add_caption(payload), on_change=_adopt)
    return view


def _adopt() -> None:
    persistent.write(write_view(CompareState, reported_view(COMPONENT, CompareState) or {}))
