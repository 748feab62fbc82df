"""The chunked loss is PyTorch's cross-entropy: value and gradients."""

import torch
import torch.nn.functional as F

from attnviz.training.trainer import smoothed_cross_entropy
from tests.each_case import each_case

D_MODEL, VOCAB_SIZE = 7, 13


@each_case("positions", [1, 5, 256, 257, 611])
@each_case("smoothing", [0.0, 0.1, 0.7])
def test_loss_and_gradients_equal_those_of_pytorch(positions, smoothing):
    hidden, weight = torch.randn(positions, D_MODEL) * 2, torch.randn(VOCAB_SIZE, D_MODEL)
    labels = torch.randint(VOCAB_SIZE, (positions,))
    ours = [hidden.clone().requires_grad_(), weight.clone().requires_grad_()]
    theirs = [hidden.clone().requires_grad_(), weight.clone().requires_grad_()]
    loss = smoothed_cross_entropy(*ours, labels, smoothing=smoothing)
    expected = F.cross_entropy(theirs[0] @ theirs[1].T, labels, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=1e-5)
    (3 * loss).backward()  # a scale must reach the gradients
    (3 * expected).backward()
    for mine, reference in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, reference.grad, rtol=1e-4, atol=1e-4)


def test_large_logits_do_not_overflow():
    hidden, weight = torch.full((2, 1), 500.0), torch.tensor([[1.0], [-1.0], [0.5]])
    labels = torch.tensor([1, 0])
    expected = F.cross_entropy(hidden @ weight.T, labels, reduction="sum")
    torch.testing.assert_close(smoothed_cross_entropy(hidden, weight, labels), expected)


def test_low_precision_stays_close():
    hidden, weight, labels = (
        torch.randn(300, D_MODEL),
        torch.randn(VOCAB_SIZE, D_MODEL),
        torch.randint(VOCAB_SIZE, (300,)),
    )
    exact = smoothed_cross_entropy(hidden, weight, labels, smoothing=0.1)
    low = smoothed_cross_entropy(hidden, weight, labels, smoothing=0.1, dtype=torch.bfloat16)
    assert low.dtype is torch.float32
    torch.testing.assert_close(low, exact, rtol=2e-2, atol=0)
