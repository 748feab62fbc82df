"""Masks of many shapes for one sequence-first site: which shapes `prepare_mask` accepts, and the resulting scores."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.analysis.outcome import Raised
from attnviz.implementations.sequence_first import SequenceFirstAttention
from attnviz.implementations.site_inputs import SiteInputs

_WAYS = {
    "full": ("one for each query, key and sentence", "mask"),
    "row": ("one row for all queries", "mask[:1]"),
    "sentence": ("one sentence's for all", "mask[:, :, :1]"),
    "key": ("one key's for all keys", "mask[:, :1]"),
    "two": ("no batch axis", "mask[:, :, 0]"),
    "batch": ("batch first", "mask.permute(2, 0, 1)"),
    "turned": ("keys before queries", "mask.transpose(0, 1)"),
    "heads": ("with an axis of heads", "mask.unsqueeze(-1).expand(-1, -1, -1, heads)"),
    "float": ("0.0 and 1.0 instead of bool", "mask.float()"),
}
NAMES = tuple(_WAYS)


@dataclass(frozen=True, eq=False)
class MaskTry:
    """One way to write the site's mask.

    `prepared` is the shape after `prepare_mask`. `reached` says which cells `(q_len, k_len, batch, heads)` of the
    scores stay visible without that check, and `meant` which cells should.
    """

    title: str
    code: str
    shape: tuple[int, ...]
    prepared: tuple[int, ...] | Raised
    reached: Bool[Tensor, "q_len k_len batch heads"] | Raised
    meant: Bool[Tensor, "q_len k_len batch heads"]

    @property
    def wrong_cells(self) -> int:
        """Number of cells of the scores that are visible and should not be, or the reverse."""
        return 0 if isinstance(self.reached, Raised) else int((self.reached != self.meant).sum())


@torch.inference_mode()
def mask_shapes(inputs: SiteInputs) -> dict[str, MaskTry]:
    """Try a site's mask in every shape of `NAMES`."""
    meant = inputs.cells.permute(2, 3, 0, 1)
    q_len, k_len, batch, heads = meant.shape
    mask = meant[..., 0]
    written = {
        "full": mask,
        "row": mask[:1],
        "sentence": mask[:, :, :1],
        "key": mask[:, :1],
        "two": mask[:, :, 0],
        "batch": mask.permute(2, 0, 1),
        "turned": mask.transpose(0, 1),
        "heads": mask.unsqueeze(-1).expand(-1, -1, -1, heads),
        "float": mask.float(),
    }
    module = SequenceFirstAttention(inputs.weights)
    return {
        name: MaskTry(
            title,
            code,
            tuple(written[name].shape),
            _prepared_shape(module, written[name], (q_len, k_len, batch)),
            _apply_unchecked(written[name], meant),
            meant,
        )
        for name, (title, code) in _WAYS.items()
    }


def _prepared_shape(
    module: SequenceFirstAttention, mask: Tensor, sizes: tuple[int, int, int]
) -> tuple[int, ...] | Raised:
    try:
        return tuple(module.prepare_mask(mask, *sizes).shape)
    except ValueError as refusal:
        return Raised.from_error(refusal)


def _apply_unchecked(mask: Tensor, meant: Tensor) -> Tensor | Raised:
    """Apply a mask as a site without `prepare_mask` would: add a head dimension, then broadcast."""
    blank = torch.zeros(meant.shape)
    try:
        out = blank.masked_fill(~mask.unsqueeze(-1), 1.0)
    except (RuntimeError, TypeError) as error:
        return Raised(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    if out.shape != meant.shape:
        return Raised(f"the scores become {tuple(out.shape)}, and no line after them fits")
    return out == 0
