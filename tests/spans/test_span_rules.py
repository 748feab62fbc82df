"""Spans of a text by rule and by hand, and the text that an address has of them."""

import pytest

from attnviz.spans.span_rules import (
    MOST_SPANS,
    RULES,
    SpannedText,
    cut_passages,
    cut_sentences,
    default_rule,
    missing_reason,
    read_answer,
    read_spans,
    spans_by_rule,
    write_spans,
)
from attnviz.text.limits import TextError
from attnviz.text.tokens import Span, Token
from tests.each_case import each_case

PASSAGES = "Read these.\n[1] The sky is blue. It is wide.\n[2] Grass is green.\n[3] Fire is red.\nWhat colour is grass?"
STRANGE = [
    "", " ", "\n\n\n", "。。。", "...", "\ud800\udfff", "a\u0000b", "🙂🙂 🇫🇷. שלום! ", "1. 2. 3. 4.", "[1][2][3]",
    "<doc>", "." * 3000, "\u202eabc\u202c. def", "e\u0301. \u200d!",
]  # fmt: skip


def spanned(text: str, turns: tuple[Span, ...] = (), size: int = 3, written: int = 0) -> SpannedText:
    """Cut a text into tokens of `size` characters after a special one; the last `written` are the model's."""
    cuts = [(at, min(at + size, len(text))) for at in range(0, len(text), size)]
    pieces = [Token(text[a:b], n, a, b, segment=int(n >= len(cuts) - written)) for n, (a, b) in enumerate(cuts)]
    return SpannedText.of((Token("<bos>", 99, 0, 0, is_special=True), *pieces), text, turns)


def texts_of(spans: tuple[Span, ...], of: SpannedText) -> dict[str, str]:
    return {span.name: "".join(token.text for token in of.tokens[span.start : span.end]) for span in spans}


@each_case("text", STRANGE)
@each_case("size", [1, 2, 7])
def test_whatever_the_text_spans_hold_tokens_and_do_not_overlap(text, size) -> None:
    of = spanned(text, size=size)
    for rule in RULES:
        if why := missing_reason(rule, of):
            assert why.endswith(".")
            assert "\n" not in why
            continue
        found = spans_by_rule(rule, of)
        assert read_spans(write_spans(found), of) == found, "what is written is read again"
        held = [at for span in found for at in range(span.start, span.end)]
        assert held == sorted(set(held))
        assert rule == "roles" or 0 not in held, "a special token is in no piece of the text"


def test_sentences_end_where_a_reader_ends_them() -> None:
    text = "A cat sat. Dr. Smith came! 3.5 is a number. 猫坐着。狗跑了！\nok"
    pieces = [text[cut.start : cut.end] for cut in cut_sentences(text)]
    assert pieces == ["A cat sat. ", "Dr. Smith came! ", "3.5 is a number. ", "猫坐着。", "狗跑了！\n", "ok"]


@each_case(
    ("text", "expected"),
    [
        (PASSAGES, ["[1] The sky is blue. It is wide.\n", "[2] Grass is green.\n", "[3] Fire is red.\n"]),
        ("1. The cat. 2. The dog. Who ran?", ["1. The cat. ", "2. The dog. "]),
        ("Passage 1: a b.\n\nPassage 2: b a.\nmore.\n\nwhy?", ["Passage 1: a b.\n\n", "Passage 2: b a.\nmore.\n\n"]),
        ("<doc id=1>a</doc>\n<doc>b</doc> why?", ["<doc id=1>a</doc>", "<doc>b</doc>"]),
        ("[1] A cat sat. He slept. [2] A dog ran. Question: who?", ["[1] A cat sat. He slept. ", "[2] A dog ran. "]),
        ("In 1990. Then [7] and 12. more", []),
    ],
)
def test_passages_are_found_between_their_markers(text, expected) -> None:
    assert [text[cut.start : cut.end] for cut in cut_passages(text)] == expected


def test_what_stands_around_passages_has_spans_of_its_own() -> None:
    of = spanned(PASSAGES, size=1)
    found = texts_of(spans_by_rule("passages", of), of)
    assert list(found) == ["text", "passage 1", "passage 2", "passage 3", "question"]
    assert found["passage 2"] == "[2] Grass is green.\n"
    assert "".join(found.values()) == PASSAGES


def test_in_a_conversation_spans_lie_within_turns_and_have_their_roles() -> None:
    of = spanned("A cat. A dog. Fine.", (Span("user", 1, 6, "user"), Span("assistant", 6, 8, "assistant")))
    assert default_rule(of) == "roles"
    assert spans_by_rule("roles", of) == of.turns
    cut = spans_by_rule("sentences", of)
    assert [(span.name, span.role) for span in cut] == [
        ("user, sentence 1", "user"), ("user, sentence 2", "user"), ("assistant", "assistant"),
    ]  # fmt: skip
    assert read_spans("x=2-4;y=5-7", of) == (Span("x", 2, 4, "user"), Span("y", 5, 7))
    assert read_answer("", of) == Span("answer", 6, 8, "assistant")


def test_a_plain_text_has_its_sentences_and_what_was_written() -> None:
    of = spanned("A cat. A dog. Fine", written=2)
    assert default_rule(of) == "sentences"
    assert [span.name for span in read_spans("", of)] == ["sentence 1", "sentence 2", "written"]
    assert [span.name for span in read_spans("rule:roles", of)] == ["prompt", "written"]
    assert read_answer("", of) == Span("answer", 5, 7)
    assert read_answer("", spanned("A cat.")) == Span("answer", 2, 3), "the last token"
    assert read_answer("3-5", of) == Span("answer", 3, 5)


def test_tokens_that_do_not_say_where_they_stand_are_joined() -> None:
    of = SpannedText.of([Token(text, 0, 0, 0) for text in ("a", "b.", " c")], "")
    assert of.text == "ab. c"
    assert [span.start for span in spans_by_rule("sentences", of)] == [0, 2]


def test_any_name_is_written_and_read_again() -> None:
    of = spanned("A cat. A dog.")
    for name in ("a=b;c", "猫 🙂", "100%", "%41", "a\u202eb"):
        (found,) = read_spans(write_spans([Span(name, 1, 3)]), of)
        assert found == Span(name, 1, 3)
    assert read_spans(f"{'x' * 90}=1-3", of)[0].name == "x" * 60
    assert read_spans(write_spans([Span("\ud800", 1, 3)]), of)[0].name == "\ufffd"


@each_case(
    ("written", "says"),
    [
        ("a=2-2", "The span “a” holds no token"),
        ("a=3-2", "The span “a” holds no token"),
        ("a=1-3;b=2-4", "share tokens"),
        ("a=1-3;a=3-4", "Two spans are named “a”"),
        ("a=1-99", "ends at token 99; the text has 6"),
        ("a=1", "is not a span. Please write name=start-end"),
        ("=1-2", "is not a span"),
        ("%0A=1-2", "is not a span"),
        ("a=-1-2", "is not a span"),
        ("a=١-٢", "is not a span"),
        ("rule:verbs", "There is no rule called “verbs”. Please choose one of roles, sentences, passages."),
        ("rule:passages", "This text has no numbered passages"),
        (";".join(f"{n}=0-1" for n in range(MOST_SPANS + 1)), "At most 100 spans"),
        ("\ud800", "is not a span"),
    ],
)
def test_a_text_that_names_no_spans_is_refused_in_one_sentence(written, says) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the sentence is compared below
        read_spans(written, spanned("A cat. A dog."))
    assert says in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


@each_case("written", ["0-2", "5", "x", "3-3", "2-99", "1-2-3"])
def test_a_range_that_is_no_answer_is_refused(written) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        read_answer(written, spanned("A cat. A dog."))
    with pytest.raises(ValueError, match="only one token"):
        read_answer("", spanned(""))
    assert issubclass(TextError, ValueError)


def test_too_many_sentences_are_said_and_the_parts_are_usual() -> None:
    of = spanned("aa. " * (MOST_SPANS + 1))
    with pytest.raises(ValueError, match="This text has 101 sentences; at most 100 spans are shown"):
        spans_by_rule("sentences", of)
    assert default_rule(of) == "roles"


def test_tokens_that_run_backwards_make_no_two_spans_overlap() -> None:
    text, places = "Cat. Dog. Elk", ((0, 3), (5, 8), (3, 4), (10, 13))
    of = SpannedText.of([Token(text[start:end], start, start, end) for start, end in places], text)
    found = spans_by_rule("sentences", of)
    assert [(span.start, span.end) for span in found] == [(0, 1), (1, 3), (3, 4)]
