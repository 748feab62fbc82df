"""Counts for the tab "Shapes and counts".

They cover the tokens of the decoder's input and labels (the target without its last and without its first token), and
the parameters of layers in a plain Python list, which a module does not register.
"""

from dataclasses import dataclass

import torch
from torch import nn

from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace


@dataclass(frozen=True)
class TargetShift:
    """Token counts of one sentence: its source, its target including `<bos:…>` and `<eos>`, and the decoder's rows.

    `rows` has the input and output token of each row. `dropped` is the target's last token, which is never an input;
    None for a truncated translation.
    """

    src: int
    tgt: int
    rows: tuple[tuple[Token, Token], ...]
    dropped: Token | None

    @property
    def one_less_than_source(self) -> bool:
        """Whether the number of rows happens to be one less than the source's length."""
        return len(self.rows) == self.src - 1


def target_shift(trace: Trace, item: int = 0) -> TargetShift:
    """Count the tokens of a sentence in a trace with a target. Raise ValueError for a model without a decoder."""
    if not {"decoder_self", "cross"} <= set(trace.kinds):
        raise ValueError("This model has no target: only a decoder's input is shifted against its labels.")
    sentence = trace.sentences[item]
    tgt = tuple(token for token in sentence.tgt if not _is_padding(token))
    rows = tuple(zip(sentence.tgt_in, sentence.tgt_out, strict=True))[: len(tgt) - (not sentence.cut)]
    src = [token for token in sentence.src if not _is_padding(token)]
    return TargetShift(len(src), len(tgt), rows, None if sentence.cut else tgt[-1])


def _is_padding(token: Token) -> bool:
    return token.is_special and token.text == "<pad>"


@dataclass(frozen=True)
class Registered:
    """Numbers of trainable parameters that a module with four linear maps reports, with the maps in
    `nn.ModuleList` or in a plain list.
    """

    in_module_list: int
    in_list: int
    saved: int  # entries of `state_dict` if the maps are in a list


class _FourMaps(nn.Module):
    def __init__(self, d_model: int, *, plain: bool) -> None:
        super().__init__()
        maps = [nn.Linear(d_model, d_model) for _ in range(4)]
        self.linears = maps if plain else nn.ModuleList(maps)


def count_parameters(d_model: int) -> Registered:
    """Count the parameters of a module with `nn.ModuleList` and of one with a plain list.

    `parameters()` is what an optimizer gets, and `state_dict` what a file gets.
    """
    with torch.device("meta"):
        known, hidden = (_FourMaps(d_model, plain=plain) for plain in (False, True))
    counts = [sum(part.numel() for part in module.parameters()) for module in (known, hidden)]
    return Registered(*counts, saved=len(hidden.state_dict()))
