"""The controls of the page Masks. Choices are stored as address parameters, which the widgets show and change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz.analysis.fills import DTYPES, FILLS
from attnviz.analysis.mask_spec import RULES, fit_numbers, rules_to_text
from attnviz.app import layout
from attnviz.app.address import persistent, widgets
from attnviz.app.reports import NUMBER, SWITCH, reported_value, reported_view
from attnviz.kit.fields import PageState, choice, write_view
from attnviz.kit.focus import SiteBounds
from attnviz.kit.glossary import definitions
from attnviz.kit.views.labels import KINDS
from attnviz.masks.mask_lab import FILL_NAMES
from attnviz.masks.masks import LEAST_FILL, MAX_SECOND, MOST_FILL, SCOPES, MasksState, view_of
from attnviz.tracing.trace import Trace

HIDE = "hide"
TABS = {
    "pipeline": "Pipeline",
    "says": "What it would say",
    "fills": "All fills",
    "leak": "Leak test",
    "rows": "Row by row",
    "broadcast": "Broadcast",
    HIDE: "Hide patches",
}
# An image is read at once and not from left to right, so the tabs on later tokens, and most rules, are for texts alone.
IMAGE_TABS = {HIDE: TABS[HIDE], "pipeline": TABS["pipeline"], "says": "Changed maps", "fills": TABS["fills"],
              "broadcast": TABS["broadcast"]}  # fmt: skip
TEXT_TABS = {tab: title for tab, title in TABS.items() if tab != HIDE}
IMAGE_RULES = ("random",)
COMPONENT = "mask-lab"
SECOND = "I love you."


@dataclass(frozen=True)
class MasksTab(PageState):
    """The state of the page Masks that says which tab is open."""

    tab: str = choice("pipeline", TABS)


def current_tab(trace: Trace) -> MasksTab:
    """Return the open tab. An image opens with the brush, and a tab of texts is replaced, which a note says."""
    is_image = bool(trace.sentences[0].images)
    offered, page = IMAGE_TABS if is_image else TEXT_TABS, layout.state_in_address(MasksTab)
    if not persistent.text("tab"):
        page = MasksTab(next(iter(offered)))
    if page.tab not in offered:
        reads, other = "an image" if is_image else "a text", next(iter(offered))
        if "tab" in persistent.texts().linked:
            layout.note(f"The tab {TABS[page.tab]} is not for {reads}. The tab {offered[other]} is shown instead.")
        page = MasksTab(other)
    if is_image:
        persistent.write({"tab": page.tab})
    return page


def current_mask(trace: Trace) -> MasksState:
    """Return the state that the address asks for. Invalid values are reported above the picture."""
    view, problems = view_of(persistent.texts(), SiteBounds.from_trace(trace))
    layout.note(*persistent.linked_problems(problems))
    return _of_image(view) if trace.sentences[0].images else view


def _of_image(view: MasksState) -> MasksState:
    """Leave out what makes no sense for an image: rules along a text, and a second sentence. If a link asks for
    them, say so.
    """
    rules = tuple(rule for rule in view.rules if rule[0] in IMAGE_RULES)
    left_out, linked = [name for name, _ in view.rules if name not in IMAGE_RULES], persistent.texts().linked
    if left_out and "masks" in linked:
        layout.note(f"Rules for texts are left out, because patches have no order: {', '.join(left_out)}.")
    if view.second.strip() and "second" in linked:
        layout.note("The second sentence is left out, because this model reads one image.")
    return replace(view, rules=rules, second="", item=0)


def adopt() -> None:
    """Write an edit that was made in the picture into the address."""
    edit = reported_view(COMPONENT, MasksState, "edit")
    if edit is None:
        return
    bakes = (reported_value(COMPONENT, "edit", {"bake": SWITCH}) or {"bake": False})["bake"]
    persistent.write(write_view(MasksState, edit) | ({"masks": "none"} if bakes else {}))


def last_edit() -> int:
    """Return the number of the newest edit of the mask that the browser has sent."""
    return (reported_value(COMPONENT, "edit", {"seq": NUMBER}) or {"seq": 0})["seq"]


def site(trace, view: MasksState) -> None:
    """Draw the choice of the attention kind, the layer and the head to which the mask is applied."""
    named = {kind: KINDS[kind].name if kind in KINDS else kind for kind in trace.kinds}
    _pick("kind", "Site", trace.kinds, view.kind, named.__getitem__)
    left, right = st.columns(2, gap="small")
    with left:
        _pick("layer", "Layer", range(trace.shape(view.kind)[0]), view.layer, partial(trace.layer_name, view.kind))
    with right:
        _pick("head", "Head", range(trace.shape(view.kind)[1]), view.head, lambda head: f"H{head}")


def masks(view: MasksState, *, is_image: bool) -> None:
    """Draw the choice of rules, which are combined with &, and the fields of their parameters."""
    chosen, offered = dict(view.rules), IMAGE_RULES if is_image else tuple(RULES)

    def draw(**more) -> list[str]:
        return st.pills(
            "Masks, combined with &",
            offered,
            selection_mode="multi",
            help=definitions("Masks")["Masks, combined with &"],
            **more,
        )

    widgets.show("pick-masks", list(chosen), {"default": list(chosen)}, draw, lambda: _take_rules(chosen, view.second))
    for name, numbers in chosen.items():
        if numbers:
            _numbers(name, chosen)


def batch(view: MasksState) -> None:
    """Draw the field of the second sentence in the batch, and the choice of the sentence that is shown."""
    widgets.text_field(
        "second",
        "Second sentence of the batch",
        view.second,
        limit=MAX_SECOND,
        empty="empty: a batch of one",
        help_text=definitions("Masks")["Second sentence of the batch"],
    )
    if view.second.strip():
        _segments("item", "Shown", {"0": "first", "1": "second"}, str(view.item))


def fill(view: MasksState) -> None:
    """Draw the choices of the fill value in masked cells, of the dtype, and of the heads that are masked."""
    _pick("fill", "Fill", FILLS, view.fill, FILL_NAMES.__getitem__)
    if view.fill == "number":

        def draw(**more) -> float | None:
            return st.slider("Number", LEAST_FILL, MOST_FILL, step=0.5, help=definitions("Masks")["Number"], **more)

        widgets.show("pick-number", view.number, {"value": view.number}, draw, lambda: widgets.write("number"))
    _segments("dtype", "Computed in", {dtype: dtype for dtype in DTYPES}, view.dtype)
    reach = (f"L{view.layer} H{view.head}", f"all of L{view.layer}", "all layers")
    _segments("scope", "Applies to", dict(zip(SCOPES, reach, strict=True)), view.scope)


def tabs(tab: str, *, is_image: bool) -> None:
    """Draw the row of tabs of the page Masks."""
    offered = IMAGE_TABS if is_image else TEXT_TABS
    widgets.segments("tab", "Part of the laboratory", offered, tab, hide_label=True)


def _numbers(name: str, chosen: dict[str, tuple[int | float, ...]]) -> None:
    rule = RULES[name]
    for column, number, value in zip(st.columns(len(rule.numbers)), rule.numbers, chosen[name], strict=True):
        kind = float if number.is_share else int

        def draw(number=number, kind=kind, column=column, **more) -> float | None:
            low, high, step = kind(number.least), kind(number.most), 0.05 if number.is_share else 1
            label = f"{name}: {number.label}"
            return column.number_input(label, low, high, step=step, help=definitions("Masks")[label], **more)

        key = f"pick-{name}-{number.label}"
        widgets.show(key, kind(value), {"value": kind(value)}, draw, lambda: _take_number(name, chosen))


def _pick(name: str, label: str, options: Sequence[Any], value: Any, shown: Callable[[Any], str]) -> None:
    widgets.select(name, label, options, value, shown, means=definitions("Masks")[label])


def _segments(name: str, label: str, options: Mapping[str, str], value: str) -> None:
    widgets.segments(name, label, options, value, means=definitions("Masks")[label])


def _take_rules(before: dict[str, tuple[int | float, ...]], second: str) -> None:
    names = [name for name in st.session_state.get("pick-masks") or [] if name in RULES]
    texts = {"masks": rules_to_text(tuple((name, before.get(name, RULES[name].defaults)) for name in names))}
    if "padding" in names and "padding" not in before and not second.strip():
        texts["second"] = SECOND  # padding needs a shorter sentence
    persistent.write(texts)


def _take_number(name: str, chosen: dict[str, tuple[int | float, ...]]) -> None:
    rule = RULES[name]
    numbers = tuple(
        st.session_state.get(f"pick-{name}-{number.label}", value)
        for number, value in zip(rule.numbers, chosen[name], strict=True)
    )
    persistent.write({"masks": rules_to_text(tuple((chosen | {name: fit_numbers(rule, numbers)}).items()))})
