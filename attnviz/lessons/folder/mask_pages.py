"""Pictures for lesson steps that link to Masks.

A widget draws the tab Pipeline. For the other tabs, the model runs with each value of the tab's control when the folder
is made.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.analysis.rerun import Writing, batch_of_two
from attnviz.hosts.registry import picture
from attnviz.kit.fields import read
from attnviz.kit.focus import SiteBounds
from attnviz.kit.picture import ShownPicture
from attnviz.kit.views.code_tables import small_table
from attnviz.kit.views.labels import KINDS
from attnviz.kit.views.panel_tables import MOST_WRITTEN, cell, map_tables, panel_tables
from attnviz.kit.views.panels import Panel
from attnviz.lessons.folder.causes import rerun
from attnviz.lessons.folder.variants import Part, variants
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.picture import LinkedPicture, Pictures
from attnviz.masks.figures.figures import FLOOR
from attnviz.masks.figures.tables import next_tokens_table
from attnviz.masks.masks import MaskBench, view_of
from attnviz.masks.numbers.both_ways import both_ways
from attnviz.masks.numbers.effect import Effect, Refused, distances, nan_positions
from attnviz.masks.numbers.leakage import first_item, leak_test
from attnviz.masks.tabs import broadcast, fills, leak, rows, says
from attnviz.text.entries import token_texts

Texts = Mapping[str, str]


@dataclass(frozen=True)
class HtmlTab:
    """A tab that Python draws as HTML: the function that draws it, and a sentence about what only the app can do."""

    draw: Callable[[MaskBench, Texts], Sequence[Part]]
    only_app: Translatable


def bench_of(shown: LinkedPicture, run: Pictures) -> MaskBench:
    """Return the mask laboratory for the head and mask that a link names.

    Raises ValueError for an invalid text in it.
    """
    said, trace = shown.link.texts, shown.trace
    if second := said.get("second", "").strip():
        trace = batch_of_two(shown.model, trace, rerun(run, shown.link, src=second, tgt="", new="").trace)
    state, problems = view_of({**said, "kind": shown.kind}, SiteBounds.from_trace(trace))
    if problems:
        raise ValueError(str(problems[0]))
    return MaskBench(shown.model, trace, state)


def laboratory(bench: MaskBench) -> ShownPicture:
    """Draw the tab Pipeline of the page Masks."""
    return replace(picture("mask_lab").of(bench.model, bench.trace), state=bench.view)


def _says(bench: MaskBench, said: Texts) -> Sequence[Part]:
    found = bench.effect()
    if isinstance(found, Refused):
        return [says.title(bench) + says.refusal(found.error)]
    words = _words(bench, found, said) if bench.model.writes else [f"<p>{says.NO_WRITER}</p>"]
    return [says.title(bench), *words, _moved(bench, found)]


def _words(bench: MaskBench, found: Effect, said: Texts) -> Sequence[Part]:
    ins = token_texts(bench.trace.query_tokens("decoder_self", bench.view.item))

    def next_tokens(step: int) -> str:
        both = both_ways(bench.model, found, bench.written_up_to(step), item=bench.view.item)
        table = next_tokens_table(says.run_columns(bench, both, step))
        return f"{table}<div class='verdict'>{says.explain_columns(bench, both, step)}</div>"

    step = says.shown_step(bench, found, read(says.SaysState, said, {})[0].step)
    return [
        says.words_table(bench, _to_the_end(bench.unmasked_writing()), _to_the_end(bench.start_writing())),
        variants("step", says.LABEL, _numbered(ins), step, next_tokens),
    ]


def _to_the_end(writing: Writing) -> Writing:
    while not writing.done:
        writing.go_on(60)
    return writing


def _moved(bench: MaskBench, found: Effect) -> str:
    """Draw a table per kind with how far each head's map moved, and the positions to which NaN has spread."""
    table, spread = distances(found, bench.view.item), nan_positions(found.after, bench.view.item)
    grids = {kind: part.pivot(index="layer", columns="head", values="moved") for kind, part in table.groupby("kind")}
    maps = "".join(
        panel_tables([Panel(KINDS[str(kind)].name if kind in KINDS else str(kind), grid.to_numpy())],
                     [f"L{layer}" for layer in grid.index], [f"H{head}" for head in grid.columns])
        for kind, grid in grids.items()
    )  # fmt: skip
    nan = spread.astype(str).to_numpy().tolist() if spread["NaN positions"].to_numpy().any() else []
    lost = f"<p>{says.NAN_SPREADS}</p>{small_table(list(spread.columns), nan)}" if nan else ""
    title = "<h4 class='room'>How far each map changed: share of a row’s weight that moved</h4>"
    return f"{title}{maps}<p>{says.maps_caption(bench)}</p>{lost}"


def _fills(bench: MaskBench, said: Texts) -> Sequence[Part]:
    """Draw a table of fill values for each row of the mask, and last for a row that is masked completely."""
    row, names = fills.telling_row(bench), fills.row_names(bench)
    shut = fills.row_to_shut(bench)
    closed = replace(bench, view=replace(bench.view, paint=fills.paint_row(bench, shut, sees=False)))

    def table(at: int) -> str:
        of, row = (bench, at) if at < len(names) else (closed, shut)
        lines = fills.every_fill(of, row)
        return fills.answers(of, lines, row) + fills.lines(lines, row)

    rows = variants("row", fills.LABEL, [*names, f"{fills.NO_KEYS}: {names[shut]}"], row, table, is_list=True)
    return [rows]


def _leak(bench: MaskBench, said: Texts) -> Sequence[Part]:
    trace, state = first_item(bench.trace), read(leak.LeakState, said, {})[0]
    if "decoder_self" not in trace.kinds:
        return [f"<div class='verdict'>{leak.NO_DECODER}</div>"]
    ins = trace.query_tokens("decoder_self")
    names = token_texts(ins)

    def replaced(at: int) -> str:
        new = leak.replacement(bench, state.instead, at)
        both = leak_test(bench.model, trace, at, new)
        cases = leak.named_cases(*both)
        changes = [(f"max |Δ| {name}", one.change.numpy()) for name, one in cases]
        by = small_table(("replaced", "position", "by"), [(names[at], str(at), token_texts([new])[0])])
        verdict = f"<div class='verdict'>{leak.leak_sentence(*both, is_same=new.id == ins[at].id)}</div>"
        after = [f"{name} → {token_texts([new])[0]}" if place == at else name for place, name in enumerate(names)]
        return by + verdict + leak_tables(changes, after) + leak.encodings(cases, ins, new)

    return [variants("at", leak.LABEL, _numbered(names), leak.replaced_position(ins, state.at), replaced)]


def _rows(bench: MaskBench, said: Texts) -> Sequence[Part]:
    note = f"<div class='verdict'>{rows.NOT_IN_CROSS}</div>" if bench.view.kind == "cross" else ""
    target = rows.growing_target(bench, read(rows.RowsState, said, {})[0].arrived)

    def equations(at: int) -> str:
        return "".join(replace(target, count=at + 1).drawn())

    arrived = variants("arrived", rows.LABEL, target.arrivals, target.count - 1, equations)
    return [note, arrived, f"<p>{target.caption}</p>"]


def _broadcast(bench: MaskBench, said: Texts) -> Sequence[Part]:
    table = small_table(("code", "result", "what happens"), broadcast.tried(bench))
    return [f"{broadcast.picture(bench)}{table}<p>{broadcast.explanation(bench)}</p>"]


def _numbered(names: Sequence[str]) -> list[str]:
    return [f"{at}: {name}" for at, name in enumerate(names)]


# The tabs that no widget draws.
HTML_TABS: Mapping[str, HtmlTab] = {
    "says": HtmlTab(
        _says,
        Translatable("In attnviz itself, where the model runs, you can also change the mask, the fill and the head."),
    ),
    "fills": HtmlTab(
        _fills,
        Translatable("In attnviz itself, where the model runs, you can also change the mask, the fill and the head."),
    ),
    "leak": HtmlTab(
        _leak, Translatable("In attnviz itself, where the model runs, you can also type another token to put there.")
    ),
    "rows": HtmlTab(
        _rows, Translatable("In attnviz itself, where the model runs, you can also choose another layer and head.")
    ),
    "broadcast": HtmlTab(
        _broadcast,
        Translatable(
            "In attnviz itself, where the model runs, you can also change the mask and let another sentence join the "
            "batch."
        ),
    ),
}


def leak_tables(changes: Sequence[tuple[str, np.ndarray]], tokens: Sequence[str]) -> str:
    """Draw a table per case with max |Δ| of the decoder's output at every position. Rows are the embedding and the
    layers.

    `changes` has (title, array of shape `(layers + 1, length)`). Cell colours are logarithmic from `FLOOR` on, and have
    the same scale in all tables. Cells whose value did not change by a single bit are blank.
    """
    top = max(float(change.max()) for _, change in changes)
    names = ["embedding", *(f"L{layer}" for layer in range(len(changes[0][1]) - 1))]
    maps = [
        (title, [[_cell(float(one), top, len(line)) for one in line] for line in change]) for title, change in changes
    ]
    return map_tables(maps, names, tokens)


def _cell(change: float, top: float, n_cols: int) -> str:
    if change == 0:
        return cell(0.0, "0, bitwise equal", "")
    floor = math.log10(FLOOR)
    share = (math.log10(max(change, FLOOR)) - floor) / max(1e-9, math.log10(max(top, FLOOR)) - floor)
    return cell(max(0.05, share), f"{change:.3g}", _short(change) if n_cols <= MOST_WRITTEN else "")


def _short(change: float) -> str:
    """Format the size of a change with at most four characters, so that it fits into a table cell."""
    if change >= 10:
        return f"{change:.0f}"
    if change >= 0.01:
        return f"{change:.2f}".replace("0.", ".", 1) if change < 1 else f"{change:.1f}"
    return f"{change:.3f}".replace("0.", ".", 1) if change >= 0.001 else f"{change:.0e}".replace("-0", "−")
