"""Means of heads: measured over the shipped sentences, used only with the weights they belong to, and never replaced by
zeros.
"""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis import means
from attnviz.analysis.corpus.lines import shipped_lines
from attnviz.analysis.means import NAME, fill_measured_means, measured_means, reference_means, write
from attnviz.models import catalogue
from attnviz.tracing.causes import notation
from attnviz.tracing.causes.intervention import MeanContexts


@pytest.fixture
def few(monkeypatch) -> None:
    """Measure on five sentences: the means of an untrained model need no more."""
    monkeypatch.setattr(means, "shipped_lines", lambda to: shipped_lines(to)[:5])


ASKED = notation.parse("mean.cross.0.1").interventions


def test_the_mean_is_that_of_every_row_of_the_translations_that_come_along() -> None:
    """Summed here by hand, from the contexts of traces."""
    shipped = catalogue.translator()
    rows = [
        shipped.trace(line.text, to="zh", tgt_text=line.target).context("cross", 2)[5] for line in shipped_lines("zh")
    ]
    expected = torch.cat(rows).double().mean(dim=0).float()
    stored = reference_means(shipped, "zh")
    assert stored.rows["cross"] == sum(map(len, rows))
    torch.testing.assert_close(stored.values["cross", 2][5], expected, atol=1e-5, rtol=1e-5)


def test_the_shipped_file_is_of_the_shipped_weights_in_every_language(monkeypatch) -> None:
    shipped = catalogue.translator()
    monkeypatch.setattr(means, "measured_means", None)  # nothing is measured
    for to in shipped.languages:
        found = reference_means(shipped, to)
        assert {kind for kind, _ in found.values} == set(shipped.kinds)
        assert found.model_id == shipped.model_id, "python -m attnviz.causes.numbers measures it anew"


def test_what_was_measured_is_read_again_for_these_weights_and_this_language(model, tmp_path, monkeypatch, few) -> None:
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)
    (tmp_path / "tiny").mkdir()
    half = MeanContexts({at: put / 2 for at, put in measured_means(model, "fr").values.items()}, {"cross": 7})
    write(tmp_path / "tiny" / NAME, model.model_id, {"fr": half})
    read = reference_means(model, "fr")
    assert read.rows == {"cross": 7}
    assert all(torch.equal(read.values[at], put) for at, put in half.values.items())
    assert reference_means(model, "zh").rows != {"cross": 7}
    write(tmp_path / "tiny" / NAME, "other weights", {"fr": half})
    assert reference_means(model, "fr").rows != {"cross": 7}


def test_a_mean_that_nobody_measured_never_runs(model) -> None:
    with pytest.raises(ValueError, match=r"has not been measured yet\. Please measure it with attnviz"):
        model.trace("I love fun.", to="fr", interventions=ASKED)


def test_a_mean_that_lacks_a_layer_never_runs(model, few) -> None:
    whole = measured_means(model, "fr")
    lacking = replace(whole, values={at: put for at, put in whole.values.items() if at != ("cross", 1)})
    with pytest.raises(ValueError, match="no mean was measured for layer 1"):
        model.trace("I love fun.", to="fr", interventions=[attnviz.ablate("cross", to=lacking)])


def test_it_is_put_in_one_pass_and_in_cached_decoding_alike(model, few) -> None:
    done = fill_measured_means(model, ASKED, "fr")
    trace = model.trace("I love fun.", to="fr", interventions=done)
    mean = reference_means(model, "fr").values["cross", 0][1]
    for row in trace.context("cross", 0)[1]:
        torch.testing.assert_close(row, mean)
    steps = list(model.stepwise("I love fun.", to="fr", interventions=done))
    torch.testing.assert_close(steps[-1].trace.context("cross", 0)[1][-1], mean)
