"""Heads switched off, one or many: what the model then writes, how probable its words are, where other heads look."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

import streamlit as st

from attnviz.analysis.causes.comparing import findings
from attnviz.analysis.causes.comparing.switched_off import SwitchedOff, switched_off
from attnviz.analysis.causes.effects import HeadEffects, ReferenceEffects, head_effects
from attnviz.analysis.causes.usual.spreads import usual_effects
from attnviz.pictures.fields import choice, flag
from attnviz.tracing.causes.making import Put
from attnviz.tracing.causes.replacements import every_head, replace_heads, replacements, without_replacements
from attnviz.tracing.causes.switches import Head
from attnviz.ui import captions, interventions, mount
from attnviz.ui.address import persistent
from attnviz.ui.cache import means, traces
from attnviz.ui.cache.pictures import cached
from attnviz.ui.causes import counting, progress
from attnviz.ui.causes.state import CausesState, current
from attnviz.ui.reported import SWITCH, TEXT, reported
from attnviz.ui.request import Request
from attnviz.views.interventions import in_words
from attnviz.widgets.switches.payload import ShownSwitches, switches_payload

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.causes.intervention import MeanContexts
    from attnviz.tracing.trace import Trace

COMPONENT = "switches"
PUTS: tuple[Put, ...] = get_args(Put)
# Heads times tokens times parameters: some three seconds of one core. More is measured when somebody asks for it.
AT_ONCE = 3e11
A_SECOND = 8e10  # of these, roughly, on one core
FIXED = (
    "Above the line the model writes anew, token by token, with the heads off at every step. After the first word that "
    "differs it reads a different text, so later words may differ for that reason too.",
    "The probabilities are for one target: the unchanged model's text (or yours). Both runs read the same tokens, so "
    "steps can be compared.",
    "Weights, tokens, positions and masks stay the same. Later layers read the changed numbers and may compensate.",
    "Only the heads are off, before W_o joins them. The bias of W_o, residuals and feed-forward layers stay.",
    "Necessary is not sufficient, and one sentence proves little: a word that falls without a head is not necessarily "
    "made by it. Count on many sentences, or measure each head on the tab Many sentences.",
)
ASKS = {
    "target": "of the target",
    "text": "of the text, each given those before it",
    "masked": "of the best answer at each masked place",
    "own": "of each token at its own place, which the encoder sees. Put [MASK] into the sentence for a real guess",
}


@dataclass(frozen=True)
class SwitchOffState(CausesState):
    """What takes the place of heads (`put`), in which unit worth is shaded, whether it was asked to be measured, and
    whether what the heads do was asked to be counted over many sentences.
    """

    put: str = choice("zero", PUTS)
    shade: str = choice("usual", ("usual", "nats"))
    measure: bool = flag()
    count: bool = flag()


def draw(request: Request, loaded: "Model", trace: "Trace") -> SwitchOffState:
    """Draw the tab; what a link to it carries."""
    view = current(SwitchOffState, {})
    plain = traces.computed(replace(request, do=""))
    off = replacements(trace.interventions, loaded.shapes)
    # Where all are replaced alike, by that; cross-attention, which has no diagonal, leaves the choice open.
    puts = {put for head, put in off.items() if view.put != "diagonal" or head.kind != "cross"}
    view = replace(view, put=next(iter(puts))) if len(puts) == 1 else view
    runs = switched_off(loaded, plain, trace.interventions, written=trace)
    waits = "" if plain.logits is None or view.measure else _waits(loaded, plain)
    worth, why = _worth(loaded, plain, view) if plain.logits is not None and not waits else (None, "")
    usual = usual_effects(loaded, plain.info.to) if worth is not None and view.put == "zero" else None
    countable = bool(off) and not without_replacements(trace.interventions, loaded.shapes) and _has_targets(runs)
    many = counting.said_of_many(loaded, request.to, trace.interventions) if countable and view.count else ()
    view = replace(view, count=bool(many))
    shown = ShownSwitches(
        worth=worth,
        usual=usual,
        texts=_texts(request, loaded, plain, trace),
        asks=_asks(runs),
        said=(*_said(runs, worth, usual), *_parting(request, runs, trace)),
        countable=len(counting.sentences_for(loaded, request.to)) if countable else 0,
        many=many,
        fixed=FIXED,
        more=tuple(map(in_words, without_replacements(trace.interventions, loaded.shapes))),
        put=view.put,
        waits=waits or why,
        measurable=bool(waits) and runs.chances is not None,
        numbers=plain.numbers,
    )
    done = [_name(head) for head in off]
    in_view = {"off": done, "put": view.put, "shade": view.shade, "measure": view.measure, "count": view.count}
    payload = switches_payload(loaded, runs, shown, done=done, view=in_view)
    mount.switches(captions.on(payload), key=COMPONENT, on_change=lambda: _take(request, loaded))
    return view


def _waits(loaded: "Model", plain: "Trace") -> str:
    """What to say where measuring takes so long that somebody has to ask for it."""
    heads = sum(layers * count for layers, count in loaded.shapes.values())
    work = heads * (len(plain.sentences[0].src) + len(plain.sentences[0].tgt)) * loaded.n_parameters
    return f"Measuring what each of the {heads} heads is worth takes about {work / A_SECOND:.0f} s." * (work > AT_ONCE)


def _has_targets(runs: SwitchedOff) -> bool:
    """Whether the model puts out a text whose probability can be told, of any sentence."""
    return runs.chances is not None and runs.chances[0].asked.what in ("target", "text")


def _worth(loaded: "Model", plain: "Trace", view: SwitchOffState) -> "tuple[HeadEffects | None, str]":
    """What every head is worth to the sentence as it is, or why nobody can say."""

    def run(tell: progress.Tell) -> "HeadEffects | str":
        return cached("worth", (plain, view.put), lambda: _measured(loaded, plain, view.put, tell))

    made = progress.stoppable("worth", (plain.sentences, view.put), "Switching off each head in turn", run)
    return (None, made or "") if made is None or isinstance(made, str) else (made, "")


def _measured(loaded: "Model", plain: "Trace", put: str, tell: progress.Tell) -> "HeadEffects | str":
    try:
        return head_effects(loaded, plain, to=_mean(loaded, plain) if put == "mean" else put, tell=tell)
    except ValueError as why:  # nothing to ask about, or no mean
        return str(why)


def _mean(loaded: "Model", plain: "Trace") -> "MeanContexts":
    with st.spinner("Measuring the heads' average outputs"):
        return means.means(loaded, plain.to)


def _texts(request: Request, loaded: "Model", plain: "Trace", trace: "Trace") -> tuple[str, str] | None:
    """What the model writes by itself as it is, and now, whatever target is given."""
    if not loaded.writes:
        return None
    if not (loaded.inputs.takes_target and request.tgt.strip()):
        return plain.tgt_text, trace.tgt_text
    free = replace(request, tgt="")
    return traces.computed(replace(free, do="")).tgt_text, traces.computed(free).tgt_text


def _asks(runs: SwitchedOff) -> str:
    if runs.chances is None:
        return (
            "This model has no output over a vocabulary, so there are no probabilities. See its maps for what changes."
        )
    return ASKS[runs.chances[0].asked.what]


def _said(runs: SwitchedOff, worth: HeadEffects | None, usual: ReferenceEffects | None) -> tuple[str, ...]:
    if runs.after is not runs.before and runs.chances is not None:
        return findings.of_run(*runs.chances)
    return findings.of_effects(worth, usual) if worth is not None else ()


def _parting(request: Request, runs: SwitchedOff, trace: "Trace") -> tuple[str, ...]:
    """Where two texts part that both began alike."""
    if runs.chances is None or runs.after is runs.before or request.tgt.strip():
        return ()
    return findings.of_texts(*runs.chances, (runs.before.sentences[0].tgt, trace.sentences[0].tgt))


def _put(text: str) -> Put | None:
    for put in PUTS:
        if put == text:
            return put
    return None


def _name(head: Head) -> str:
    return ".".join(map(str, head))


def _take(request: Request, loaded: "Model") -> None:
    """Take over what was chosen: the heads go into what is done to the run, the rest into this page's own texts."""
    said = reported(COMPONENT, "view", {"off": list, "put": TEXT, "shade": TEXT, "measure": SWITCH, "count": SWITCH})
    put = _put("" if said is None else said["put"])
    if said is None or put is None:
        return
    wanted: dict[Head, Put] = {head: put for head in every_head(loaded.shapes) if _name(head) in said["off"]}
    now = request.interventions
    if replacements(now, loaded.shapes) != replacements(
        made := replace_heads(now, loaded.shapes, wanted), loaded.shapes
    ):
        interventions.change(made)
    if said["count"]:
        progress.forget("count")
    usual = {"put": "zero", "shade": "usual", "measure": "0", "count": "0"}
    texts = {"put": said["put"], "shade": said["shade"]}
    texts |= {name: "1" if said[name] else "0" for name in ("measure", "count")}
    persistent.write({name: None if text == usual[name] else text for name, text in texts.items()})
