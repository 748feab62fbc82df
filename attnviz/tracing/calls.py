"""Recorded calls, cut to what is asked of them, and what they keep in memory."""

from collections.abc import Iterable
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


def bytes_kept(calls: Iterable[AttentionCall], others: Iterable[Tensor | None] = ()) -> int:
    """Bytes of memory that calls and other tensors keep alive, storage that is shared counted once."""
    parts = [
        part
        for call in calls
        for part in (call.query, call.key, call.value, call.mask, call.bias, call.input_, call.memory)
    ]
    storages = [part.untyped_storage() for part in (*parts, *others) if part is not None]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
