"""Maps in eight bits: the largest weight of each window, and no peak lost."""

import torch
import torch.nn.functional as F

from attnviz.tracing.thumbnails import thumbnail
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
