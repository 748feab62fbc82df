"""A token's logit taken apart: what each part of the model adds to it, and what a lens reads after each layer."""

import re
from dataclasses import dataclass
from functools import cache, partial

from attnviz.analysis.attribution import LogitTarget, drops
from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.causes.attribution.payload import Lens, ShownLogit, attribution_payload
from attnviz.causes.numbers.lens import LogitLens, encoder_lens, logit_lens
from attnviz.causes.numbers.split import SplitModel
from attnviz.causes.pictures.one_token import id_of, name_of
from attnviz.kit.browser_view import with_declaration
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.fields import PageState, Say, choice, declare, flag, text, whole_number
from attnviz.kit.wire import Payload
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace

NONE, RUNNER_UP = "#none", "#runner-up"
LIKELY = 10  # tokens of a row to choose from
_LONG = 48  # tokens: of a longer text a lens tells fewer candidates
_MANY, _FEW = 5, 2
_HEAD = re.compile(r"(encoder_self|decoder_self|cross)\.\d{1,4}\.\d{1,4}")
_WIDE = "decoder: the prediction after each layer"
_ENCODER = "encoder: read through the decoder’s vocabulary"


def _head(asked: str, bound: object, default: str, say: Say) -> str:
    """Read a head's bar; the picture knows whether the model has it."""
    if _HEAD.fullmatch(asked):
        return asked
    say("a head is a kind, a layer and a head, such as cross.1.3", "no head")
    return default


@dataclass(frozen=True)
class AttributeState(PageState):
    """`step` is the row whose logit is taken apart (None: the first), `token` the token (typed, or `#` and an id; "":
    the one that comes out) and `against` another whose logit is taken away. `opened` is the head whose bar is opened,
    `order` how bars stand, `drops` whether the loss without each head stands beside what the head adds.
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
    """The logit that a state asks for. `likely` are ids to choose from, the row's own and the likeliest; `problems` are
    sentences about texts that name no token, in whose place a default stands.
    """

    asked: LogitTarget
    runner_up: int
    likely: tuple[int, ...]
    problems: tuple[str, ...] = ()


def attribution(
    model: Model, trace: Trace, state: AttributeState = _START, *, cached: Cache = make_anew,
    work: Cancellable = TO_THE_END,
) -> Payload:  # fmt: skip
    """Draw the bars of the logit that `state` asks for, every head's bar opened, and the logit lens.

    `work` is told of each pass. Raises ValueError for a model whose logits are no sum, and for a row that the
    trace has not.
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
    # Without both tokens: they are chosen in lists beside the component, which would report older ones.
    view = {"step": asked.row, "opened": state.opened, "order": state.order, "drops": int(state.drops)}
    return with_declaration(attribution_payload(model, shown, view=view), AttributeState)


def rows(trace: Trace) -> list[tuple[int, Token, Token | None]]:
    """List each row's number, the token that goes in, and the one that comes out."""
    sentence = trace.sentences[0]
    if not sentence.tgt:
        return [(row, token, None) for row, token in enumerate(sentence.src)]
    return [(row, *both) for row, both in enumerate(zip(sentence.tgt_in, sentence.tgt_out, strict=True))]


def question(model: Model, trace: Trace, state: AttributeState) -> LogitQuestion:
    """Find the logit that `state` asks for: left open, that of the token that comes out.

    Raises ValueError for a row that the trace has not, and for a trace without logits.
    """
    step, problems = state.step or 0, list[str]()
    logits = LogitTarget(step, 0).require(trace)[0, step].float().cpu()
    best = logits.topk(LIKELY).indices.tolist()
    comes_out = rows(trace)[step][2]
    own = comes_out.id if comes_out is not None and comes_out.id >= 0 else best[0]
    token = _id(model, trace, state.token, problems)
    token = own if token is None else token
    runner_up = next(id_ for id_ in best if id_ != token)
    special = {NONE: None, RUNNER_UP: runner_up}
    against = special[state.against] if state.against in special else _id(model, trace, state.against, problems)
    if against == token:
        problems.append("A token's lead over itself is 0. Choose two different tokens.")
        against = None
    return LogitQuestion(
        LogitTarget(step, token, against), runner_up, tuple(dict.fromkeys([own, token, *best])), tuple(problems)
    )


def site_name(model: Model, asked: LogitTarget) -> str:
    """Say in words which logit is taken apart."""
    return f"logit of {name_of(model, asked.id)} at step {asked.row}"


def _id(model: Model, trace: Trace, asked: str, problems: list[str]) -> int | None:
    try:
        return id_of(model, trace, asked)
    except ValueError as error:
        problems.append(str(error))
        return None


def _lenses(
    model: Model, trace: Trace, split: SplitModel, asked: LogitTarget, cached: Cache, work: Cancellable
) -> list[Lens]:
    """Read the stack that puts tokens out, and an encoder beside a decoder."""
    sentence = trace.sentences[0]
    count = _MANY if max(len(sentence.src), len(sentence.tgt)) <= _LONG else _FEW

    def make() -> tuple[LogitLens, LogitLens | None]:
        beside = encoder_lens(model, trace, split.weight, count=count, work=work) if "cross" in model.kinds else None
        return logit_lens(model, trace, count=count, wanted={asked.row: asked.id}, work=work), beside

    own, beside = cached("lenses", (trace, asked.row, asked.id), make)
    out = sentence.tgt_out if sentence.tgt else sentence.src
    title = _WIDE if "decoder_self" in model.kinds else "the prediction after each layer"
    lenses = [Lens(title, own, out, asked.row)]
    if beside is not None:
        lenses.append(Lens(_ENCODER, beside, sentence.src))
    return lenses
