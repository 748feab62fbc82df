"""A run of a vision model in which no token may attend to some patches, compared with the run without hiding."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import UnseenKeys
from attnviz.tracing.trace import Trace

Grid = Bool[np.ndarray, "rows columns"]
_LABELS = 3  # listed at most
_SUMMARY = "[CLS]"  # the token whose vector most vision models use for the whole image


def visible_tokens(trace: Trace, visible: Grid) -> Bool[Tensor, " tokens"]:
    """Return which tokens may be attended to, given the visible patches; special tokens always may.

    Raise ValueError if nothing is left to attend to.
    """
    tokens = trace.query_tokens(trace.kinds[0])
    seen = torch.tensor([token.place is None or bool(visible[token.place[1:]]) for token in tokens])
    if not seen.any():
        raise ValueError("Every patch is hidden, and this model has no other token. Please leave one patch visible.")
    return seen


def run_without(model: Model, trace: Trace, seen: Bool[Tensor, " tokens"]) -> Trace:
    """Run the image of a trace again, in which no token attends to the tokens that are not `seen`."""
    return model.rerun(trace, UnseenKeys(seen))


@dataclass(frozen=True, eq=False)
class HiddenRun:
    """A run without and with hidden patches, and the tokens that may be attended to in the second one."""

    before: Trace
    after: Trace
    seen: Bool[Tensor, " tokens"]

    @property
    def summary(self) -> str:
        """The name of the vector that the similarity compares: [CLS], or the mean of the visible patches."""
        return _SUMMARY if self._summary_at is not None else "the mean of the visible patches"

    def moved(self) -> Float[Tensor, "layers heads"]:
        """Return the share of weight, 0 to 1, that moved to other keys: a mean over the rows of tokens that are
        not hidden.
        """
        kind = self.before.kinds[0]
        layers = range(self.before.shape(kind)[0])
        change = [self.before.attn(kind, layer=at) - self.after.attn(kind, layer=at) for at in layers]
        return torch.stack([one.abs().sum(-1)[:, self.seen].mean(-1) / 2 for one in change])

    def similarity(self) -> list[tuple[str, float]]:
        """Return the cosine similarity of the image's vector before and after: at the input, after each layer, and
        in the output.
        """
        kind = self.before.kinds[0]
        names = ["input", *(self.before.layer_name(kind, at) for at in range(self.before.shape(kind)[0])), "output"]
        both = zip(self._vectors(self.before), self._vectors(self.after), strict=True)
        near = [float(torch.cosine_similarity(*pair, dim=0)) for pair in both]
        return list(zip(names, near, strict=True))

    def labels(self, model: Model) -> list[tuple[str, float, float]]:
        """Return the most probable labels of both runs, with their probabilities before and after; [] without a
        classifier.
        """
        if self.before.logits is None or self.after.logits is None:
            return []
        before, after = (run.logits[0, 0].float().softmax(-1) for run in (self.before, self.after))  # type: ignore[index]
        ids = torch.maximum(before, after).topk(min(_LABELS, len(before))).indices.tolist()
        names = [token.text for token in model.decode_ids(ids)[1]]
        return [(name, float(before[id_]), float(after[id_])) for name, id_ in zip(names, ids, strict=True)]

    def _vectors(self, trace: Trace) -> list[Tensor]:
        count = trace.shape(trace.kinds[0])[0]
        states = [trace.layer_output("encoder", at) for at in range(-1, count)]
        assert trace.memory is not None  # a vision model's trace keeps its output
        return [self._vector(state) for state in (*states, trace.memory[0].float().cpu())]

    def _vector(self, states: Float[Tensor, "tokens d_model"]) -> Tensor:
        return states[self._patches].mean(0) if self._summary_at is None else states[self._summary_at]

    @property
    def _tokens(self) -> tuple[Token, ...]:
        return tuple(self.before.query_tokens(self.before.kinds[0]))

    @property
    def _summary_at(self) -> int | None:
        return next((at for at, token in enumerate(self._tokens) if token.text == _SUMMARY), None)

    @property
    def _patches(self) -> Tensor:
        return self.seen & torch.tensor([token.place is not None for token in self._tokens])
