"""Sizes that can be built, and a sentence for those that cannot."""

import dataclasses

import pytest

from attnviz.transformer.config import ModelConfig
from tests.each_case import each_case


def test_head_size_follows_from_the_others_unless_given():
    assert ModelConfig(11, d_model=24, n_heads=4).d_k == 6
    assert ModelConfig(11, d_model=24, n_heads=5, d_k=7).head_size == 7


def test_a_config_is_rebuilt_from_its_dict():
    config = ModelConfig(11, 24, 4, 2, 13, norm_first=False, positions=False, pad_id=3)
    assert ModelConfig.from_dict(config.to_dict()) == config


def test_a_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ModelConfig(11).d_model = 3  # type: ignore[misc]  # that is the point


@each_case(
    ("values", "reason"),
    [
        ({"vocab_size": 0}, "vocab_size must be a positive whole number, not 0"),
        ({"vocab_size": 11, "d_model": "256"}, "d_model must be a positive whole number, not '256'"),
        ({"vocab_size": 11, "n_layers": True}, "n_layers"),
        ({"vocab_size": 11, "d_ff": 1.5}, "d_ff"),
        ({"vocab_size": 11, "d_model": 10, "n_heads": 3}, "not a multiple of n_heads=3"),
        ({"vocab_size": 11, "d_k": -1}, "d_k"),
        ({"vocab_size": 11, "d_model": 9, "n_heads": 3}, "even d_model"),
        ({"vocab_size": 11, "pad_id": 11}, "outside the vocabulary"),
        ({"vocab_size": 11, "pad_id": "0"}, "outside the vocabulary"),
        ({"vocab_size": 11, "norm_first": "no"}, "norm_first must be true or false"),
        ({"vocab_size": 11, "positions": 1}, "positions must be true or false"),
        ({"vocab_size": 11, "colour": 1}, "Unknown names in the model config: colour"),
        ({}, "no vocab_size"),
        ([1], "must map names"),
    ],
)
def test_what_cannot_be_built_is_one_sentence(values, reason):
    with pytest.raises(ValueError, match=reason):
        ModelConfig.from_dict(values)
