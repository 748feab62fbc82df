"""Picture of two runs side by side: the divergence of every head's maps, and both maps of one head."""

from dataclasses import dataclass, replace

from attnviz.analysis.mask_spec import RULES as MASK_RULES
from attnviz.causes.compared.compared import ALL, ShownSides, compared_payload
from attnviz.causes.numbers import findings
from attnviz.causes.numbers import run_comparison as analysis
from attnviz.causes.numbers.chances import Chances, chances, compared_tokens
from attnviz.causes.numbers.run_comparison import RunComparison
from attnviz.kit.fields import PageState, choice, index, text
from attnviz.kit.wire import Payload
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

BY = {
    "sentence": "Two sentences",
    "language": "Two languages",
    "do": "Without and with the changes",
    "mask": "Without and with a mask",
    "model": "Two models",
}
RULES = ("none", *(name for name in MASK_RULES if name != "padding"))
FIXED = (
    "Rows and columns are paired where their words match (difflib). Those without a partner are hatched, and a row's "
    "weight on all such keys counts as one key that the other run does not have.",
    "Heads are compared by number. Between two models an equal number means nothing: heads of separately trained "
    "models are unrelated.",
    "A divergence shows that a head looks elsewhere, not that this changes the text. To see that, switch the head off.",
    "This is one pair. A difference here may have another reason than you think.",
)


@dataclass(frozen=True)
class CompareState(PageState):
    """State of the tab Compare.

    `by` says how the second run differs, and `other`, `into`, `against` and `rule` hold its sentence, language, model
    or mask. `kind`, `layer` and `head` name the head in focus; an empty `kind` means the head whose maps differ most.
    """

    by: str = choice("sentence", tuple(BY))
    other: str = text(limit=4_000)
    into: str = text(limit=40)
    against: str = text(limit=500)
    rule: str = choice("none", RULES)
    kind: str = choice("")
    layer: int = index(of="layer")
    head: int = index(of="head")


_START = CompareState()


@dataclass(frozen=True, eq=False)
class Side:
    """One of two compared runs: its name, model and trace, and the text that the model writes.

    `fixed` says what is the same in both runs and what is not.
    """

    name: str
    model: Model
    trace: Trace
    text: str = ""
    fixed: str = ""


def compared(
    here: Side, there: Side, state: CompareState = _START, *, runs: RunComparison | None = None, most: int = ALL
) -> Payload:
    """Return the picture of two runs side by side.

    `runs` is `compare_sides(here, there)`, computed here if omitted. If all maps take at most `most` bytes, all are
    sent at once; otherwise only those of the head in focus.
    """
    runs = runs or compare_sides(here, there)
    state = focus(runs, state)
    shown = ShownSides(
        names=(here.name, there.name),
        texts=(here.text, there.text),
        chances=(_chances(here), _chances(there)),
        models=(here.model, there.model),
        said=(*_notes(here, there), *findings.pair_findings(runs)),
        fixed=(there.fixed, *FIXED) if there.fixed else FIXED,
    )
    return compared_payload(runs, shown, view={"kind": state.kind, "layer": state.layer, "head": state.head}, most=most)


def compare_sides(here: Side, there: Side) -> RunComparison:
    """Align the rows and columns of two runs. Between two models, token pieces are merged into words first."""
    return analysis.compare_runs(here.trace, there.trace, by_words=here.model.model_id != there.model.model_id)


def focus(runs: RunComparison, state: CompareState) -> CompareState:
    """Put a head in focus that both runs have: the requested head, or by default the head whose maps differ most."""
    if not state.kind:
        kind = max(runs.kinds, key=lambda kind: float(runs.kinds[kind].apart.nan_to_num().max()))
        apart = runs.kinds[kind].apart.nan_to_num()
        layer, head = divmod(int(apart.argmax()), apart.shape[1])
        return replace(state, kind=kind, layer=layer, head=head)
    kind: Kind = state.kind if state.kind in runs.kinds else next(iter(runs.kinds))  # type: ignore[assignment]
    layers, heads = runs.kinds[kind].apart.shape
    return replace(state, kind=kind, layer=min(state.layer, layers - 1), head=min(state.head, heads - 1))


def _chances(side: Side) -> Chances | None:
    if side.trace.logits is None:
        return None
    try:
        return chances(side.trace, compared_tokens(side.model, side.trace))
    except ValueError:  # no token to compare
        return None


def _notes(here: Side, there: Side) -> tuple[str, ...]:
    """Return the notes of the second run that the first run does not have."""
    return tuple(note for note in there.trace.info.notes if note not in here.trace.info.notes)
