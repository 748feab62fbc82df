"""Picture of two runs side by side: the divergence of every head's maps, and both maps of one head."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from attnviz.analysis.mask_spec import RULES as MASK_RULES
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.numbers import findings
from attnviz.causes.numbers import run_comparison as analysis
from attnviz.causes.numbers.chances import Chances, chances, listed_tokens
from attnviz.causes.numbers.run_comparison import ComparedKind, RunComparison, pair_in_order
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.fields import PageState, choice, index, text
from attnviz.kit.focus import SiteBounds
from attnviz.kit.payload import col_entries, common_header, payload_of, row_entries, spans_along
from attnviz.kit.subject import EVERYTHING, Subject, constant_caption
from attnviz.kit.views.labels import KINDS, shorten
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.protocol import Model
from attnviz.text.difference import display_runs, word_differences
from attnviz.text.display import display, display_token
from attnviz.text.tokens import Span
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
    "Rows and columns of the two maps are paired if their words match (found with Python's difflib). "
    "Rows and columns without a partner are hatched. For the divergence, all keys of a row without a "
    "partner are treated as one key, which has no weight in the other run.",
    "Each head is compared with the head of the same number. If the runs belong to two models, equal "
    "numbers have no meaning, because the heads of separately trained models are unrelated.",
    "A divergence shows that a head looks at other tokens. It does not show that this changes the "
    "text. To find that out, switch the head off.",
    "This compares only one pair. A difference may have another cause than the one that you expect.",
)
ALL = 1_500_000  # maximum bytes of maps that a page sends at once
MOST_NAME = 120  # maximum characters of a run's name
MOST_TEXT = 4_000  # maximum characters of a text


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
        chances=_chances(here, there),
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


def _chances(*sides: Side) -> tuple[Chances | None, ...]:
    """Return the probabilities in both runs: of the labels of two images, or of each run's own tokens."""
    if all(side.trace.sentences[0].images and side.trace.logits is not None for side in sides):
        asked = listed_tokens(sides[0].model, [side.trace for side in sides])
        return tuple(chances(side.trace, asked) for side in sides)
    return tuple(map(_own_chances, sides))


def _own_chances(side: Side) -> Chances | None:
    if side.trace.logits is None:
        return None
    try:
        return chances(side.trace, listed_tokens(side.model, (side.trace,)))
    except ValueError:  # no token to compare
        return None


def _notes(here: Side, there: Side) -> tuple[str, ...]:
    """Return the notes of the second run that the first run does not have."""
    return tuple(note for note in there.trace.info.notes if note not in here.trace.info.notes)


@dataclass(frozen=True, eq=False)
class ShownSides:
    """What the Compare tab draws besides the maps: names, texts, token probabilities and models of both runs, and
    remarks.
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    chances: tuple[Chances | None, ...]
    models: tuple[Model, Model]
    said: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


def compared_payload(runs: RunComparison, shown: ShownSides, *, view: dict[str, Any], most: int = ALL) -> Payload:
    """Pack the data that the Compare widget draws.

    If all maps take at most `most` bytes, send all of them; otherwise send only those of the head in focus. `view` has
    that head's kind, layer and head number, which must exist in both runs.
    """
    blobs = Blobs()
    kinds = tuple(runs.kinds)
    header = common_header(view["kind"], kinds, blobs) | {
        "groups": [_group(kind, found) for kind, found in runs.kinds.items()],
        "maps": _maps(runs, view, blobs, most),
        "names": [shorten(display(name), MOST_NAME) for name in shown.names],
        "texts": list(map(display_runs, word_differences(*map(_cut, shown.texts)))),
        "strip": _strip(shown),
        "said": list(shown.said),
        "fixed": list(shown.fixed),
    }
    return payload_of(header, view, blobs)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT].rstrip()} …"


def _group(kind: Kind, found: ComparedKind) -> dict[str, Any]:
    words = KINDS[kind]
    return {
        "kind": kind,
        "title": words.name.removesuffix("-attention"),
        "question": words.question,
        "layers": found.apart.shape[0],
        "heads": found.apart.shape[1],
        "apart": [float(f"{bits:.6g}") if math.isfinite(bits) else None for bits in found.apart.flatten().tolist()],
        "in_step": found.in_step,
        "rows": [list(place) for place in found.rows],
        "cols": [list(place) for place in found.cols],
        "row_texts": [[[row.input, row.output] for row in rows] for rows in found.row_labels],
        "col_texts": [[col.text for col in cols] for cols in found.col_labels],
        "row_entries": [row_entries(rows) for rows in found.row_labels],
        "col_entries": [col_entries(cols) for cols in found.col_labels],
        **spans_along(_spans(found.rows, found.row_labels), _spans(found.cols, found.col_labels)),
    }


def _spans(places: Sequence[Any], labels: Sequence[Sequence[Any]]) -> list[Span | None]:
    """Return the speaker's span at each position, from the first run or, if it has no token there, from the second."""
    there = ([labels[side][at].span for side, at in enumerate(place) if at is not None] for place in places)
    return [next(iter(spans), None) for spans in there]


def _maps(runs: RunComparison, view: dict[str, Any], blobs: Blobs, most: int) -> list[dict[str, Any]]:
    """Pack both runs' weights for every head if they fit into `most` bytes, otherwise only for the head in focus."""
    places: list[HeadPlace] = [
        (kind, layer, head)
        for kind, found in runs.kinds.items()
        for layer in range(found.apart.shape[0])
        for head in range(found.apart.shape[1])
    ]
    size = sum(_bytes(runs.kinds[kind]) for kind, *_ in places)
    chosen = places if size <= most else [(view["kind"], view["layer"], view["head"])]
    return [
        {
            "kind": kind,
            "layer": layer,
            "head": head,
            "offsets": [_blob(map_, blobs) for map_ in runs.maps(kind, layer, head)],
        }
        for kind, layer, head in chosen
    ]


def _bytes(found: ComparedKind) -> int:
    return sum(4 * len(rows) * len(cols) for rows, cols in zip(found.row_labels, found.col_labels, strict=True))


def _blob(map_: Any, blobs: Blobs) -> int:
    return blobs.add(np.ascontiguousarray(map_.numpy(), dtype="<f4"))


def _strip(shown: ShownSides) -> list[dict[str, Any]]:
    """Pack the aligned tokens of both runs, each with its probability; a side without the token gets None."""
    here, there = shown.chances
    sides = [[] if one is None else _tokens(one, model) for one, model in zip((here, there), shown.models, strict=True)]
    places, _ = pair_in_order(*([token["text"] for token in tokens] for tokens in sides))
    return [
        {"sides": [None if at is None else tokens[at] for at, tokens in zip(place, sides, strict=True)]}
        for place in places
    ]


def _tokens(one: Chances, model: Model) -> Sequence[dict[str, Any]]:
    logs, margins, rivals = (found.tolist() for found in (one.log_probabilities, one.margins, one.rivals))
    return [
        {
            "text": display_token(token),
            "special": token.is_special,
            "chance": _number(math.exp(log)),
            "log": _number(log),
            "margin": _number(margin),
            "rival": display_token(model.decode_ids([rival])[1][0]),
        }
        for token, log, margin, rival in zip(one.asked.tokens, logs, margins, rivals, strict=True)
    ]


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


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
    return Subject(CompareState(), draw, constant_caption(trace, here.model), bounds, silent,
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
