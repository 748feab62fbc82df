"""Probabilities of the tokens about which a run is asked, and their margin over the runner-up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace

Asking = Literal["target", "text", "masked", "own", "label"]
LISTED = 5  # labels of each run that are compared
_MASKS = ("[MASK]", "<mask>")


@dataclass(frozen=True)
class AskedTokens:
    """The tokens whose probability is asked for, and their rows in the logits.

    `what` says which tokens they are. "target" and "text": each token of a target or text, given those before it. For
    an encoder: the predictions at "masked" positions or, if the text has no mask, each of its "own" tokens at its own
    position. For a classifier of images: its most probable "label", or several, all in one row.
    """

    rows: tuple[int, ...]
    tokens: tuple[Token, ...]
    what: Asking = "target"

    @property
    def ids(self) -> Tensor:
        """The token ids, `(tokens,)`."""
        return torch.tensor([token.id for token in self.tokens])

    def log_probabilities(self, logits: Float[Tensor, "*copies rows vocab_size"]) -> Float[Tensor, "*copies rows"]:
        """Return the natural log-probabilities of the tokens, on the CPU, from the logits of their rows."""
        ids = self.ids.to(logits.device).expand(logits.shape[:-1]).unsqueeze(-1)
        return (logits.gather(-1, ids).squeeze(-1) - logits.logsumexp(dim=-1)).cpu()


@dataclass(frozen=True, eq=False)
class Chances:
    """For each asked token: its log-probability, the most probable other token (the rival), and the rival's.

    Log-probabilities are natural, float32 on the CPU, `(tokens,)`.
    """

    asked: AskedTokens
    log_probabilities: Float[Tensor, " tokens"]
    rivals: Int[Tensor, " tokens"]
    of_rivals: Float[Tensor, " tokens"]

    @property
    def margins(self) -> Float[Tensor, " tokens"]:
        """Log-probability of each token minus that of its rival, in nats; negative if the run prefers the rival."""
        return self.log_probabilities - self.of_rivals

    @property
    def mean(self) -> float:
        """Mean log-probability, in nats per token."""
        return float(self.log_probabilities.double().mean())


def compared_tokens(model: Model, trace: Trace) -> AskedTokens:
    """Choose the tokens whose probability to compare: the tokens that the run outputs, or an encoder's text.

    Raise ValueError if the model has no output over a vocabulary, or if there is no token to compare.
    """
    if trace.logits is None:
        raise ValueError(f"{model.name} has no output over a vocabulary, so there are no probabilities to compare.")
    sentence = trace.sentences[0]
    if "decoder_self" in trace.kinds:
        # The last row of a truncated text has no output.
        rows = [row for row, token in enumerate(sentence.tgt_out) if token.id >= 0]
        found = AskedTokens(
            tuple(rows), tuple(sentence.tgt_out[row] for row in rows), "target" if sentence.src else "text"
        )
    else:
        found = _ask_encoder(model, trace, sentence.src)
    if not found.rows:
        raise ValueError("Effects need the probabilities of a target, but this trace has no target.")
    return found


def _ask_encoder(model: Model, trace: Trace, tokens: Sequence[Token]) -> AskedTokens:
    assert trace.logits is not None  # the caller has checked
    if trace.sentences[0].images:
        return AskedTokens((0,), model.decode_ids([int(trace.logits[0, 0].argmax())])[1], "label")
    if masked := [row for row, token in enumerate(tokens) if token.text in _MASKS or token.piece in _MASKS]:
        best = trace.logits[0, masked].argmax(dim=-1).tolist()
        said = tuple(replace(model.decode_ids([id_])[1][0], segment=0) for id_ in best)
        return AskedTokens(tuple(masked), said, "masked")
    own = [row for row, token in enumerate(tokens) if not token.is_special]
    return AskedTokens(tuple(own), tuple(tokens[row] for row in own), "own")


def listed_tokens(model: Model, runs: Sequence[Trace]) -> AskedTokens:
    """Choose the tokens to list for several runs: those of the first run, or the likeliest labels of an image.

    Raise ValueError as `compared_tokens` does.
    """
    asked = compared_tokens(model, runs[0])
    return likeliest_labels(model, runs) if asked.what == "label" else asked


def likeliest_labels(model: Model, runs: Sequence[Trace]) -> AskedTokens:
    """Ask for the most probable labels of several runs of an image, those of the first run first."""
    ids = []
    for trace in runs:
        assert trace.logits is not None  # the caller has checked
        ids += trace.logits[0, 0].topk(min(LISTED, trace.logits.shape[-1])).indices.tolist()
    tokens = model.decode_ids(list(dict.fromkeys(ids)))[1]
    return AskedTokens((0,) * len(tokens), tokens, "label")


def chances(trace: Trace, asked: AskedTokens) -> Chances:
    """Compute a run's probabilities of the asked tokens. Raise ValueError if the trace has no logits."""
    if trace.logits is None:
        raise ValueError("This trace was recorded without logits, so there are no probabilities to compare.")
    logits = trace.logits[0, list(asked.rows)].float().cpu()
    logs = logits.log_softmax(dim=-1)
    others = logs.scatter(-1, asked.ids.unsqueeze(-1), -torch.inf)
    of_rivals, rivals = others.max(dim=-1)
    return Chances(asked, asked.log_probabilities(logits), rivals, of_rivals)
