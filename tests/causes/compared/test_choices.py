"""The browser's results for switched-off heads, and for two runs' maps laid over each other."""

from itertools import zip_longest

import pytest
import torch

from attnviz.causes.compared.compared import ShownSides, compared_payload
from attnviz.causes.numbers.run_comparison import compare_runs
from attnviz.models.translator.tiny import tiny_translator
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

GROUPS = [
    {"kind": "encoder_self", "layers": 1, "heads": 2, "nats": [-0.3, 0.1]},
    {"kind": "cross", "layers": 2, "heads": 2, "nats": [-0.1, None, -0.9, 0.0]},
]
APP = """const app = { seq: 0, lacks: new Set(),
  payload: { header: { groups: given[0], done: [], put: "zero", unit: { is_signed: true } } },
  view: { off: given[1], put: "zero" },
  widget: { settle: choice.settle, paint: () => {}, reportAfter: () => null } };"""


@pytest.fixture(scope="module")
def switches(module):
    script = module("causes/switches/js/choice.js")
    return lambda act, off=(): script(f"(choice, given) => {{ {APP} return {act}; }}", [GROUPS, list(off)])


@pytest.mark.parametrize(
    ("most", "expected"),
    [(True, ["cross.1.0", "encoder_self.0.0", "cross.0.0"]), (False, ["encoder_self.0.1", "cross.1.1", "cross.0.0"])],
)
def test_the_heads_worth_most_or_least_are_found_over_all_kinds(switches, most: bool, expected: list[str]) -> None:
    assert switches(f"choice.byWorth(app, 3, {str(most).lower()})") == expected


def test_all_but_these_and_a_layer_off_and_on_again(switches) -> None:
    assert switches("(choice.allButThese(app), app.view.off)", ["cross.0.0", "encoder_self.0.1"]) == [
        "encoder_self.0.0", "cross.0.1", "cross.1.0", "cross.1.1",
    ]  # fmt: skip
    layer = 'choice.toggle(app, ["cross.1.0", "cross.1.1"]), app.view.off'
    assert switches(f"({layer})", ["cross.1.0"]) == ["cross.1.0", "cross.1.1"]
    assert switches(f"({layer})", ["cross.1.0", "cross.1.1"]) == []


def test_a_count_is_let_go_of_with_the_heads_that_it_was_of(switches) -> None:
    counted = "(app.view.count = true, {}, app.view.count)"
    for change in ("choice.allOn(app)", "choice.allButThese(app)", 'choice.toggle(app, ["cross.0.0"])'):
        assert switches(counted.format(change), ["cross.0.0", "cross.1.0"]) is False


def test_heads_that_a_model_has_not_are_dropped_and_an_older_answer_is_known(switches) -> None:
    assert switches("(choice.settle(app), app.view.off)", ["cross.9.9", "cross.0.0"]) == ["cross.0.0"]
    assert switches("choice.isAnswered(app)") is True
    assert switches("choice.isAnswered(app)", ["cross.0.0"]) is False


def test_maps_lie_over_each_other_where_both_runs_have_the_cell_and_are_nan_elsewhere(module) -> None:
    model = tiny_translator()
    here, there = (model.trace(text, to="fr", tgt_text="je t'aime") for text in ("a red dog", "a big red dog"))
    runs = compare_runs(here, there)
    shown = ShownSides(("one", "other"), ("", ""), (None, None), (model, model))
    view = {"kind": "cross", "layer": 1, "head": 2}
    bytes_ = payload_bytes(compared_payload(runs, shown, view=view))
    module("kit/js/unpack.js")("({ unpack }) => { globalThis.unpackPair = unpack; }")
    found = module("causes/compared/js/choice.js")(
        """(choice, [bytes]) => { const payload = globalThis.unpackPair(Uint8Array.from(bytes));
        const { nRows, nCols, maps } = choice.mapsOf({ payload, view: payload.header.view });
        return { nRows, nCols, maps: maps.map((map) => [...map].map((value) => (Number.isNaN(value) ? null : value))) };
        }""",
        [bytes_],
    )
    group = runs.kinds["cross"]
    assert (found["nRows"], found["nCols"]) == (len(group.rows), len(group.cols))
    cells = [(row, col) for row in group.rows for col in group.cols]
    for side, trace in enumerate((here, there)):
        attn = trace.attn("cross", layer=1, head=2)
        expected = [
            None if row[side] is None or col[side] is None else float(attn[row[side], col[side]]) for row, col in cells
        ]
        assert found["maps"][side] == expected
    for one, other, difference in zip_longest(*found["maps"]):
        assert (difference is None) == (one is None or other is None)
        if one is not None and other is not None:
            assert difference == pytest.approx(other - one, abs=1e-7)
    assert torch.isfinite(group.apart).all()
