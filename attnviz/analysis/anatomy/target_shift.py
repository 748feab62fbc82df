"""The decoder's input and its labels: the target without its last token, and without its first (seed 004)."""

from dataclasses import dataclass

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
