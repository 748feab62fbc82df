"""The loss of each position is PyTorch's cross-entropy, and padding has no part in it."""

import pandas as pd
import pytest
import torch
import torch.nn.functional as F

from attnviz.decoding.numbers.comparison import LossTable, loss_table, token_losses
from attnviz.models.translator.stepwise import teacher_forced
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case


@pytest.fixture(scope="module")
def model():
    return tiny_translator(seed=2)


@pytest.fixture(scope="module")
def ids(model) -> tuple[int, ...]:
    return model.codec.encode_target("un chien rouge", "fr").ids


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.37])
def test_losses_are_cross_entropy(smoothing: float) -> None:
    logits, labels = 3 * torch.randn(7, 11), torch.randint(11, (7,))
    expected = F.cross_entropy(logits, labels, reduction="none", label_smoothing=smoothing)
    torch.testing.assert_close(token_losses(logits, labels, smoothing), expected)


@each_case("smoothing", [0.0, 0.1])
@each_case("padding", [0, 3])
def test_the_mean_is_cross_entropy_without_padding(model, ids, smoothing: float, padding: int) -> None:
    whole = teacher_forced(model, "A red dog", ids, to="fr", padding=padding)
    table = loss_table(whole, pad_id=model.codec.pad_id, smoothing=smoothing)
    labels = torch.tensor([token.id for token in whole.tokens("tgt")[1:]])
    expected = F.cross_entropy(whole.logits[0], labels, ignore_index=model.codec.pad_id, label_smoothing=smoothing)
    assert table.mean == pytest.approx(float(expected), rel=1e-6)


def test_padding_is_not_counted_and_changes_nothing_else(model, ids) -> None:
    plain, padded = (
        loss_table(teacher_forced(model, "A red dog", ids, to="fr", padding=padding), pad_id=model.codec.pad_id)
        for padding in (0, 2)
    )
    assert len(padded.rows) == len(plain.rows) + 2
    assert not padded.rows["counted"].iloc[-2:].any()
    assert padded.rows["loss"].iloc[-2:].isna().all()
    assert padded.rows["loss"].iloc[:-2].tolist() == pytest.approx(plain.rows["loss"].tolist(), rel=1e-5)
    assert padded.n_tokens == plain.n_tokens == len(ids)


def test_inputs_and_labels_are_one_apart(model, ids) -> None:
    rows = loss_table(teacher_forced(model, "A red dog", ids, to="fr"), pad_id=model.codec.pad_id).rows
    assert rows["input"].iloc[0] == "<bos:fr>"
    assert rows["label"].iloc[-1] == "<eos>"
    assert rows["input"].tolist()[1:] == rows["label"].tolist()[:-1]


def test_the_counts_say_what_is_never_a_label_and_never_an_input(model) -> None:
    ids = model.codec.encode_target("我爱你你你", "zh").ids
    plain, padded = (
        loss_table(teacher_forced(model, "I love you", ids, to="zh", padding=padding), pad_id=model.codec.pad_id).counts
        for padding in (0, 2)
    )
    assert plain == "7 tokens in the target: 6 go in, 6 come out; <bos:zh> is never a label, <eos> never an input."
    assert "its label is <pad>, which does not count" in padded


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_a_smoothing_that_cannot_be_is_refused(model, ids, smoothing: float) -> None:
    with pytest.raises(ValueError, match="Label smoothing must be"):
        loss_table(teacher_forced(model, "dog", ids, to="fr"), pad_id=0, smoothing=smoothing)


def test_a_word_that_comes_again_is_not_said_never_to_be_a_label() -> None:
    table = LossTable(pd.DataFrame({"input": ["the", "cat", "saw"], "label": ["cat", "saw", "the"]}), 1.0, 4, 0.0)
    assert "the first the is never a label, the last one never an input" in table.counts
    table = LossTable(pd.DataFrame({"input": ["a", "b", "b"], "label": ["b", "b", "a"]}), 1.0, 4, 0.0)
    assert "the first a is never a label" in table.counts
    table = LossTable(pd.DataFrame({"input": ["x", "b", "a"], "label": ["b", "a", "b"]}), 1.0, 4, 0.0)
    assert "x is never a label, the last b never an input." in table.counts
