"""Sites with positions of their own: norms, rotations and biases that were found give transformers' own numbers."""

from dataclasses import replace

import pytest
import torch

from attnviz.analysis.projections import projections
from attnviz.anatomy.implementations.numbers.comparison import equivalence
from attnviz.anatomy.numbers.shape_walk import LAYOUTS, shape_walk
from attnviz.implementations.scoring import DistanceBias, HeadNorm, Rotation, Scoring
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.probe import Site
from tests.analysis.site.positions import ALL, CLOSE, ROTARY


@pytest.mark.parametrize("name", ALL)
def test_every_line_of_the_walk_ends_in_transformers_own_numbers(load_case, name: str) -> None:
    for layer in range(2):
        inputs, (output, attn) = load_case(name).inputs(layer), load_case(name).eager(layer)
        for layout in LAYOUTS:
            steps = {step.name: step.tensor for step in shape_walk(inputs, layout)}
            is_first = layout == "batch_first"
            walked = steps["attn"] if is_first else steps["attn"].permute(2, 3, 0, 1)
            torch.testing.assert_close(walked, attn, rtol=0, atol=CLOSE)
            made = steps["output"] if is_first else steps["output"].transpose(0, 1)
            torch.testing.assert_close(made, output, rtol=1e-5, atol=1e-5 * float(output.abs().max()))


@pytest.mark.parametrize("name", ALL)
def test_every_way_gives_the_weights_that_transformers_has(load_case, name: str) -> None:
    inputs, (_, attn) = load_case(name).inputs(), load_case(name).eager(1)
    result = equivalence(inputs)
    assert set(WAYS) - set(result.results) <= {"torch_module"}, "only its sizes are never those of other heads"
    assert result.largest_difference < 1e-4
    for way, (_, made) in result.results.items():
        if made is not None:
            torch.testing.assert_close(made, attn, rtol=0, atol=CLOSE, msg=way)


def test_pytorchs_module_is_handed_what_is_ready_where_it_can_have_the_sizes(load_case) -> None:
    for name in ("gpt_neox", "qwen2", "phi", "gemma3_text"):
        assert "torch_module" in equivalence(load_case(name).inputs()).results


def test_norms_rotation_scale_and_bias_together_under_a_mask_are_one_result_seven_ways() -> None:
    numbers = torch.Generator().manual_seed(3)
    norm = HeadNorm(torch.rand(14, generator=numbers) + 0.5, 1e-6)
    turn = Rotation(torch.rand(5, generator=numbers), interleaved=True, factor=1.1)
    table = DistanceBias(torch.randn(3, 2 * 4 + 1, generator=numbers))
    weights = replace(SiteWeights.random(3, 42, d_k=14), scoring=Scoring(norm, norm, turn, table, 0.7))
    x = torch.randn(2, 7, 42, generator=numbers)
    mask = torch.ones(2, 7, 7, dtype=torch.bool).tril()
    mask[1, :, 5:] = False
    result = equivalence(SiteInputs(weights, x, x, mask))
    assert set(result.results) == set(WAYS)
    assert 0 < result.largest_difference < 1e-5
    head, at, of = 2, 4, 1  # one cell by hand, in complex numbers
    rows = slice(head * 14, (head + 1) * 14)
    query, key = (
        norm(x[1, place] @ W[rows].T + b[rows]) for place, (W, b) in zip((at, of), weights.pairs, strict=False)
    )
    query, key = (
        torch.cat((torch.view_as_real(_turn(one, turn, place)).flatten(), one[10:]))
        for one, place in ((query, at), (key, of))
    )
    by_hand = 0.7 * query @ key + table.table[head, of - at + 4]
    shown = next(
        step for step in shape_walk(SiteInputs(weights, x, x, mask)) if step.code.startswith("scores = scores + bias")
    )
    torch.testing.assert_close(shown.tensor[1, head, at, of], by_hand, rtol=1e-5, atol=1e-5)


def _turn(one: torch.Tensor, turn: Rotation, place: int) -> torch.Tensor:
    """Turn the first ten numbers as five complex ones, each times factor · exp(i · place · frequency)."""
    pairs = torch.view_as_complex(one[:10].reshape(5, 2).contiguous())
    return pairs * turn.factor * torch.exp(1j * place * turn.frequencies)


@pytest.mark.parametrize("name", ROTARY)
def test_the_angles_are_those_that_the_models_own_module_computes(load_case, name: str) -> None:
    one = load_case(name)
    rotation, inside = one.weights().scoring.rotation, one.own
    assert rotation is not None
    stack = inside.gpt_neox if hasattr(inside, "gpt_neox") else inside.model
    positions, length = torch.arange(47).unsqueeze(0), 47
    kinds = (stack.config.layer_types[1],) if name == "gemma3_text" else ()
    cos, sin = stack.rotary_emb(torch.zeros(1, length, 1), positions, *kinds)
    if name == "glm":  # which writes each angle for a half, and hands it to neighbours where it turns
        cos, sin = (wave[..., : rotation.size // 2].repeat_interleave(2, dim=-1) for wave in (cos, sin))
    angles = rotation.angles(length)
    torch.testing.assert_close(angles.cos() * rotation.factor, cos[0], rtol=0, atol=1e-6)
    torch.testing.assert_close(angles.sin() * rotation.factor, sin[0], rtol=0, atol=1e-6)
    assert rotation.interleaved == (name in ("cohere", "glm"))
    assert (rotation.factor > 1) == (name == "yarn")
    assert rotation.size == len(cos[0, 0])
    assert (rotation.size < one.weights().d_k) == (name in ("gpt_neox", "phi", "glm"))


def test_layers_with_angles_of_their_own_have_them(load_case) -> None:
    """Gemma 3 turns faster in layers with a window."""
    near, far = (load_case("gemma3_text").weights(layer).scoring.rotation.frequencies for layer in (0, 1))
    assert (near[1:] > far[1:]).all()


@pytest.mark.parametrize("name", ALL)
def test_what_a_site_learned_is_what_its_module_holds(load_case, name: str) -> None:
    learned = sum(parameter.numel() for parameter in load_case(name).module(1).parameters())
    assert load_case(name).weights().n_learned == learned


def _break(rotation: Rotation) -> list[Rotation]:
    """Break a rotation in four ways: turned back, paired otherwise, a thousandth too fast, and lengthened."""
    return [
        replace(rotation, frequencies=-rotation.frequencies),
        replace(rotation, interleaved=not rotation.interleaved),
        replace(rotation, frequencies=rotation.frequencies * 1.001),
        replace(rotation, factor=rotation.factor * 1.01),
    ]


@pytest.mark.parametrize("name", ROTARY)
def test_a_rotation_that_is_not_the_runs_own_is_refused(load_case, name: str) -> None:
    weights = load_case(name).weights()
    for rotation in (None, *_break(weights.scoring.rotation)):
        changed = replace(weights, scoring=replace(weights.scoring, rotation=rotation))
        with pytest.raises(ValueError, match="do not give this run's queries, keys and values"):
            load_case(name).inputs(weights=changed)


def test_a_bias_is_the_runs_own_and_not_another_runs(load_case) -> None:
    t5 = load_case("t5")
    weights = t5.weights()
    (other,) = projections(t5.model, t5.model.trace("It sleeps."), [Site("encoder_self", 1)]).values()
    torch.testing.assert_close(t5.inputs(weights=other).weights.scoring.bias.table, weights.scoring.bias.table)
    assert t5.inputs(weights=other).weights.scoring.bias.table.shape[1] > other.scoring.bias.table.shape[1]


def test_a_bias_by_distance_is_told_from_any_other() -> None:
    table = DistanceBias(torch.randn(3, 2 * 4 + 1))
    for q_len, k_len in ((5, 5), (2, 5), (5, 2), (1, 1), (1, 5)):
        cells = table.cells(q_len, k_len)
        assert all(cells[1, i, j] == table.table[1, j - i + 4] for i in range(q_len) for j in range(k_len))
        made = DistanceBias.from_cells(cells.unsqueeze(0))
        torch.testing.assert_close(made.cells(q_len, k_len), cells)
    cells = table.cells(5, 5).unsqueeze(0).clone()
    cells[0, 2, 3, 4] += 1
    assert DistanceBias.from_cells(cells) is None
    places = torch.randn(1, 3, 1, 5).expand(1, 3, 5, 5)  # BLOOM's: by the key's place, not by its distance
    assert DistanceBias.from_cells(places) is None
