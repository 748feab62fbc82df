"""Words for interventions, as used on chips, in captions and in verdicts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnviz.kit.views.labels import KINDS
from attnviz.text.display import display

if TYPE_CHECKING:
    from attnviz.tracing.causes.intervention import Intervention, Place

_DONE = {
    ("context", "zero"): "off", ("context", "mean"): "at its mean", ("attn", "uniform"): "even",
    ("attn", "diagonal"): "on the diagonal",
}  # fmt: skip

_TOUCHED = (
    "This head is changed in the run: {done}. The scores and weights shown here are what the head computes before that "
    "change. Everything after it shows the changed run."
)


def describe_change(each: "Intervention") -> str:
    """Return an intervention in displayable words: “cross L1 H2 H5 off”."""
    if each.where not in KINDS:
        return display(str(each))
    at = "" if each.positions is None else f" at {_join_places(each.positions)}"
    place = _place(each)
    if each.columns:
        return f"{place}: {_join_places(each.columns)} swapped{at}"
    if each.how == "values" and not each.source:
        return f"{place}: weights set by hand{at}"
    done = _DONE.get((each.what, each.how))
    return f"{place} {done}{at}" if done else display(str(each))


def changed_head_note(interventions: "Sequence[Intervention]", site: tuple[str, int, int]) -> str:
    """Return a note that a head's scores and weights are shown as they were before the intervention on it; ""
    if there is no intervention on this head, even if its inputs differ.
    """
    done = describe_changes([each for each in interventions if _acts_on(each, *site)])
    return _TOUCHED.format(done=done) if done else ""


def describe_changes(interventions: "Sequence[Intervention]") -> str:
    """Return several interventions in words, separated by semicolons; "" for none."""
    return "; ".join(map(describe_change, interventions))


def _acts_on(each: "Intervention", kind: str, layer: int, head: int) -> bool:
    return each.where == kind and each.layer in (None, layer) and (each.heads is None or head in each.heads)


def _place(each: "Intervention") -> str:
    kind = KINDS[each.where].tab.lower()
    layer = "" if each.layer is None else f" L{each.layer}"
    if each.heads is None:
        return f"{kind}{layer}, every head" if layer else f"every {kind} head"
    return kind + layer + "".join(f" H{head}" for head in each.heads)


def _join_places(places: "Sequence[Place]") -> str:
    return " and ".join(str(place) if isinstance(place, int) else f"“{display(place)}”" for place in places)
