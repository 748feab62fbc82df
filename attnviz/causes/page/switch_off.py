"""The tab Switch off: what the model writes with some heads off, and how the maps of the other heads change."""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.means import reference_lines
from attnviz.app import captions, interventions, layout, mount
from attnviz.app.address import persistent
from attnviz.app.cache import threads, traces
from attnviz.app.cache.bounded import BoundedCache
from attnviz.app.cache.pictures import get_or_make
from attnviz.app.progress import forget, run_cancellable
from attnviz.app.reports import reported_view
from attnviz.app.request import Request
from attnviz.causes.corpus.numbers.change_counts import ChangeCount, Untouched, count_changes, run_untouched
from attnviz.causes.numbers import findings
from attnviz.causes.numbers.effects import HeadEffects, usual_effects
from attnviz.causes.numbers.switched_off import SwitchedOff, rerun_under
from attnviz.causes.numbers.whole_image import SummaryEffects, effects_of_heads
from attnviz.causes.switches.switches import PUTS, ShownSwitches, SwitchOffState, head_name, puts_for, switches
from attnviz.hosts.registry import PICTURES
from attnviz.kit.fields import write_view
from attnviz.tracing.causes.making import Put
from attnviz.tracing.causes.switches import Head, every_head, replace_heads, replacements, without_replacements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attnviz.models.protocol import Model
    from attnviz.tracing.causes.intervention import Intervention, MeanContexts
    from attnviz.tracing.trace import Trace

COMPONENT = "switches"
# Heads × tokens × parameters, about three seconds on one core. Larger work is done only when the visitor asks.
AT_ONCE = 3e11
A_SECOND = 8e10  # work per second on one core, roughly
_FEW = 40  # sentences to count on, if the model has to write each target first
_SENTENCE = 60  # typical characters of a sentence
_untouched: BoundedCache[tuple[str, str], Untouched] = BoundedCache(most=6)  # about a megabyte each
_counts: BoundedCache[tuple, ChangeCount] = BoundedCache(most=512)


def draw(request: Request, loaded: "Model", trace: "Trace") -> SwitchOffState:
    """Draw the tab Switch off; return its state, which a copied link stores."""
    view = layout.state_in_address(SwitchOffState)
    plain = traces.full_trace(replace(request, do=""))
    off = replacements(trace.interventions, loaded.shapes)
    # If all heads are replaced in the same way, show that way; cross-attention, without a diagonal, does not count.
    puts = {put for head, put in off.items() if view.put != "diagonal" or head.kind != "cross"}
    view = replace(view, put=next(iter(puts))) if len(puts) == 1 else view
    view = _fit_put(view, plain)
    runs = rerun_under(loaded, plain, trace.interventions, written=trace)
    can_measure = runs.chances is not None or runs.summary is not None
    waits = _waits(loaded, plain) if can_measure and not view.measure else ""
    worth, why = _worth(loaded, plain, view) if can_measure and not waits else (None, "")
    usual = usual_effects(loaded, plain.info.to) if worth is not None and view.put == "zero" else None
    countable = bool(off) and not without_replacements(trace.interventions, loaded.shapes) and _has_targets(runs)
    many = _count_in_words(loaded, request.to, trace.interventions) if countable and view.count else ()
    view = replace(view, count=bool(many))
    known = ShownSwitches(
        worth=worth,
        usual=usual,
        texts=_texts(request, loaded, plain, trace),
        countable=len(_sentences_for(loaded, request.to)) if countable else 0,
        many=many,
        waits=waits or why,
        measurable=bool(waits),
    )
    written = None if request.tgt.strip() else trace
    payload = switches(loaded, runs, view, written=written, known=known)
    mount.picture(PICTURES[COMPONENT], captions.add_caption(payload), on_change=lambda: _adopt(request, loaded))
    return view


def _fit_put(view: SwitchOffState, plain: "Trace") -> SwitchOffState:
    """If heads cannot be replaced in the chosen way for this input, return the state with zeros and show a note."""
    if view.put in puts_for(plain):
        return view
    layout.note(f"{PUTS[view.put]} is not offered for images, because the mean is measured over sentences.")
    return replace(view, put="zero")


def _waits(loaded: "Model", plain: "Trace") -> str:
    """If measuring takes long enough that the visitor must ask for it, say how long; otherwise return ""."""
    heads = sum(layers * count for layers, count in loaded.shapes.values())
    work = heads * (len(plain.sentences[0].src) + len(plain.sentences[0].tgt)) * loaded.n_parameters
    return f"Measuring what each of the {heads} heads is worth takes about {work / A_SECOND:.0f} s." * (work > AT_ONCE)


def _has_targets(runs: SwitchedOff) -> bool:
    """Return whether the model gives probabilities of whole texts, so that effects can be counted over sentences."""
    return runs.chances is not None and runs.chances[0].asked.what in ("target", "text")


def _worth(loaded: "Model", plain: "Trace", view: SwitchOffState) -> "tuple[HeadEffects | SummaryEffects | None, str]":
    """Measure the effect of each head on the unchanged run; if that is impossible, return None and the reason."""

    def run(work: Cancellable) -> "HeadEffects | SummaryEffects | str | None":
        return get_or_make("worth of heads", (plain, view.put), lambda: _measure(loaded, plain, view.put, work))

    made = run_cancellable("worth", (plain.sentences, view.put), "Switching off each head in turn", run)
    return (None, made or "") if made is None or isinstance(made, str) else (made, "")


def _measure(
    loaded: "Model", plain: "Trace", put: str, work: Cancellable
) -> "HeadEffects | SummaryEffects | str | None":
    try:
        return effects_of_heads(loaded, plain, to=_mean(loaded, plain) if put == "mean" else put, tell=work.tell)
    except ValueError as why:  # no token to compare, or no mean
        return str(why)


def _mean(loaded: "Model", plain: "Trace") -> "MeanContexts":
    with st.spinner("Measuring the heads' average outputs"):
        return traces.measured_means(loaded, plain.to)


def _texts(request: Request, loaded: "Model", plain: "Trace", trace: "Trace") -> tuple[str, str] | None:
    """Return the texts that the model writes without and with the interventions, ignoring a given target.

    None if the model writes no text.
    """
    if not loaded.writes:
        return None
    if not (loaded.inputs.takes_target and request.tgt.strip()):
        return plain.tgt_text, trace.tgt_text
    free = replace(request, tgt="")
    return traces.full_trace(replace(free, do="")).tgt_text, traces.full_trace(free).tgt_text


def _sentences_for(loaded: "Model", to: str) -> tuple[CorpusLine, ...]:
    """Return the shipped sentences over which the effect of interventions is counted.

    Only a few are returned if this model has to write their targets first.
    """
    lines = reference_lines(loaded, to)
    is_given = all(line.target for line in lines) or not loaded.inputs.takes_target
    return lines if is_given else lines[:_FEW]


def _count_in_words(loaded: "Model", to: str, done: "Sequence[Intervention]") -> tuple[str, ...]:
    """Count the effect of interventions over the included sentences, in sentences; empty if the visitor stopped it."""
    asked = (loaded.model_id, to, tuple(each.digest for each in done))

    def run(stop: Cancellable) -> tuple[str, ...]:
        try:
            return findings.count_findings(_counts.get(asked, read=lambda *_: _count(loaded, to, done, stop)))
        except ValueError as why:
            return (f"This change cannot be measured over many sentences. {why}",)

    return run_cancellable("count", asked, "Counting over many sentences", run) or ()


def _count(loaded: "Model", to: str, done: "Sequence[Intervention]", stop: Cancellable) -> ChangeCount:
    with threads.enough_for(_SENTENCE):
        before = _untouched.get(
            (loaded.model_id, to), read=lambda *_: run_untouched(loaded, _sentences_for(loaded, to), to=to, stop=stop)
        )
        return count_changes(loaded, before, done, stop=stop)


def _adopt(request: Request, loaded: "Model") -> None:
    """Write the chosen heads into the run's interventions, and the other choices into the address."""
    chosen = reported_view(COMPONENT, SwitchOffState)
    if chosen is None or not {"off", "put"} <= chosen.keys() or chosen["put"] not in PUTS:
        return
    off = chosen.pop("off")
    wanted: dict[Head, Put] = {head: chosen["put"] for head in every_head(loaded.shapes) if head_name(head) in off}
    now = request.interventions
    if replacements(now, loaded.shapes) != replacements(
        made := replace_heads(now, loaded.shapes, wanted), loaded.shapes
    ):
        interventions.change(made)
    if chosen.get("count"):
        forget("count")
    usual = SwitchOffState().to_params()
    texts = write_view(SwitchOffState, chosen)
    persistent.write({name: None if text == usual[name] else text for name, text in texts.items()})
