"""Remove padding from weights and tokens: padding is not part of the text, and in a decoder its rows look ahead.

In transformers, the row of a padding token before the text is uniform over all keys, including later keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.text.tokens import Token
from attnviz.tracing.external.outputs import require_item, shared_item
from attnviz.tracing.external.tokens import OWN, try_list

# For each kind, the sides of its rows and columns; None is self-attention whose kind is not known yet.
_AXES: Mapping[Any, tuple[str, str]] = {
    "encoder_self": ("src", "src"), "decoder_self": ("tgt", "tgt"), "cross": ("tgt", "src"), None: (OWN, OWN),
}  # fmt: skip


@dataclass(frozen=True)
class PaddedSide:
    """Tokens along one axis. `hidden` are positions that an attention mask hides or that hold the padding id."""

    tokens: Any
    hidden: frozenset[int] = frozenset()
    is_masked: bool = False  # `hidden` comes from an attention mask, not from ids alone


@dataclass(frozen=True)
class Padding:
    """The tokens of each side, and the positions of padding on each side."""

    texts: Mapping[str, PaddedSide]
    places: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, weights: Mapping[Any, Tensor], texts: Mapping[str, PaddedSide]) -> "Padding":
        """Find the padding: hidden positions that no row of a token attends to."""
        return cls(texts, {side: _padding_of(side, text, weights) for side, text in texts.items()})

    def tokens(self) -> dict[str, Any]:
        """Return the tokens of each side without padding."""
        return {side: [text.tokens[at] for at in range(len(text.tokens)) if at not in self.places[side]]
                if self.places[side] else text.tokens for side, text in self.texts.items()}  # fmt: skip

    def kept(self, name: Any) -> list[int]:
        """Return the positions of self-attention's tokens that are not padding."""
        side = _AXES[name][0]
        return [at for at in range(len(self.texts[side].tokens)) if at not in self.places[side]]

    def cut(self, maps: Tensor, name: Any) -> Tensor:
        """Remove the padding from the last two axes of a kind's maps or mask."""
        for axis, side in zip((-2, -1), _AXES[name], strict=True):
            maps = self._cut_axis(maps, axis, side)
        return maps

    def notes(self) -> list[str]:
        """Return notes: how many tokens were left out, and which hidden tokens were kept because rows attend
        to them.
        """
        count = sum(map(len, self.places.values()))
        notes = [f"{count} padding {'token is' if count == 1 else 'tokens are'} left out."] if count else []
        for side, text in self.texts.items():
            if text.is_masked and (seen := sorted(text.hidden - self.places[side])):
                notes.append(
                    f"attention_mask hides token {seen[0]}, but rows give it weight, so the model did "
                    "not run with this mask. The token is shown."
                )
        return notes

    def _cut_axis(self, maps: Tensor, axis: int, side: str) -> Tensor:
        places = self.places.get(side, frozenset())
        if not places:
            return maps
        n_tokens, length = len(self.texts[side].tokens), maps.shape[axis]
        kept = [at for at in range(min(length, n_tokens)) if at not in places]
        if length < n_tokens:  # the last remaining token was generated, so it has no row or column
            kept = kept[: n_tokens - len(places) - 1]
        return maps.index_select(axis, torch.tensor(kept, dtype=torch.long))


def read_side(tokens: Any, mask: Any, tokenizer: Any, item: int | None, sequences: int) -> PaddedSide:
    """Find which tokens of a side are padding, by an attention mask or the tokenizer's padding id."""
    tokens = try_list(tokens)
    if tokens is None:
        return PaddedSide(None)
    if mask is not None:
        return PaddedSide(tokens, _hidden_by(mask, len(tokens), item, sequences), is_masked=True)
    pad = _padding_id(tokenizer)
    if pad is None or not any(isinstance(token, Token) and token.id == pad for token in tokens):
        return PaddedSide(tokens)
    is_pad = [isinstance(token, Token) and token.id == pad for token in tokens]
    before = next((at for at, padded in enumerate(is_pad) if not padded), 0)
    after = next((at for at, padded in enumerate(reversed(is_pad)) if not padded), 0)
    if pad == getattr(tokenizer, "eos_token_id", None):
        after = max(0, after - 1)  # the first of these tokens is the end of the text
    return PaddedSide(tokens, frozenset([*range(before), *range(len(tokens) - after, len(tokens))]))


def _padding_of(side: str, text: PaddedSide, weights: Mapping[Any, Tensor]) -> frozenset[int]:
    """Return the hidden positions of a side that no row of a token attends to.

    Ids alone do not decide this, because a text may begin with the padding id. If no maps have this side as keys, only
    an attention mask decides.
    """
    columns = [(name, maps) for name, maps in weights.items() if _AXES[name][1] == side]
    if not text.hidden or len(text.hidden) == len(text.tokens) or (not columns and not text.is_masked):
        return frozenset()
    is_token = torch.tensor([at not in text.hidden for at in range(len(text.tokens))])
    seen: set[int] = set()
    for name, maps in columns:
        rows = maps[..., is_token[: maps.shape[-2]].nonzero().flatten(), :] if _AXES[name][0] == side else maps
        seen.update(rows.ne(0).flatten(0, 2).any(dim=0).nonzero().flatten().tolist())
    return frozenset(text.hidden - seen)


def masks_by_side(mask: Any, tokens: Any, key_tokens: Any, sides: Sequence[str]) -> Mapping[str, Any]:
    """Return the attention mask of each side: the argument `attention_mask`, or masks that came with the tokens."""
    if isinstance(mask, Mapping):
        return mask
    if mask is not None:
        return {"src" if "src" in sides else next(iter(sides), OWN): mask}
    given = {
        "src": key_tokens,
        next(iter([side for side in sides if side != "src" or key_tokens is None]), OWN): tokens,
    }
    if isinstance(tokens, Mapping) and "input_ids" not in tokens:
        given = tokens
    return {side: each["attention_mask"] for side, each in given.items()
            if isinstance(each, Mapping) and "attention_mask" in each}  # fmt: skip


def _padding_id(tokenizer: Any) -> int | None:
    if hasattr(tokenizer, "pad_token_id"):
        return tokenizer.pad_token_id
    padding = getattr(tokenizer, "padding", None)  # of the tokenizers library
    return padding.get("pad_id") if isinstance(padding, Mapping) else None


def _hidden_by(given: Any, n_tokens: int, item: int | None, sequences: int) -> frozenset[int]:
    """Return the positions that an attention mask hides.

    Tokens that `generate` wrote come after the end of the mask and are not hidden.
    """
    try:
        mask = torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(
            "attention_mask must be an array of numbers, with 1 for each token and 0 for padding."
        ) from None
    if mask.ndim == 2:
        mask = mask[require_item("The attention_mask", len(mask), "texts", shared_item(item, len(mask), sequences))]
    if mask.ndim != 1 or len(mask) > n_tokens:
        raise ValueError("attention_mask must have the shape (texts, tokens), with 1 for each token. The given mask "
            f"has the shape {tuple(mask.shape)}, but there are {n_tokens} tokens.")  # fmt: skip
    return frozenset(at for at, kept in enumerate(mask.tolist()) if not kept)
