"""Pages on sites with positions: models made of them, claims, lines to skip, bugs, costs, refusals."""

from pathlib import Path
from typing import Any

import pytest
import torch

from attnviz.analysis.outcome import Raised
from attnviz.analysis.projections import NotPlain, projections
from attnviz.anatomy.implementations.numbers.bug_in_model import bug_in_model
from attnviz.anatomy.implementations.numbers.comparison import implementation_cost
from attnviz.anatomy.numbers import claims
from attnviz.anatomy.numbers.claims import modulation
from attnviz.anatomy.numbers.skipped_lines import SKIPS, run_skipped, skips_of
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.steps import RIGHT
from attnviz.implementations.weights import SiteWeights
from attnviz.models.huggingface import load
from attnviz.transformer.probe import Site
from tests.analysis.site.positions import CLOSE, TEXT
from tests.models.huggingface import architectures, checkpoints


@pytest.mark.parametrize("name", ["llama", "qwen3", "gpt_neox", "t5"])
def test_a_whole_model_made_of_what_was_found_says_the_same(load_case, name: str) -> None:
    one = load_case(name)
    wrong = BUGS["softmax_over_queries"].steps
    kept, moved = (bug_in_model(one.model, one.trace, steps, one.sites) for steps in (RIGHT, wrong))
    assert not isinstance(kept, Raised)
    assert not isinstance(moved, Raised)
    assert kept.logits_change < 1e-3 < 1e-2 < moved.logits_change
    assert kept.before == kept.after


@pytest.mark.parametrize("name", ["llama", "qwen3", "yarn", "t5"])
def test_claims_are_made_of_the_rotated_queries(load_case, name: str) -> None:
    inputs, (_, attn) = load_case(name).inputs(), load_case(name).eager(1)
    assert claims.loops(inputs, repeats=1).change < 1e-5
    assert claims.concatenation_change(inputs) == 0
    own = modulation(inputs.weights, inputs.input_[0], 2, None if inputs.mask is None else inputs.mask[0]).own
    torch.testing.assert_close(own, attn[0, 2], rtol=0, atol=CLOSE)
    scaled = claims.scaling(inputs)
    largest = attn.amax(dim=-1)[inputs.cells.any(dim=-1)]
    shown = scaled.largest_unscaled if name == "t5" else scaled.largest_scaled
    torch.testing.assert_close(shown, largest, rtol=0, atol=CLOSE)
    rotary = inputs.weights.scoring.rotation
    if rotary is None:
        with pytest.raises(ValueError, match="does not rotate"):
            claims.rotate_further(inputs)
    else:
        moved = claims.rotate_further(inputs)
        assert moved.scores < 1e-3 < 0.1 < moved.queries


def test_a_line_that_a_model_has_not_is_no_line_to_skip(load_case) -> None:
    assert skips_of(load_case("llama").weights()) == SKIPS
    assert set(SKIPS) - set(skips_of(load_case("t5").weights())) == {"scale"}
    for name in ("llama", "t5"):
        for skip in skips_of(load_case(name).weights()):
            found_ = run_skipped(skip, load_case(name).inputs())
            assert isinstance(found_, Raised) or found_.same_shape or skip == "transpose"


def test_a_bug_says_of_a_model_that_it_has_nothing_to_get_wrong(load_case) -> None:
    t5, llama = (load_case(name).weights() for name in ("t5", "llama"))
    lacking = {name for name, bug in BUGS.items() if bug.lacks(t5)}
    assert lacking == {"no_scale", "scale_by_d_model", "bias_by_xavier"}
    assert {name for name, bug in BUGS.items() if bug.lacks(llama)} == {"bias_by_xavier"}
    assert BUGS["no_scale"].lacks(t5).startswith("This model does not divide its scores by √d_k")


def test_costs_of_long_texts_are_taken_with_positions_too(load_case) -> None:
    for name in ("llama", "t5"):
        lengths = {
            (cost.way, cost.length) for cost in implementation_cost(load_case(name).weights(), (4, 53), enough=0.0)
        }
        assert {length for _, length in lengths} == {4, 53}


def test_heads_are_told_apart_in_half_precision_too(tmp_path: Path) -> None:
    folder = checkpoints.save(tmp_path / "bert", checkpoints.ALL["bert"])
    bert: Any = load(folder, device=torch.device("cpu"), dtype=torch.bfloat16)
    (weights,) = projections(bert, bert.trace(TEXT), [Site("encoder_self", 1)]).values()
    own = bert.network.model.bert.encoder.layer[1].attention.self
    assert isinstance(weights, SiteWeights)
    assert torch.equal(weights.W_q, own.query.weight.float())
    assert torch.equal(weights.W_v, own.value.weight.float())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gemma2", "its scores go through a tanh, so none is beyond ±2"),
        ("gpt_oss", "the model's own sink takes part of each row's weight"),
        ("gemma3n_text", "its values are not a linear map of the site's input"),
    ],
)
def test_what_cannot_be_shown_says_what_was_seen(tmp_path: Path, name: str, why: str) -> None:
    made: Any = load(architectures.ALL[name](tmp_path / name), device=torch.device("cpu"), dtype=torch.float32)
    (found,) = projections(made, made.trace(TEXT, new_tokens=0), [Site("decoder_self", 0)]).values()
    assert isinstance(found, NotPlain)
    assert found.why.startswith(why)
