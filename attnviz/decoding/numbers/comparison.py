"""Compare a model's decoding steps with its training pass, for the page Decoding."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.next_tokens import NextToken, next_tokens
from attnviz.decoding.numbers.loss_table import LossTable, loss_table
from attnviz.decoding.numbers.tolerance import Pass, tolerance
from attnviz.decoding.numbers.verdict import Verdict, verdict
from attnviz.models.decoding_record import DecodingRecord, DecodingRows, decoding_record
from attnviz.models.protocol import Model, Step
from attnviz.text.display import display_token
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Sampling
from attnviz.transformer.probe import Kind

NO_PADDING = -1  # no token has this id


@dataclass(frozen=True)
class Decoding:
    """The runs to compare: decoding steps, the training pass, and a pass over the tokens that the steps wrote.

    `trained` is the training pass over the target, and `intact` the same pass without broken switches, if there are
    any. `one_pass` takes the record of the steps. Tokens with the id `pad_id` are not labels; `smoothing` is label
    smoothing.
    """

    model: Model
    steps: Iterable[Step]
    trained: Trace
    one_pass: Callable[[DecodingRecord], Pass]
    sampling: Sampling | None = None
    intact: Trace | None = None
    pad_id: int = NO_PADDING
    smoothing: float = 0.0

    def losses(self, trace: Trace) -> LossTable:
        """Return the loss at each position of a training pass."""
        return loss_table(
            trace, pad_id=self.pad_id, smoothing=self.smoothing, name=lambda id_: token_text(self.model, id_)
        )


@dataclass(frozen=True)
class Decoded:
    """Result of a decoding: the losses of the training pass, the steps, the verdict, and each step's candidates.

    `passed` are the attention maps of one pass over the tokens of the steps, by kind as in `made.attn`. `coarse` is the
    verdict with the rounding tolerance of the steps' dtype, if that is coarser than the pass's. `turned` is the number
    of steps whose most probable token differs from the pass's. `intact_loss` is the mean loss without broken switches.
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
        """Return the bytes of memory that the maps, hidden states and logits take."""
        return self.made.nbytes() + sum(maps.nbytes for maps in self.passed.values())


def compare(decoding: Decoding, rows: DecodingRows | None = None, *, work: Cancellable = TO_THE_END) -> Decoded:
    """Run the steps, and compare them with the training pass and with one pass over their own tokens.

    The steps are added to `rows`, if given, so that the caller keeps the steps of an interrupted decoding. `work`
    receives the progress of the passes that measure the tolerance.
    """
    made = decoding_record(decoding.steps, rows)
    tables = [decoding.losses(trace) for trace in (decoding.trained, decoding.intact) if trace is not None]
    candidates = _candidates(decoding, made)
    one_pass = decoding.one_pass(made)
    whole = one_pass(None)
    count = len(made.logits)
    assert whole.logits is not None  # the verdict compares them
    dtypes = dict.fromkeys((whole.info.dtype, made.dtype))
    verdicts = [verdict(made, whole, tolerance(whole, one_pass, dtype=dtype, work=work)) for dtype in dtypes]
    return Decoded(
        tables[0],
        made,
        verdicts[0],
        candidates,
        passed={kind: whole.attn(kind)[:, :, :count] for kind in made.attn if kind != "encoder_self"},
        coarse=verdicts[1] if len(verdicts) > 1 else None,
        turned=int((whole.logits[0, :count].argmax(dim=-1).cpu() != made.logits.argmax(dim=-1)).sum()),
        intact_loss=tables[-1].mean,
    )


def _candidates(decoding: Decoding, made: DecodingRecord) -> tuple[tuple[NextToken, ...], ...]:
    """Return the most probable tokens of each step, including the chosen token and the target's token."""
    chosen = [token.id for token in made.chosen]
    taught = [token.id for token in decoding.trained.tokens("tgt")]
    return next_tokens(
        made.logits,
        decoding.model.vocabulary,
        sampling=decoding.sampling,
        with_ids=lambda step: (chosen[step], *taught[step + 1 : step + 2]),
    )


def token_text(model: Model, id_: int) -> str:
    """Return the displayed text of a token id."""
    return display_token(model.decode_ids((id_,))[1][0])
