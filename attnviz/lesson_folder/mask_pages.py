"""Pictures of steps that link to Masks: the laboratory, live; and its other tabs, which run the model, as stills."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from attnviz.analysis.masks.both_ways import both_ways
from attnviz.analysis.masks.effect import Effect, Refused, distances, nan_positions
from attnviz.analysis.masks.leakage import first_item, leak_test
from attnviz.analysis.rerun import Writing, batch_of_two
from attnviz.lesson_folder.causes import rerun
from attnviz.lessons.picture import Picture, Pictures
from attnviz.pictures.fields import read
from attnviz.pictures.focus import SiteBounds
from attnviz.pictures.mask_tabs import broadcast, fills, leak, rows, says
from attnviz.pictures.masks import MaskBench, view_of
from attnviz.pictures.shown.registry import ShownPicture, picture
from attnviz.text.entries import token_texts
from attnviz.views.labels import KINDS
from attnviz.views.masks.next_tokens_table import next_tokens_table
from attnviz.views.site.code_tables import small_table
from attnviz.views.site.panel_tables import panel_tables
from attnviz.views.site.panels import Panel

Texts = Mapping[str, str]


def bench_of(shown: Picture, run: Pictures) -> MaskBench:
    """Put the head that a link names under its mask. Raises ValueError for a text that cannot be followed."""
    said, trace = shown.link.texts, shown.trace
    if second := said.get("second", "").strip():
        trace = batch_of_two(shown.model, trace, rerun(run, shown.link, src=second, tgt="", new="").trace)
    state, problems = view_of({**said, "kind": shown.kind}, SiteBounds.from_trace(trace))
    if problems:
        raise ValueError(str(problems[0]))
    return MaskBench(shown.model, trace, state)


def laboratory(bench: MaskBench) -> ShownPicture:
    """Draw the tab Pipeline."""
    return replace(picture("mask_lab").of(bench.model, bench.trace), state=bench.view)


def _says(bench: MaskBench, said: Texts) -> str:
    found = bench.effect()
    if isinstance(found, Refused):
        return says.title(bench) + says.refusal(found.error)
    words = _words(bench, found, said) if bench.model.writes else f"<p>{says.NO_WRITER}</p>"
    return says.title(bench) + words + _moved(bench, found)


def _words(bench: MaskBench, found: Effect, said: Texts) -> str:
    step = says.shown_step(bench, found, read(says.SaysState, said, {})[0].step)
    both = both_ways(bench.model, found, bench.written_up_to(step), item=bench.view.item)
    after = token_texts(bench.trace.query_tokens("decoder_self", bench.view.item))[step]
    return (
        says.words_table(bench, _to_the_end(bench.unmasked_writing()), _to_the_end(bench.start_writing()))
        + small_table(("next tokens after", "position"), [(after, str(step))])
        + next_tokens_table(says.run_columns(bench, both, step))
        + f"<div class='verdict'>{says.explain_columns(bench, both, step)}</div>"
    )


def _to_the_end(writing: Writing) -> Writing:
    while not writing.done:
        writing.go_on(60)
    return writing


def _moved(bench: MaskBench, found: Effect) -> str:
    """Draw how far every map moved, a row for each layer, and where NaN has spread."""
    table, spread = distances(found, bench.view.item), nan_positions(found.after, bench.view.item)
    grids = {kind: part.pivot(index="layer", columns="head", values="moved") for kind, part in table.groupby("kind")}
    maps = "".join(
        panel_tables([Panel(KINDS[str(kind)].name if kind in KINDS else str(kind), grid.to_numpy())],
                     [f"L{layer}" for layer in grid.index], [f"H{head}" for head in grid.columns])
        for kind, grid in grids.items()
    )  # fmt: skip
    nan = spread.astype(str).to_numpy().tolist() if spread["NaN positions"].to_numpy().any() else []
    lost = f"<p>{says.NAN_SPREADS}</p>{small_table(list(spread.columns), nan)}" if nan else ""
    title = "<h4 class='room'>How far every map moved: share of a row that moved</h4>"
    return f"{title}{maps}<p>{says.maps_caption(bench)}</p>{lost}"


def _fills(bench: MaskBench, said: Texts) -> str:
    row = fills.telling_row(bench)
    table = fills.every_fill(bench, row)
    return fills.answers(bench, table, row) + fills.lines(table, row)


def _leak(bench: MaskBench, said: Texts) -> str:
    trace, state = first_item(bench.trace), read(leak.LeakState, said, {})[0]
    if "decoder_self" not in trace.kinds:
        return f"<div class='verdict'>{leak.NO_DECODER}</div>"
    ins = trace.query_tokens("decoder_self")
    at, names = leak.replaced_position(ins, state.at), token_texts(ins)
    new = leak.replacement(bench, state.instead, at)
    both = leak_test(bench.model, trace, at, new)
    cases = leak.named_cases(*both)
    # Shades are shares of the largest change, which may be more than 1.
    panels = [Panel(f"max |Δ| {name}", one.change.numpy(), "signed") for name, one in cases]
    layers = ["embedding", *(f"L{layer}" for layer in range(len(panels[0].z) - 1))]
    replaced = small_table(("replaced", "position", "by"), [(names[at], str(at), token_texts([new])[0])])
    verdict = f"<div class='verdict'>{leak.leak_sentence(*both, is_same=new.id == ins[at].id)}</div>"
    return replaced + verdict + panel_tables(panels, layers, names) + leak.encodings(cases, ins, new)


def _rows(bench: MaskBench, said: Texts) -> str:
    note = f"<div class='verdict'>{rows.NOT_IN_CROSS}</div>" if bench.view.kind == "cross" else ""
    target = rows.growing_target(bench, read(rows.RowsState, said, {})[0].arrived)
    return f"{note}{''.join(target.drawn())}<p>{target.caption}</p>"


def _broadcast(bench: MaskBench, said: Texts) -> str:
    table = small_table(("code", "result", "what happens"), broadcast.tried(bench))
    return f"{broadcast.picture(bench)}{table}<p>{broadcast.explanation(bench)}</p>"


# The tabs that no widget draws: each with its title, and what draws it.
STILL_TABS: Mapping[str, tuple[str, Callable[[MaskBench, Texts], str]]] = {
    "says": ("What it would say", _says),
    "fills": ("All fills", _fills),
    "leak": ("Leak test", _leak),
    "rows": ("Row by row", _rows),
    "broadcast": ("Broadcast", _broadcast),
}
