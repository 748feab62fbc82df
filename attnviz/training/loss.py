"""Cross-entropy with label smoothing, without ever holding all logits at once."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Logits of `CHUNK` positions at a time; their gradient is known at once, so nothing but its products is kept."""

    CHUNK = 256

    @staticmethod
    def forward(ctx, hidden, weight, labels, smoothing, dtype):
        low_weight = weight.detach().to(dtype)
        grad_hidden, grad_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        loss = hidden.new_zeros((), dtype=torch.float32)
        for start in range(0, len(hidden), _ChunkedCrossEntropy.CHUNK):
            rows = slice(start, start + _ChunkedCrossEntropy.CHUNK)
            x, label = hidden.detach()[rows].to(dtype), labels[rows].unsqueeze(1)
            logits = F.linear(x, low_weight).float()
            logits -= logits.amax(dim=1, keepdim=True)
            kept = (1 - smoothing) * logits.gather(1, label).sum() + smoothing * logits.mean(dim=1).sum()
            grad = logits.exp_()
            normaliser = grad.sum(dim=1, keepdim=True)
            loss += normaliser.log().sum() - kept
            grad.div_(normaliser).sub_(smoothing / len(weight))
            grad.scatter_add_(1, label, grad.new_full(label.shape, smoothing - 1))
            grad = grad.to(dtype)
            grad_hidden[rows] = grad @ low_weight
            grad_weight += grad.T @ x
        ctx.save_for_backward(grad_hidden, grad_weight)
        return loss

    @staticmethod
    def backward(ctx, *grad_outputs):
        (scale,) = grad_outputs
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden * scale, grad_weight * scale, None, None, None


def smoothed_cross_entropy(
    hidden: Float[Tensor, "positions d_model"],
    weight: Float[Tensor, "vocab_size d_model"],
    labels: Int[Tensor, " positions"],
    *,
    smoothing: float = 0.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, ""]:
    """Compute the sum over positions of `F.cross_entropy(hidden @ weight^T, labels, label_smoothing=smoothing)`.

    Products are computed in `dtype`, softmax and sums in float32. Leave padded positions out before calling.
    """
    return _ChunkedCrossEntropy.apply(hidden, weight, labels, smoothing, dtype)
