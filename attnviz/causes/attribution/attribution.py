"""Picture of a token's logit: the contribution of each component of the model, and the logit lens after each layer."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from attnviz.analysis.attribution import LogitPart, LogitTarget, drops
from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.numbers.last_layer import Explained, SplitModel
from attnviz.causes.numbers.lens import LogitLens, encoder_lens, logit_lens
from attnviz.causes.numbers.one_token import id_of, name_of
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import with_declaration
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.fields import PageState, Say, choice, declare, flag, text, whole_number
from attnviz.kit.payload import common_header, payload_of, told_spans
from attnviz.kit.subject import Subject, caption_by
from attnviz.kit.views.captions import Caption
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.spans import key_spans
from attnviz.models.protocol import Model
from attnviz.text.display import display_token
from attnviz.text.entries import entries
from attnviz.text.tokens import Token
from attnviz.tracing.trace import CUT, Trace
from attnviz.transformer.probe import Kind

NONE, RUNNER_UP = "#none", "#runner-up"
LIKELY = 10  # number of tokens to choose from
_LONG = 48  # tokens; for longer texts a lens shows fewer candidates
_MANY, _FEW = 5, 2
_HEAD = re.compile(r"(encoder_self|decoder_self|cross)\.\d{1,4}\.\d{1,4}")
_WIDE = "decoder: the prediction after each layer"
_ENCODER = "encoder: read through the decoder’s vocabulary"
_SHORT: dict[Kind, str] = {"encoder_self": "self", "decoder_self": "self", "cross": "cross"}


@dataclass(frozen=True, eq=False)
class Lens:
    """A logit lens for one stack: the predictions after each layer, and the tokens that label the columns."""

    title: str
    found: LogitLens
    tokens: Sequence[Token]
    column: int | None = None


def _head(asked: str, bound: object, default: str, say: Say) -> str:
    """Parse the head whose contribution is shown split by token, from a link. The model may lack this head."""
    if _HEAD.fullmatch(asked):
        return asked
    say("a head is a kind, a layer and a head, such as cross.1.3", "no head")
    return default


@dataclass(frozen=True)
class AttributeState(PageState):
    """State of the tab Attribute.

    `step` is the row whose logit is split (None: the first). `token` is its token, typed or `#` and an id ("": the
    output token). `against` is a token whose logit is subtracted. `opened` is the head whose bar is split by token,
    `order` the order of the bars. `drops` says whether the loss without each head is shown too.
    """

    step: int | None = whole_number(used="the first one")
    token: str = text(limit=200)
    against: str = text(NONE, limit=200)
    opened: str = declare("", _head)
    order: str = choice("size", {"size": "By size", "model": "In the model’s order"})
    drops: bool = flag()


_START = AttributeState()


@dataclass(frozen=True)
class LogitQuestion:
    """The logit that a state asks for.

    `likely` are token ids to choose from: the row's own and the most probable ones. `problems` are messages about texts
    that name no token and were replaced by a default.
    """

    asked: LogitTarget
    runner_up: int
    likely: tuple[int, ...]
    problems: tuple[str, ...] = ()


def attribution(
    model: Model, trace: Trace, state: AttributeState = _START, *, cached: Cache = make_anew,
    work: Cancellable = TO_THE_END,
) -> Payload:  # fmt: skip
    """Return the contributions to the logit that `state` asks for, each head's split by token, and the logit lens.

    `work` receives the progress of the passes. Raise ValueError if the model's logits cannot be split into a sum, or if
    the trace has no such row.
    """
    asked = question(model, trace, state).asked
    logits = asked.require(trace)[0, asked.row]
    split = cached("split model", (trace,), lambda: SplitModel.find(model, trace))
    names = cache(partial(name_of, model))
    shown = ShownLogit(
        trace,
        split.explain(trace, asked),
        names,
        rows(trace),
        float(logits.max() - logits.min()),
        split.why_last,
        cached("drops", (trace, asked), lambda: drops(model, trace, asked, tell=work.tell)) if state.drops else None,
        _lenses(model, trace, split, asked, cached, work),
    )
    # The view omits both tokens: they are chosen beside the component, which would report outdated ones.
    view = {"step": asked.row, "opened": state.opened, "order": state.order, "drops": int(state.drops)}
    return with_declaration(attribution_payload(model, shown, view=view), AttributeState)


def rows(trace: Trace) -> list[tuple[int, Token, Token | None]]:
    """Return each row's number, input token and output token (None for an encoder)."""
    sentence = trace.sentences[0]
    if not sentence.tgt:
        count = len(sentence.src) if trace.logits is None else trace.logits.shape[1]  # an image has one row of logits
        return [(row, token, None) for row, token in enumerate(sentence.src[:count])]
    return [(row, *both) for row, both in enumerate(zip(sentence.tgt_in, sentence.tgt_out, strict=True))]


def question(model: Model, trace: Trace, state: AttributeState) -> LogitQuestion:
    """Find the logit that `state` asks for; by default that of the output token.

    Raise ValueError if the trace has no such row or no logits.
    """
    step, problems = state.step or 0, list[str]()
    logits = LogitTarget(step, 0).require(trace)[0, step].float().cpu()
    best = logits.topk(min(LIKELY, len(logits))).indices.tolist()
    comes_out = rows(trace)[step][2]
    own = comes_out.id if comes_out is not None and comes_out.id >= 0 else best[0]
    token = _id(model, trace, state.token, problems)
    token = own if token is None else token
    runner_up = next(id_ for id_ in best if id_ != token)
    special = {NONE: None, RUNNER_UP: runner_up}
    against = special[state.against] if state.against in special else _id(model, trace, state.against, problems)
    if against == token:
        problems.append(
            "The logit difference between a token and itself is always 0. Please choose two different tokens."
        )
        against = None
    return LogitQuestion(
        LogitTarget(step, token, against), runner_up, tuple(dict.fromkeys([own, token, *best])), tuple(problems)
    )


def site_name(model: Model, asked: LogitTarget) -> str:
    """Return the words that name the explained logit in captions."""
    step = "" if model.inputs.is_image else f" at step {asked.row}"
    return f"logit of {name_of(model, asked.id)}{step}"


def _id(model: Model, trace: Trace, asked: str, problems: list[str]) -> int | None:
    try:
        return id_of(model, trace, asked)
    except ValueError as error:
        problems.append(str(error))
        return None


def _lenses(
    model: Model, trace: Trace, split: SplitModel, asked: LogitTarget, cached: Cache, work: Cancellable
) -> list[Lens]:
    """Compute the logit lens of the stack that outputs tokens, and of the encoder if there is also a decoder."""
    sentence = trace.sentences[0]
    count = _MANY if max(len(sentence.src), len(sentence.tgt)) <= _LONG else _FEW

    def make() -> tuple[LogitLens, LogitLens | None]:
        beside = encoder_lens(model, trace, split.weight, count=count, work=work) if "cross" in model.kinds else None
        return logit_lens(model, trace, count=count, wanted={asked.row: asked.id}, work=work), beside

    own, beside = cached("lenses", (trace, asked.row, asked.id), make)
    out = sentence.tgt_out if sentence.tgt else [goes_in for _, goes_in, _ in rows(trace)]
    title = _WIDE if "decoder_self" in model.kinds else "the prediction after each layer"
    lenses = [Lens(title, own, out, asked.row)]
    if beside is not None:
        lenses.append(Lens(_ENCODER, beside, sentence.src))
    return lenses


@dataclass(frozen=True, eq=False)
class ShownLogit:
    """Everything that the Attribute tab draws for one logit.

    `explained` has the bars; `why_last` says why they cover only the last layer. `drops` is the loss without each head,
    or None if it was not measured. `spread` is the range of the logits in the row. `names` returns the text of a token
    id.
    """

    trace: Trace
    explained: Explained
    names: Callable[[int], str]
    steps: Sequence[tuple[int, Token, Token | None]]
    spread: float
    why_last: str = ""
    drops: Mapping[HeadPlace, float] | None = None
    lenses: Sequence[Lens] = ()


def attribution_payload(model: Model, shown: ShownLogit, *, view: dict[str, Any]) -> Payload:
    """Pack the data that the Attribute widget draws."""
    blobs, bars = Blobs(), shown.explained.bars
    asked = bars.asked
    header = common_header(model.kinds[0], model.kinds, blobs) | {
        "step": asked.row,
        "steps": [_step(*step) for step in shown.steps],
        "token": shown.names(asked.id),
        "against": None if asked.against is None else shown.names(asked.against),
        "logit": bars.logit,
        "total": bars.total,
        "spread": shown.spread,
        "why_last": shown.why_last,
        "bars": [_bar(part, shown.drops) for part in bars.parts],
        "has_drops": shown.drops is not None,
        "opened": _heads_by_token(shown, blobs),
        "lenses": [_lens(lens, shown.names) | _lens_spans(shown.trace, lens) for lens in shown.lenses],
    }
    return payload_of(header, view, blobs)


def _step(row: int, goes_in: Token, comes_out: Token | None) -> dict[str, Any]:
    named = display_token(comes_out) if comes_out is not None and comes_out.id >= 0 else ""
    return {"step": row, "input": display_token(goes_in), "output": named,
            "entries": entries([goes_in if comes_out is None else comes_out])}  # fmt: skip


def _bar(part: LogitPart, drops: Mapping[HeadPlace, float] | None) -> dict[str, Any]:
    """Pack one bar: its label, its head, its contribution to the logit, and the loss without the head."""
    head = (part.kind, part.layer, part.head)
    is_head = part.part == "head"
    return {
        "name": _name(part),
        "part": part.part,
        "head": f"{part.kind}.{part.layer}.{part.head}" if is_head else "",
        "kind": part.kind or "",
        "layer": part.layer,
        "value": part.value,
        "drop": drops.get(head) if drops is not None and is_head else None,  # type: ignore[arg-type]
    }


def _name(part: LogitPart) -> str:
    """Return the label of a contribution, such as `L2 cross H4`, `L1 feed-forward` or `embedding`."""
    where = "" if part.layer is None else f"L{part.layer} "
    site = "" if part.kind is None else _SHORT[part.kind]
    if part.part == "head":
        return f"{where}{site} H{part.head}"
    what = {"head bias": "bias of W_o", "norm bias": "norm’s bias" if part.layer is not None else "last norm’s bias",
            "vocabulary bias": "output layer’s bias"}.get(part.part, part.part)  # fmt: skip
    return " ".join(filter(None, (where.strip(), site, what)))


def _heads_by_token(shown: ShownLogit, blobs: Blobs) -> dict[str, Any]:
    """Pack, for each attention site, the contribution of each head split by attended token, as float32."""
    found = {}
    for site, numbers in shown.explained.opened.items():
        keys = shown.trace.key_tokens(site.kind)
        found[f"{site.kind}.{site.layer}"] = {
            "title": KINDS[site.kind].name,
            "size": list(numbers.shape),
            "cols": [display_token(token) for token in keys],
            "col_entries": [entries([token]) for token in keys],
            **_key_spans(shown.trace, site.kind),
            "values": blobs.add(np.ascontiguousarray(numbers.float().numpy(), dtype="<f4")),
        }
    return found


def _key_spans(trace: Trace, kind: Kind) -> dict[str, Any]:
    """Return the conversation turns among the key tokens of an attention kind, or {} if the text has no turns."""
    told = told_spans(key_spans(trace, kind))
    return {"spans": told} if told else {}


def _lens_spans(trace: Trace, lens: Lens) -> dict[str, Any]:
    """Return the conversation turns among the tokens over which a decoder's logit lens is drawn."""
    kind = trace.kinds[-1]
    is_text = kind == "decoder_self" and len(lens.tokens) == len(trace.key_tokens(kind))
    return _key_spans(trace, kind) if is_text else {}


def _lens(lens: Lens, names: Callable[[int], str]) -> dict[str, Any]:
    """Pack the most probable tokens after each layer with their probabilities, and the rank of each row's own token."""
    found = lens.found
    layers, rows, count = found.ids.shape
    cells = [
        [[[names(int(found.ids[layer, row, nth])), round(float(found.probabilities[layer, row, nth]), 5)]
          for nth in range(count)] for row in range(rows)]
        for layer in range(layers)
    ]  # fmt: skip
    own = [[_own_rank(found, layer, row) for row in range(rows)] for layer in range(layers)]
    return {
        "title": lens.title,
        "cols": ["" if token.text == CUT and token.id < 0 else display_token(token) for token in lens.tokens],
        "column": lens.column,
        "cells": cells,
        "own": own,
    }


def _own_rank(found: LogitLens, layer: int, row: int) -> list[float] | None:
    """Return the probability and rank of a row's actual token, or None if the row outputs no token."""
    rank = int(found.rank[layer, row])
    return None if rank < 0 else [round(float(found.probability[layer, row]), 6), rank]


@reads_arguments
def attribution_of(model: Model, trace: Trace) -> Subject:
    """Show the contributions to a token's logit. Raises ValueError for a trace without logits."""
    if trace.logits is None:
        raise ValueError("Attribution needs logits, and this trace was recorded without them.")

    def caption(state: AttributeState) -> Caption:
        asked = question(model, trace, state).asked
        return replace(caption_by(trace, model), site=site_name(model, asked))

    def draw(state: AttributeState) -> Payload:
        return attribution(model, trace, state)

    def settle(state: AttributeState, told: Mapping[str, Any], before: AttributeState) -> AttributeState:
        """If the visitor has moved to another step, clear the tokens that were chosen for the previous step.

        `told` is what the browser reports, which includes the step that it shows.
        """
        if told.get("step") in (None, before.step or 0):
            return state
        against = state.against if state.against == RUNNER_UP else NONE
        return replace(state, token="", against=against)

    bounds = {"step": len(rows(trace))}
    return Subject(AttributeState(), draw, caption, bounds, settle=settle, trace=trace)
