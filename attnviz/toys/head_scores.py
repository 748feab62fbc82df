"""Scores of heads: the weight on the keys that a task would have them attend to, 0 to 1 for each layer and head."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.toys.batches import ToyBatch
from attnviz.toys.network import ToyNetwork
from attnviz.toys.tasks.task import Example
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import KINDS
from attnviz.transformer.attention import call_attn
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Kind

# The name of each score, and the kind of attention that it measures.
SCORES: Mapping[str, Kind] = {
    "superdiagonal": "decoder_self",  # weight on the next token, which a causal mask hides
    "previous-token": "decoder_self",
    "induction": "decoder_self",  # weight on the token that followed the same token before
    "alignment": "cross",  # weight on the source words from which the row's output comes
    "ink": "encoder_self",  # weight of [CLS] on patches with ink
}


def mass(attn: Tensor, wanted: Tensor) -> Tensor:
    """Compute the weight on the `wanted` keys of a row, averaged over rows that have any.

    `attn` is `(batch, heads, q_len, k_len)`, `wanted` is bool `(batch, q_len, k_len)`. The result is `(heads,)`, and 0
    if no row has a wanted key.
    """
    rows = wanted.any(dim=-1)
    found = (attn * wanted.unsqueeze(1)).sum(dim=-1)
    return found.sum(dim=(0, 2)) / rows.sum().clamp(min=1)


def sharpness(attn: Tensor, rows: Tensor) -> Tensor:
    """Compute the largest weight of a row, averaged over the rows `(batch, q_len)` that are not padding; `(heads,)`."""
    return (attn.amax(dim=-1) * rows.unsqueeze(1)).sum(dim=(0, 2)) / rows.sum().clamp(min=1)


@dataclass(frozen=True)
class WantedKeys:
    """The keys that a batch's heads should attend to, for each score: bool `(batch, q_len, k_len)`."""

    batch: ToyBatch
    keys: Mapping[str, Tensor]

    @classmethod
    def from_pairs(cls, batch: ToyBatch, aligned: list[frozenset[tuple[int, int]]]) -> "WantedKeys":
        """Return the wanted keys of a batch; `aligned` are each line's pairs of positions in the target and
        the source.
        """
        shape, real = (*batch.tgt_in.shape, batch.tgt_in.shape[1]), batch.tgt_in != 0
        both = real.unsqueeze(1) & real.unsqueeze(2)
        eye = torch.ones(shape, dtype=torch.bool)
        after, before = eye.triu(1) & eye.tril(1), eye.triu(-1) & eye.tril(-1)
        keys = {"superdiagonal": after & both, "previous-token": before & both}
        if batch.src.shape[1]:
            keys["alignment"] = _cells(aligned, (*batch.tgt_in.shape, batch.src.shape[1]))
        else:
            keys["induction"] = _cells([_repeats(example) for example in batch.examples], shape)
        return cls(batch, keys)

    def scores(self, network: ToyNetwork) -> dict[str, Tensor]:
        """Compute each score, and `sharpness.<kind>` of each kind, as `(layers, heads)`, in one teacher-forced pass."""
        recorder = look(network, self.batch)
        found = {name: self._score_layers(recorder, name, wanted) for name, wanted in self.keys.items()}
        for kind in _kinds(recorder):
            rows = (self.batch.src if kind == "encoder_self" else self.batch.tgt_in) != 0
            found[f"sharpness.{kind}"] = torch.stack([sharpness(attn, rows) for attn in _maps(recorder, kind)])
        return found

    def _score_layers(self, recorder: Recorder, name: str, wanted: Tensor) -> Tensor:
        return torch.stack([mass(attn, wanted) for attn in _maps(recorder, SCORES[name])])


@torch.inference_mode()
def look(network: ToyNetwork, batch: ToyBatch) -> Recorder:
    """Run a toy on whole targets with teacher forcing, and return the recorder of this pass."""
    recorder = Recorder()
    run, src_mask = ForwardContext(recorder), network.src_mask(batch.src)
    network.decode(batch.tgt_in, network.encode(batch.src, src_mask, run), src_mask, run)
    return recorder


def maps(recorder: Recorder) -> dict[Kind, Tensor]:
    """Return the attention weights of the first line: kind -> `(layers, heads, q_len, k_len)`."""
    return {kind: torch.stack([attn[0] for attn in _maps(recorder, kind)]) for kind in _kinds(recorder)}


def _kinds(recorder: Recorder) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS if any(site.kind == kind for site in recorder.calls))


def _maps(recorder: Recorder, kind: Kind) -> list[Tensor]:
    """Return each layer's weights `(batch, heads, q_len, k_len)`."""
    sites = sorted(site for site in recorder.calls if site.kind == kind)
    return [call_attn(recorder.calls[site]) for site in sites]


def _cells(pairs: list[frozenset[tuple[int, int]]], shape: tuple[int, ...]) -> Tensor:
    wanted = torch.zeros(shape, dtype=torch.bool)
    for item, places in enumerate(pairs):
        for row, key in places:
            wanted[item, row, key] = True
    return wanted


def _repeats(example: Example) -> frozenset[tuple[int, int]]:
    """Return pairs (row, key): the row of a repeated letter, and the position after its first occurrence.

    Positions count `<bos>` as 0.
    """
    fed = ("", *example.src, *example.tgt[:-1])
    return frozenset(
        (row, fed.index(letter) + 1) for row, letter in enumerate(fed) if letter and fed.index(letter) < row
    )
