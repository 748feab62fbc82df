"""Picture of all heads as switches: the effect of each single head, and of all heads that are off."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.means import reference_means
from attnviz.causes.numbers import findings
from attnviz.causes.numbers.chances import Chances
from attnviz.causes.numbers.effects import HeadEffects, ReferenceEffects, usual_effects
from attnviz.causes.numbers.pair import written_under
from attnviz.causes.numbers.switched_off import SwitchedOff, rerun_under
from attnviz.causes.numbers.whole_image import SummaryEffects, effects_of_heads
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.fields import PageState, choice, declare_unlinked, flag
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.subject import Subject, constant_caption
from attnviz.kit.views.interventions import describe_change
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.protocol import Model
from attnviz.text.difference import Run, display_runs, word_differences
from attnviz.text.display import display_token
from attnviz.text.entries import entry
from attnviz.tracing.causes.making import Put
from attnviz.tracing.causes.switches import Head, every_head, replace_heads, replacements, without_replacements
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

PUTS: dict[Put, str] = {"zero": "Zero", "mean": "Mean", "uniform": "Even", "diagonal": "Diagonal"}
FIXED = (
    "Above the line, the model writes its text again, token by token, with the heads off at every "
    "step. After the first word that differs, the model reads a different text, so later words may "
    "differ for this reason, too.",
    "All probabilities belong to one target: the text of the unchanged model, or the target that you "
    "typed. Both runs read the same tokens, so their steps can be compared.",
    "Parameters, tokens, positions and masks stay the same. Later layers read the changed numbers and "
    "may compensate for them.",
    "Only the outputs of these heads are replaced, before W_o joins the heads. The bias of W_o, the "
    "residual connections and the feed-forward layers stay active.",
    "A head may be necessary without being sufficient, and one sentence proves little: if a word becomes less likely "
    "without a head, other parts may still have made the word. Count on many sentences, or measure each head on the "
    "tab Many sentences.",
)
FIXED_FOR_IMAGES = (
    "Both runs read the same image. Parameters, tokens and positions stay the same. Later layers read the changed "
    "numbers and may compensate for them.",
    "Only the outputs of these heads are replaced, before W_o joins the heads. The bias of W_o, the residual "
    "connections and the feed-forward layers stay active.",
    "A head may be necessary without being sufficient, and one image proves little. Please try other images.",
)
ASKS = {
    "label": "that one of the two runs finds most probable",
    "target": "of the target",
    "text": "of the text, each given those before it",
    "masked": "of the best answer at each masked place",
    "own": "of each token at its own place, which the encoder sees. Put [MASK] into the sentence for a real guess",
}
_NO_ANSWER = (
    "This model has no output over a vocabulary, so there are no probabilities. Look at its maps to see what changes."
)
_NO_SUMMARY = (
    "This model returns neither labels nor one vector for the whole image, so only its maps show what changes."
)
SIDE, SMALL_SIDE, MANY = 32, 16, 300  # side of a map in cells; smaller if there are more than `MANY` heads
MOST_TEXT = 4_000  # maximum characters of a text


@dataclass(frozen=True)
class Unit:
    """What the number on a switch says: the words for one head and for all, and the value with the full colour.

    `is_signed` is True if values below 0 mean that the head helps, False if the value is a distance. `column` is the
    name of the number in a table.
    """

    said: str
    legend: str
    full: float
    column: str
    is_signed: bool = True


@dataclass(frozen=True)
class OutputWords:
    """The words of the picture for one sort of output: tokens, labels, or the vector of a whole image."""

    title: str
    strip: str
    unit: Unit
    fixed: tuple[str, ...]


_HALF = "Full colour from ±0.69, where {} is half or twice as likely."
_TOKENS = OutputWords(
    "What it writes now", "probability of each token",
    Unit("without it {} nats per token", f"in nats per token. {_HALF.format('a token')}", math.log(2),
         "effect_nats_a_token"), FIXED,
)  # fmt: skip
_LABELS = OutputWords(
    "Which label it gives now", "probability of each label",
    Unit("without it {} nats", f"in nats of the label's log-probability. {_HALF.format('the label')}", math.log(2),
         "effect_nats"), FIXED_FOR_IMAGES,
)  # fmt: skip


def _words_of(runs: SwitchedOff) -> OutputWords:
    """Return the words by which the picture names the model's outputs, such as tokens or labels."""
    if not runs.before.sentences[0].images:
        return _TOKENS
    if runs.chances is not None:
        return _LABELS
    name = "" if runs.summary is None else findings.summary_name(runs.summary.name)
    unit = Unit(f"without it {name} moves by {{}} of its length",
                f"as the share of its length by which {name} moves. Full colour from 0.5.", 0.5, "moved_share",
                is_signed=False)  # fmt: skip
    return OutputWords("What becomes of the image’s vector", "", unit, FIXED_FOR_IMAGES)


@dataclass(frozen=True, eq=False)
class ShownSwitches:
    """Everything that the Switch off tab draws besides the two runs.

    `worth` is the effect of each single head, `usual` its effect over many sentences. `texts` are the model's texts
    without and with the interventions. `asks` says which tokens the probabilities belong to; `said` are remarks, and
    `words` the words for what the model outputs; `more` describes the other interventions. `put` replaces the context
    of a head that is off. `waits` says why `worth` is missing, and `measurable` whether the visitor can ask to measure
    it. `countable` is the number of sentences over which the effect can be counted, and `many` the result of that count
    in sentences.
    """

    worth: HeadEffects | SummaryEffects | None = None
    usual: ReferenceEffects | None = None
    texts: tuple[str, str] | None = None
    asks: str = ""
    said: tuple[str, ...] = ()
    words: OutputWords = _TOKENS
    more: tuple[str, ...] = ()
    put: str = "zero"
    waits: str = ""
    measurable: bool = False
    countable: int = 0
    many: tuple[str, ...] = ()
    numbers: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict)


def switches_payload(
    model: Model, runs: SwitchedOff, shown: ShownSwitches, *, done: Sequence[str], view: dict[str, Any]
) -> Payload:
    """Pack the data that the Switch off widget draws. `done` are the heads that are off in `runs.after`."""
    blobs = Blobs()
    kinds = runs.before.kinds
    header = common_header(kinds[0], kinds, blobs) | {
        "groups": [_group(model, runs, shown, kind, blobs) for kind in kinds],
        "done": list(done),
        "texts": _texts(shown.texts),
        "asks": shown.asks,
        "strip": _strip(model, runs.chances),
        "said": list(shown.said),
        "fixed": list(shown.words.fixed),
        "answer_title": shown.words.title,
        "strip_title": shown.words.strip,
        "unit": asdict(shown.words.unit),
        "more": list(shown.more),
        "put": shown.put,
        "waits": shown.waits,
        "measurable": shown.measurable,
        "countable": shown.countable,
        "many": list(shown.many),
        "usual": shown.usual.sentences if shown.usual else 0,
    }
    return payload_of(header, view, blobs)


def _group(model: Model, runs: SwitchedOff, shown: ShownSwitches, kind: Kind, blobs: Blobs) -> dict[str, Any]:
    """Pack one attention kind: each head's single effect, the divergence of its map, and its map."""
    layers, heads = model.shapes[kind]
    many = sum(each * count for each, count in model.shapes.values()) > MANY
    maps = runs.after.thumbnails(kind, side=SMALL_SIDE if many else SIDE).numpy()
    nats, spreads = _worth(shown, kind)
    return {
        "kind": kind,
        "title": KINDS[kind].name.removesuffix("-attention"),
        "tab": KINDS[kind].tab,
        "layers": layers,
        "heads": heads,
        "numbers": list(shown.numbers.get(kind, ())),
        "nats": nats,
        "spreads": spreads,
        "moved": _numbers(runs.moved[kind]),
        "maps": {"offset": blobs.add(np.ascontiguousarray(maps)), "height": maps.shape[2], "width": maps.shape[3]},
    }


def _worth(shown: ShownSwitches, kind: Kind) -> tuple[list[float | None] | None, list[float | None] | None]:
    """Return each head's effect in its unit, and in units of its usual spread; None if not measured."""
    if shown.worth is None:
        return None, None
    mine = torch.tensor([place[0] == kind for place in shown.worth.places])
    spreads = None
    if shown.usual is not None and isinstance(shown.worth, HeadEffects):
        spreads = _numbers(shown.usual.in_spreads(shown.worth)[mine])
    return _numbers(shown.worth.per_head[mine]), spreads


def _numbers(values: Tensor) -> list[float | None]:
    """Return the values as a list for JSON, with None for NaN and infinity."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.flatten().tolist()]


def _texts(texts: tuple[str, str] | None) -> list[list[Run]] | None:
    """Split both texts into runs of words, each marked if it differs from the other text."""
    if texts is None:
        return None
    return list(map(display_runs, word_differences(*map(_cut, texts))))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT].rstrip()} …"


def _strip(model: Model, both: tuple[Chances, Chances] | None) -> list[dict[str, Any]]:
    """Pack each token with its probability, its rival and its margin, without and with the interventions."""
    if both is None:
        return []
    tokens = both[0].asked.tokens
    return [
        {
            "text": display_token(token),
            "entry": entry(token),
            "special": token.is_special,
            "chance": [_number(math.exp(float(one.log_probabilities[at]))) for one in both],
            "log": [_number(float(one.log_probabilities[at])) for one in both],
            "margin": [_number(float(one.margins[at])) for one in both],
            "rival": [display_token(model.decode_ids([int(one.rivals[at])])[1][0]) for one in both],
        }
        for at, token in enumerate(tokens)
    ]


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


@dataclass(frozen=True)
class SwitchOffState(PageState):
    """State of the tab Switch off.

    `put` is what replaces a head's context, and `shade` the unit of the shading. `measure` and `count` are True once
    the visitor asked to measure each head, and to count over many sentences. `off` are the heads that are off, as
    reported by the browser; links store them as the run's interventions.
    """

    put: Put = choice("zero", PUTS)
    shade: str = choice("usual", {"usual": "spreads", "nats": "nats"})
    measure: bool = flag()
    count: bool = flag()
    off: tuple[str, ...] = declare_unlinked((), [str])


_START = SwitchOffState()


def switches(
    model: Model,
    runs: SwitchedOff,
    state: SwitchOffState = _START,
    *,
    written: Trace | None = None,
    known: ShownSwitches | None = None,
) -> Payload:
    """Return the picture of all heads as switches, and the effects in `runs.after` of those that are off.

    `written` is a run under the same interventions that wrote its own target; None if the target was given. `known`
    holds what was measured and counted before; without it, the effect of each head is measured here.
    """
    known = known or _measure(model, runs, state, written)
    done = runs.after.interventions
    off = tuple(head_name(head) for head in replacements(done, model.shapes))
    shown = replace(
        known,
        asks=_asks(runs),
        said=(*_findings(runs, known), *_parting_finding(runs, written)),
        words=_words_of(runs),
        more=tuple(map(describe_change, without_replacements(done, model.shapes))),
        put=state.put,
        numbers=runs.before.numbers,
    )
    made = add_view(switches_payload(model, runs, shown, done=off, view={}), replace(state, off=off))
    kept = [[put, title] for put, title in puts_for(runs.before).items()]
    return made._replace(header={**made.header, "options": {**made.header["options"], "put": kept}})


def puts_for(trace: Trace) -> dict[Put, str]:
    """Return what may replace a head's context. The mean is measured over sentences, so images have none."""
    return {put: title for put, title in PUTS.items() if put != "mean" or not trace.sentences[0].images}


def _asks(runs: SwitchedOff) -> str:
    """Say which tokens or labels the probabilities belong to, or why there are none."""
    if runs.chances is not None:
        return ASKS[runs.chances[0].asked.what]
    if runs.summary is not None:
        return ""
    return _NO_SUMMARY if runs.before.sentences[0].images else _NO_ANSWER


def head_name(head: Head) -> str:
    """Return a head's name as used in the browser, such as `cross.1.3`."""
    return ".".join(map(str, head))


def _measure(model: Model, runs: SwitchedOff, state: SwitchOffState, written: Trace | None) -> ShownSwitches:
    """Measure the effect of each head on the sentence, or say why that is impossible."""
    plain, texts = runs.before, _written_texts(model, runs, written)
    if runs.chances is None and runs.summary is None:
        return ShownSwitches(texts=texts)
    try:
        to = reference_means(model, plain.to) if state.put == "mean" else state.put
        worth = effects_of_heads(model, plain, to=to)
    except ValueError as why:  # no token to compare, or no mean
        return ShownSwitches(texts=texts, waits=str(why))
    usual = usual_effects(model, plain.to) if state.put == "zero" else None
    return ShownSwitches(worth, usual, texts)


def _written_texts(model: Model, runs: SwitchedOff, written: Trace | None) -> tuple[str, str] | None:
    """Return the texts that the model writes without and with the interventions; None if it writes no text."""
    if not model.writes:
        return None
    if written is not None:
        return runs.before.tgt_text, written.tgt_text
    unchanged = written_under(model, runs.before)
    return unchanged, written_under(model, runs.after) if runs.after.interventions else unchanged


def _findings(runs: SwitchedOff, known: ShownSwitches) -> tuple[str, ...]:
    if runs.after is not runs.before and runs.chances is not None:
        return findings.run_findings(*runs.chances)
    if runs.after is not runs.before and runs.summary is not None:
        return findings.summary_findings(runs.summary)
    if isinstance(known.worth, HeadEffects):
        return findings.effect_findings(known.worth, known.usual)
    return findings.summary_effect_findings(known.worth) if known.worth is not None else ()


def _parting_finding(runs: SwitchedOff, written: Trace | None) -> tuple[str, ...]:
    """Name the first token at which the two written texts differ."""
    if runs.chances is None or runs.after is runs.before or written is None:
        return ()
    return findings.text_findings(*runs.chances, (runs.before.sentences[0].tgt, written.sentences[0].tgt))


@reads_arguments
def switches_of(model: Model, trace: Trace) -> Subject:
    """Show every head as a switch, and what the model does without the heads that are off."""
    plain = trace if not trace.interventions else model.rerun(replace(trace, interventions=()))
    shapes = model.shapes
    start = SwitchOffState(off=tuple(map(head_name, replacements(trace.interventions, shapes))))

    def draw(state: SwitchOffState) -> Payload:
        wanted: dict[Head, Put] = {head: state.put for head in every_head(shapes) if head_name(head) in state.off}
        done = trace.interventions if state.off == start.off else replace_heads(trace.interventions, shapes, wanted)
        return switches(model, rerun_under(model, plain, done), state)

    silent = ("measure", "count")
    return Subject(start, draw, constant_caption(trace, model), silent=silent, unanswered=silent, trace=trace)
