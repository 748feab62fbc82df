"""A run can begin with a trained model's weights, with another vocabulary and another language."""

from dataclasses import replace

import pytest
import torch

from attnviz.text.tokenizer import bos
from attnviz.training.corpus import build_codec
from attnviz.training.trainer import Trainer
from attnviz.transformer.config import ModelConfig

CPU = torch.device("cpu")


@pytest.fixture
def teacher(recipe, config):
    return Trainer(replace(recipe, seed=5), config, CPU).model


def _start_trainer(recipe, config, codec, teacher, its_codec):
    trainer = Trainer(recipe, config, CPU)
    trainer.begin_from(codec, teacher, its_codec)
    return trainer


def test_the_same_vocabulary_gives_the_same_model(recipe, config, codec, teacher):
    trainer = _start_trainer(recipe, config, codec, teacher, codec)
    for name, tensor in teacher.state_dict().items():
        assert torch.equal(trainer.model.state_dict()[name], tensor), name
    for name, tensor in teacher.named_parameters():
        assert torch.equal(trainer.average[name], tensor), name
    assert torch.equal(trainer.averaged_model().embedding.weight, teacher.embedding.weight)


def test_known_pieces_keep_their_vectors_and_new_ones_begin_as_a_mean(recipe, config, codec, pairs, teacher):
    german = [(english, f"Der {english[4:-1]} Blubb.") for english, _ in pairs["fr"]]
    wider = build_codec({**pairs, "de": german}, vocab_size=170)
    trainer = _start_trainer(recipe, replace(config, vocab_size=wider.vocab_size), wider, teacher, codec)
    vectors, old = trainer.model.embedding.weight, teacher.embedding.weight
    known = {piece: id_ for id_, piece in enumerate(codec.pieces)}
    new = [piece for piece in wider.pieces if piece not in known and not piece.startswith("<")]
    assert new
    for id_, piece in enumerate(wider.pieces):
        if piece in known:
            assert torch.equal(vectors[id_], old[known[piece]]), piece
    for piece in new:
        torch.testing.assert_close(vectors[wider.pieces.index(piece)], old[list(codec.spell(piece))].mean(0))
    languages = old[[codec.bos_id("fr"), codec.bos_id("zh")]].mean(0)
    torch.testing.assert_close(vectors[wider.pieces.index(bos("de"))], languages)


def test_more_feed_forward_units_compute_the_same_and_can_learn(recipe, config, codec, teacher):
    trainer = _start_trainer(recipe, replace(config, d_ff=config.d_ff + 12), codec, teacher, codec)
    src, tgt_in = torch.randint(4, codec.vocab_size, (2, 7)), torch.randint(4, codec.vocab_size, (2, 5))
    teacher.eval()
    torch.testing.assert_close(trainer.averaged_model()(src, tgt_in), teacher(src, tgt_in))
    trainer.model(src, tgt_in).sum().backward()
    assert all(layer.feed_forward.W_2.weight.grad[:, config.d_ff :].any() for layer in trainer.model.decoder.layers)


def test_a_model_of_other_sizes_is_refused(recipe, codec, teacher):
    for sizes in ({"d_ff": 13}, {"n_layers": 3}, {"n_layers": 1}):
        other = ModelConfig(codec.vocab_size, 24, 3, **{"n_layers": 2, "d_ff": 17} | sizes)
        with pytest.raises(ValueError, match="has other sizes than the recipe"):
            _start_trainer(recipe, other, codec, teacher, codec)
    with pytest.raises(ValueError, match="has other sizes than the recipe"):
        _start_trainer(recipe, ModelConfig(codec.vocab_size, 30, 3, 2, 17), codec, teacher, codec)
