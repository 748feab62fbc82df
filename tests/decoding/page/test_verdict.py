"""The sentences of the Decoding page on a decoding, intact or broken on purpose, without a browser."""

import re
from dataclasses import replace

import pytest

from attnviz.decoding.decoding import DecodingState
from attnviz.decoding.page.reasons import Equality, Seen, equality_reason, reasons
from tests.decoding.page.decoding_page import PAIR, header, verdict

pytestmark = pytest.mark.computes


@pytest.mark.parametrize("way", ["cached", "recomputed", "teacher"])
def test_the_verdict_holds_in_every_way(open_page, way: str) -> None:
    app = open_page("decoding", **PAIR, way=way)
    assert not app.exception
    assert "of what rounding allows: steps and pass are equal" in verdict(app)
    assert 0 < float(verdict(app).split()[0]) < 1, "a share of what is allowed, not a bare difference"
    assert re.search(r"\|Δ\| \d\.\de-\d\d, allowed \d\.\de-\d\d", verdict(app)), "absolute numbers beside it"
    assert "What rounding allows in float32" in verdict(app)


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        (
            {"causal": "none"},
            "every row of the pass but the last also looks at tokens that its step has not seen",
        ),
        ({"causal": "ahead"}, "one token too many"),
        ({"dropout": "true"}, "Dropout zeroes each number with probability 0.1, from the embedding on"),
        ({"dtype": "float16"}, "The steps run completely in float16"),
        ({"dtype": "bfloat16"}, "The steps run completely in bfloat16"),
        ({"restart": "true"}, "as if it stood at position 0"),
    ],
)
def test_each_switch_of_a_link_breaks_it_and_says_why(open_page, switch: dict, words: str) -> None:
    app = open_page("decoding", **PAIR, way="cached", **switch)
    assert not app.exception
    assert "times what rounding allows: steps and pass are no longer equal" in verdict(app)
    assert "breaks first at" in verdict(app)
    assert "e+" not in verdict(app), "large differences are plain numbers"
    assert words in verdict(app)


def test_of_several_switches_each_says_why_and_the_rest_is_folded(open_page) -> None:
    app = open_page("decoding", **PAIR, dropout="true", causal="none", restart="true", dtype="bfloat16")
    (block,) = [part.proto.body for part in app.get("html") if "data-verdict=" in part.proto.body]
    seen = re.findall("<details class='verdict-why'><summary>(.*?)</summary>", block)
    assert len(seen) == 4
    for words in ("causal mask", "Dropout zeroes", "bfloat16", "position 0"):
        assert any(words in sentence for sentence in seen)


def loss(text: str) -> tuple[float, float]:
    """Return the two losses of a sentence such as "rises from 0.16 to 2.24 nats"."""
    found = re.search(r"from (\d+\.\d\d) to (\d+\.\d\d) nats", text)
    assert found is not None, text
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("causal", ["none", "ahead"])
def test_a_mask_taken_away_is_told_from_training_without_it(open_page, causal: str) -> None:
    """The loss of a model that was trained with the mask changes; one trained without it would have none."""
    app = open_page("decoding", **PAIR, causal=causal)
    told = verdict(app)
    intact = header(open_page("decoding", **PAIR))["training"]["mean"]
    assert "was trained with the" in told
    assert "Its loss would be near 0, but it would write nonsense" in told
    assert loss(told) == pytest.approx((intact, header(app)["training"]["mean"]), abs=0.006), "the page's own numbers"
    assert "Training would learn from the answer" not in told


def test_several_switches_do_not_ascribe_the_loss_to_one(open_page) -> None:
    assert "Its loss on this target" not in verdict(open_page("decoding", **PAIR, causal="none", dropout="true"))


def test_a_coarse_type_says_whether_rounding_to_it_explains_the_difference(open_page) -> None:
    assert "explains the whole difference" in verdict(open_page("decoding", **PAIR, way="cached", dtype="float16"))
    told = verdict(open_page("decoding", **PAIR, way="cached", dtype="float16", restart="true"))
    assert "does not explain the difference" in told


def test_what_a_break_does_to_the_choice_is_counted(open_page) -> None:
    assert re.search(
        r"most likely (in \d+ of|token is the same in all) \d+ steps",
        verdict(open_page("decoding", **PAIR, causal="none")),
    )


def test_a_switch_is_this_visitors_alone(open_page) -> None:
    open_page("decoding", **PAIR, dropout="true", causal="none")
    assert "steps and pass are equal" in verdict(open_page("decoding", **PAIR))


def test_how_much_is_equal_to_the_last_bit_is_counted(open_page) -> None:
    app = open_page("decoding", **PAIR, more="tables")
    found = re.search(r"same to the last bit at ([\d,]+) of ([\d,]+) places; elsewhere", " ".join(verdict(app).split()))
    assert found is not None
    table = next(part.value for part in app.dataframe if "delta" in part.value)
    assert [int(number.replace(",", "")) for number in found.groups()] == [(table["delta"] == 0).sum(), len(table)]
    assert "never exactly zero" not in verdict(app)


def test_a_model_that_sees_ahead_is_not_excused_by_rounding(open_page) -> None:
    app = open_page("decoding", model="toy:french-without-causal-mask", src="the big red dog")
    assert not app.exception
    told = verdict(app)
    assert "times what rounding allows: steps and pass differ" in told
    assert "Each position of this model sees later tokens" in told
    assert "any more" not in told
    assert "rounded differently" not in told


def test_all_equal_is_said_of_all_places_and_nothing_is_said_of_other_runs() -> None:
    said = equality_reason(Equality(53, 53, holds=True, recomputes=False), DecodingState())
    assert said.why == "Both are the same to the last bit, at all 53 places."
    (reason,) = reasons(DecodingState(causal="none"), Seen(1.0, 1.0, steps=1))
    assert "changes nothing here" in reason.why
    (reason,) = reasons(DecodingState(dtype="float16"), Seen(1.0, 1.0, coarse_share=0.004))
    assert "is less than 0.01 of the difference that rounding" in reason.more


def test_steps_that_differ_in_transformers_itself_are_not_blamed_on_the_model():
    broken = Equality(3, 53, holds=False, recomputes=False, note="In transformers itself, steps differ.")
    assert equality_reason(broken, DecodingState()).why == "In transformers itself, steps differ."
    assert "do not compute the same numbers" in equality_reason(replace(broken, note=""), DecodingState()).why
