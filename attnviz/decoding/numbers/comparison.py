"""Compare a model's decoding steps with its training pass, for the page Decoding."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.next_tokens import NextToken, next_tokens
from attnviz.decoding.numbers.tolerance import Pass, tolerance
from attnviz.decoding.numbers.verdict import Verdict, verdict
from attnviz.models.decoding_record import DecodingRecord, DecodingRows, decoding_record
from attnviz.models.protocol import Model, Step
from attnviz.text.display import display_token
from attnviz.text.entries import entry_columns
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Sampling
from attnviz.transformer.probe import Kind

NO_PADDING = -1  # no token has this id


@dataclass(frozen=True)
class LossTable:
    """The losses of one target.

    `rows` has position, input, label, probability (of the label), loss, counted (False for `<pad>`), likeliest and its
    probability, and the vocabulary entries of input and label, if known. `mean` covers the counted rows. `n_tokens` is
    the target's length without padding, and `ended` says whether its last token is special, as `<eos>` is.
    """

    rows: pd.DataFrame
    mean: float
    n_tokens: int
    smoothing: float
    ended: bool = True

    @property
    def counts(self) -> str:
        """A sentence about the lengths, and about which token is never a label and which is never an input."""
        n, first, last = self.n_tokens, self.rows["input"].iloc[0], self.rows["label"].iloc[self.n_tokens - 2]
        if first == last:  # BART opens and closes with the same token
            first, last = f"the first {first}", "the last one"
        elif first in self.rows["label"].to_numpy():  # in a prompt the first token may occur again
            first = f"the first {first}"
        if last in self.rows["input"].iloc[: n - 1].to_numpy():
            last = f"the last {last}"
        sentence = f"{n} tokens in the target: {n - 1} go in, {n - 1} come out; {first} is never a label"
        if not self.ended:
            return f"{sentence}; the text has no end token, so no end is a label."
        if len(self.rows) < n:
            return f"{sentence}, {last} never an input."
        return f"{sentence}. With padding, {last} does go in, but its label is <pad>, which does not count."


def token_losses(
    logits: Float[Tensor, "positions vocab_size"], labels: Int[Tensor, " positions"], smoothing: float = 0.0
) -> Float[Tensor, " positions"]:
    """Cross-entropy at each position in nats, like `F.cross_entropy(…, reduction="none", label_smoothing=smoothing)`.

    With smoothing ε, the target probability of the label is 1 - ε + ε / vocab_size, and of every other token ε /
    vocab_size.
    """
    log_probs = logits.float().log_softmax(dim=-1)
    label = log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return -((1 - smoothing) * label + smoothing * log_probs.mean(dim=-1))


def loss_table(whole: Trace, *, pad_id: int, smoothing: float = 0.0, name: Callable[[int], str] = str) -> LossTable:
    """Return the losses of a teacher-forced pass, including padding.

    `whole` comes from `attnviz.models.translator.stepwise.teacher_forced`. `name` returns the text of an id, for the
    most probable tokens. Raise ValueError for a smoothing outside [0, 1), or for a target without any label.
    """
    if not 0 <= smoothing < 1:
        raise ValueError(f"Label smoothing must be at least 0 and below 1, not {smoothing}.")
    tgt = whole.tokens("tgt")
    labels = torch.tensor([token.id for token in tgt[1:]])
    if whole.logits is None or not len(labels):
        raise ValueError(
            "The target has no label, because it has only one token. Please give a target with at least two tokens."
        )
    logits = whole.logits[0, : len(labels)].float().cpu()
    probabilities, losses = logits.softmax(dim=-1), token_losses(logits, labels, smoothing)
    of_label = probabilities.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    counted = labels != pad_id
    highest, best = probabilities.max(dim=-1)
    rows = pd.DataFrame(
        {
            "position": range(len(labels)),
            "input": _texts(tgt[:-1]),
            "label": _texts(tgt[1:]),
            "probability": of_label.where(counted, torch.nan).tolist(),
            "loss": losses.where(counted, torch.nan).tolist(),
            "counted": counted.tolist(),
            "likeliest": [name(id_) for id_ in best.tolist()],
            "likeliest_probability": highest.tolist(),
        }
    )
    rows = rows.assign(**entry_columns("input", [[token] for token in tgt[:-1]]))
    rows = rows.assign(**entry_columns("label", [[token] for token in tgt[1:]]))
    n_tokens = int(counted.sum()) + 1
    return LossTable(rows, float(losses[counted].mean()), n_tokens, smoothing, tgt[n_tokens - 1].is_special)


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [display_token(token) for token in tokens]


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
