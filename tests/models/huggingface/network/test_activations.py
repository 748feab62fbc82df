"""An activation that transformers writes out in Python runs in one kernel: the same numbers, nothing else replaced."""

import pytest
import torch
from torch import nn
from transformers.activations import ACT2FN

from attnviz.models.huggingface.network.patches import fuse

pytestmark = pytest.mark.computes


def _feed_forward(name: str) -> nn.Module:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(7, 11), ACT2FN[name], nn.Linear(11, 7))


def test_the_fused_activation_gives_the_same_numbers():
    model, x = _feed_forward("gelu_new"), torch.linspace(-9, 9, 7 * 13).view(13, 7)
    expected, written_out = model(x), model[1]
    fuse(model)
    assert model[1] is not written_out
    torch.testing.assert_close(model(x), expected, rtol=1e-6, atol=1e-6)


def test_other_activations_stay_what_they_are():
    for name in ("gelu", "gelu_python", "gelu_fast", "quick_gelu", "relu", "gelu_pytorch_tanh"):
        model = _feed_forward(name)
        activation = model[1]
        fuse(model)
        assert model[1] is activation, name
