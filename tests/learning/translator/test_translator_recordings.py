"""What was seen of a translator's training comes back from its file as it was, and nothing else is taken for it."""

import json
import re
from dataclasses import asdict

import numpy as np
import pytest

import attnviz
from attnviz.text.tokens import Token
from attnviz.toys.packing import changes
from attnviz.toys.translator.recording import (
    TranslatorMoment,
    TranslatorRecording,
    WatchedLine,
    thin_out,
    translator_recording,
)
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import KINDS
from tests.each_case import each_case

LAYERS, HEADS, VOCABULARY = 2, 3, 97
STRANGE = "<b>ﷺ 👩‍👩‍👧‍👦\u2028$x$ ﬀ\u0301 __a__"


def _token(text: str, number: int, *, special: bool = False) -> Token:
    return Token(text, number, 0, 0 if special else len(text), is_special=special, piece=text)


def _line(text: str, src: int, tgt: int) -> WatchedLine:
    """Make a line of one word, said `src` and `tgt` times."""
    end = _token("<eos>", 2, special=True)
    tokens = [(_token(text, 5),) * count for count in (src - 1, tgt - 1)]
    sentence = Sentence((*tokens[0], end), (_token("<bos:fr>", 3, special=True), *tokens[1], end), text, text)
    return WatchedLine("fr", sentence, learned=False)


LINES = (_line("hello", 5, 7), _line(STRANGE, 3, 2))


def _moment(step: int) -> TranslatorMoment:
    random = np.random.default_rng(step)
    maps = tuple(
        {
            kind: random.integers(
                0, 256, (LAYERS, HEADS, len(line.sentence.queries(kind)), len(line.sentence.keys(kind))), np.uint8
            )
            for kind in KINDS
        }
        for line in LINES
    )
    scores = {"chrf.fr": 7.5 + step / 2**10, "bleu.fr": 0.25}
    return TranslatorMoment(step, 4.5 - step / 2**15, scores, maps, (STRANGE, f"after {step}"))


@pytest.fixture(scope="module")
def recording() -> TranslatorRecording:
    return translator_recording(LINES, VOCABULARY, [_moment(step) for step in (0, 1, 70_000)])


def test_a_saved_recording_is_read_back_unchanged(recording, tmp_path):
    attnviz.save(recording, tmp_path / "run.npz")
    back = attnviz.load_recording(tmp_path / "run.npz")
    assert isinstance(back, TranslatorRecording)
    assert (back.lines, back.vocab_size, back.steps, back.wrote) == (LINES, VOCABULARY, (0, 1, 70_000), recording.wrote)
    assert back.answers_at(1) == (STRANGE, "after 1")
    np.testing.assert_array_equal(back.held_out_loss, recording.held_out_loss)
    assert back.scores.keys() == {"chrf.fr", "bleu.fr"}
    np.testing.assert_array_equal(back.scores["chrf.fr"], [7.5, 7.5 + 2**-10, 7.5 + 70_000 * 2**-10])
    for of_line, expected in zip(back.maps, recording.maps, strict=True):
        for kind in KINDS:
            np.testing.assert_array_equal(of_line[kind], expected[kind])


def test_its_moments_are_those_that_it_was_made_of(recording):
    for found, step in zip(recording.moments, recording.steps, strict=True):
        made = _moment(step)
        assert (found.step, found.held_out_loss, found.scores, found.wrote) == (
            made.step, made.held_out_loss, made.scores, made.wrote,
        )  # fmt: skip
        for line, of_line in enumerate(made.maps):
            for kind, maps in of_line.items():
                np.testing.assert_array_equal(found.maps[line][kind], maps)


def test_equal_recordings_are_equal_files(recording, tmp_path):
    for name in ("one.npz", "two.npz"):
        attnviz.save(recording, tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_an_even_guess_is_among_the_whole_vocabulary(recording):
    assert recording.guess == pytest.approx(np.log(VOCABULARY))


def _moment_at(step: int) -> TranslatorMoment:
    return TranslatorMoment(step, 1.0, {}, (), ())


@each_case("most", [2, 3, 8, 60])
def test_thinned_at_every_look_it_keeps_its_ends_and_stays_even(most):
    kept: list[TranslatorMoment] = []
    for step in range(0, 300_001, 1_000):
        kept = thin_out([*kept, _moment_at(step)], most)
        steps = [moment.step for moment in kept]
        assert (steps[0], steps[-1], steps) == (0, step, sorted(set(steps)))
        assert len(steps) <= most
        if len(steps) > 3:
            apart = np.diff(steps)[:-1]  # the last step is wherever the run stands
            assert apart.max() <= 2 * apart.min()
    assert len(kept) == most


def test_thinning_out_keeps_all_of_few_moments():
    kept = [_moment_at(step) for step in (0, 1, 5)]
    assert thin_out(kept, 3) == kept


def test_where_moments_are_as_near_to_each_other_the_beginning_keeps_more():
    assert [moment.step for moment in thin_out([_moment_at(step) for step in range(7)], 6)] == [0, 1, 2, 3, 4, 6]


def meta(recording: TranslatorRecording, **said) -> np.ndarray:
    whole = {"vocab_size": VOCABULARY, "lines": [asdict(line) for line in LINES], "wrote": recording.wrote} | said
    return np.frombuffer(json.dumps({"translator": whole}).encode(), dtype=np.uint8)


def _lines(**said) -> list[dict]:
    """Return the lines as a file has them, the first with other fields."""
    first, *others = [asdict(line) for line in LINES]
    return [first | said, *others]


def _sentence(**said) -> list[dict]:
    return _lines(sentence=asdict(LINES[0].sentence) | said)


def _tokens(**said) -> list[dict]:
    return _sentence(src=[asdict(LINES[0].sentence.src[0]) | said] * 5)


SIZE, CURVES = "its maps are of another size", "its curves are"
WRONG = {
    "another version": ({"format_version": np.array(2)}, "its format_version is 2, this attnviz reads 1"),
    "moments in no order": ({"steps": np.array([0, 5, 5], np.uint32)}, "its moments are not in order"),
    "no moments": ({"steps": np.array([], np.uint32)}, "its moments are not in order"),
    "a shorter curve": ({"held_out_loss": np.zeros(2, np.float32)}, "its curves have the wrong length"),
    "a loss that is none": ({"held_out_loss": np.full(3, np.nan, np.float32)}, f"{CURVES} not numbers"),
    "a score of words": ({"scores.chrf.fr": np.array(["a"] * 3)}, f"{CURVES} not numbers"),
    "a score with markup": ({"scores.<b>": np.zeros(3, np.float32)}, "it scores translations in an unknown way"),
    "no maps of a kind": ({"changes.1.cross": None}, "'changes.1.cross'"),
    "maps of four axes": ({"changes.0.cross": np.zeros((2, 3, 7, 5), np.uint8)}, SIZE),
    "maps of more heads": ({"changes.1.cross": np.zeros((2, 4, 2, 3, 3), np.uint8)}, SIZE),
    "maps of more rows": ({"changes.0.cross": np.zeros((2, 3, 8, 5, 3), np.uint8)}, SIZE),
    "maps in words": ({"changes.0.cross": changes(np.zeros((3, 2, 3, 7, 5), np.uint16))}, SIZE),
    "no heads": ({f"changes.{at}.cross": np.zeros((2, 0, *shape, 3), np.uint8)
                  for at, shape in enumerate([(7, 5), (2, 3)])}, SIZE),
}  # fmt: skip
SAID = {
    "no lines": ({"lines": []}, "it watches 0 lines"),
    "very many lines": ({"lines": _lines() * 9}, "it watches 18 lines"),
    "a vocabulary of texts": ({"vocab_size": "many"}, "it has no valid vocabulary size"),
    "a vocabulary of nothing": ({"vocab_size": 0}, "it has no valid vocabulary size"),
    "a language that is none": ({"lines": _lines(to=7)}, "it watches a line without a language"),
    "numbers for text": ({"lines": _sentence(src_text=7)}, "it watches no sentence"),
    "a sentence in part": ({"lines": _sentence(cut=True)}, "it watches no sentence"),
    "tokens of other things": ({"lines": _tokens(text=[])}, "its sentences hold something other than tokens"),
    "an id that is none": ({"lines": _tokens(id=True)}, "its sentences hold something other than tokens"),
    "tokens with more": ({"lines": _tokens(colour="red")}, "colour"),
    "a token too few": ({"lines": _sentence(src=[])}, SIZE),
    "less writing": ({"wrote": [["a", "b"]]}, "it has the wrong number of lines"),
    "writing of one line": ({"wrote": [["a"]] * 3}, "it has the wrong number of lines"),
    "writing of numbers": ({"wrote": [["a", 1]] * 3}, "it has the wrong number of lines"),
    "nothing": ({"wrote": None}, "not iterable"),
}


@each_case("name", [*WRONG, *SAID])
def test_what_is_none_is_refused_in_one_sentence(name, recording, tmp_path):
    arrays, said = WRONG[name] if name in WRONG else ({"meta": meta(recording, **SAID[name][0])}, SAID[name][1])
    path = tmp_path / "run.npz"
    attnviz.save(recording, path)
    with np.load(path) as file:
        kept = dict(file) | arrays
    np.savez(path, allow_pickle=False, **{key: array for key, array in kept.items() if array is not None})
    with pytest.raises(ValueError, match=rf"^run\.npz is not a recording of attnviz \(.*{re.escape(said)}.*\)\.$"):
        attnviz.load_recording(path)


def test_it_has_no_model_and_says_where_that_is(recording, tmp_path):
    attnviz.save(recording, tmp_path / "run.npz")
    with pytest.raises(ValueError, match=r"^run\.npz is a translator's training, not a toy's. Its model is in the"):
        attnviz.load(tmp_path / "run.npz")
    with pytest.raises(ValueError, match=r"^A model is given by its name, its folder or its hub id, not as Translator"):
        attnviz.load(recording)
