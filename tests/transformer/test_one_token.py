"""A row on its own passes through the decoder as it would among others."""

import torch

from attnviz.transformer import checkpoint
from attnviz.transformer.cache import KVCache
from attnviz.transformer.decoding import Stepper
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.one_token import OneTokenDecoder
from attnviz.transformer.probe import Site
from attnviz.transformer.transformer import Transformer

CLOSE = {"rtol": 0.0, "atol": 1e-5}


def test_rows_one_by_one_equal_the_decoder_on_a_batch_with_padding(
    either_norm: Transformer, src, tgt_in, capture
) -> None:
    model = either_norm
    mask = model.src_mask(src)
    memory, full = model.encode(src, mask), capture()
    expected = model.decode(tgt_in, memory, mask, ForwardContext(full))
    decoder, cache = OneTokenDecoder(model.decoder), KVCache.allocate(model.config, tgt_in.shape[1])
    for position, ids in enumerate(tgt_in.T):
        probe = capture()
        x = model.embedding(ids.unsqueeze(1), position)
        row = decoder(x, memory, mask, ForwardContext(probe, cache=cache))
        torch.testing.assert_close(row[:, 0], expected[:, position], **CLOSE)
        for (stack, layer), output in probe.layers.items():
            torch.testing.assert_close(output[:, 0], full.layers[stack, layer][:, position], **CLOSE)
        _same_calls(probe, full, position)


def _same_calls(probe, full, position: int) -> None:
    """Everything that a trace is made of, at every site."""
    sites = {Site(kind, layer) for kind in ("decoder_self", "cross") for layer in {place.layer for place in full.calls}}
    assert set(probe.calls) == sites
    for site in sites:
        call, whole = probe.calls[site], full.calls[site]
        keys = slice(None) if site.kind == "cross" else slice(position + 1)
        now = slice(position, position + 1)
        pairs = {"query": now, "key": keys, "value": keys}
        for name, rows in pairs.items():
            torch.testing.assert_close(getattr(call, name), getattr(whole, name)[:, :, rows], **CLOSE)
        torch.testing.assert_close(call.input_, whole.input_[:, now], **CLOSE)
        torch.testing.assert_close(probe.contexts[site], full.contexts[site][:, :, now], **CLOSE)


def test_the_rows_of_a_loaded_model_are_sums_of_columns_and_equal_the_pass(
    either_norm: Transformer, src, tgt_in, tmp_path
) -> None:
    """Of one sentence: with more rows the matrix product is as fast."""
    checkpoint.save(either_norm, tmp_path, dtype=torch.float32)
    model = checkpoint.load(tmp_path)
    src, tgt_in = src[:1], tgt_in[:1]
    expected = model(src, tgt_in)
    stepper = Stepper(model, model.encode(src, model.src_mask(src)), model.src_mask(src), capacity=tgt_in.shape[1])
    assert stepper.row_decoder is not None
    layers = stepper.row_decoder.layers
    products = [p for layer in layers for p in (layer.own_in, layer.own_out, layer.cross_in, layer.cross_out)]
    products += [p for layer in layers for p in (layer.wider, layer.narrower)]
    assert all(product.every_column is not None for product in (*products, stepper.logits))
    for position, ids in enumerate(tgt_in.T):
        torch.testing.assert_close(stepper.step(ids), expected[:, position], **CLOSE)


def test_a_probe_may_change_what_a_row_sees(either_norm: Transformer, src, tgt_in, capture) -> None:
    """Of each site's weights the heads are turned round: as in a pass of one row."""
    model = either_norm
    memory, ids = model.encode(src, None), tgt_in[:, :1]
    edits = {Site(kind, 0): lambda attn: attn.flip(1) for kind in ("decoder_self", "cross")}
    expected = model.decode(ids, memory, None, ForwardContext(capture(edits)))
    run = ForwardContext(capture(edits), cache=KVCache.allocate(model.config, 1))
    changed = OneTokenDecoder(model.decoder)(model.embedding(ids), memory, None, run)
    torch.testing.assert_close(changed, expected, **CLOSE)
    assert not torch.allclose(changed, model.decode(ids, memory, None), atol=1e-3)
