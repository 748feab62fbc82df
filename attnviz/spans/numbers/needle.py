"""Needle in a haystack: from which of twelve sentences does the answer come, by ablation and by attention?

One sentence of a prompt contains the answer to a question. The experiment puts this sentence at each of twelve
positions, hides each sentence in turn, and compares the log-probability that the answer loses with the attention that
each sentence gets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.models.chat import can_chat
from attnviz.models.protocol import Model
from attnviz.spans.numbers.hidden import HiddenFrom, hide_spans
from attnviz.text.tokens import Span, Token
from attnviz.tracing.trace import Trace

SENTENCES = (
    "The market opens early on Saturday.", "Rain is expected in the afternoon.", "Two boats came back to the harbour.",
    "The library has a new reading room.", "A baker sells bread at the corner.", "The old bridge was painted green.",
    "Children play football behind the school.", "The museum shows paintings of the sea.",
    "A train leaves for the coast every hour.", "The garden is full of roses.", "Music was heard until midnight.",
)  # fmt: skip


@dataclass(frozen=True)
class Needle:
    """A sentence, a question that the sentence answers, and the answer: its opening words `lead`, and its
    `value`, whose probability is measured.
    """

    sentence: str
    question: str
    lead: str
    value: str


NEEDLES = (
    Needle("The code of the safe is 4183.", "What is the code of the safe?", "The code of the safe is ", "4183"),
    Needle("The captain's dog is called Biscuit.", "What is the captain's dog called?", "The captain's dog is called ",
           "Biscuit"),
    Needle("Marta hid the key under the piano.", "Where did Marta hide the key?", "Marta hid the key under the ",
           "piano"),
)  # fmt: skip


@dataclass(frozen=True)
class NeedleCount:
    """Result of the needle experiment.

    `table` has one row per needle and position: whether the model writes the value (`says`), whether hiding the needle
    costs the answer most (`hurts_most`), whether the needle gets most attention (`attended_most`), the difference in
    nats, and the needle's share of attention.
    """

    table: pd.DataFrame

    def counts(self) -> dict[str, int]:
        """Return the number of prompts, and in how many each finding is true."""
        found = {name: sum(self.table[name].tolist()) for name in ("says", "hurts_most", "attended_most")}
        return {"of": len(self.table), **found}

    def sentence(self) -> str:
        """Return two sentences with the counts: for how many prompts the model answers, and what hiding and attention
        tell.
        """
        return (
            "Of {of} prompts, the model writes the right answer in {says}. For {hurts_most} prompts, "
            "hiding the sentence with the answer lowers the log-probability of the answer most. For "
            "{attended_most} prompts, this sentence gets the most attention."
        ).format(**self.counts())


def count_needles(
    model: Model, needles: Sequence[Needle] = NEEDLES[:1], others: Sequence[str] = SENTENCES, *,
    places: Sequence[int] | None = None, hidden_from: HiddenFrom = "all later rows", work: Cancellable = TO_THE_END,
) -> NeedleCount:  # fmt: skip
    """Put each needle at each of the `places` among the other sentences, by default at every place, and count.

    By default, a sentence is hidden from all rows after it. If it were hidden from the answer's rows only, the rows of
    the question could already have read it. `work` receives the progress in passes of the model, and may stop between
    two prompts. Raise ValueError for a model that is not a decoder that writes text.
    """
    if not getattr(model.inputs, "is_prompt", False) or not getattr(model, "writes", True):
        raise ValueError(f"{model.name} cannot answer a prompt. Use a decoder that writes text.")
    places = range(len(others) + 1) if places is None else places
    cases = [(needle, place) for needle in needles for place in places]
    each = len(others) + 2  # passes per prompt: unchanged, and with each sentence hidden
    lines, total = [], len(cases) * each
    work.tell(0, total)
    for number, (needle, place) in enumerate(cases):
        if work.should_stop():
            break
        part = work.part(number * each + 1, total, (needle.value, place))
        lines.append(part.keep("line", partial(_line, model, needle, others, place, hidden_from, part)))
        work.tell((number + 1) * each, total)
    columns = ["needle", "place", "says", "hurts_most", "attended_most", "difference", "share"]
    return NeedleCount(pd.DataFrame(lines, columns=columns))


def trace_needle(model: Model, needle: Needle, others: Sequence[str], place: int) -> tuple[Trace, Span, list[Span]]:
    """Trace a prompt with the needle at a position, followed by the answer.

    Return the trace, the span of the answer's value, and the span of each sentence.
    """
    sentences = [*others[:place], needle.sentence, *others[place:]]
    passage, answer = " ".join(sentences), needle.lead + needle.value
    given: dict[str, Any]
    if can_chat(model):
        asked = {"role": "user", "content": f"{passage} {needle.question}"}
        given = {"messages": [asked, {"role": "assistant", "content": answer}]}
    else:
        given = {"text": f"{passage}\nQuestion: {needle.question}\nAnswer: {answer}"}
    trace = model.trace(**given, new_tokens=0)  # type: ignore[call-arg]  # decoders take `new_tokens`
    text, tokens = trace.sentences[0].tgt_text, trace.sentences[0].tgt
    begin = text.index(passage)
    spans = list(_sentence_spans(tokens, sentences, begin))
    at = text.rindex(needle.value)
    return trace, span_of_characters("answer", tokens, at, at + len(needle.value)), spans


def _sentence_spans(tokens: Sequence[Token], sentences: Sequence[str], begin: int) -> Iterator[Span]:
    for number, sentence in enumerate(sentences, start=1):
        yield span_of_characters(f"sentence {number}", tokens, begin, begin + len(sentence))
        begin += len(sentence) + 1


def span_of_characters(name: str, tokens: Sequence[Token], start: int, end: int) -> Span:
    """Return the span of the tokens that overlap the characters `start` to `end`.

    Raise ValueError if there are none.
    """
    inside = [at for at, each in enumerate(tokens) if each.start < end and each.end > start and each.end > each.start]
    if not inside:
        raise ValueError(f"No token of the text is in the {name}.")
    return Span(name, inside[0], inside[-1] + 1)


def _line(
    model: Model, needle: Needle, others: Sequence[str], place: int, hidden_from: HiddenFrom, work: Cancellable
) -> tuple:
    trace, answer, spans = trace_needle(model, needle, others, place)
    table = hide_spans(model, trace, answer, spans, hidden_from=hidden_from, work=work)
    assert trace.logits is not None  # checked by `hide_spans`
    chosen = trace.logits[0, answer.start - 1 : answer.end - 1].argmax(dim=-1).tolist()
    says = chosen == [token.id for token in trace.sentences[0].tgt[answer.start : answer.end]]
    lost, shares = table["difference"].tolist(), table["share"].tolist()
    hurts, attended = lost[place] == min(lost), shares[place] == max(shares)
    return needle.value, place + 1, says, hurts, attended, lost[place], shares[place]
