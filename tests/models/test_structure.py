"""How a model is built, held against its own config: distinct primes tell sizes apart, and nothing is made up."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import attnviz
from attnviz.models.huggingface import load
from attnviz.models.plans import FeedForwardPlan, LayerPlan, Structure
from attnviz.models.structure import structure
from attnviz.models.toy.toy import Toy
from attnviz.models.translator.tiny import tiny_translator
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from tests.models.huggingface import architectures, checkpoints

CPU = torch.device("cpu")
BUILDERS = (
    architectures.ENCODERS_MORE
    | architectures.DECODERS_MORE
    | architectures.HYBRIDS
    | architectures.REPLAYED
    | architectures.WATCHED
)


def structure_of(folder: Path, name: str) -> Structure:
    """Return the structure of a small checkpoint."""
    saved = checkpoints.save(folder, checkpoints.ALL[name]) if name in checkpoints.ALL else BUILDERS[name](folder)
    model = load(saved, device=CPU, dtype=torch.float32)
    return structure(model.trace("Hello there."), model)


def test_the_translators_parts_are_its_configs() -> None:
    model = tiny_translator(n_heads=3, n_layers=2)
    config = model.model.config
    found = structure(model.trace("a dog", to="fr"), model)
    assert (found.d_model, found.vocabulary, found.is_tied, found.ends) == (
        config.d_model, config.vocab_size, True, "tokens",
    )  # fmt: skip
    encoder, decoder = found.stacks
    assert [layer.sites for layer in encoder.layers] == [(("encoder_self", 0),), (("encoder_self", 1),)]
    assert [layer.sites for layer in decoder.layers] == [(("decoder_self", at), ("cross", at)) for at in range(2)]
    assert {layer.feed_forward for layer in decoder.layers} == {FeedForwardPlan(config.d_ff)}
    assert (decoder.norm, decoder.ends_normed) == ("before" if config.norm_first else "after", True)
    assert [plan.sees_ahead for plan in found.kinds.values()] == [True, False, True]
    assert {(plan.heads, plan.d_k) for plan in found.kinds.values()} == {(3, config.d_k)}


@pytest.mark.parametrize(
    ("name", "norm", "ends_normed", "d_ff", "is_gated", "positions"),
    [
        ("bert", "after", False, 23, False, "a learned table of 61"),
        ("modernbert", "before", True, 23, True, "rotary"),
        ("gpt2", "before", True, 140, False, "a learned table of 61"),
        ("opt", "before", True, 23, False, "a learned table of 63"),
        ("llama", "before", True, 23, True, "rotary"),
        ("gemma2", "both", True, 23, True, "rotary"),
        ("t5_encoder", "before", True, 23, False, "a learned bias by distance"),
    ],
)
def test_norms_and_feed_forward_are_seen_in_modules_and_numbers(
    tmp_path: Path, name: str, norm: str, ends_normed: bool, d_ff: int, is_gated: bool, positions: str
) -> None:
    found = structure_of(tmp_path / "m", name)
    (stack,) = found.stacks
    assert (stack.norm, stack.ends_normed) == (norm, ends_normed)
    assert {layer.feed_forward for layer in stack.layers} == {FeedForwardPlan(d_ff, is_gated)}
    assert found.positions == positions


def test_an_encoder_and_a_decoder_may_differ(tmp_path: Path) -> None:
    found = structure_of(tmp_path / "m", "bart")
    encoder, decoder = found.stacks
    assert (len(encoder.layers), len(decoder.layers)) == (2, 3)
    assert (encoder.layers[0].feed_forward, decoder.layers[0].feed_forward) == (
        FeedForwardPlan(23),
        FeedForwardPlan(19),
    )
    assert (found.kinds["encoder_self"].heads, found.kinds["cross"].heads) == (5, 3)
    assert (encoder.norm, encoder.ends_normed, decoder.norm, decoder.ends_normed) == ("after", False) * 2


def test_groups_experts_and_parallel_sublayers_are_told(tmp_path: Path) -> None:
    grouped = structure_of(tmp_path / "grouped", "llama")
    assert (grouped.kinds["decoder_self"].groups, grouped.is_tied) == (2, False)
    experts = structure_of(tmp_path / "experts", "gpt_oss").stacks[0].layers[0]
    assert experts.feed_forward == FeedForwardPlan(32, True, experts=2, active=1)
    neox, phi = (structure_of(tmp_path / name, name).stacks[0].layers[0] for name in ("gpt_neox", "phi"))
    assert (neox.is_parallel, neox.has_own_norms) == (True, True)
    assert (phi.is_parallel, phi.has_own_norms) == (True, False)


def test_what_mixes_tokens_beside_attention_or_in_its_place_is_named(tmp_path: Path) -> None:
    assert structure_of(tmp_path / "beside", "falcon_h1").stacks[0].layers[0].beside == "FalconH1Mixer"
    (stack,) = structure_of(tmp_path / "instead", "lfm2").stacks
    assert stack.ends_normed  # it is called embedding_norm
    without = [layer for layer in stack.layers if not layer.sites]
    assert without
    assert {layer.beside for layer in without} == {"Lfm2ShortConv"}
    assert [layer.number for layer in stack.layers] == list(range(len(stack.layers)))


def test_of_a_model_whose_weights_are_replayed_layers_are_told_and_nothing_is_guessed(tmp_path: Path) -> None:
    found = structure_of(tmp_path / "m", "prophetnet")
    (stack,) = found.stacks
    assert (stack.norm, stack.layers[0].feed_forward, found.kinds["decoder_self"].d_k) == ("", None, None)
    assert structure_of(tmp_path / "watched", "deberta").kinds["encoder_self"].d_k is None


def test_a_model_without_scores_ends_in_hidden_states(tmp_path: Path) -> None:
    found = structure_of(tmp_path / "m", "electra")
    assert (found.ends, found.is_tied) == ("", None)
    assert structure_of(tmp_path / "masked", "bert").ends == "masked"


def test_a_toy_is_drawn_as_its_network_is() -> None:
    recording = attnviz.load_recording(shipped.path(Experiment(task="french")))
    model = Toy.from_recording(recording)
    found = structure(model.trace("the black dogs see my small car"), model)
    assert (found.d_model, found.positions) == (model.model.config.d_model, "sinusoidal, added")
    assert [stack.stack for stack in found.stacks] == ["encoder", "decoder"]


def test_of_bare_weights_layers_and_heads_are_all_that_is_known() -> None:
    found = structure(attnviz.from_tensors(torch.rand(5, 3, 4, 4).softmax(-1), list("abcd"), kind="encoder_self"))
    (stack,) = found.stacks
    assert stack.layers == tuple(LayerPlan(at, (("encoder_self", at),)) for at in range(5))
    assert (stack.norm, found.d_model, found.vocabulary, found.ends) == ("", None, None, "")
    assert (found.kinds["encoder_self"].heads, found.kinds["encoder_self"].d_k) == (3, None)


def test_of_a_model_on_an_engine_what_its_trace_says_is_all_that_is_known() -> None:
    model = tiny_translator(n_heads=3, n_layers=2)
    remote = SimpleNamespace(writes=True)  # its layers stay where they are
    found = structure(model.trace("a dog", to="fr"), remote)  # type: ignore[arg-type]
    assert [len(stack.layers) for stack in found.stacks] == [2, 2]
    assert (found.vocabulary, found.stacks[0].norm, found.ends) == (None, "", "tokens")
    assert found.kinds["cross"].d_k == model.model.config.d_k
