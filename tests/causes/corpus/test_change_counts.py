"""The effects of interventions over many sentences are the sums of their effects on each."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.analysis.corpus.lines import lines_of
from attnviz.causes.corpus.numbers.change_counts import (
    ChangeCount,
    Interval,
    count_changes,
    draw_sentences,
    interval,
    run_untouched,
)
from attnviz.causes.numbers.findings import count_findings
from tests.causes.corpus.conftest import LINES

DONE = (attnviz.ablate("cross", to="uniform"), attnviz.ablate("encoder_self", layer=0, heads=[1]))


def test_the_count_is_of_every_sentence_by_itself(model) -> None:
    lines = lines_of(LINES)
    found = count_changes(model, run_untouched(model, lines, to="fr"), DONE)
    lost, tokens, differ = [], 0, 0
    for line in lines:
        sentence = model.trace(line.text, to="fr", tgt_text=line.target).sentences[0]
        ids = torch.tensor([[token.id] for token in sentence.tgt_out])
        both = [
            model.trace(line.text, to="fr", tgt_text=line.target, interventions=done).logits[0].log_softmax(dim=-1)
            for done in ((), DONE)
        ]
        before, after = (float(one.gather(1, ids).sum()) for one in both)
        lost.append(after - before)
        tokens += len(ids)
        differ += model.translate(line.text, to="fr") != model.translate(line.text, to="fr", interventions=DONE)
    assert found.sentences == len(lines)
    assert found.less_likely == sum(each < 0 for each in lost)
    assert found.change.value == pytest.approx(sum(lost) / tokens, abs=1e-5)
    assert found.change.low < found.change.value < found.change.high
    assert found.differ is not None
    assert 0 < found.differ <= differ, "a text that comes to no end is cut where its batch is"


def test_no_intervention_counts_no_change(model) -> None:
    found = count_changes(model, run_untouched(model, lines_of(LINES), to="fr"), ())
    assert (found.less_likely, found.differ, found.change) == (0, 0, Interval(0, 0, 0))


def test_a_line_that_cannot_be_read_is_left_out_unless_that_is_all(model) -> None:
    long = "dog " * 400
    found = run_untouched(model, lines_of([LINES[0], long, LINES[1]]), to="fr")
    assert [line.number for line in found.corpus.lines] == [1, 3]
    with pytest.raises(ValueError, match=r"Line 1 .* is too long"):
        run_untouched(model, lines_of([long]), to="fr")


def test_draws_repeat_and_an_interval_holds_most_of_them() -> None:
    assert (draw_sentences(7) == draw_sentences(7)).all()
    assert set(draw_sentences(7).ravel()) == set(range(7))
    assert interval(2.0, np.arange(1001)) == Interval(2.0, 25.0, 975.0)


def test_what_was_counted_is_said_and_a_loss_is_below_zero() -> None:
    said = count_findings(ChangeCount(200, 136, -0.722, Interval(-0.012, -0.018, -0.006), 45))
    assert said[0] == "The model writes a different text for 45 of 200 included sentences."
    assert "−0.722 → −0.734 nats, a change of −0.012 (95 % of draws: −0.018 to −0.006). 136 of 200" in said[1]
    assert len(count_findings(ChangeCount(200, 1, -1.0, Interval(0.0, 0.0, 0.0)))) == 1, "a model that writes nothing"
