"""Find which token of a vision model belongs to which patch of the image, by measuring the model.

The pixels of one patch after another are changed; the token whose embedding changes belongs to the patch. A model whose
tokens are not in the order of the patches, or have no place in the image, is refused with the reason.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.images.reader import ImageReader
from attnviz.tracing.record import TokenOrder

CLS = "[CLS]"
_SAMPLE = (61, 47)  # size of the test image: neither square nor a multiple of the patch size
SHUFFLED = "it drops or shuffles patches at random in each pass, so its weights belong to no place of the image"
WINDOWS = "each of its maps covers a window of the image or pooled patches, so no map covers the whole image"
NO_WEIGHTS = (
    "transformers returns no attention weights for it (some classes return them only if they were loaded with "
    "attn_implementation='eager')"
)
OTHER_ORDER = "its tokens are not the patches row by row, so attnviz cannot tell where a weight belongs"


@torch.inference_mode()
def measure_order(model: Any, reader: ImageReader, flags: dict[str, bool]) -> TokenOrder:
    """Measure which token belongs to which patch. Raises ModelError if the tokens have no such order.

    The model must be set to transformers' eager attention.
    """
    patch = patch_size(model.config, reader)
    pixels = reader.read(noise(0)).pixels
    grid = (pixels.shape[0] // patch[0], pixels.shape[1] // patch[1])
    if min(grid) < 1:
        raise ModelError(
            f"The image processor makes an image of {pixels.shape[1]} × {pixels.shape[0]} pixels, which is "
            "smaller than one patch."
        )
    base, weights = _embeddings(model, reader.fields_of(pixels), flags)
    again, _ = _embeddings(model, reader.fields_of(pixels), flags)
    if base.shape != again.shape or not torch.equal(base, again):
        raise _refusal(model, SHUFFLED)
    _require_whole_maps(model, base, weights, grid)
    found = {cell: _changed(model, reader, (pixels, patch, cell), (base, flags)) for cell in _cells(grid)}
    front = found[0, 0]
    if any(at != front + row * grid[1] + column for (row, column), at in found.items()):
        raise _refusal(model, OTHER_ORDER)
    behind = tokens_read(base, reader.fields_of(pixels)) - front - grid[0] * grid[1]
    if behind < 0:
        raise _refusal(model, OTHER_ORDER)
    return TokenOrder(*_names(model.config, front, behind), patch)


def tokens_read(embedded: Tensor, fields: dict[str, Tensor]) -> int:
    """Return the number of tokens of an image, without tokens that only pad to a fixed number."""
    mask = fields.get("pixel_attention_mask")
    return embedded.shape[1] if mask is None else int(mask[0].sum())


def noise(seed: int) -> np.ndarray:
    """Return a test image of random pixels."""
    return np.random.default_rng(seed).integers(0, 256, (*_SAMPLE, 3), dtype=np.uint8)


def patch_size(config: Any, reader: ImageReader) -> tuple[int, int]:
    """Return the height and width of a patch in pixels. Raises ModelError for a model without a fixed patch size."""
    said = getattr(config, "patch_size", None) or getattr(reader.processor, "patch_size", None)
    sides: Any = tuple(said) if isinstance(said, list | tuple) else (said, said)
    if len(sides) != 2 or not all(isinstance(side, int) and side > 0 for side in sides):
        raise ModelError(
            f"{config.model_type!r} does not divide images into patches of equal size, so the maps cannot "
            "be drawn on the image."
        )
    return sides


def _cells(grid: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the patches to test, which distinguish token orders: the corners, the first one's neighbours, and one
    inside.
    """
    rows, columns = grid
    tried = [
        (0, 0),
        (0, 1),
        (1, 0),
        (0, columns - 1),
        (rows - 1, 0),
        (rows - 1, columns - 1),
        (rows // 2, columns // 3),
    ]
    return sorted({(min(row, rows - 1), min(column, columns - 1)) for row, column in tried})


def _embeddings(model: Any, fields: dict[str, Tensor], flags: dict[str, bool]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return the embeddings `(1, tokens, d_model)` of an image, and the attention weights of each layer."""
    where = next(model.parameters())
    moved = {
        name: one.to(where.device, where.dtype if one.is_floating_point() else None) for name, one in fields.items()
    }
    try:
        out = model(**moved, **flags, output_attentions=True, output_hidden_states=True)
    except Exception as error:
        raise ModelError(f"{type(model).__name__} cannot read an image alone ({type(error).__name__}).") from error
    hidden, weights = getattr(out, "hidden_states", None), getattr(out, "attentions", None) or ()
    if not hidden or not weights or any(one is None for one in weights):
        raise _refusal(model, NO_WEIGHTS)
    return hidden[0], tuple(weights)


def _require_whole_maps(model: Any, embedded: Tensor, weights: tuple[Tensor, ...], grid: tuple[int, int]) -> None:
    """Raise ModelError unless every layer has a map from every token to every token, whose rows sum to 1."""
    if embedded.dim() != 3:
        raise _refusal(model, WINDOWS)
    count = embedded.shape[1]
    if count < grid[0] * grid[1]:
        raise _refusal(model, SHUFFLED)
    for layer in weights:
        if layer.dim() != 4 or layer.shape[0] != 1 or tuple(layer.shape[-2:]) != (count, count):
            raise _refusal(model, WINDOWS)
        if bool((layer < 0).any()) or not torch.allclose(layer.sum(-1), torch.ones(()).to(layer), atol=1e-2):
            raise _refusal(model, NO_WEIGHTS)


def _changed(model: Any, reader: ImageReader, one: tuple, known: tuple[Tensor, dict[str, bool]]) -> int:
    """Return the only token whose embedding changes with the pixels of one patch.

    Raises ModelError if none or several change.
    """
    (pixels, patch, (row, column)), (base, flags) = one, known
    other = pixels.copy()
    area = other[row * patch[0] : (row + 1) * patch[0], column * patch[1] : (column + 1) * patch[1]]
    area[...] = 255 - area
    moved, _ = _embeddings(model, reader.fields_of(other), flags)
    changed = (moved != base).any(dim=-1)[0].nonzero().flatten().tolist()
    if len(changed) != 1:
        raise _refusal(model, "its tokens overlap in the image, so a weight belongs to no single patch")
    return changed[0]


def _names(config: Any, front: int, behind: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names for the tokens before and after the patches, according to the config."""
    registers = min(int(getattr(config, "num_register_tokens", 0) or 0), max(0, front - 1))
    classes = [CLS] * (front > 0)
    more = front - len(classes) - registers
    is_distilled = more == 1 and "deit" in config.model_type
    extra = ["[DIST]"] if is_distilled else [f"[EXTRA {number}]" for number in range(more)]
    detections = int(getattr(config, "num_detection_tokens", 0) or 0)
    after = [f"[DET {number}]" for number in range(behind)] if detections == behind else None
    if after is None:
        after = [CLS] if behind == 1 and not front else [f"[EXTRA {number}]" for number in range(behind)]
    return (*classes, *extra, *(f"[REG {number}]" for number in range(registers))), tuple(after)


def _refusal(model: Any, why: str) -> ModelError:
    return ModelError(f"attnviz cannot show {type(model).__name__} on images, because {why}.")
