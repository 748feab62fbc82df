"""The whole model: equal to a whole `nn.Transformer`, causal, and the same alone as in a batch."""

import pytest
import torch
from torch import nn

from attnviz.transformer import masks
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.from_torch import from_torch
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Site
from attnviz.transformer.transformer import Transformer
from tests.each_case import each_case

# PyTorch says so of its own encoder where norm_first, odd heads or no biases keep it from a short cut.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")

BATCH, SRC_LEN, TGT_LEN, D_MODEL, HEADS, LAYERS, D_FF = 2, 7, 5, 33, 3, 2, 13
CLOSE = {"rtol": 0.0, "atol": 1e-5}
SRC_PADDING = masks.padding(torch.tensor([[4] * SRC_LEN, [4, 4, 4, 0, 0, 0, 0]]), pad_id=0)
TGT_PADDING = masks.padding(torch.tensor([[4] * TGT_LEN, [4, 4, 4, 0, 0]]), pad_id=0)


def _theirs(**options) -> nn.Transformer:
    sizes = {"nhead": HEADS, "num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS, "dim_feedforward": D_FF}
    theirs = nn.Transformer(D_MODEL, **{**sizes, "dropout": 0.0, "batch_first": True, **options})
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, mean=0.05, std=0.2)  # norms and biases away from 0 and 1 too
    return theirs  # gradients stay on: without them its encoder takes a short cut that this test is not about


@each_case("norm_first", [False, True])
@each_case("padded", [False, True])
@each_case("causal", [False, True])
def test_equals_a_whole_transformer_of_pytorch(norm_first, padded, causal):
    theirs = _theirs(norm_first=norm_first)
    ours = from_torch(theirs, vocab_size=23)
    src, tgt = torch.randn(BATCH, SRC_LEN, D_MODEL), torch.randn(BATCH, TGT_LEN, D_MODEL)
    expected = theirs(
        src,
        tgt,
        tgt_mask=~masks.causal(TGT_LEN)[0] if causal else None,
        src_key_padding_mask=~SRC_PADDING.squeeze(1) if padded else None,
        memory_key_padding_mask=~SRC_PADDING.squeeze(1) if padded else None,
        tgt_key_padding_mask=~TGT_PADDING.squeeze(1) if padded else None,
    )
    tgt_mask = masks.causal(TGT_LEN) if causal else torch.ones(1, TGT_LEN, TGT_LEN, dtype=torch.bool)
    src_mask = SRC_PADDING if padded else None
    out = ours.decoder(
        src_mask=src_mask,
        x=tgt,
        memory=ours.encoder(src, src_mask),
        tgt_mask=tgt_mask & TGT_PADDING if padded else tgt_mask,
    )
    torch.testing.assert_close(out, expected, **CLOSE)


@pytest.mark.parametrize("norm_first", [False, True])
def test_weights_go_back_to_pytorch_and_give_the_same(norm_first):
    ours = from_torch(_theirs(norm_first=norm_first), vocab_size=23)
    config = ModelConfig(23, D_MODEL, HEADS, LAYERS, D_FF, norm_first=norm_first, positions=False)
    assert ours.config == config
    fresh = Transformer(config).initialise(4).requires_grad_(False)
    theirs = _theirs(norm_first=norm_first)
    _copy_back(fresh, theirs)
    src, tgt = torch.randn(BATCH, SRC_LEN, D_MODEL), torch.randn(BATCH, TGT_LEN, D_MODEL)
    tgt_mask = masks.causal(TGT_LEN)
    expected = fresh.decoder(tgt, fresh.encoder(src), tgt_mask, None)
    torch.testing.assert_close(theirs(src, tgt, tgt_mask=~tgt_mask[0]), expected, **CLOSE)


def _copy_back(ours: Transformer, theirs: nn.Transformer) -> None:
    """Our names, written out, onto PyTorch's: an inverse that shares no code with `from_torch`."""
    state = {}
    for stack in ("encoder", "decoder"):
        source = getattr(ours, stack).state_dict()
        state |= {f"{stack}.norm.{name}": source[f"norm.{name}"] for name in ("weight", "bias")}
        attentions = {"self_attn": "self_attention"} | (
            {"multihead_attn": "cross_attention"} if stack == "decoder" else {}
        )
        sublayers = [*attentions.values(), "feed_forward"]
        for layer in range(LAYERS):
            at, to = f"layers.{layer}.", f"{stack}.layers.{layer}."
            for name in ("weight", "bias"):
                for theirs_name, our_name in attentions.items():
                    rows = [source[f"{at}{our_name}.W_{letter}.{name}"] for letter in "qkv"]
                    state[f"{to}{theirs_name}.in_proj_{name}"] = torch.cat(rows)
                    state[f"{to}{theirs_name}.out_proj.{name}"] = source[f"{at}{our_name}.W_o.{name}"]
                for number in (1, 2):
                    state[f"{to}linear{number}.{name}"] = source[f"{at}feed_forward.W_{number}.{name}"]
                for number, sublayer in enumerate(sublayers, 1):
                    state[f"{to}norm{number}.{name}"] = source[f"{at}{sublayer}_sublayer.norm.{name}"]
    theirs.load_state_dict(state)


def test_no_later_token_moves_an_earlier_output(model, src, tgt_in):
    changed = tgt_in.clone()
    changed[:, 3:] = torch.tensor([[20, 21], [22, 1]])
    before, after = model(src, tgt_in), model(src, changed)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])


def test_every_earlier_token_moves_a_later_output(model, src, tgt_in):
    changed = tgt_in.clone()
    changed[:, 1] = 20
    moved = (model(src, tgt_in) - model(src, changed)).abs().amax(-1)
    assert moved[:, 0].eq(0).all()
    assert moved[:, 1:].gt(1e-4).all()


def test_padding_of_a_batch_changes_no_sentence(model, src, tgt_in):
    together = model(src, tgt_in)
    for row in range(2):
        src_len, tgt_len = int((src[row] != 0).sum()), int((tgt_in[row] != 0).sum())
        alone = model(src[row : row + 1, :src_len], tgt_in[row : row + 1, :tgt_len])
        torch.testing.assert_close(together[row, :tgt_len], alone[0], **CLOSE)


def test_padding_is_never_attended_to(model, src, tgt_in, capture):
    probe = capture()
    src_mask = model.src_mask(src)
    memory = model.encode(src, src_mask, ForwardContext(probe))
    model.decode(tgt_in, memory, src_mask, ForwardContext(probe))
    for layer in range(2):
        for kind in ("encoder_self", "cross"):
            assert probe.attn(Site(kind, layer))[1, :, :, 4:].eq(0).all()
        attn = probe.attn(Site("decoder_self", layer))
        assert attn.triu(1).eq(0).all()
        torch.testing.assert_close(attn.sum(-1), torch.ones(2, 3, 5), **CLOSE)


def test_no_mask_is_made_where_nothing_is_padded(model, src):
    assert model.src_mask(src[:1]) is None
    assert model.src_mask(src).shape == (2, 1, 7)


def test_probe_sees_every_site_and_layer_and_changes_nothing(model, src, tgt_in, capture):
    probe = capture()
    logits = model(src, tgt_in, ForwardContext(probe))
    assert torch.equal(logits, model(src, tgt_in))
    assert set(probe.calls) == {
        Site(kind, layer) for kind in ("encoder_self", "decoder_self", "cross") for layer in (0, 1)
    }
    assert set(probe.layers) == {(stack, layer) for stack in ("encoder", "decoder") for layer in (-1, 0, 1)}
    cross = probe.calls[Site("cross", 1)]
    assert cross.query.shape == (2, 3, 5, 11)
    assert cross.key.shape == (2, 3, 7, 11)
    last = model.decoder.norm(probe.layers["decoder", 1])
    torch.testing.assert_close(model.logits(last), logits, **CLOSE)


def test_recorded_call_reproduces_the_output_of_its_layer(model, src, tgt_in, capture):
    probe = capture()
    model(src, tgt_in, ForwardContext(probe))
    for site, call in probe.calls.items():
        torch.testing.assert_close(probe.attn(site) @ call.value, probe.contexts[site], **CLOSE)


def test_same_seed_gives_same_weights_and_leaves_other_random_numbers_alone():
    config = ModelConfig(23, 34, 2, 2, 13)
    state = torch.get_rng_state()
    first = Transformer(config)
    torch.set_rng_state(state)
    one, other = first.initialise(1).state_dict(), Transformer(config).initialise(2).state_dict()
    again = Transformer(config).initialise(1).state_dict()
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["embedding.weight"], other["embedding.weight"])
    state = torch.get_rng_state()
    first.initialise(3)
    assert torch.equal(torch.get_rng_state(), state)


@each_case(
    ("options", "reason"),
    [
        ({"num_encoder_layers": 1}, "number of layers"),
        ({"activation": "gelu"}, "ReLU"),
        ({"bias": False}, "bias"),
        ({"layer_norm_eps": 1e-3}, "eps"),
    ],
)
def test_what_ours_cannot_express_is_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        from_torch(_theirs(**options), vocab_size=23)
