"""Weights in blocks of rows: PyTorch's own softmax over the whole scores gives the same, whatever hides keys."""

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.thumbnails import Thumbnails
from attnviz.tracing.trace import Trace
from attnviz.transformer import probe
from attnviz.transformer import row_blocks as module
from attnviz.transformer.probe import AttentionCall, EditedWeights
from attnviz.transformer.row_blocks import row_blocks
from tests.each_case import each_case

pytestmark = pytest.mark.computes
HEADS, GROUPS, WIDTH = 6, 2, 16
SIZES = [(5, 7), (131, 131), (129, 301)]  # less than a block, a bit more than one, and cross-attention
MASKS = ("none", "causal", "window", "by head", "rows without keys", "padding", "expanded", "nothing visible")


def mask_of(name: str, q_len: int, k_len: int) -> Tensor | None:
    causal = torch.ones(q_len, k_len, dtype=torch.bool).tril(k_len - q_len)
    if name == "none":
        return None
    if name == "window":
        return (causal & ~causal.tril(k_len - q_len - 20))[None, None]
    if name == "by head":
        return torch.rand(1, HEADS, q_len, k_len, generator=torch.Generator().manual_seed(1)) > 0.8
    if name == "rows without keys":
        causal[[3, q_len - 1]] = False
        return causal[None, None]
    if name == "padding":
        seen = torch.ones(1, 1, 1, k_len, dtype=torch.bool)
        seen[..., [2, k_len - 1]] = False
        return seen
    if name == "expanded":
        return causal.expand(1, HEADS, q_len, k_len)
    return torch.zeros(1, 1, q_len, k_len, dtype=torch.bool) if name == "nothing visible" else causal[None, None]


def calls(q_len: int, k_len: int, mask: Tensor | None) -> Iterator[tuple[AttentionCall, Tensor]]:
    """Yield calls, and the weights that PyTorch's operations give for them in float64."""
    draw = torch.Generator().manual_seed(0)
    query, key, bias, put = (
        torch.randn(1, heads, length, width, generator=draw) * 2
        for heads, length, width in (
            (HEADS, q_len, WIDTH), (GROUPS, k_len, WIDTH), (HEADS, q_len, k_len), (HEADS, q_len, k_len),
        )
    )  # fmt: skip
    sinks, rows = torch.randn(1, HEADS, 1, 1, generator=draw), torch.rand(1, HEADS, q_len, generator=draw) > 0.5
    raw = query.double() @ key.double().repeat_interleave(HEADS // GROUPS, dim=1).mT / 4

    def call(**more) -> AttentionCall:
        return AttentionCall(query, key, key, scale=0.25, mask=mask, **more)

    def weights(scores: Tensor, *sink: Tensor) -> Tensor:
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return torch.cat((scores, *sink), dim=-1).softmax(dim=-1)[..., :k_len].nan_to_num(nan=0.0)[0]

    yield call(), weights(raw)
    yield call(softcap=3.0), weights(3 * (raw / 3).tanh())
    yield call(bias=bias), weights(raw + bias)
    yield call(sinks=sinks), weights(raw, sinks.double().expand(1, HEADS, q_len, 1))
    edited = EditedWeights(put.softmax(dim=-1), rows)
    yield call(edited=edited), torch.where(rows[0, ..., None], put[0].double().softmax(dim=-1), weights(raw))
    half = AttentionCall(query.bfloat16(), key.bfloat16(), key, scale=0.25, mask=mask)
    yield half, weights(half.query.double() @ half.key.double().repeat_interleave(3, dim=1).mT / 4)


@each_case("mask", MASKS)
@pytest.mark.parametrize("cells", [1 << 20, 1], ids=["all heads at once", "head by head"])
def test_blocks_hold_the_weights_of_the_whole_softmax(mask: str, cells: int, monkeypatch) -> None:
    monkeypatch.setattr(module, "_CELLS_ON_CPU", cells)
    for q_len, k_len in SIZES:
        for call, wanted in calls(q_len, k_len, mask_of(mask, q_len, k_len)):
            for informs in (False, True):
                require_the_weights(call, wanted, informs=informs)


def require_the_weights(call: AttentionCall, wanted: Tensor, *, informs: bool) -> None:
    """Read a call block by block, and compare weights, information and thumbnails with those of the whole map."""
    found, information = torch.zeros(wanted.shape), torch.zeros(wanted.shape[:2])
    small, on = Thumbnails(tuple(wanted.shape), 24), torch.zeros(*wanted.shape[:2], 3)
    keys = torch.randint(wanted.shape[2], on.shape[1:], generator=torch.Generator().manual_seed(2))
    for block in row_blocks(call, informs=informs):
        on[block.heads, block.rows] = block.gather(keys[block.rows])
        found[block.heads, block.rows, block.keys] = block.attn
        information[block.heads, block.rows] = block.row_information()
        small.read(block)
    torch.testing.assert_close(found, wanted.float(), atol=5e-6, rtol=0)
    torch.testing.assert_close(on, found.gather(-1, keys.expand(len(found), -1, -1)), atol=0, rtol=0)
    torch.testing.assert_close(information, torch.special.entr(wanted).sum(-1).float(), atol=2e-5, rtol=1e-5)
    pooled = F.adaptive_max_pool2d(wanted.float(), tuple(min(24, length) for length in wanted.shape[1:]))
    assert (small.eight_bits().int() - pooled.mul(255).round().int()).abs().max() <= 1


def test_keys_that_no_row_of_a_block_sees_are_not_computed() -> None:
    query = torch.randn(1, 1, 384, WIDTH)
    causal = torch.ones(384, 384, dtype=torch.bool).tril()
    window = causal & ~causal.tril(-100)
    keys = {
        name: [block.keys for block in row_blocks(AttentionCall(query, query, query, 0.25, mask=mask[None, None]))]
        for name, mask in {"causal": causal, "window": window}.items()
    }
    assert keys["causal"] == [slice(0, 128), slice(0, 256), slice(0, 384)]
    assert keys["window"] == [slice(0, 128), slice(29, 256), slice(157, 384)]


def test_some_rows_alone_are_those_of_the_whole_map() -> None:
    query = torch.randn(1, HEADS, 200, WIDTH)
    call = AttentionCall(query, query, query, 0.25)
    whole = (query @ query.mT / 4).softmax(dim=-1)[0]
    blocks = list(row_blocks(call, rows=range(126, 131)))
    assert [block.rows for block in blocks] == [slice(126, 128), slice(128, 131)]
    last = blocks[-1]  # whose memory no later block has used
    torch.testing.assert_close(last.attn, whole[last.heads, last.rows], atol=1e-6, rtol=0)


def test_a_terminal_is_told_how_far_long_work_is_and_how_long_it_will_take(monkeypatch, capsys) -> None:
    now = [0.0]
    monkeypatch.setattr(probe.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(probe.sys.stderr, "isatty", lambda: True, raising=False)
    with probe.report_layers("Measuring every head", 4):
        for layer in range(4):
            probe.tell_listener(probe.Site("encoder_self", layer))
            now[0] += 3
    said = capsys.readouterr().err
    assert "Measuring every head: 1 of 4 layers, about 9 s left" in said
    assert said.endswith("\r"), "the line is taken away"


def test_work_that_is_stopped_between_two_blocks_gives_nothing() -> None:
    query = torch.randn(1, 2, 300, WIDTH)
    call = AttentionCall(query, query, query, 0.25)
    tokens = tuple(Token("a", 1, at, at + 1) for at in range(300))
    trace = Trace({probe.Site("encoder_self", 0): call}, {}, {}, (Sentence(src=tokens),))
    told = []

    def stop(site: probe.Site) -> None:
        told.append(site)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), probe.listen_to_sites(stop):
        trace.thumbnails("encoder_self")
    assert len(told) == 3
