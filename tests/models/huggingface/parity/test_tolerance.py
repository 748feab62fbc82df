"""The parity check refuses a model whose numbers differ by more than rounding, in the first layer or the last."""

import dataclasses

import pytest

from attnviz.models.huggingface import load
from attnviz.models.huggingface.network import forward_pass
from attnviz.transformer.attention import attend
from tests.models.huggingface import checkpoints
from tests.models.huggingface.refused import CPU, refusal

pytestmark = pytest.mark.computes

DEEP = 32


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    return checkpoints.save(
        tmp_path_factory.mktemp("deep") / "deep", checkpoints.DECODERS["llama"], num_hidden_layers=DEEP
    )


def test_an_intact_deep_model_is_shown(deep):
    assert load(deep, **CPU).shapes == {"decoder_self": (DEEP, 6)}


def swap_heads(call):
    return dataclasses.replace(call, query=call.query.flip(1))


def nearly(call):
    return dataclasses.replace(call, scale=call.scale * 1.001)


def one_more_key(call):
    mask = call.mask.clone()
    mask[..., 1, 2] = True
    return dataclasses.replace(call, mask=mask)


@pytest.mark.parametrize("layer", [0, DEEP // 2, DEEP - 1])
@pytest.mark.parametrize("broken", [swap_heads, nearly, one_more_key])
def test_what_is_broken_in_one_layer_is_refused(deep, layer, broken, monkeypatch):
    def attend_broken(call, site=None, **more):
        return attend(broken(call) if site is not None and site.layer == layer else call, site, **more)

    monkeypatch.setattr(forward_pass, "attend", attend_broken)
    said = refusal(deep)
    assert f"decoder_self weights of layer {layer} differ from transformers' own by" in said
    assert "that rounding explains" in said
