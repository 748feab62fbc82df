"""The KV cache changes the cost of a step and nothing else."""

import pytest
import torch

from attnviz.transformer.cache import KVCache, LayerCache
from attnviz.transformer.decoding import Stepper
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Site

CLOSE = {"rtol": 0.0, "atol": 1e-5}
KINDS = ("decoder_self", "cross")


def _steps(model, src, tgt_in, *, cached: bool, probe=None) -> torch.Tensor:
    src_mask = model.src_mask(src)
    stepper = Stepper(model, model.encode(src, src_mask), src_mask, capacity=tgt_in.shape[1], cached=cached)
    return torch.stack([stepper.step(ids, probe=probe) for ids in tgt_in.T], dim=1)


def test_steps_with_and_without_cache_equal_one_full_pass(model, src, tgt_in):
    full = model(src, tgt_in)
    torch.testing.assert_close(_steps(model, src, tgt_in, cached=True), full, **CLOSE)
    torch.testing.assert_close(_steps(model, src, tgt_in, cached=False), full, **CLOSE)


def test_weights_of_the_last_step_equal_the_last_row_of_a_full_pass(model, src, tgt_in, capture):
    full, stepped = capture(), capture()
    model(src, tgt_in, ForwardContext(full))
    _steps(model, src, tgt_in, cached=True, probe=stepped)
    for kind in KINDS:
        for layer in range(2):
            site = Site(kind, layer)
            attn = stepped.attn(site)
            assert attn.shape[2] == 1
            torch.testing.assert_close(attn, full.attn(site)[:, :, -1:], **CLOSE)


def test_several_tokens_can_be_fed_at_once(model, src, tgt_in):
    src_mask = model.src_mask(src)
    memory, cache = model.encode(src, src_mask), KVCache.allocate(model.config, 5)
    parts = [model.decode(part, memory, src_mask, ForwardContext(cache=cache)) for part in tgt_in.split([2, 3], dim=1)]
    assert cache.length == 5
    torch.testing.assert_close(model.logits(torch.cat(parts, dim=1)), model(src, tgt_in), **CLOSE)


def test_a_recorded_step_is_not_changed_by_later_steps(model, src, tgt_in, capture):
    src_mask = model.src_mask(src)
    stepper = Stepper(model, model.encode(src, src_mask), src_mask, capacity=5)
    probe, site = capture(), Site("decoder_self", 1)
    stepper.step(tgt_in[:, 0], probe=probe)
    before = probe.calls[site].key.clone()
    for ids in tgt_in.T[1:]:
        stepper.step(ids)
    assert torch.equal(probe.calls[site].key, before)
    assert before.shape[2] == 1


def test_rows_can_be_dropped_and_reordered(model, src, tgt_in):
    src_mask = model.src_mask(src)
    stepper = Stepper(model, model.encode(src, src_mask), src_mask, capacity=5)
    stepper.step(tgt_in[:, 0])
    stepper.step(tgt_in[:, 1])
    stepper.select_rows(torch.tensor([1, 0, 1]))
    logits = stepper.step(torch.tensor([9, 9, 9]))
    swapped = torch.cat((tgt_in[[1, 0, 1], :2], torch.full((3, 1), 9)), dim=1)
    torch.testing.assert_close(logits, model(src[[1, 0, 1]], swapped)[:, -1], **CLOSE)


def test_position_after_caching_is_that_of_the_full_pass(model, src):
    same = torch.full((1, 5), 7)
    logits = _steps(model, src[:1], same, cached=True)
    assert not torch.allclose(logits[:, 0], logits[:, 4], atol=1e-3), "the same token at another position differs"


def test_more_tokens_than_it_has_room_for_are_refused(model, src, tgt_in):
    stepper = Stepper(model, model.encode(src, None), None, capacity=1)
    stepper.step(tgt_in[:, 0])
    with pytest.raises(ValueError, match="has room for 1 tokens, but was given a 2th token"):
        stepper.step(tgt_in[:, 1])


def test_an_empty_cache_says_so():
    with pytest.raises(ValueError, match="still empty"):
        LayerCache(3).read()
