"""The needle's experiment on the Causes page, without a browser."""

import pandas as pd

from attnviz.spans.numbers.needle import NeedleCount
from tests.models.huggingface import checkpoints


def test_a_decoder_that_writes_is_counted_on_demand(open_page, tmp_path, monkeypatch) -> None:
    found = NeedleCount(
        pd.DataFrame({"says": [True, True], "hurts_most": [True, False], "attended_most": [False, False]})
    )
    asked = []
    monkeypatch.setattr("attnviz.spans.numbers.needle.count_needles", lambda model, work: asked.append(model) or found)
    folder = checkpoints.save(tmp_path / "llama", checkpoints.DECODERS["llama"])
    app = open_page("causes", model=str(folder), src="The cat sat.")
    assert not app.exception
    assert not asked
    app.button(key="needle-count").click().run()
    assert not app.exception
    assert len(asked) == 1
    assert found.sentence() in [part.value for part in app.markdown]


def test_a_translator_has_no_needle(open_page) -> None:
    app = open_page("causes", src="I love you.", to="fr")
    assert not app.exception
    assert not [part for part in app.expander if "needle" in part.label]
