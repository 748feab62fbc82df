"""Deliberate faults in one run, to show what keeps training and decoding consistent.

Each fault changes only the run that it is passed to: a probe changes masks, dropout is an argument of the call with its
own generator, and positions restart in a cache that belongs to the run.
"""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from attnviz.tracing.interventions import Chain
from attnviz.transformer import masks
from attnviz.transformer.cache import KVCache
from attnviz.transformer.decoding import Stepper
from attnviz.transformer.dropout import Dropout
from attnviz.transformer.probe import AttentionCall, Probe, Site

CausalMask = Literal["causal", "none", "ahead"]


@dataclass(frozen=True)
class Faults:
    """The faults of a run, all off by default.

    `mask`: "none" lets every target position see every other one, "ahead" lets it see one position too many. `dropout`:
    the dropout rate that stays on, with `seed`. `restart_positions`: a cached step is embedded as if it were at
    position 0. Raises ValueError for an unknown mask or a rate outside [0, 1).
    """

    mask: CausalMask = "causal"
    dropout: float = 0.0
    seed: int = 0
    restart_positions: bool = False

    def __post_init__(self) -> None:
        if self.mask not in ("causal", "none", "ahead"):
            raise ValueError(f"mask must be 'causal', 'none' or 'ahead', not {self.mask!r}.")
        Dropout(self.dropout)

    def probe(self, inner: Probe) -> Probe:
        """Return a probe that changes the mask and passes the changed calls to `inner`."""
        return inner if self.mask == "causal" else Chain((LooseMask(ahead=None if self.mask == "none" else 1), inner))

    def make_dropout(self, run: int, device: torch.device) -> Dropout | None:
        """Return the dropout of run number `run`: different runs use different random numbers, repeatably."""
        if not self.dropout:
            return None
        return Dropout(self.dropout, torch.Generator(device).manual_seed(2 * self.seed + run))

    def apply(self, stepper: Stepper) -> Stepper:
        """Return the stepper; if the fault `restart_positions` is on, it gets a cache that restarts positions."""
        if self.restart_positions and stepper.cache is not None:
            stepper.cache = RestartedCache(stepper.cache.self_attention, stepper.cache.cross)
        return stepper


NO_FAULTS = Faults()


@dataclass
class LooseMask(Probe):
    """Let decoder positions see `ahead` later positions; None means all of them."""

    ahead: int | None

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Replace the mask of a decoder's self-attention."""
        return replace(call, mask=self._mask(call)) if site.kind == "decoder_self" else call

    def _mask(self, call: AttentionCall) -> Tensor | None:
        if self.ahead is None:
            return None
        q_len, k_len = call.query.shape[2], call.key.shape[2]
        seen = torch.ones(1, q_len, k_len, dtype=torch.bool, device=call.query.device)
        return masks.add_head_axis(seen.tril(k_len - q_len + self.ahead))


class RestartedCache(KVCache):
    """A cache that reports length 0, so that every step is embedded at position 0, a typical mistake in a decoding
    loop.
    """

    @property
    def length(self) -> int:
        """0, however many tokens are in the cache."""
        return 0
