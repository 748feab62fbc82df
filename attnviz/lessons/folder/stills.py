"""Still pictures, as HTML, for pages and tabs that no widget draws: tables and maps of the typed sentence."""

import html
from collections.abc import Callable, Mapping

from attnviz.analysis.inputs import site_inputs
from attnviz.analysis.outcome import Raised, SiteResult, describe_outcome, outcome
from attnviz.anatomy.numbers.claims import modulation, parameter_counts
from attnviz.anatomy.numbers.shape_walk import LAYOUTS, shape_walk
from attnviz.anatomy.numbers.skipped_lines import SKIPS, run_skipped, skips_of
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.implementations.ways import WAYS
from attnviz.kit.views.code_tables import code_change, number_rows, small_table, source_diff
from attnviz.kit.views.labels import KINDS
from attnviz.kit.views.panel_tables import panel_tables
from attnviz.kit.views.panels import Panel
from attnviz.lessons.picture import LinkedPicture
from attnviz.models.translator.translator import Translator
from attnviz.text.entries import token_texts


def still(shown: LinkedPicture) -> str:
    """Draw a still picture of the tab to which a link leads; if there is none, draw the map of the head in focus."""
    first = {"Anatomy": "walk", "Implementations": "agreement"}.get(shown.link.page, "")
    draw = _TABS.get((shown.link.page, shown.link.texts.get("tab") or first))
    if draw is None or not isinstance(shown.model, Translator):
        return _head(shown)
    return draw(shown, site_inputs(shown.model, shown.trace, shown.kind, _index(shown.layer)))


def _walk(shown: LinkedPicture, inputs: SiteInputs) -> str:
    layout = shown.link.texts.get("layout", "")
    steps = shape_walk(inputs, layout if layout in LAYOUTS else "batch_first")
    rows = [
        (step.code, "×".join(str(size) for _, size in step.after), str(step.strides),
         "yes" if step.is_contiguous else "no", f"{step.nbytes:,}")
        for step in steps
    ]  # fmt: skip
    return small_table(("line", "shape", "strides", "contiguous", "bytes"), rows)


def _skip(shown: LinkedPicture, inputs: SiteInputs) -> str:
    """Draw a table of the code lines that can be changed, with the effect of each change on this sentence.

    If the link names one of the lines, explain it above the table.
    """
    names, asked = skips_of(inputs.weights), shown.link.texts.get("skip", "")
    rows = [(SKIPS[name].title, describe_outcome(run_skipped(name, inputs)), SKIPS[name].right, SKIPS[name].instead)
            for name in names]  # fmt: skip
    why = f"<p>{html.escape(SKIPS[asked].why)}</p>" if asked in names else ""
    return why + small_table(("changed line", "result for this sentence alone", "right", "tried instead"), rows)


def _claims(shown: LinkedPicture, inputs: SiteInputs) -> str:
    table = parameter_counts(inputs.weights.d_model)
    text = f"<p>A site of d_model {inputs.weights.d_model}, with more and fewer heads:</p>"
    return text + number_rows({name: table[name].tolist() for name in table})


def _modulation(shown: LinkedPicture, inputs: SiteInputs) -> str:
    if shown.kind == "cross":
        return _head(shown)
    mask = None if inputs.mask is None else inputs.mask[0].expand(inputs.input_.shape[1], -1)
    found = modulation(inputs.weights, inputs.input_[0], _index(shown.head), mask)
    tokens = token_texts(shown.trace.query_tokens(shown.kind))
    panels = [
        Panel("softmax(x xᵀ / √d_model)", found.plain.numpy()),
        Panel(f"the head's own map, H{_index(shown.head)}", found.own.numpy()),
        Panel("difference", found.difference.numpy(), "signed"),
    ]
    moved = f"On this sentence, a row shifts {float(found.moved_share.mean()):.0%} of its weight on average."
    return f"<p>{_site(shown)}. {moved}</p>{panel_tables(panels, tokens, tokens)}"


def _bugs(shown: LinkedPicture, inputs: SiteInputs) -> str:
    bug = BUGS.get(shown.link.texts.get("bug", ""), BUGS["softmax_over_heads"])
    told = [f"<p>{html.escape(bug.what)}</p>", code_change(*bug.sources), f"<p>{html.escape(bug.unnoticed)}</p>"]
    make = bug.own_inputs or (odd_sized_inputs if bug.lacks(inputs.weights) else None)
    if bug.step and not bug.ablates:
        of = inputs if make is None else make()
        told.insert(1, _damage(shown, outcome(bug.attention(of), of), is_own=make is not None))
    return "".join(told)


def _damage(shown: LinkedPicture, found: SiteResult | Raised, *, is_own: bool) -> str:
    said = f"<p>As written: {html.escape(describe_outcome(found))}.</p>"
    if isinstance(found, Raised) or not found.has_maps:
        return said
    head = min(_index(shown.head), found.attn.shape[1] - 1)
    wrong, right = found.attn[0, head].numpy(), found.right_attn[0, head].numpy()
    panels = [Panel("right", right), Panel("as written", wrong), Panel("difference", wrong - right, "signed")]
    rows, cols = ([f"position {at}" for at in range(size)] for size in wrong.shape) if is_own else _tokens(shown)
    return said + panel_tables(panels, rows, cols)


def _source(shown: LinkedPicture, inputs: SiteInputs) -> str:
    one, other = (WAYS.get(shown.link.texts.get(name, ""), WAYS[usual]) for name, usual in _SOURCES.items())
    return source_diff(one.source(), other.source(), (one.title, other.title))


def _head(shown: LinkedPicture) -> str:
    weights = shown.maps.weights(shown.layer, shown.head).float().numpy()
    rows, cols = ([label.text for label in labels] for labels in (shown.maps.rows, shown.maps.cols))
    return panel_tables([Panel(_site(shown), weights)], rows, cols)


def _tokens(shown: LinkedPicture) -> tuple[list[str], list[str]]:
    return token_texts(shown.trace.query_tokens(shown.kind)), token_texts(shown.trace.key_tokens(shown.kind))


def _site(shown: LinkedPicture) -> str:
    return f"{KINDS[shown.kind].name}, L{shown.layer} H{shown.head}"


def _index(place: int | str) -> int:
    return place if isinstance(place, int) else 0


_SOURCES = {"one": "annotated", "other": "refactored"}
_TABS: Mapping[tuple[str, str], Callable[[LinkedPicture, SiteInputs], str]] = {
    ("Anatomy", "walk"): _walk,
    ("Anatomy", "skip"): _skip,
    ("Anatomy", "claims"): _claims,
    ("Anatomy", "modulation"): _modulation,
    ("Implementations", "bugs"): _bugs,
    ("Implementations", "source"): _source,
}
