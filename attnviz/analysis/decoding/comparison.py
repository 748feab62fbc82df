"""Decoding beside training: what both kinds of model compute for the Decoding page, and the verdict on it."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from attnviz.analysis.decoding.loss_table import LossTable
from attnviz.analysis.decoding.next_tokens import NextToken
from attnviz.analysis.decoding.tolerance import Pass, tolerance
from attnviz.analysis.decoding.verdict import Verdict, verdict
from attnviz.models.decoding_record import DecodingRecord
from attnviz.models.protocol import Model
from attnviz.text.display import display_token
from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class Decoded:
    """One request, run: the training pass as a table, the steps, the verdict on both, and each step's candidates.

    `passed` is what one pass over the steps' own tokens computed, kind by kind as in `made.attn`; `coarse` the verdict
    by the rounding of the steps' type, where the pass ran in a finer one; `turned` in how many steps another token is
    likeliest than in the pass; `intact_loss` the mean loss with nothing broken.
    """

    losses: LossTable
    made: DecodingRecord
    verdict: Verdict
    candidates: tuple[tuple[NextToken, ...], ...]
    passed: Mapping[Kind, Tensor]
    coarse: Verdict | None = None
    turned: int = 0
    intact_loss: float = float("nan")

    def nbytes(self) -> int:
        """Bytes of memory that its maps, hidden states and logits take."""
        return self.made.nbytes() + sum(maps.nbytes for maps in self.passed.values())


def compared(losses: LossTable, made: DecodingRecord, candidates: tuple, one_pass: Pass) -> Decoded:
    """All of it, with the verdict on the steps and `one_pass` over their tokens."""
    whole = one_pass(None)
    found = verdict(made, whole, tolerance(whole, one_pass))
    coarse = None
    if made.dtype != whole.info.dtype:
        coarse = verdict(made, whole, tolerance(whole, one_pass, dtype=made.dtype))
    rows = len(made.logits)
    passed: dict[Kind, Tensor] = {kind: whole.attn(kind)[:, :, :rows] for kind in made.attn if kind != "encoder_self"}
    assert whole.logits is not None  # the verdict has compared them
    turned = int((whole.logits[0, :rows].argmax(dim=-1).cpu() != made.logits.argmax(dim=-1)).sum())
    return Decoded(losses, made, found, candidates, passed, coarse, turned)


def token_text(model: Model, id_: int) -> str:
    """An id's piece of text, as people see it."""
    return display_token(model.spelled((id_,))[1][0])
