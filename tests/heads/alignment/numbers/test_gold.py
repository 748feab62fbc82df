"""Word links made by hand: the shipped tables, how tables are read, and the refusal of a damaged one."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attnviz.heads.alignment.numbers.gold import gold_languages, gold_pairs, read_gold
from attnviz.heads.alignment.numbers.word_alignment import alignment_error, word_links, words_of
from attnviz.models.catalogue import SHIPPED
from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.training.corpus import read_table
from tests.each_case import each_case

LANGUAGES = ("de", "es", "fr", "zh")
PAIRS = Path(__file__).parents[4] / "assets" / "pairs" / "machine-learning.tsv"
HEADER = "en\tfr\tlinks\n"
PLAIN = "The red dog and the cat.\tLe chien rouge et le chat.\t"


@pytest.fixture(scope="module")
def codec():
    (path,) = SHIPPED.glob("*/tokenizer.json")
    return TranslatorTokenizer.load(path)


@pytest.fixture
def trace_of(codec, clean):
    """Make a trace of a pair of sentences as far as words go: its numbers are another's."""

    def trace(pair):
        src, tgt = codec.encode_source(pair.src_text).tokens, codec.encode_target(pair.tgt_text, pair.to).tokens
        return replace(clean, sentences=(Sentence(src, tgt, pair.src_text, pair.tgt_text),))

    return trace


def table(tmp_path, *rows):
    path = tmp_path / "fr.tsv"
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def words(src, tgt):
    """Make a sentence of the words that are given, special tokens around them as the translator has them."""

    def tokens(text, pieces):
        at, found = 0, []
        for piece in pieces:
            at = text.index(piece, at)
            found.append(Token(piece, 5, at, at + len(piece)))
            at += len(piece)
        return (*found, Token("<eos>", 2, at, at, is_special=True))

    first = Token("<bos:fr>", 1, 0, 0, is_special=True)
    (src_text, src_words), (tgt_text, tgt_words) = src, tgt
    return Sentence(tokens(src_text, src_words), (first, *tokens(tgt_text, tgt_words)), src_text, tgt_text)


@pytest.mark.parametrize("to", LANGUAGES)
def test_every_sentence_of_the_pairs_has_its_links_and_every_word_of_a_translation_one(to, trace_of) -> None:
    gold = gold_pairs(to)
    assert [(pair.src_text, pair.tgt_text) for pair in gold] == read_table(PAIRS)[to]
    for pair in gold:
        trace = trace_of(pair)
        links, sentence = pair.links(trace), trace.sentences[0]
        src, tgt = len(words_of(sentence.src)), len(words_of(sentence.tgt))
        assert links.sure <= links.possible
        assert {number for _, number in links.possible} == set(range(tgt)), pair
        assert {number for number, _ in links.sure} <= set(range(src))
        assert alignment_error(links.sure, links.sure, links.possible) == 0
        assert alignment_error(links.possible, links.sure, links.possible) == 0


@pytest.mark.parametrize("to", LANGUAGES)
def test_scores_that_follow_the_links_by_hand_have_no_error(to, trace_of) -> None:
    for pair in gold_pairs(to)[::9]:
        trace = trace_of(pair)
        sentence, links = trace.sentences[0], pair.links(trace)
        src, tgt = words_of(sentence.src), words_of(sentence.tgt)
        chosen = {theirs: ours for ours, theirs in sorted(links.possible)}
        scores = torch.zeros(len(sentence.tgt_in), len(sentence.src))
        for theirs, ours in chosen.items():
            for token in tgt[theirs]:
                scores[token - 1, list(src[ours])] = 1.0
        found = word_links(scores, trace)
        assert found == {(ours, theirs) for theirs, ours in chosen.items()}
        assert found <= links.possible


def test_a_language_without_a_table_is_told() -> None:
    assert gold_languages() == LANGUAGES
    with pytest.raises(ValueError, match=r"no word alignments for 'it'\. They exist for de, es, fr, zh"):
        gold_pairs("it")
    with pytest.raises(ValueError, match="no word alignments"):
        gold_pairs("../pairs/machine-learning")


def test_links_are_of_words_whatever_their_tokens_are(tmp_path, clean) -> None:
    path = table(tmp_path, "I don't see the one.\tJe ne le vois pas.\tI=Je don't=pas don't~ne see=vois the_one~le .=.")
    (pair,) = read_gold(path)
    target = (pair.tgt_text, ["Je", "ne", "le", "vois", "pas", "."])
    whole = words((pair.src_text, ["I", "don't", "see", "the", "one", "."]), target)
    links = pair.links(replace(clean, sentences=(whole,)))
    assert links.sure == {(0, 0), (1, 4), (2, 3), (5, 5)}
    assert links.possible - links.sure == {(1, 1), (3, 2), (4, 2)}
    apart = words((pair.src_text, ["I", "do", "n't", "see", "the", "one", "."]), target)
    links = pair.links(replace(clean, sentences=(apart,)))
    assert links.sure == {(0, 0), (1, 4), (2, 4), (3, 3), (6, 5)}  # both parts of don't


def test_a_word_that_is_there_twice_is_told_apart_by_its_number(tmp_path, clean) -> None:
    row = PLAIN + "The=Le red=rouge dog=chien and=et the=le cat=chat The_red~chien+chat .=."
    twice = "A cat, a cat.\tUn chat, un chat.\tcat#2=chat#1"
    first, second = read_gold(table(tmp_path, row, twice))
    sentence = words(
        (first.src_text, ["The", "red", "dog", "and", "the", "cat", "."]),
        (first.tgt_text, ["Le", "chien", "rouge", "et", "le", "chat", "."]),
    )
    links = first.links(replace(clean, sentences=(sentence,)))
    assert links.possible - links.sure == {(0, 1), (1, 5), (0, 5)} | {(1, 1)}  # and not the `the` of `the cat`
    sentence = words(
        (second.src_text, ["A", "cat", ",", "a", "cat", "."]), (second.tgt_text, ["Un", "chat", ",", "un", "chat", "."])
    )
    assert second.links(replace(clean, sentences=(sentence,))).sure == {(4, 1)}


def test_a_trace_of_other_sentences_has_no_links(clean) -> None:
    with pytest.raises(ValueError, match=r"The trace is not of 'Machine learning is useful\.'"):
        gold_pairs("fr")[0].links(clean)


@each_case(
    ("row", "reason"),
    [
        ("The dog.\tLe chien.", "expected a sentence, its translation and links"),
        (PLAIN + "dog", "'dog' is not a link"),
        (PLAIN + "dog=chien=rouge", "'dog=chien=rouge' is not a link"),
        (PLAIN + "dog=", "'dog=' is not a link"),
        (PLAIN + "dog=chien+", "'' is neither a word"),
        (PLAIN + "dog#0=chien", "'dog#0' is neither a word nor a word with its number"),
        (PLAIN + "dog=chat+souris", "'souris' is not a word of 'Le chien rouge et le chat.'"),
        (PLAIN + "do=chien", "'do' is not a word of"),
        (PLAIN + "dog#2=chien", "'dog' is not 2 times in"),
        ("A cat, a cat.\tUn chat.\tcat=chat", "'cat' is 2 times in 'A cat, a cat.': write cat#1 for the first"),
        (PLAIN + "dog=chien dog~chien", "'dog~chien': these words are linked already"),
        (PLAIN + "dog~chien", "there is no sure link"),
        ("The cat.\tLe chat.\tcat=chat", "this pair has a line already"),
    ],
)
def test_a_damaged_row_is_told_by_its_number(tmp_path, row, reason) -> None:
    path = table(tmp_path, "The cat.\tLe chat.\tcat=chat", row)
    with pytest.raises(ValueError, match=r"^fr\.tsv, line 3: ") as told:
        read_gold(path)
    assert reason in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_no_table_is_told(tmp_path) -> None:
    path = tmp_path / "fr.tsv"
    path.write_text("The cat.\tLe chat.\tcat=chat\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"fr\.tsv, line 1: the columns must be en"):
        read_gold(path)
    path.write_bytes(b"en\tfr\tlinks\n\xff\n")
    with pytest.raises(ValueError, match=r"fr\.tsv is not UTF-8 text"):
        read_gold(path)
