"""Picture of a token's logit: the contribution of each component of the model, and the logit lens after each layer."""

import re
from dataclasses import dataclass
from functools import cache, partial

from attnviz.analysis.attribution import LogitTarget, drops
from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.causes.attribution.attribution import Lens, ShownLogit, attribution_payload
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
LIKELY = 10  # number of tokens to choose from
_LONG = 48  # tokens; for longer texts a lens shows fewer candidates
_MANY, _FEW = 5, 2
_HEAD = re.compile(r"(encoder_self|decoder_self|cross)\.\d{1,4}\.\d{1,4}")
_WIDE = "decoder: the prediction after each layer"
_ENCODER = "encoder: read through the decoder’s vocabulary"


def _head(asked: str, bound: object, default: str, say: Say) -> str:
    """Parse the head whose bar is open. The picture checks whether the model has this head."""
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
        return [(row, token, None) for row, token in enumerate(sentence.src)]
    return [(row, *both) for row, both in enumerate(zip(sentence.tgt_in, sentence.tgt_out, strict=True))]


def question(model: Model, trace: Trace, state: AttributeState) -> LogitQuestion:
    """Find the logit that `state` asks for; by default that of the output token.

    Raise ValueError if the trace has no such row or no logits.
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
    """Return the words that name the explained logit in captions."""
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
    """Compute the logit lens of the stack that outputs tokens, and of the encoder if there is also a decoder."""
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
