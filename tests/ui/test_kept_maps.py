"""A sentence's maps and metrics are made once for the choices that follow."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz.maps.options import MapOptions
from attnviz.models.translator.tiny import tiny_translator
from attnviz.ui.heads import maps


class Tabs:
    """What the page asks for."""

    def __init__(self, options: MapOptions) -> None:
        self._options = options

    def options(self, kind: str) -> MapOptions:
        return self._options


@pytest.fixture
def made(monkeypatch) -> list[str]:
    made, select = [], maps.select
    monkeypatch.setattr(
        maps, "select", lambda trace, kind, options: (made.append(kind), select(trace, kind, options))[1]
    )
    return made


def test_what_was_made_of_a_run_is_not_made_again_and_another_run_has_its_own(made) -> None:
    model = tiny_translator()
    one, other = (model.trace("one two", to=model.languages[0]) for _ in range(2))
    whole = Tabs(MapOptions())
    first = maps.maps_and_metrics(one, whole)
    assert made == list(one.kinds)
    again = maps.maps_and_metrics(one, whole)
    assert made == list(one.kinds)
    np.testing.assert_equal(again[1], first[1])
    assert all(again[0][kind] is first[0][kind] for kind in one.kinds)
    maps.maps_and_metrics(one, Tabs(MapOptions(specials="hide")))
    maps.maps_and_metrics(other, whole)  # the same words, perhaps with something done to the run
    assert made == list(one.kinds) * 3


def test_of_a_visitor_s_own_tensors_nothing_is_kept_for_all(made, monkeypatch) -> None:
    model = tiny_translator()
    trace = model.trace("one two", to=model.languages[0])
    monkeypatch.setattr(type(trace), "from_file", True)
    for _ in range(2):
        maps.maps_and_metrics(replace(trace), Tabs(MapOptions()))
    assert made == list(trace.kinds) * 2
