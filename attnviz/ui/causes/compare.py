"""Two runs side by side: two sentences, two languages, two models, or with and without what is done to the run."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attnviz.analysis.causes.comparing import findings
from attnviz.analysis.causes.comparing.chances import Chances, asked_of, chances
from attnviz.analysis.causes.comparing.compared import Compared, compared
from attnviz.pictures.fields import SiteBounds, choice, index, text
from attnviz.ui import captions, layout, mount
from attnviz.ui.address import persistent
from attnviz.ui.causes import sides
from attnviz.ui.causes.sides import Side
from attnviz.ui.causes.state import CausesState, current
from attnviz.ui.reported import NUMBER, TEXT, reported
from attnviz.ui.request import Request
from attnviz.widgets.compared.payload import ShownSides, compared_payload

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

COMPONENT = "compared"
FIXED = (
    "Rows and columns are paired where their words match (difflib). Those without a partner are hatched, and a row's "
    "weight on all such keys counts as one key that the other run does not have.",
    "Heads are compared by number. Between two models this is only their place: heads of separately trained models are "
    "unrelated.",
    "A divergence shows that a head looks elsewhere, not that this changes the text. To see that, switch the head off.",
    "This is one pair. What differs here may differ for another reason than you think.",
)


@dataclass(frozen=True)
class CompareState(CausesState):
    """What the second run is (`by`), with which sentence, language, model or mask; and the head in focus."""

    by: str = choice("sentence", tuple(sides.BY))
    other: str = text(limit=4_000)
    into: str = text(limit=40)
    against: str = text(limit=500)
    rule: str = choice("none", sides.RULES)
    kind: str = choice("")
    layer: int = index(of="layer")
    head: int = index(of="head")


def draw(request: Request, loaded: "Model", trace: "Trace") -> CompareState:
    """Draw the tab; what a link to it carries."""
    start = CompareState(kind="cross" if "cross" in trace.kinds else trace.kinds[0])
    view = current(CompareState, SiteBounds.of(trace).by_field(), start)
    view = replace(view, by=sides.choose(view, request, loaded))
    here, there = layout.run_or_refuse(lambda: sides.both(view, request, loaded, trace))
    by_words = here.model.model_id != there.model.model_id and view.by == "model"
    runs = layout.run_or_refuse(lambda: compared(here.trace, there.trace, by_words=by_words))
    view = _within(view, runs) if persistent.text("kind") else _most_apart(view, runs)
    shown = ShownSides(
        names=(here.name, there.name),
        texts=(here.text, there.text),
        chances=(_chances(here), _chances(there)),
        models=(here.model, there.model),
        said=(*_notes(here, there), *findings.of_pair(runs)),
        fixed=(there.fixed, *FIXED),
    )
    in_view = {"kind": view.kind, "layer": view.layer, "head": view.head}
    mount.compared(captions.on(compared_payload(runs, shown, view=in_view)), key=COMPONENT, on_change=_take)
    return view


def _within(view: CompareState, runs: Compared) -> CompareState:
    """A head that both runs have."""
    kind = view.kind if view.kind in runs.kinds else next(iter(runs.kinds))
    layers, heads = runs.kinds[kind].apart.shape  # type: ignore[index]  # one of them
    return replace(view, kind=kind, layer=min(view.layer, layers - 1), head=min(view.head, heads - 1))


def _most_apart(view: CompareState, runs: Compared) -> CompareState:
    """The head that noticed most: where nobody has chosen one, that is worth a look."""
    kind = max(runs.kinds, key=lambda kind: float(runs.kinds[kind].apart.nan_to_num().max()))
    apart = runs.kinds[kind].apart.nan_to_num()
    layer, head = divmod(int(apart.argmax()), apart.shape[1])
    return replace(view, kind=kind, layer=layer, head=head)


def _chances(side: Side) -> Chances | None:
    if side.trace.logits is None:
        return None
    try:
        return chances(side.trace, asked_of(side.model, side.trace))
    except ValueError:  # nothing to ask about
        return None


def _notes(here: Side, there: Side) -> tuple[str, ...]:
    """What the other run says of itself, where the first does not say it too."""
    return tuple(note for note in there.trace.info.notes if note not in here.trace.info.notes)


def _take() -> None:
    said = reported(COMPONENT, "view", {"kind": TEXT, "layer": NUMBER, "head": NUMBER})
    if said is not None:
        persistent.write({name: str(value) for name, value in said.items()})
