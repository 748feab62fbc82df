"""A translator says what it reads when its own run says that it is lost, and is quiet on ordinary short English."""

import json
import math
from itertools import cycle
from pathlib import Path

import pytest

from attnviz.models import catalogue
from attnviz.models.catalogue import SHIPPED, entries
from attnviz.models.translator.reads import Reads, lost, sureness, unknown, wrote
from attnviz.models.translator.tiny import tiny_translator
from attnviz.training.reads import measured, write
from attnviz.transformer.checkpoint import weights_id

ROOT = Path(__file__).parents[3]
TINY = tiny_translator()
OF_TINY = Reads("short sentences", "x", (3, 8), {"fr": -0.2}, {"fr": -99.0}, 10, 0.1)
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
def shipped():
    """The shipped translator, and what was measured on it."""
    entry = entries()[0]
    reads = Reads.of(entry.reads)
    assert reads is not None
    return catalogue.translator(device="cpu", dtype="float32"), reads


def test_the_shipped_numbers_belong_to_the_shipped_weights() -> None:
    """Where this fails the model was trained on: `python -m attnviz.training --data FOLDER --reads FOLDER` again."""
    for entry in entries():
        reads = Reads.of(entry.reads)
        assert reads is not None, entry.name
        assert reads.weights == weights_id(entry.folder)
        assert set(reads.least) == set(reads.usual) == set(entry.languages)
        assert all(reads.least[to] < reads.usual[to] < 0 for to in entry.languages)
        assert reads.alarms < 0.02


def test_ordinary_short_english_hears_nothing(shipped) -> None:
    model, reads = shipped
    examples = json.loads((ROOT / "assets" / "examples.json").read_text(encoding="utf-8"))
    sentences = list(zip((*examples, *ORDINARY), cycle(model.languages), strict=False))
    alarms = [(text, to) for text, to in sentences if lost(model.trace(text, to=to), reads)]
    assert len(alarms) <= 0.02 * len(sentences), alarms


@pytest.mark.parametrize("to", LOST)
def test_other_languages_a_bare_word_and_sixty_words_are_told(shipped, to: str) -> None:
    model, reads = shipped
    for text in (*LOST[to], *([LONG] if to == "fr" else ())):
        said = lost(model.trace(text, to=to), reads)
        assert said.startswith("This model reads short English sentences and is out of its depth here"), text
        assert said.count("This model reads") == 1


def test_sureness_is_the_mean_log_probability_of_what_was_written() -> None:
    trace = TINY.trace("a big red dog", to="fr", tgt_text="un chien")
    logs = trace.logits[0].log_softmax(dim=-1)
    by_hand = [float(logs[row, token.id]) for row, token in enumerate(trace.sentences[0].tgt_out)]
    assert sureness(trace) == pytest.approx(sum(by_hand) / len(by_hand), abs=1e-6)


def test_a_translation_that_was_cut_is_judged_by_its_tokens() -> None:
    trace = TINY.trace("a big red dog", to="fr", max_tokens=2)
    assert trace.sentences[0].cut
    assert math.isfinite(sureness(trace))
    assert wrote(trace)


def test_a_target_that_somebody_typed_says_nothing_of_the_source() -> None:
    unsure = Reads("short sentences", "x", (1, 99), {"fr": -0.1}, {"fr": 0.0}, 10, 0.1)  # nothing is ever sure enough
    given = TINY.trace("a big red dog", to="fr", tgt_text="un chien un chien")
    assert not wrote(given)
    assert lost(given, unsure) == ""
    own = TINY.trace("a big red dog", to="fr")
    assert "it was unsure: a probability of" in lost(own, unsure)


def test_what_the_model_once_wrote_is_its_own_when_a_link_gives_it_back(shipped) -> None:
    model, reads = shipped
    sentence = "Minä rakastan sinua."  # read again, what it writes is cut into the same pieces
    own = model.trace(sentence, to="fr")
    again = model.trace(sentence, to="fr", tgt_text=own.tgt_text)
    assert wrote(again)
    said = [lost(trace, reads) for trace in (own, again)]
    assert said[0] == said[1] != ""
    assert not wrote(model.trace(sentence, to="fr", tgt_text="Je t'aime."))


def test_too_few_and_too_many_tokens_are_counted() -> None:
    length = len(TINY.trace("a big red dog", to="fr").tokens("src"))
    narrow = Reads("short sentences", "x", (length + 1, length + 2), {}, {}, 10, 0.1)
    assert f"your sentence has {length} tokens; it was trained on" in lost(TINY.trace("a big red dog", to="fr"), narrow)


def test_every_unknown_token_is_named_however_sure_the_model_is(shipped) -> None:
    model, reads = shipped
    trace = model.trace("I love 🍕 and 你好!", to="fr")
    assert lost(trace, reads) == ""  # nothing else would be said
    missing = [token for token in trace.tokens("src") if token.id == model.codec.unk_id]
    assert missing
    start = f"{len(missing)} of {len(trace.tokens('src'))} tokens "
    assert unknown(trace).startswith(start)
    assert "unknown to the model, which reads <unk> instead: 🍕" in unknown(trace)
    assert unknown(model.trace("I love you.", to="fr")) == ""


def test_mostly_unknown_tokens_are_out_of_depth_by_themselves() -> None:
    trace = TINY.trace("☃☃☃", to="fr")
    assert lost(trace, OF_TINY) == "This model reads short sentences and is out of its depth here."


@pytest.mark.parametrize("said", [None, {}, 3, {"tokens": [1]}, {"tokens": "ab"}, {"what": "x", "tokens": [1, 2]}])
def test_a_config_that_says_nothing_of_use_is_no_reads(said) -> None:
    assert Reads.of(said) is None


def test_what_is_measured_goes_into_the_config_and_out_again(tmp_path: Path) -> None:
    pairs = {"fr": [("a big red dog", "x"), ("a dog", "y"), ("a big dog", "z")], "zh": [("a red dog", "x")]}
    found = measured(TINY, pairs, pairs)
    assert found.tokens[0] == len(TINY.codec.encode_source("a dog").ids)
    assert found.sentences == 4
    assert found.usual["fr"] == pytest.approx(
        sorted(sureness(TINY.trace(text, to="fr")) for text, _ in pairs["fr"])[1], abs=1e-3
    )
    (tmp_path / "config.json").write_text(json.dumps({"format_version": 1, "about": {"title": "t"}, "model": {}}))
    write(found, tmp_path)
    content = json.loads((tmp_path / "config.json").read_text())
    assert content["about"]["title"] == "t"
    assert Reads.of(content["about"]["reads"]) == found
    with pytest.raises(ValueError, match="no pairs"):
        measured(TINY, pairs, {"fr": []})


def test_the_shipped_folder_is_the_one_that_is_tested() -> None:
    assert all(entry.folder.parent == SHIPPED for entry in entries())
