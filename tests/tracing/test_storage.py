"""A trace in a file: the same again, with whatever was typed, and no other file taken for one."""

import pytest
import torch

from attnviz.tracing.trace import Trace
from tests.tracing.conftest import LAYERS


def test_a_file_brings_back_the_same_trace(trace, tmp_path):
    trace.save(tmp_path / "love.npz")
    again = Trace.load(tmp_path / "love.npz")
    assert (again.sentences, again.info, again.kinds) == (trace.sentences, trace.info, trace.kinds)
    for kind in trace.kinds:
        torch.testing.assert_close(again.attn(kind), trace.attn(kind), rtol=0, atol=1e-6)  # other strides, other kernel
        torch.testing.assert_close(again.scores(kind), trace.scores(kind), rtol=1e-6, atol=1e-6)
        assert torch.equal(again.mask(kind), trace.mask(kind))
    assert torch.equal(again.logits, trace.logits)
    assert torch.equal(again.layer_output("decoder", LAYERS - 1), trace.layer_output("decoder", LAYERS - 1))


def test_a_file_keeps_strange_tokens(model, tmp_path):
    strange = model.trace("a\x00 \u202e \ud800 <b> 🐕\n", to="zh", tgt_text="\u200b我")
    strange.save(tmp_path / "t.npz", maps=False)
    assert Trace.load(tmp_path / "t.npz").sentences == strange.sentences


def test_any_other_file_is_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"not a trace")
    with pytest.raises(ValueError, match=r"x\.npz is not a trace saved by attnviz"):
        Trace.load(tmp_path / "x.npz")
