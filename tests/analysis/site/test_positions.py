"""Sites with positions of their own: norms, rotations and biases that were found give transformers' own numbers."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from attnviz.analysis.anatomy import claims
from attnviz.analysis.anatomy.modulation import modulation
from attnviz.analysis.anatomy.shape_walk import LAYOUTS, shape_walk
from attnviz.analysis.anatomy.skipped_lines import SKIPS, skipped, skips_of
from attnviz.analysis.implementations.bug_in_model import bug_in_model
from attnviz.analysis.implementations.cost import implementation_cost
from attnviz.analysis.implementations.equivalence import equivalence
from attnviz.analysis.site.case import observed_case
from attnviz.analysis.site.outcome import Raised
from attnviz.analysis.site.projections import NotPlain, projections
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.case import Case
from attnviz.implementations.scoring import DistanceBias, HeadNorm, Rotation, Scoring
from attnviz.implementations.steps import RIGHT
from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import SiteWeights
from attnviz.models.huggingface import HuggingFaceModel, load
from attnviz.transformer.probe import Site
from tests.models.huggingface import architectures, checkpoints
from tests.models.huggingface.checkpoints import DECODERS, Recipe

CLOSE = 2e-5  # scores of these random weights are large, and so is their rounding
TEXT = "The cat sat on the mat and slept."
_LLAMA, _QWEN = DECODERS["llama"], DECODERS["qwen2"]
_YARN = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 16}
RECIPES = checkpoints.ALL | {
    "cohere": Recipe("CohereForCausalLM", "CohereConfig", _LLAMA.sizes | {"head_dim": None}, _LLAMA.tokenizer),
    "glm": Recipe("GlmForCausalLM", "GlmConfig", _LLAMA.sizes | {"head_dim": 14, "hidden_size": 84}, _LLAMA.tokenizer),
    "yarn": replace(_LLAMA, sizes=_LLAMA.sizes | {"rope_parameters": _YARN}),
}
ROTARY = ("llama", "gpt_neox", "qwen2", "qwen3", "gemma", "phi", "mistral", "cohere", "glm", "yarn", "gemma3_text")
ALL = (*ROTARY, "t5")


class Found:
    """A checkpoint as attnviz has it, and as transformers alone runs it."""

    def __init__(self, folder: Path) -> None:
        made = load(folder, device=torch.device("cpu"), dtype=torch.float32)
        assert isinstance(made, HuggingFaceModel)
        self.model, self.own = made, checkpoints.reference(folder)
        self.trace = made.trace(TEXT, new_tokens=None if made.inputs.takes_target else 0)
        self.sites = projections(made, self.trace, self.trace.calls)

    def weights(self, layer: int = 1) -> SiteWeights:
        """The own projections of a layer's self-attention, the first stack's."""
        found = self.sites[Site(self.trace.kinds[0], layer)]
        assert isinstance(found, SiteWeights), found
        return found

    def case(self, layer: int = 1, weights: SiteWeights | None = None) -> Case:
        return observed_case(weights or self.weights(layer), self.trace, self.trace.kinds[0], layer)

    def module(self, layer: int) -> Any:
        """transformers' own attention of the first stack's layer."""
        if hasattr(self.own, "encoder"):
            return self.own.encoder.block[layer].layer[0].SelfAttention
        stack = self.own.gpt_neox if hasattr(self.own, "gpt_neox") else self.own.model
        return getattr(stack.layers[layer], "self_attn", None) or stack.layers[layer].attention

    @torch.inference_mode()
    def eager(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Output and weights of transformers' own eager attention on the same ids."""
        caught: list[Any] = []
        hook = self.module(layer).register_forward_hook(lambda module, given, made: caught.append(made))
        sentence = self.trace.sentences[0]
        ids = torch.tensor([[token.id for token in sentence.src or sentence.tgt_in]])
        stack = self.own.encoder if hasattr(self.own, "encoder") else self.own
        stack(input_ids=ids, output_attentions=True)
        hook.remove()
        return caught[0][0], caught[0][-1]  # T5 hands its bias out between them


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Found]:
    """Each checkpoint once."""

    def made(name: str) -> Found:
        place = tmp_path_factory.mktemp("hf") / name
        return Found(checkpoints.save(place, RECIPES[name]) if name in RECIPES else architectures.ALL[name](place))

    return cache(made)


@pytest.mark.parametrize("name", ALL)
def test_every_line_of_the_walk_ends_in_transformers_own_numbers(found, name: str) -> None:
    for layer in range(2):
        case, (output, attn) = found(name).case(layer), found(name).eager(layer)
        for layout in LAYOUTS:
            steps = {step.name: step.tensor for step in shape_walk(case, layout)}
            is_first = layout == "batch_first"
            walked = steps["attn"] if is_first else steps["attn"].permute(2, 3, 0, 1)
            torch.testing.assert_close(walked, attn, rtol=0, atol=CLOSE)
            made = steps["output"] if is_first else steps["output"].transpose(0, 1)
            torch.testing.assert_close(made, output, rtol=1e-5, atol=1e-5 * float(output.abs().max()))


@pytest.mark.parametrize("name", ALL)
def test_every_way_gives_the_weights_that_transformers_has(found, name: str) -> None:
    case, (_, attn) = found(name).case(), found(name).eager(1)
    result = equivalence(case)
    assert set(WAYS) - set(result.results) <= {"torch_module"}, "only its sizes are never those of other heads"
    assert result.largest < 1e-4
    for way, (_, made) in result.results.items():
        if made is not None:
            torch.testing.assert_close(made, attn, rtol=0, atol=CLOSE, msg=way)


def test_pytorchs_module_is_handed_what_is_ready_where_it_can_have_the_sizes(found) -> None:
    for name in ("gpt_neox", "qwen2", "phi", "gemma3_text"):
        assert "torch_module" in equivalence(found(name).case()).results


def test_norms_rotation_scale_and_bias_together_under_a_mask_are_one_result_seven_ways() -> None:
    numbers = torch.Generator().manual_seed(3)
    norm = HeadNorm(torch.rand(14, generator=numbers) + 0.5, 1e-6)
    turn = Rotation(torch.rand(5, generator=numbers), interleaved=True, factor=1.1)
    table = DistanceBias(torch.randn(3, 2 * 4 + 1, generator=numbers))
    weights = replace(SiteWeights.random(3, 42, d_k=14), scoring=Scoring(norm, norm, turn, table, 0.7))
    x = torch.randn(2, 7, 42, generator=numbers)
    mask = torch.ones(2, 7, 7, dtype=torch.bool).tril()
    mask[1, :, 5:] = False
    result = equivalence(Case(weights, x, x, mask))
    assert set(result.results) == set(WAYS)
    assert 0 < result.largest < 1e-5
    head, at, of = 2, 4, 1  # one cell by hand, in complex numbers
    rows = slice(head * 14, (head + 1) * 14)
    query, key = (
        norm(x[1, place] @ W[rows].T + b[rows]) for place, (W, b) in zip((at, of), weights.pairs, strict=False)
    )
    query, key = (
        torch.cat((torch.view_as_real(_turned(one, turn, place)).flatten(), one[10:]))
        for one, place in ((query, at), (key, of))
    )
    by_hand = 0.7 * query @ key + table.table[head, of - at + 4]
    shown = next(
        step for step in shape_walk(Case(weights, x, x, mask)) if step.code.startswith("scores = scores + bias")
    )
    torch.testing.assert_close(shown.tensor[1, head, at, of], by_hand, rtol=1e-5, atol=1e-5)


def _turned(one: torch.Tensor, turn: Rotation, place: int) -> torch.Tensor:
    """The first ten numbers as five complex ones, each times factor · exp(i · place · frequency)."""
    pairs = torch.view_as_complex(one[:10].reshape(5, 2).contiguous())
    return pairs * turn.factor * torch.exp(1j * place * turn.frequencies)


@pytest.mark.parametrize("name", ROTARY)
def test_the_angles_are_those_that_the_models_own_module_computes(found, name: str) -> None:
    one = found(name)
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


def test_layers_with_angles_of_their_own_have_them(found) -> None:
    """Gemma 3 turns faster in layers with a window."""
    near, far = (found("gemma3_text").weights(layer).scoring.rotation.frequencies for layer in (0, 1))
    assert (near[1:] > far[1:]).all()


@pytest.mark.parametrize("name", ALL)
def test_what_a_site_learned_is_what_its_module_holds(found, name: str) -> None:
    learned = sum(parameter.numel() for parameter in found(name).module(1).parameters())
    assert found(name).weights().n_learned == learned


def _broken(rotation: Rotation) -> list[Rotation]:
    """Turned the other way round, paired otherwise, one degree too fast in a thousand, and lengthened."""
    return [
        replace(rotation, frequencies=-rotation.frequencies),
        replace(rotation, interleaved=not rotation.interleaved),
        replace(rotation, frequencies=rotation.frequencies * 1.001),
        replace(rotation, factor=rotation.factor * 1.01),
    ]


@pytest.mark.parametrize("name", ROTARY)
def test_a_rotation_that_is_not_the_runs_own_is_refused(found, name: str) -> None:
    weights = found(name).weights()
    for rotation in (None, *_broken(weights.scoring.rotation)):
        changed = replace(weights, scoring=replace(weights.scoring, rotation=rotation))
        with pytest.raises(ValueError, match="does not give this run's queries, keys and values"):
            found(name).case(weights=changed)


def test_a_bias_is_the_runs_own_and_not_another_runs(found) -> None:
    t5 = found("t5")
    weights = t5.weights()
    (other,) = projections(t5.model, t5.model.trace("It sleeps."), [Site("encoder_self", 1)]).values()
    torch.testing.assert_close(t5.case(weights=other).weights.scoring.bias.table, weights.scoring.bias.table)
    assert t5.case(weights=other).weights.scoring.bias.table.shape[1] > other.scoring.bias.table.shape[1]


def test_a_bias_by_distance_is_told_from_any_other() -> None:
    table = DistanceBias(torch.randn(3, 2 * 4 + 1))
    for q_len, k_len in ((5, 5), (2, 5), (5, 2), (1, 1), (1, 5)):
        cells = table.cells(q_len, k_len)
        assert all(cells[1, i, j] == table.table[1, j - i + 4] for i in range(q_len) for j in range(k_len))
        made = DistanceBias.of(cells.unsqueeze(0))
        torch.testing.assert_close(made.cells(q_len, k_len), cells)
    cells = table.cells(5, 5).unsqueeze(0).clone()
    cells[0, 2, 3, 4] += 1
    assert DistanceBias.of(cells) is None
    places = torch.randn(1, 3, 1, 5).expand(1, 3, 5, 5)  # BLOOM's: by the key's place, not by its distance
    assert DistanceBias.of(places) is None


@pytest.mark.parametrize("name", ["llama", "qwen3", "gpt_neox", "t5"])
def test_a_whole_model_made_of_what_was_found_says_the_same(found, name: str) -> None:
    one = found(name)
    wrong = BUGS["softmax_over_queries"].steps
    kept, moved = (bug_in_model(one.model, one.trace, steps, one.sites) for steps in (RIGHT, wrong))
    assert not isinstance(kept, Raised)
    assert not isinstance(moved, Raised)
    assert kept.logits_change < 1e-3 < 1e-2 < moved.logits_change
    assert kept.before == kept.after


@pytest.mark.parametrize("name", ["llama", "qwen3", "yarn", "t5"])
def test_claims_are_made_of_the_rotated_queries(found, name: str) -> None:
    case, (_, attn) = found(name).case(), found(name).eager(1)
    assert claims.loops(case, repeats=1).change < 1e-5
    assert claims.concatenation_change(case) == 0
    own = modulation(case.weights, case.input_[0], 2, None if case.mask is None else case.mask[0]).own
    torch.testing.assert_close(own, attn[0, 2], rtol=0, atol=CLOSE)
    scaled = claims.scaling(case)
    largest = attn.amax(dim=-1)[case.cells.any(dim=-1)]
    shown = scaled.largest_unscaled if name == "t5" else scaled.largest_scaled
    torch.testing.assert_close(shown, largest, rtol=0, atol=CLOSE)
    rotary = case.weights.scoring.rotation
    if rotary is None:
        with pytest.raises(ValueError, match="does not rotate"):
            claims.moved(case)
    else:
        moved = claims.moved(case)
        assert moved.scores < 1e-3 < 0.1 < moved.queries


def test_a_line_that_a_model_has_not_is_no_line_to_skip(found) -> None:
    assert skips_of(found("llama").weights()) == SKIPS
    assert set(SKIPS) - set(skips_of(found("t5").weights())) == {"scale"}
    for name in ("llama", "t5"):
        for skip in skips_of(found(name).weights()):
            found_ = skipped(skip, found(name).case())
            assert isinstance(found_, Raised) or found_.same_shape or skip == "transpose"


def test_a_bug_says_of_a_model_that_it_has_nothing_to_get_wrong(found) -> None:
    t5, llama = (found(name).weights() for name in ("t5", "llama"))
    lacking = {name for name, bug in BUGS.items() if bug.lacks(t5)}
    assert lacking == {"no_scale", "scale_by_d_model", "bias_by_xavier"}
    assert {name for name, bug in BUGS.items() if bug.lacks(llama)} == {"bias_by_xavier"}
    assert BUGS["no_scale"].lacks(t5).startswith("This model does not divide its scores by √d_k")


def test_costs_of_long_texts_are_taken_with_positions_too(found) -> None:
    for name in ("llama", "t5"):
        lengths = {(cost.way, cost.length) for cost in implementation_cost(found(name).weights(), (4, 53), enough=0.0)}
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
        ("gemma2", "its scores are bent by a tanh, so that none is beyond ±2"),
        ("gpt_oss", "a sink of the model's own takes part of each row's weight"),
        ("gemma3n_text", "its values are no linear map of what goes in"),
    ],
)
def test_what_cannot_be_shown_says_what_was_seen(tmp_path: Path, name: str, why: str) -> None:
    made: Any = load(architectures.ALL[name](tmp_path / name), device=torch.device("cpu"), dtype=torch.float32)
    (found,) = projections(made, made.trace(TEXT, new_tokens=0), [Site("decoder_self", 0)]).values()
    assert isinstance(found, NotPlain)
    assert found.why.startswith(why)
