"""Maps in eight bits: the largest weight of each window, and no peak lost."""

import torch
import torch.nn.functional as F

from attnviz.tracing.thumbnails import Thumbnails, thumbnail
from attnviz.transformer.row_blocks import RowBlock
from tests.each_case import each_case
from tests.tracing.conftest import HEADS, LAYERS


@each_case("shape", [(24, 40), (24, 41), (23, 40), (23, 41), (8, 16), (5, 8)])
def test_thumbnails_pool_over_the_windows_of_adaptive_max_pooling(shape):
    attn = torch.rand(3, *shape)
    size = tuple(min(8, length) for length in shape)
    pooled = F.adaptive_max_pool2d(attn, size)
    assert torch.equal(thumbnail(attn, 8), pooled.mul(255).round().to(torch.uint8))


def test_thumbnails_keep_peaks_and_shrink_to_their_side(trace):
    attn, small = trace.attn("encoder_self"), trace.thumbnails("encoder_self", side=4)
    assert small.shape == (LAYERS, HEADS, 4, 4)
    assert small.dtype is torch.uint8
    expected = F.adaptive_max_pool2d(attn, (4, 4)).mul(255).round().to(torch.uint8)
    assert torch.equal(small, expected)
    assert torch.equal(trace.thumbnails("cross"), trace.attn("cross").mul(255).round().to(torch.uint8))


def test_a_row_of_nan_hides_no_other_row_of_its_window() -> None:
    attn = torch.rand(1, 9, 9, generator=torch.Generator().manual_seed(0))
    shown = []
    for value in (torch.nan, 0.0):
        attn[:, 4] = value
        small = Thumbnails((1, 9, 9), 3)
        small.read(RowBlock(slice(0, 1), slice(0, 9), slice(0, 9), attn))
        shown.append(small.eight_bits())
    assert torch.equal(*shown)
