"""Experiment with an untrained Transformer: do earlier output rows change when the target grows by a token?

The model is PyTorch's own with its default settings (post-norm, 8 heads, 6 + 6 layers, d_ff 2048, no positions), and
our model with the same weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnviz.transformer.from_torch import from_torch

VOCAB_SIZE, D_MODEL, MAX_IDS = 10, 8, 12
EQUAL = 1e-6  # matrix products of different shapes round differently


@dataclass(frozen=True)
class Prefix:
    """Outputs of both models for the first `len(ids)` target ids.

    `theirs` and `ours` are `(length, d_model)`. `theirs_equal` and `ours_equal` are True for rows that equal the same
    row of the previous prefix to within `EQUAL`.
    """

    ids: tuple[int, ...]
    theirs: Float[Tensor, "length d_model"]
    ours: Float[Tensor, "length d_model"]
    theirs_equal: Bool[Tensor, " length"]
    ours_equal: Bool[Tensor, " length"]

    @property
    def difference(self) -> float:
        """Maximum |Δ| between PyTorch's output and ours."""
        return float((self.theirs - self.ours).abs().max())


@torch.inference_mode()
def prefix_experiment(
    src: Sequence[int] = (0, 1, 2, 3, 4), tgt: Sequence[int] = (4, 3, 2, 1, 0), *, seed: int = 0, causal: bool = True
) -> tuple[Prefix, ...]:
    """Run every prefix of `tgt` through both models.

    Without `causal`, earlier rows change with each token. Raise ValueError for ids outside the vocabulary of 10, for no
    ids, or for more than 12.
    """
    for name, ids in (("source", src), ("target", tgt)):
        _require_ids(name, ids)
    embedding, theirs = _seeded_modules(seed)
    ours = from_torch(theirs, vocab_size=VOCAB_SIZE)
    memory_in, prefixes = embedding(torch.tensor([list(src)])), []
    before = (torch.empty(0, D_MODEL), torch.empty(0, D_MODEL))
    memory = ours.encoder(memory_in)
    for length in range(1, len(tgt) + 1):
        x = embedding(torch.tensor([list(tgt[:length])]))
        seen = torch.ones(1, length, length, dtype=torch.bool)
        seen = seen.tril() if causal else seen
        out = (
            theirs(memory_in, x, tgt_mask=~seen[0])[0],  # in nn.Transformer, True means "may not attend"
            ours.decoder(x, memory, seen, None)[0],
        )
        equal = [_equal_rows(now, then) for now, then in zip(out, before, strict=True)]
        prefixes.append(Prefix(tuple(tgt[:length]), *out, *equal))
        before = out
    return tuple(prefixes)


def _seeded_modules(seed: int) -> tuple[nn.Embedding, nn.Transformer]:
    """Build both modules with PyTorch's initialisation.

    The random generator is local, because other threads use the global one.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.device("meta"):
        embedding = nn.Embedding(VOCAB_SIZE, D_MODEL).to_empty(device="cpu")
        theirs = nn.Transformer(d_model=D_MODEL, batch_first=True).to_empty(device="cpu").eval()
    nn.init.normal_(embedding.weight, generator=generator)
    for name, parameter in theirs.named_parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter, generator=generator)
        elif ".linear" in name:  # nn.Linear's own bound: 1 / √(number of inputs)
            bound = theirs.get_parameter(name.replace("bias", "weight")).shape[1] ** -0.5
            nn.init.uniform_(parameter, -bound, bound, generator=generator)
        else:
            nn.init.constant_(parameter, 1.0 if "norm" in name and name.endswith("weight") else 0.0)
    return embedding, theirs


def _equal_rows(now: Tensor, then: Tensor) -> Tensor:
    equal = torch.zeros(len(now), dtype=torch.bool)
    equal[: len(then)] = (now[: len(then)] - then).abs().amax(dim=-1) <= EQUAL
    return equal


def _require_ids(name: str, ids: Sequence[int]) -> None:
    if not 1 <= len(ids) <= MAX_IDS:
        raise ValueError(f"The {name} needs 1 to {MAX_IDS} ids, not {len(ids)}.")
    if wrong := [id_ for id_ in ids if not 0 <= id_ < VOCAB_SIZE]:
        raise ValueError(f"The vocabulary has the ids 0 to {VOCAB_SIZE - 1}; the {name} holds {wrong[0]}.")
