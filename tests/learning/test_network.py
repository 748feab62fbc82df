"""The networks that learn compute what PyTorch computes, and see what their experiment lets them see."""

import pytest
import torch
from torch import nn

from attnviz.toys.batches import add_padding, held_out_lines, one_line, toy_batch
from attnviz.toys.experiment import Experiment
from attnviz.toys.head_scores import look, maps
from attnviz.toys.network import DecoderAlone, Habits, network_of, replace_habits
from attnviz.toys.words import PAD, ToyWords
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.decoding import Stepper
from attnviz.transformer.from_torch import from_torch
from attnviz.transformer.probe import Site
from tests.each_case import each_case

pytestmark = pytest.mark.computes


def untrained_network(experiment: Experiment, count: int = 7):
    """Return the untrained network of an experiment, and a batch of held-out lines."""
    words = ToyWords(experiment.toy_task)
    return network_of(experiment, len(words.pieces)), toy_batch(words, held_out_lines(experiment.toy_task, count))


@torch.inference_mode()
def hidden_states(network, batch):
    src_mask = network.src_mask(batch.src)
    return network.decode(batch.tgt_in, network.encode(batch.src, src_mask), src_mask)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # PyTorch's advice about its own speed
def test_a_decoder_alone_is_pytorchs_encoder_under_a_causal_mask():
    theirs = nn.Transformer(15, 3, 2, 2, 13, dropout=0, batch_first=True, norm_first=True).eval()
    config = ModelConfig(11, d_model=15, n_heads=3, n_layers=2, d_ff=13, positions=False)
    ours, weights = DecoderAlone(config, Habits()), from_torch(theirs, vocab_size=11).encoder.state_dict()
    nn.init.normal_(ours.embedding.weight)
    ours.load_state_dict(weights | {"embedding.weight": ours.embedding.weight})
    ids = torch.randint(1, 11, (5, 7))
    with torch.inference_mode():
        expected = theirs.encoder(
            ours.embedding(ids), nn.Transformer.generate_square_subsequent_mask(7), is_causal=True
        )
        found = ours.decode(ids, ours.encode(ids[:, :0], None), None)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("task", ["reverse", "twice"])
@torch.inference_mode()
def test_a_causal_toy_steps_as_one_pass_computes_with_a_cache_and_without(task):
    network, batch = untrained_network(Experiment(task))
    expected, src_mask = network.logits(hidden_states(network, batch)), network.src_mask(batch.src)
    for cached in (True, False):
        stepper = Stepper(network, network.encode(batch.src, src_mask), src_mask, capacity=30, cached=cached)
        found = torch.stack([stepper.step(ids) for ids in batch.tgt_in.T], dim=1)
        real = batch.tgt_in != PAD
        torch.testing.assert_close(found[real], expected[real], atol=2e-5, rtol=1e-5)
        assert (stepper.cache is not None) is cached


@torch.inference_mode()
@pytest.mark.parametrize("choices", [{"without": "causal-mask"}, {"leak": "one-token"}])
def test_a_toy_that_sees_ahead_writes_on_its_whole_prefix_as_it_was_trained(choices):
    """With a cache, the first of two layers would have read each position before its successor was there."""
    network, batch = untrained_network(Experiment("reverse", layers=2, **choices))
    batch = one_line(batch, 0)
    memory = network.encode(batch.src, None)
    stepper = Stepper(network, memory, None, capacity=30, cached=True)
    for length in range(1, batch.tgt_in.shape[1] + 1):
        found = stepper.step(batch.tgt_in[:, length - 1])
        whole = network.logits(network.decode(batch.tgt_in[:, :length], memory, None))
        torch.testing.assert_close(found, whole[:, -1])


def visible_cells(experiment: Experiment) -> torch.Tensor:
    """Which cells of the decoder's maps hold weight: `(layers, heads, q_len, k_len)` of one line."""
    network, batch = untrained_network(experiment)
    return maps(look(network, one_line(batch, 0)))["decoder_self"] > 0


@pytest.mark.parametrize("task", ["reverse", "twice"])
def test_a_position_sees_what_its_experiment_lets_it_see(task):
    assert not visible_cells(Experiment(task)).triu(1).any()
    assert visible_cells(Experiment(task, without="causal-mask")).all()
    peeks = visible_cells(Experiment(task, leak="one-token"))
    assert bool(peeks.diagonal(1, dim1=-2, dim2=-1).all())
    assert not peeks.triu(2).any()
    leaks = visible_cells(Experiment(task, leak="one-head"))
    assert leaks[0, 0].all()
    assert not leaks[0, 1:].triu(1).any()
    assert not leaks[1:].triu(1).any()


@each_case("choices", [{}, {"without": "causal-mask"}, {"leak": "one-head"}, {"leak": "one-token"}])
def test_a_line_beside_longer_ones_is_computed_as_it_is_alone(choices):
    network, batch = untrained_network(Experiment("reverse", **choices))
    together = hidden_states(network, batch)
    for row in range(len(batch.src)):
        alone = one_line(batch, row)
        length = alone.tgt_in.shape[1]
        torch.testing.assert_close(together[row, :length], hidden_states(network, alone)[0], atol=1e-5, rtol=1e-5)


def test_without_a_padding_mask_a_line_depends_on_its_neighbours():
    network, batch = untrained_network(Experiment("reverse", without="padding-mask"))
    assert not torch.allclose(hidden_states(network, batch), hidden_states(network, add_padding(batch, 1)), atol=1e-3)


def test_without_cross_attention_every_source_is_the_same():
    network, batch = untrained_network(Experiment("reverse", without="cross-attention"))
    other = torch.where(batch.src == 5, 6, batch.src)
    assert not torch.equal(batch.src, other)
    src_mask = network.src_mask(batch.src)
    first, second = (network.encode(src, src_mask) for src in (batch.src, other))
    assert torch.equal(first, second)


def test_without_a_scale_scores_are_the_plain_products():
    network, batch = untrained_network(Experiment("reverse", without="scale"))
    recorder = look(network, batch)
    assert {call.scale for call in recorder.calls.values()} == {1.0}


def test_without_positions_the_order_of_a_source_changes_nothing():
    network, batch = untrained_network(Experiment("sort", without="positions"))
    line = one_line(batch, 0)
    turned = line.src.flip(1)
    with torch.inference_mode():
        memory, other = network.encode(line.src, None), network.encode(turned, None)
    torch.testing.assert_close(memory.flip(1), other)


def test_a_mask_is_put_back_without_touching_the_weights():
    network, batch = untrained_network(Experiment("reverse", without="causal-mask"))
    healed = replace_habits(network, Habits())
    assert not maps(look(healed, one_line(batch, 0)))["decoder_self"].triu(1).any()
    assert maps(look(network, one_line(batch, 0)))["decoder_self"].triu(1).any()
    assert healed.embedding.weight is network.embedding.weight


def test_the_sites_of_a_decoder_alone_are_a_decoders():
    network, batch = untrained_network(Experiment("twice"))
    recorder = look(network, batch)
    assert set(recorder.calls) == {Site("decoder_self", 0), Site("decoder_self", 1)}
    assert set(recorder.layers) == {("decoder", -1), ("decoder", 0), ("decoder", 1)}
