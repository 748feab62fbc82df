"""Tasks of toys: the taught answers are right, and the scored lines were never trained on."""

from itertools import permutations, product
from math import log
from random import Random

import pytest

from attnviz.text.limits import TextError
from attnviz.toys.tasks.catalogue import TASKS, floor, task
from attnviz.toys.tasks.task import Example, distinct
from attnviz.toys.words import ToyWords
from tests.each_case import each_case

FRENCH = TASKS["french"]


def french(sentence: str) -> str:
    return " ".join(FRENCH.answer(tuple(sentence.split())) or ())


def test_french_has_the_words_and_sentences_that_its_title_counts():
    assert len(FRENCH.words) == len(set(FRENCH.words)) == 83
    assert FRENCH.n_sentences == 338_688


@each_case(
    ("english", "expected"),
    [
        ("the black dogs see my small car", "les chiens noirs voient ma petite voiture"),
        ("your old horses follow the white cow", "tes vieux chevaux suivent la vache blanche"),
        ("my house loves your red frogs", "ma maison aime tes grenouilles rouges"),
        ("the old boy sees the old house", "le vieux garçon voit la vieille maison"),
    ],
)
def test_french_agrees_in_gender_and_number_and_moves_its_adjectives(english, expected):
    assert french(english) == expected


@each_case("wrong", ["the dog see my car", "dog sees car", "the dog sees", "", "the car car sees my dog"])
def test_what_is_no_sentence_has_no_translation(wrong):
    assert FRENCH.answer(tuple(wrong.split())) is None


def test_a_french_sentence_is_told_from_one_that_agrees_wrongly():
    random = Random(5)
    assert all(FRENCH.is_grammatical(FRENCH.answer(FRENCH.draw(random))) for _ in range(500))
    for wrong in ("les chien voit la vache", "le chien voient la vache", "le vache voit la vache", "le chien", ""):
        assert not FRENCH.is_grammatical(tuple(wrong.split()))


def test_words_stand_where_their_words_stood():
    example = FRENCH.example(Random(2), held_out=False)
    pairs = dict(FRENCH.aligned_places(example))
    assert sorted(pairs) == sorted(pairs.values()) == list(range(len(example.tgt)))
    src = tuple(FRENCH.sample.split())  # the black dogs see my small car
    placed = FRENCH.aligned_places(Example(src, FRENCH.answer(src)))
    assert placed == {(0, 0), (1, 2), (2, 1), (3, 3), (4, 4), (5, 5), (6, 6)}


def test_letters_and_sums_are_what_python_makes_of_them():
    random = Random(3)
    for _ in range(200):
        letters = TASKS["reverse"].draw(random)
        assert TASKS["reverse"].answer(letters) == tuple(reversed(letters))
        letters = TASKS["sort"].draw(random)
        assert list(TASKS["sort"].answer(letters)) == sorted(letters)
        digits = TASKS["add"].draw(random)
        assert int("".join(reversed(TASKS["add"].answer(digits)))) == sum(map(int, "".join(digits).split("+")))


def test_a_line_said_twice_goes_round_in_a_circle():
    twice, random = TASKS["twice"], Random(4)
    for _ in range(200):
        given = twice.draw(random)
        line, rest = given[:12], (given[12], *(twice.answer(given) or ()))
        assert sorted(line) == sorted(rest)
        assert "".join(rest) in "".join(line) * 2


def test_the_floor_is_the_entropy_of_all_lines_there_are():
    letters, length = "abcd", 3
    lines = {line + line[at:] + line[:at] for line in permutations(letters, length) for at in range(length)}
    assert floor(len(letters), length) == pytest.approx(log(len(lines)) / (2 * length))


def test_the_floor_of_twice_is_the_one_that_is_drawn():
    assert TASKS["twice"].loss_floor() == pytest.approx(1.6065, abs=1e-4)
    assert TASKS["reverse"].loss_floor() is None


def test_the_loss_floor_counts_what_identifies_a_memorised_line():
    """A causal toy of 30 pairs ends at 0.1430 nats a letter; the floor of all lines would make it look like a cheat."""
    assert TASKS["twice"].loss_floor(30) == pytest.approx(0.1417, abs=1e-4)


@each_case("name", list(TASKS))
def test_a_held_out_line_is_never_drawn_for_training(name):
    about, random = task(name), Random(6)
    seen = {about.example(random, held_out=False).src for _ in range(3_000)}
    held_out = {example.src for example in distinct(about, random, 128, held_out=True)}
    assert not seen & held_out
    assert all(about.is_held_out(src) for src in held_out)


@each_case("name", list(TASKS))
def test_as_many_lines_are_held_out_as_the_task_says_and_none_by_a_rule_that_can_be_learned(name):
    about, random = task(name), Random(7)
    drawn = [about.draw(random) for _ in range(4_000)]
    assert sum(map(about.is_held_out, drawn)) / len(drawn) == pytest.approx(about.held_out, abs=0.03)
    last = {src[-1:] if not about.is_image else about.answer(src) for src in drawn if about.is_held_out(src)}
    assert last == {src[-1:] if not about.is_image else about.answer(src) for src in drawn}


def test_a_sum_is_held_out_whichever_number_comes_first():
    add = TASKS["add"]
    for a, b in product(range(10, 30), range(40, 60)):
        assert add.is_held_out(tuple(f"{a}+{b}")) == add.is_held_out(tuple(f"{b}+{a}"))


def test_another_task_is_named_in_a_sentence():
    with pytest.raises(
        ValueError, match=r"^There is no task 'german'. The tasks are french, reverse, sort, twice, add, digits\.$"
    ):
        task("german")


def test_tokens_stand_where_they_were_typed():
    words = ToyWords(TASKS["add"])
    tokens, _ = words.read(" 47 + 85")
    assert [token.text for token in tokens] == ["4", "7", "+", "8", "5"]
    assert all(" 47 + 85"[token.start : token.end] == token.text for token in tokens)


@each_case("typed", ["the zebra sees", "le <pad>", "<bos>", "\u200b", "\ud800", "dog\x00"])
def test_a_word_that_a_toy_does_not_know_is_named(typed):
    with pytest.raises(TextError, match=r"This toy does not know the word .*\. It knows 83 words"):
        ToyWords(FRENCH).read(typed)


def test_a_line_beyond_all_bounds_is_cut_and_says_so():
    tokens, notes = ToyWords(TASKS["reverse"]).read("ab" * 50_000)
    assert len(tokens) == 64
    assert notes == (
        "Only the first 2,000 of 100,000 characters were read.",
        "Only the first 64 of 2000 words were kept.",
    )
