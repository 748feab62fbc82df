"""One row of a map as bars."""

import numpy as np
import pytest

from attnviz.models.tiny import tiny_translator
from attnviz.tracing.shown import shown
from attnviz.views.row_bars import row_bars_of


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0).trace("i love <b> you", to="fr", tgt_text="un chien rouge")


def test_the_bars_are_the_rows_weights_over_its_keys(trace) -> None:
    figure = row_bars_of(shown(trace, "cross"), 1, 3, 2)
    (bars,) = figure.data
    expected = trace.attn("cross", layer=1, head=3)[2].numpy()
    assert np.array_equal(bars.x, expected)
    assert bars.text == tuple(f"{weight:.3f}" for weight in expected)
    assert list(figure.layout.yaxis.tickvals) == list(range(len(expected)))
    assert figure.layout.yaxis.ticktext == bars.customdata
    assert "&lt;" in bars.customdata


def test_the_title_is_the_step_and_its_sum(trace) -> None:
    figure = row_bars_of(shown(trace, "cross"), 1, "mean", 0)
    assert figure.layout.title.text == f"&lt;bos:fr&gt; → {shown(trace, 'cross').rows[0].output} looks at"
    assert figure.layout.title.subtitle.text == "L1, mean of heads · sum 1.000"


def test_masked_keys_say_so_and_a_row_without_keys_too(trace) -> None:
    first = row_bars_of(shown(trace, "decoder_self"), 0, 0, 0)
    assert first.data[0].text[:2] == ("1.000", "masked")
    empty = row_bars_of(shown(trace, "decoder_self", specials="hide"), 0, 0, 0)
    assert empty.layout.title.subtitle.text.startswith("L0 H0 · no keys")


@pytest.mark.parametrize("row", [-1, 99])
def test_a_row_that_is_not_there_is_refused(trace, row) -> None:
    with pytest.raises(ValueError, match=rf"not {row}"):
        row_bars_of(shown(trace, "cross"), 0, 0, row)


def test_light_and_dark(trace) -> None:
    colours = {
        theme: row_bars_of(shown(trace, "cross"), 0, 0, 0, theme=theme).layout.plot_bgcolor
        for theme in ("light", "dark")
    }
    assert colours == {"light": "#ffffff", "dark": "#161a22"}
