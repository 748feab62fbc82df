"""The Decoding page's views: the map of differences, the chart of costs, the Stepper's payload; read, not looked at."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from attnviz.decoding.figures.cost_chart import cost_chart
from attnviz.decoding.figures.verdict_map import TALL, verdict_map
from attnviz.decoding.stepper import Inference, Training, fork_step, stepper_payload
from attnviz.models.decoding_record import DecodingRecord
from attnviz.text.tokens import Token

STEPS, SRC, LAYERS, HEADS = 5, 3, 2, 7


def token(id_: int, text: str = "") -> Token:
    return Token(text or f"t{id_}", id_, 0, 1)


def line(
    index: int, quantity: str, layer: int, head: float, deltas: list[float], *, stack: str = "decoder"
) -> list[dict]:
    name = "logits" if quantity == "logits" else f"L{layer} {quantity}"
    about = {
        "line": index,
        "place": name,
        "stack": stack,
        "quantity": quantity,
        "layer": layer,
        "head": head,
        "allowed": 1e-6,
    }
    return [
        about | {"position": at, "delta": delta, "share": delta / 1e-6, "breaks": delta > 1e-6}
        for at, delta in enumerate(deltas)
    ]


@pytest.fixture
def table() -> pd.DataFrame:
    lines = [
        ("output", -1, float("nan"), [0.0, 0.0]),
        ("decoder_self", 0, 0, [1e-8, 1e-3]),
        ("decoder_self", 0, 1, [1e-12, 10_000.0]),
        ("output", 0, float("nan"), [1e-7, 1e-4]),
        ("logits", 0, float("nan"), [1e-7, 0.1]),
    ]
    return pd.DataFrame([record for at, (*place, deltas) in enumerate(lines) for record in line(at, *place, deltas)])  # type: ignore[arg-type]


def test_shares_of_what_is_allowed_stand_on_a_log_scale_and_exact_zeros_are_blank(table: pd.DataFrame) -> None:
    cells = verdict_map(table, {"decoder": ["a → b", "b → c"]}).data[0]
    z = np.asarray(cells.z)
    assert np.isnan(z[0]).all()
    assert z[1] == pytest.approx([-2, 3])
    assert z[2] == pytest.approx([-3, 6])  # what is beyond the scale stands at its end
    assert (cells.zmin, cells.zmax) == (-3, 6)


def test_the_exact_value_is_told_on_hover_even_beyond_the_scale(table: pd.DataFrame) -> None:
    told = np.asarray(verdict_map(table, {"decoder": ["<b>", "b → c"]}).data[0].customdata)
    assert told[2, 1].tolist() == ["L0 decoder_self", "b → c (1)", "1e+04", "1e-06", "1e+10"]
    assert "<b>" not in told[2, 0][1]  # a token is never markup


def test_what_is_over_its_tolerance_is_crossed_in_the_middle_of_its_row(table: pd.DataFrame) -> None:
    figure = verdict_map(table, {"decoder": ["a → b", "b → c"]})
    cells, crosses = figure.data
    middles = (np.asarray(cells.y)[1:] + np.asarray(cells.y)[:-1]) / 2
    assert list(zip(crosses.x, crosses.y, strict=True)) == [(1, middles[row]) for row in (1, 2, 3, 4)]


def test_rows_that_stand_alone_are_tall_enough_for_their_names(table: pd.DataFrame) -> None:
    figure = verdict_map(table, {"decoder": ["a → b", "b → c"]})
    assert np.diff(np.asarray(figure.data[0].y)).tolist() == [TALL, 1, 1, TALL, TALL]
    assert list(figure.layout.yaxis.ticktext) == ["embedding", "L0 self", "L0 out", "logits"]
    assert list(figure.layout.yaxis.tickvals) == [TALL / 2, TALL + 1, 1.5 * TALL + 2, 2.5 * TALL + 2]


def test_each_stack_has_a_panel_of_its_own(table: pd.DataFrame) -> None:
    more = pd.DataFrame(line(9, "output", -1, float("nan"), [0.0, 0.0, 1e-7], stack="encoder"))
    figure = verdict_map(pd.concat([more, table]), {"encoder": ["I", "love", "you"], "decoder": ["a → b", "b → c"]})
    assert [np.asarray(figure.data[at].z).shape for at in (0, 2)] == [(1, 3), (5, 2)]
    assert [note.text for note in figure.layout.annotations] == [
        "Encoder: source positions",
        "Decoder: steps, input → next token",
    ]


def test_many_positions_are_named_by_turns_so_that_no_name_covers_another() -> None:
    long = pd.DataFrame(line(0, "output", -1, float("nan"), [1e-7] * 100))
    figure = verdict_map(long, {"decoder": [f"t{at}" for at in range(100)]})
    assert list(figure.layout.xaxis.ticktext) == [f"t{at}" for at in range(0, 100, 4)]
    assert len(np.asarray(figure.data[0].customdata)[0]) == 100, "hovering names each of them"


def test_the_cost_chart_shows_milliseconds_beside_multiply_adds() -> None:
    costs = pd.DataFrame(
        [
            {"way": way, "length": length, "seconds": length / 1e3, "multiply_adds": 11 * length}
            for length in (5, 10)
            for way in ("pass", "recomputed", "cached")
        ]
    )
    figure = cost_chart(costs)
    assert [line.name for line in figure.data][::2] == ["one pass", "recomputing the prefix", "with a KV cache"]
    time, count = figure.data[:2]
    assert (list(time.x), list(time.y), list(count.y)) == ([5, 10], [5.0, 10.0], [55, 110])
    assert len({line.line.dash for line in figure.data}) == 3  # told apart without colour
    assert sum(bool(line.showlegend) for line in figure.data) == 3
    counted = cost_chart(costs.drop(columns="seconds"))
    assert [title.text for title in counted.layout.annotations] == ["Counted multiply-adds of a whole target"]
    assert len(counted.data) == 3, "no panel stands empty"


@pytest.fixture
def record() -> DecodingRecord:
    random = torch.Generator().manual_seed(0)
    attn = {
        "encoder_self": torch.rand(LAYERS, HEADS, SRC, SRC, generator=random),
        "decoder_self": torch.rand(LAYERS, HEADS, STEPS, STEPS, generator=random).tril(),
        "cross": torch.rand(LAYERS, HEADS, STEPS, SRC, generator=random),
    }
    hidden = {"decoder": torch.zeros(LAYERS + 1, STEPS, 4)}
    fed, chosen = [token(id_) for id_ in (1, 10, 11, 12, 13)], [token(id_) for id_ in (10, 11, 12, 13, 2)]
    src = tuple(token(id_) for id_ in (5, 6, 7))
    about = {"fed": tuple(fed), "chosen": tuple(chosen), "seconds": (0.002,) * STEPS, "src": src}
    return DecodingRecord(attn, hidden, torch.zeros(STEPS, 20), "float32", **about)  # type: ignore[arg-type]


def describe(
    record: DecodingRecord,
    *,
    teacher: tuple[int, ...] = (10, 11, 12, 13, 2),
    view: dict | None = None,
    passed=None,
    **more,
):
    rows = [{"position": 0, "input": "<bos>", "label": "t10"}]
    inference = Inference(
        [[("t10", 0.7, 0.9, 10)]] * STEPS,
        [token(id_) for id_ in teacher],
        way=[("KV cache", "KV cache")],
        passed=passed or {},
    )
    return stepper_payload(Training(rows, 0.5, "counts"), record, inference, view=view or {}, **more)


def floats(blob: bytes, offset: int, shape: list[int]) -> np.ndarray:
    return np.frombuffer(blob, "<f4", count=int(np.prod(shape)), offset=offset).reshape(shape)


def test_decoder_kinds_come_first_and_their_maps_are_exact(record: DecodingRecord) -> None:
    header, blob = describe(record)
    assert [kind["kind"] for kind in header["kinds"]] == ["decoder_self", "cross", "encoder_self"]
    for kind in header["kinds"]:
        assert np.array_equal(floats(blob, kind["offset"], kind["shape"]), record.attn[kind["kind"]].numpy())


def test_a_pass_stands_left_of_its_steps_with_all_its_rows(record: DecodingRecord) -> None:
    passed = {"cross": record.attn["cross"] + 1, "decoder_self": record.attn["decoder_self"] + 1}
    header, blob = describe(record, passed=passed)
    assert [kind["by"] for kind in header["kinds"]] == ["pass", "steps", "pass", "steps", "encoder"]
    for kind in header["kinds"][::2][:2]:
        assert np.array_equal(floats(blob, kind["offset"], kind["shape"]), passed[kind["kind"]].numpy())
        assert kind["follows"]
        assert not kind["grows"]


def test_above_the_budget_only_the_head_in_view_travels(record: DecodingRecord) -> None:
    header, blob = describe(record, view={"layer": 1, "head": "mean"}, budget=100)
    (cross,) = [kind for kind in header["kinds"] if kind["kind"] == "cross"]
    assert cross["only"] == [1, "mean"]
    expected = record.attn["cross"][1].mean(dim=0).numpy()
    assert floats(blob, cross["offset"], [STEPS, SRC]) == pytest.approx(expected, abs=1e-7)


def test_a_step_says_what_went_in_what_was_chosen_and_how_long_it_took(record: DecodingRecord) -> None:
    header, _ = describe(record)
    step = header["steps"][2]
    assert (step["input"], step["chosen"], step["teacher"], step["agrees"]) == ("t11", "t12", "t12", True)
    assert [step["next"] for step in header["steps"]] == [None] * STEPS, "what it chose is the text's next token"
    assert step["ms"] == pytest.approx(2.0)
    assert step["top"] == [["t10", 0.7, 0.9, 10]]


def test_where_the_model_leaves_its_teacher_is_named_once(record: DecodingRecord) -> None:
    header, _ = describe(record, teacher=(10, 15, 12, 13, 2))
    assert header["fork"] == 1
    teachers = [step["teacher"] for step in header["steps"]]
    assert teachers == ["t10", "t15", None, None, None]  # after another choice his token belongs to another sentence
    assert fork_step(record, [token(10)]) is None


def test_what_is_fed_whatever_the_model_chose_does_not_leave_the_teacher(record: DecodingRecord) -> None:
    """A prompt's tokens, for example: the first three steps choose something else, and yet the prompt goes on."""
    prompted = replace(record, chosen=(token(17), token(18), token(19), token(13), token(2)))
    assert fork_step(prompted, [token(id_) for id_ in (10, 11, 12, 15, 2)]) == 3


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({}, {"step": STEPS - 1, "layer": 0, "head": 0}),
        ({"step": 99, "layer": 1, "head": 6}, {"step": STEPS - 1, "layer": 1, "head": 6}),
        ({"step": -1, "layer": 2, "head": "mean"}, {"step": STEPS - 1, "layer": 0, "head": "mean"}),
        ({"step": 1, "layer": "mean", "head": 7}, {"step": 1, "layer": "mean", "head": 0}),
    ],
)
def test_a_view_that_does_not_fit_falls_back(record: DecodingRecord, asked: dict, shown: dict) -> None:
    assert describe(record, view=asked)[0]["view"] == shown


def test_a_stack_may_have_fewer_layers_than_the_other(record: DecodingRecord) -> None:
    """The layer can be chosen all the same; the smaller stack's map is then zeros, and the browser says why."""
    uneven = replace(record, attn={**record.attn, "encoder_self": record.attn["encoder_self"][:1]})
    header, blob = describe(uneven, view={"layer": 1, "head": 3}, budget=100)
    assert header["view"]["layer"] == 1
    maps = {kind["kind"]: floats(blob, kind["offset"], kind["shape"][2:]) for kind in header["kinds"]}
    assert not maps["encoder_self"].any()
    assert maps["cross"] == pytest.approx(record.attn["cross"][1, 3].numpy())


def test_the_same_numbers_have_the_same_name_whatever_is_in_view(record: DecodingRecord) -> None:
    first, second = describe(record, view={"step": 0})[0], describe(record, view={"step": 3})[0]
    assert first["id"] == second["id"]
    assert describe(record, teacher=(10, 15))[0]["id"] != first["id"]
