"""What the tab counts: the tokens of the decoder's input and of its labels (the target without its last token, and
without its first), and the parameters of layers that a module does not register because a plain list holds them (seed
004's code).
"""

from dataclasses import dataclass

import torch
from torch import nn

from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace


@dataclass(frozen=True)
class TargetShift:
    """One sentence: tokens of its source, of its target with `<bos:…>` and `<eos>`, and the rows of the decoder.

    `rows` holds for each row what goes in and what comes out. `dropped` is the target's last token, which never goes
    in; None for a translation that was cut, which has no end to drop.
    """

    src: int
    tgt: int
    rows: tuple[tuple[Token, Token], ...]
    dropped: Token | None

    @property
    def one_less_than_source(self) -> bool:
        """Whether "one shorter than the source" happens to be true here."""
        return len(self.rows) == self.src - 1


def target_shift(trace: Trace, item: int = 0) -> TargetShift:
    """Count the tokens of a sentence of a trace with a target. Raises ValueError for a model without a decoder."""
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
    """Parameters that a module with four linear maps reports, by how it keeps them: in `nn.ModuleList`, or in a
    list. Numbers are learned numbers.
    """

    in_module_list: int
    in_list: int
    saved: int  # entries of `state_dict` with the list


class _FourMaps(nn.Module):
    def __init__(self, d_model: int, *, plain: bool) -> None:
        super().__init__()
        maps = [nn.Linear(d_model, d_model) for _ in range(4)]
        self.linears = maps if plain else nn.ModuleList(maps)


def count_parameters(d_model: int) -> Registered:
    """Count the parameters of both; an optimizer is given what `parameters()` finds, a file what `state_dict` does."""
    with torch.device("meta"):
        known, hidden = (_FourMaps(d_model, plain=plain) for plain in (False, True))
    counts = [sum(part.numel() for part in module.parameters()) for module in (known, hidden)]
    return Registered(*counts, saved=len(hidden.state_dict()))
