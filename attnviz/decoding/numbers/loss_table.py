"""Training losses of one target: the input, label, probability and loss at each position of one pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.text.display import display_token
from attnviz.text.entries import entry_columns
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace


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
        raise ValueError(f"Label smoothing lies in [0, 1), not {smoothing}.")
    tgt = whole.tokens("tgt")
    labels = torch.tensor([token.id for token in tgt[1:]])
    if whole.logits is None or not len(labels):
        raise ValueError("The target has no label: it needs a token after the first one.")
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
