"""Recorded calls, cut to what is asked of them, and what they keep in memory."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.transformer.probe import AttentionCall


def of_item(call: AttentionCall, item: int, head: int | None) -> AttentionCall:
    """The call of one item of the batch, and of one head where one is given; both axes stay, with size 1."""
    heads = slice(None) if head is None else slice(head, head + 1)

    def cut(tensor: Tensor | None) -> Tensor | None:
        if tensor is None:
            return None
        tensor = tensor[item : item + 1] if tensor.shape[0] > 1 else tensor
        return tensor[:, heads] if tensor.shape[1] > 1 else tensor

    return replace(
        call,
        query=call.query[item : item + 1, heads],
        key=call.key[item : item + 1, heads],
        value=call.value[item : item + 1, heads],
        mask=cut(call.mask),
        bias=cut(call.bias),
    )


def visible(call: AttentionCall) -> Bool[Tensor, "batch heads q_len k_len"]:
    """True where a query may attend to a key, for every item and head; a view of what is kept once."""
    shape = (*call.query.shape[:3], call.key.shape[2])
    mask = torch.ones((), dtype=torch.bool) if call.mask is None else call.mask
    return mask.expand(shape)


def tensors(call: AttentionCall) -> Iterator[Tensor]:
    """Everything that a call keeps alive."""
    parts = (call.query, call.key, call.value, call.mask, call.bias, call.input_, call.memory)
    yield from (part for part in parts if part is not None)


def bytes_kept(kept: Iterable[Tensor]) -> int:
    """Bytes of memory that tensors keep alive, storage that is shared counted once."""
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(storages.values())
