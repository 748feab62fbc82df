"""A translator says what it reads when its own run says that it is lost, and is quiet on ordinary short English."""

import json
import math
from itertools import cycle
from pathlib import Path

import pytest

from attnviz.models import catalogue
from attnviz.models.catalogue import entries
from attnviz.models.translator.reading_notes import (
    ReadableInputs,
    is_own_translation,
    mean_log_probability,
    out_of_depth_note,
    unknown_tokens_note,
)
from attnviz.models.translator.tiny import tiny_translator
from attnviz.transformer.checkpoint import weights_id
from tests.each_case import each_case

ROOT = Path(__file__).parents[3]
TINY = tiny_translator()
OF_TINY = ReadableInputs("short sentences", "x", (3, 8), {"fr": -0.2}, {"fr": -99.0})
ORDINARY = (
    "How are you?", "Where is the station?", "My father is a doctor.", "It is very cold today.", "Open the window.",
    "She likes to read books.", "We went to the beach on Sunday.", "Can you help me?", "The train was late again.",
    "I don't understand you.", "He works in a big office.", "What is your name?", "They are playing in the garden.",
    "Please close the door.", "This soup is too hot.", "I am learning French.", "Who wrote this letter?", "Go!",
    "The children are asleep.", "Let's have dinner at eight.", "Is this seat free?", "I lost my keys yesterday.",
    "You should see a doctor.", "Everybody was happy to see him.", "My brother is taller than me.", "Why?", "Hello.",
)  # fmt: skip
LOST = {
    "fr": ("Onde fica a estação de trem?", "dog"),
    "de": ("Bugün hava çok güzel.", "أحب هذا الكتاب"),
    "es": ("मुझे यह किताब पसंद है।", "Ich liebe dich."),
    "zh": ("Сегодня хорошая погода.", "Ciao, come stai oggi?"),
}
LONG = " ".join(["The old man walked slowly to the market with his small brown dog, and then"] * 4) + " he came home."


@pytest.fixture(scope="module")
def shipped_model():
    """Provide the shipped translator, and what was measured on it."""
    entry = entries()[0]
    reads = ReadableInputs.from_config(entry.reads)
    assert reads is not None
    return catalogue.translator(device="cpu", dtype="float32"), reads


def test_the_shipped_numbers_belong_to_the_shipped_weights() -> None:
    """Where this fails the model was trained on: `attnviz.training.shipping.readable_inputs` measures it again."""
    for entry in entries():
        reads = ReadableInputs.from_config(entry.reads)
        assert reads is not None, entry.name
        assert reads.weights == weights_id(entry.folder)
        assert set(reads.least) == set(reads.usual) == set(entry.languages)
        assert all(reads.least[to] < reads.usual[to] < 0 for to in entry.languages)


def test_ordinary_short_english_hears_nothing(shipped_model) -> None:
    model, reads = shipped_model
    examples = json.loads((ROOT / "assets" / "examples.json").read_text(encoding="utf-8"))
    sentences = list(zip((*examples, *ORDINARY), cycle(model.languages), strict=False))
    alarms = [(text, to) for text, to in sentences if out_of_depth_note(model.trace(text, to=to), reads)]
    assert len(alarms) <= 0.02 * len(sentences), alarms


@each_case("to", LOST)
def test_other_languages_a_bare_word_and_sixty_words_are_told(shipped_model, to: str) -> None:
    model, reads = shipped_model
    for text in (*LOST[to], *([LONG] if to == "fr" else ())):
        said = out_of_depth_note(model.trace(text, to=to), reads)
        assert said.startswith("This model reads short English sentences and is out of its depth here"), text
        assert said.count("This model reads") == 1


def test_sureness_is_the_mean_log_probability_of_what_was_written() -> None:
    trace = TINY.trace("a big red dog", to="fr", tgt_text="un chien")
    logs = trace.logits[0].log_softmax(dim=-1)
    by_hand = [float(logs[row, token.id]) for row, token in enumerate(trace.sentences[0].tgt_out)]
    assert mean_log_probability(trace) == pytest.approx(sum(by_hand) / len(by_hand), abs=1e-6)


def test_a_translation_that_was_cut_is_judged_by_its_tokens() -> None:
    trace = TINY.trace("a big red dog", to="fr", max_tokens=2)
    assert trace.sentences[0].cut
    assert math.isfinite(mean_log_probability(trace))
    assert is_own_translation(trace)


def test_a_target_that_somebody_typed_says_nothing_of_the_source() -> None:
    unsure = ReadableInputs("short sentences", "x", (1, 99), {"fr": -0.1}, {"fr": 0.0})  # nothing is ever sure enough
    given = TINY.trace("a big red dog", to="fr", tgt_text="un chien un chien")
    assert not is_own_translation(given)
    assert out_of_depth_note(given, unsure) == ""
    own = TINY.trace("a big red dog", to="fr")
    assert "it gave its words a probability of 0." in (said := out_of_depth_note(own, unsure))
    assert "on average; 0.90 is usual" in said  # e to the -0.1


def test_what_the_model_once_wrote_is_its_own_when_a_link_gives_it_back(shipped_model) -> None:
    model, reads = shipped_model
    sentence = "Minä rakastan sinua."  # read again, what it writes is cut into the same pieces
    own = model.trace(sentence, to="fr")
    again = model.trace(sentence, to="fr", tgt_text=own.tgt_text)
    assert is_own_translation(again)
    said = [out_of_depth_note(trace, reads) for trace in (own, again)]
    assert said[0] == said[1] != ""
    assert not is_own_translation(model.trace(sentence, to="fr", tgt_text="Je t'aime."))


def test_too_few_and_too_many_tokens_are_counted() -> None:
    length = len(TINY.trace("a big red dog", to="fr").tokens("src"))
    narrow = ReadableInputs("short sentences", "x", (length + 1, length + 2), {}, {})
    assert f"your sentence has {length} tokens; it was trained on" in out_of_depth_note(
        TINY.trace("a big red dog", to="fr"), narrow
    )


def test_every_unknown_token_is_named_however_sure_the_model_is(shipped_model) -> None:
    model, reads = shipped_model
    trace = model.trace("I love 🍕 and 你好!", to="fr")
    assert out_of_depth_note(trace, reads) == ""  # nothing else would be said
    missing = [token for token in trace.tokens("src") if token.id == model.codec.unk_id]
    assert missing
    start = f"{len(missing)} of {len(trace.tokens('src'))} tokens "
    assert unknown_tokens_note(trace).startswith(start)
    assert "unknown to the model, which reads <unk> instead: 🍕" in unknown_tokens_note(trace)
    assert unknown_tokens_note(model.trace("I love you.", to="fr")) == ""


def test_mostly_unknown_tokens_are_out_of_depth_by_themselves() -> None:
    trace = TINY.trace("☃☃☃", to="fr")
    assert out_of_depth_note(trace, OF_TINY) == "This model reads short sentences and is out of its depth here."


@each_case("said", [None, {}, 3, {"tokens": [1]}, {"tokens": "ab"}, {"what": "x", "tokens": [1, 2]}])
def test_a_malformed_entry_of_a_config_is_passed_over(said) -> None:
    assert ReadableInputs.from_config(said) is None


def test_unknown_texts_of_right_to_left_scripts_keep_their_order(shipped_model) -> None:
    model, _ = shipped_model
    said = unknown_tokens_note(model.trace("I love שלום and مرحبا!", to="fr"))
    named = said.partition("instead: ")[2].removesuffix(", …").split(", ")
    assert len(named) > 1
    assert all(text.startswith("\u2068") and text.endswith("\u2069") for text in named)
