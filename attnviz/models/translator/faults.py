"""Faults made on purpose in one run, to show what keeps training and decoding equal.

Each switch changes the computation of the run that it is passed to and of no other: masks are changed by a probe,
dropout is an argument of the call with a generator of its own, positions restart in a cache that belongs to the run.
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
    """Switches, all off at first.

    `mask`: "none" lets every target position see every other one, "ahead" lets it see one position too many.
    `dropout`: the rate that is left on, with `seed`. `restart_positions`: a cached step is embedded as if it stood
    at position 0. Raises ValueError for an unknown mask or a rate outside [0, 1).
    """

    mask: CausalMask = "causal"
    dropout: float = 0.0
    seed: int = 0
    restart_positions: bool = False

    def __post_init__(self) -> None:
        if self.mask not in ("causal", "none", "ahead"):
            raise ValueError(f"mask is 'causal', 'none' or 'ahead', not {self.mask!r}.")
        Dropout(self.dropout)

    def probe(self, inner: Probe) -> Probe:
        """Make a probe that changes the mask and passes the changed calls to `inner`."""
        return inner if self.mask == "causal" else Chain((LooseMask(ahead=None if self.mask == "none" else 1), inner))

    def make_dropout(self, run: int, device: torch.device) -> Dropout | None:
        """Make the dropout of run number `run`: two runs draw different numbers, the same run always the same ones."""
        if not self.dropout:
            return None
        return Dropout(self.dropout, torch.Generator(device).manual_seed(2 * self.seed + run))

    def apply(self, stepper: Stepper) -> Stepper:
        """Restart the positions of the stepper's cache, where that is asked for."""
        if self.restart_positions and stepper.cache is not None:
            stepper.cache = RestartedCache(stepper.cache.self_attention, stepper.cache.cross)
        return stepper


NO_FAULTS = Faults()


@dataclass
class LooseMask(Probe):
    """Lets decoder positions see `ahead` later ones; None: all of them."""

    ahead: int | None

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Loosen the mask of a decoder's self-attention."""
        return replace(call, mask=self._mask(call)) if site.kind == "decoder_self" else call

    def _mask(self, call: AttentionCall) -> Tensor | None:
        if self.ahead is None:
            return None
        q_len, k_len = call.query.shape[2], call.key.shape[2]
        seen = torch.ones(1, q_len, k_len, dtype=torch.bool, device=call.query.device)
        return masks.add_head_axis(seen.tril(k_len - q_len + self.ahead))


class RestartedCache(KVCache):
    """A cache that says that it is empty: every step is embedded at position 0, as a careless loop would do."""

    @property
    def length(self) -> int:
        """0, however many tokens it holds."""
        return 0
