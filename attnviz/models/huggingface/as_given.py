"""The model as it was given, and the check that the pass which attnviz shows computes the same.

Maps are taken from a model whose attention attnviz has changed: eager, or attnviz's own, without the user's wrapper.
The check runs the model as it was given once (its own attention implementation, no `output_attentions`, its own
`use_cache`, its own wrapper) and compares logits or last hidden states, as closely as rounding explains.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from attnviz.models.huggingface import parity
from attnviz.models.huggingface.errors import ModelError, reason
from attnviz.models.huggingface.network.network import Batch
from attnviz.tracing.rounding import FACTOR, PASSES, largest_magnitude
from attnviz.transformer.device import rounding_unit

_OWN_CACHE = (
    "In one pass over a whole target this model computes something else with use_cache=True, its default, than it does "
    "token by token. attnviz shows the pass with use_cache=False."
)
ShownPass = Callable[[Batch, Batch | None], Tensor]
"""Runs the pass that is shown over a sample and a target: logits, or the last hidden states without a head."""

_ROUNDED = frozenset({
    functional.linear, functional.softmax, functional.layer_norm, functional.scaled_dot_product_attention,
    functional.gelu, functional.silu, torch.matmul, torch.bmm, torch.addmm, torch.baddbmm, Tensor.matmul, Tensor.bmm,
    Tensor.__matmul__, Tensor.softmax, torch.softmax,
})  # fmt: skip


def share_weights(model: Any) -> Any:
    """Copy a model's modules around the same tensors, in evaluation mode."""
    tensors = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    for module in model.modules():
        tensors |= {id(value): value for value in vars(module).values() if isinstance(value, Tensor)}
    return copy.deepcopy(model, tensors).eval()


def check_as_given(given: Any, run: ShownPass, sample: Batch, target: Batch | None = None) -> tuple[str, ...]:
    """Compare the pass that is shown with the model as it was given, on the first row of the sample, without padding.

    Padding would hide differences: transformers leaves the mask to its fused kernels only where nothing is padded.
    Returns notes, such as why the check could not run. Raises ModelError for a difference that rounding does not
    explain.
    """
    sample, target = _first_row(sample), None if target is None else _first_row(target)
    try:
        own = run_as_given(given, sample, target)
    except Exception as error:
        return (f"Not checked against the model as it was given, because its own pass fails ({reason(error)}).",)
    if (said := difference(own, lambda: run(sample, target))) is None:
        return ()
    if target is not None:  # FSMT makes no causal mask where `use_cache` is on
        own = run_as_given(given, sample, target, use_cache=False)
        if difference(own, lambda: run(sample, target)) is None:
            return (_OWN_CACHE,)
    raise ModelError(f"attnviz does not reproduce this model as it was given: {said}.")


@torch.inference_mode()
def run_as_given(given: Any, sample: Batch, target: Batch | None = None, **how: Any) -> Tensor:
    """Run the model as its user runs it: logits, or the last hidden states of a model without a head."""
    arguments: dict[str, Any] = {"input_ids": sample.ids, "attention_mask": sample.mask} | how
    if sample.segments is not None:
        arguments["token_type_ids"] = sample.segments
    if target is not None:
        arguments |= {"decoder_input_ids": target.ids, "decoder_attention_mask": torch.ones_like(target.mask)}
    return parity.output_of(share_weights(given)(**arguments))


def _first_row(batch: Batch) -> Batch:
    return batch.cut(int(batch.mask[0].sum()))


@torch.inference_mode()
def difference(own: Tensor, run: Callable[[], Tensor]) -> str | None:
    """Describe a difference that rounding does not explain; None without one.

    Passes that are rounded otherwise are run only where a difference is larger than a single rounding's.
    """
    found = run()
    if found.shape != own.shape:
        return f"its outputs have shape {tuple(own.shape)}, and those shown {tuple(found.shape)}"
    epsilon = rounding_unit(own.dtype, own.device.type)
    own, allowed = own.float(), FACTOR * epsilon * largest_magnitude(own.float())
    difference = largest_magnitude(found.float() - own)
    if bool((difference <= allowed).all()) and bool(found.isfinite().all()):
        return None
    spread, generator = torch.zeros_like(allowed), torch.Generator().manual_seed(0)
    for _ in range(PASSES):
        with _RoundOtherwise(epsilon, generator):
            moved = run()
        spread = torch.maximum(spread, largest_magnitude((moved - found).float()))
    allowed = allowed + FACTOR * spread
    if bool((difference <= allowed).all()) and bool(found.isfinite().all()):
        return None
    worst = int((difference - allowed).argmax())
    return (
        f"its outputs differ by {float(difference.flatten()[worst]):.1e}, more than the "
        f"{float(allowed.flatten()[worst]):.1e} that rounding explains"
    )


class _RoundOtherwise(TorchFunctionMode):
    """Move each result of a matrix product, a norm or a softmax by a unit in its last place, up or down, in this thread
    alone.
    """

    def __init__(self, epsilon: float, generator: torch.Generator) -> None:
        super().__init__()
        self._epsilon, self._generator = epsilon, generator

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func not in _ROUNDED or not isinstance(result, Tensor) or not result.is_floating_point():
            return result
        ups = torch.randint(2, result.shape, generator=self._generator, dtype=torch.int8).to(result.device)
        return result * (1 + self._epsilon * (2 * ups - 1).to(result.dtype))
