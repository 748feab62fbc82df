"""The model card by hand: scores, sentences, a reader's marks."""

import pytest

from attnviz.training.card import Demo, TrainedModel, card, read_marks
from attnviz.training.evaluation import Score
from attnviz.training.recipe import Recipe


def _text(wrong, translation="Un | deux") -> str:
    model = TrainedModel("m", 8_600_000, Recipe(), 16_000, 59_000_000, {"fr": 10, "zh": 5})
    scores = {"fr": Score(46.04, 62.0, 1721, 49.96, 66.0, 1209), "zh": Score(35.0, 30.0, 342, 36.0, 31.0, 323)}
    demo = Demo(("One.", "Two."), {"fr": [translation, "Deux."], "zh": ["一。", "二。"]}, wrong)
    return card(model, scores, [demo])


def test_the_card_lists_a_readers_judgements():
    text = _text({"fr": {"Two.": "gender"}})
    assert "8.6 million parameters" in text
    assert "| French | 46.0 | 62.0 | 1,721 | 50.0 | 66.0 | 1,209 |" in text
    assert "| 1 | One. | Un \\| deux |  |" in text
    assert "| 2 | Two. | Deux. | ✗ gender |" in text
    assert "French: 1 of 2 right; Chinese: not yet judged by a reader." in text


def test_each_set_of_sentences_has_a_section_and_a_count_of_its_own():
    demos = [
        Demo(("One.",), {"fr": ["Un."]}, {"fr": {}}, "demo"),
        Demo(("Two.", "Three."), {"fr": ["Deux.", "Quatre."]}, {"fr": {"Three.": "four"}}, "held out"),
    ]
    text = card(TrainedModel("m", 1, Recipe(), 1, 1, {"fr": 1, "zh": 1}), {}, demos)
    first, second = text.split("## Sentences: ")[1:]
    assert first.startswith(
        "demo\n\nGreedy translations; ✗ marks those that a reader called wrong. French: 1 of 1 right."
    )
    assert "French: 1 of 2 right." in second
    assert "| 2 | Three. | Quatre. | ✗ four |" in second


@pytest.mark.parametrize("content", ["[]", '{"fr": ["One."]}', '{"fr": {"Three.": "why"}}', "{"])
def test_marks_that_do_not_fit_are_refused(tmp_path, content):
    (tmp_path / "marks.json").write_text(content)
    with pytest.raises(ValueError, match=r"marks\.json|Expecting"):
        read_marks(tmp_path / "marks.json", ("One.", "Two."))
