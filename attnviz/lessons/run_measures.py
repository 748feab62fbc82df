"""Measures of whole runs for questions: training compared with step-by-step decoding, the prefix experiment of the
source texts, and shipped recordings.
"""

from functools import cache

import numpy as np

from attnviz.decoding.numbers.comparison import Decoded, Decoding, compare
from attnviz.decoding.numbers.prefix_experiment import prefix_experiment
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import Question
from attnviz.models.toy.image_toy import ImageToy
from attnviz.models.translator.faults import Faults
from attnviz.models.translator.stepwise import Plan, steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.toys import shipped
from attnviz.toys.experiment import experiment_named
from attnviz.toys.recording import Recording
from attnviz.toys.storage import toy_recording


def compare_decodings(picture: LinkedPicture, question: Question) -> Decoded:
    """Compare step-by-step decoding with one pass, as the page Decoding does.

    The question's `with` may name a `mask`: "none" or "ahead".
    """
    model, said = picture.model, picture.link.texts
    if not isinstance(model, Translator):
        raise ValueError("This measure works only for a shipped translator. Please link to one.")
    to, src = said.get("to") or model.languages[0], said["src"]
    faults = Faults(mask=(question.more or {}).get("mask", "causal"))  # type: ignore[arg-type]
    ids = tuple(token.id for token in picture.trace.tokens("tgt"))
    plan = Plan(to, cached=False, max_tokens=model.decoding_limit(src), faults=faults)
    how = {"to": to, "faults": faults}
    return compare(
        Decoding(
            model,
            steps(model, src, plan),
            teacher_forced(model, src, ids, **how),
            one_pass=lambda made: lambda probe: teacher_forced(model, src, made.ids, probe=probe, **how),
            pad_id=model.codec.pad_id,
        )
    )


def _difference(picture: LinkedPicture, question: Question) -> float:
    return compare_decodings(picture, question).verdict.largest_place.delta


def _agrees(picture: LinkedPicture, question: Question) -> float:
    return float(compare_decodings(picture, question).verdict.holds)


def _fed_tokens(picture: LinkedPicture, question: Question) -> float:
    return float(len(picture.trace.sentences[0].tgt_in))


def _loss(picture: LinkedPicture, question: Question) -> float:
    return compare_decodings(picture, question).losses.mean


def _probability(picture: LinkedPicture, question: Question) -> float:
    """Return the probability that the model gave to the token it wrote in a row."""
    row = picture.row(question.row)
    assert picture.trace.logits is not None  # a shipped translator's trace has them
    chances = picture.trace.logits[0, row].softmax(dim=-1)
    return float(chances[picture.trace.tokens("tgt")[row + 1].id])


def _prefixes(picture: LinkedPicture, question: Question) -> float:
    """Count the prefixes, among five of growing length, whose earlier rows stay the same when a token is added."""
    causal = (question.more or {}).get("mask", "causal") != "none"
    return float(
        sum(bool(prefix.ours_equal[: len(prefix.ids) - 1].all()) for prefix in prefix_experiment(causal=causal))
    )


@cache
def _recording(name: str) -> Recording:
    path = shipped.path(experiment_named(name))
    if not path.is_file():
        raise ValueError(f"No recording of {name[:60]} comes with the package.")
    return toy_recording(path)


def _score(picture: LinkedPicture, question: Question) -> float:
    said = question.more or {}
    scores = _recording(said["run"]).scores
    if said["score"] not in scores:
        raise ValueError(f"A recording's score is one of {', '.join(scores)}, not “{said['score'][:40]}”.")
    return float(scores[said["score"]])


def _most_confused(picture: LinkedPicture, question: Question) -> float:
    """Return the pair of digits that a run confuses most often, as a number: 38 is a 3 that is read as an 8."""
    counts = _recording((question.more or {})["run"]).confusion
    if counts is None:
        raise ValueError("This measure works only for a run with images, such as digits.")
    wrong = counts[-1].astype(int)
    np.fill_diagonal(wrong, 0)
    return float(wrong.argmax())


def _digit_chances(picture: LinkedPicture, question: Question) -> dict[str, float]:
    """Return the probability of each digit. The question's `with` may name patches to fill with ink: `ink: r1c1
    r2c1`.
    """
    if not isinstance(picture.model, ImageToy):
        raise ValueError("This measure works only for a toy that reads digits. Please link to one.")
    image = picture.trace.sentences[0].images[0]
    pixels, places = image.array.copy(), {token.text: token.place for token in picture.trace.tokens("src")}
    for name in (question.more or {}).get("ink", "").split():
        place = places.get(name)
        if place is None:
            raise ValueError(f"There is no patch “{name[:40]}” to fill with ink; a patch is called r1c1, for example.")
        top, left = place[1] * image.patch[0], place[2] * image.patch[1]
        pixels[top : top + image.patch[0], left : left + image.patch[1]] = 0
    return picture.model.classify(pixels)


def _digit_read(picture: LinkedPicture, question: Question) -> float:
    chances = _digit_chances(picture, question)
    return float(max(chances, key=chances.__getitem__))


def _digit_probability(picture: LinkedPicture, question: Question) -> float:
    return max(_digit_chances(picture, question).values())


MEASURES = {
    "most_confused": ("the digits that a run confuses most: 38 is a 3 read as an 8", ("run",), _most_confused),
    "digit_read": ("the digit that a toy reads in the image", (), _digit_read),
    "digit_probability": ("the probability of the digit that a toy reads in the image", (), _digit_probability),
    "step_difference": ("the largest difference between steps and one pass", (), _difference),
    "steps_agree": ("1 where steps and one pass agree to within rounding", (), _agrees),
    "tokens_fed": ("tokens that go into the decoder in training", (), _fed_tokens),
    "loss": ("the mean loss of the target, in nats", (), _loss),
    "probability": ("the probability of the token that a row puts out", ("row",), _probability),
    "equal_prefixes": ("how many of five prefixes leave all earlier rows unchanged", (), _prefixes),
    "run_score": ("a score of a shipped training run", ("run", "score"), _score),
}
