"""Tokens that a head reads more than a head that looks evenly at all that it sees: lift, not raw weight.

Raw weight names the commonest tokens for every head.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd
import torch
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.transformer.probe import Kind


@dataclass(frozen=True, eq=False)
class TokenWeights:
    """For each head of a kind, the weight that all rows of a corpus give to each token type, and what they would give
    if they looked evenly: `(layers, heads, types)`, float32. `occurrences` `(types,)` are the places it is a key at.
    """

    types: tuple[Token, ...]
    given: Tensor
    even: Tensor
    occurrences: Tensor
    _columns: dict[int, int] = field(repr=False)

    @classmethod
    def none(cls, kind: Kind, shape: tuple[int, int], sentences: Sequence[Sentence]) -> "TokenWeights":
        """Before the first sentence was counted; types are those of all of them."""
        types = {token.id: token for sentence in sentences for token in sentence.keys(kind)}
        nothing = torch.zeros(*shape, len(types))
        columns = {id_: column for column, id_ in enumerate(types)}
        return cls(tuple(types.values()), nothing, nothing.clone(), torch.zeros(len(types)), columns)

    def count(self, attn: Tensor, seen: Tensor, keys: Sequence[Token]) -> None:
        """Add one sentence: its maps and what its rows may see, both `(layers, heads, q_len, k_len)`."""
        at = torch.tensor([self._columns[key.id] for key in keys], dtype=torch.long)
        holds = attn.sum(dim=-1, keepdim=True)
        even = seen / seen.sum(dim=-1, keepdim=True).clamp(min=1) * holds
        self.given.index_add_(2, at, attn.sum(dim=2))
        self.even.index_add_(2, at, even.sum(dim=2))
        self.occurrences.index_add_(0, at, torch.ones(len(at)))

    def lift(self, layer: int, head: int, *, least: int = 3) -> pd.DataFrame:
        """Compute how many times more weight a head gives to each token than an even one, the most first.

        Columns: token (its piece, where that stands for any unknown text), piece, id, lift, share (of all of the head's
        weight), occurrences. Tokens that occur less than `least` times are left out: one sentence decides about them.
        """
        given, even = self.given[layer, head].double(), self.even[layer, head].double()
        table = pd.DataFrame(
            {
                "token": [token.piece if token.is_unknown else token.text for token in self.types],
                "piece": [token.piece for token in self.types],
                "id": [token.id for token in self.types],
                "lift": (given / even).numpy(),
                "share": (given / given.sum()).numpy(),
                "occurrences": self.occurrences.long().numpy(),
            }
        )
        often = table.loc[(table["occurrences"] >= least) & (even > 0).numpy()]
        return often.sort_values(["lift", "id"], ascending=[False, True], ignore_index=True)
