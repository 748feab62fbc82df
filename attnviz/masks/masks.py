"""One head under a mask: the mask of a state, the masked scores, and reruns of the model with the mask.

A link holds a painted mask as a short text. Its bytes are the number of rows, the number of columns, then the lengths
of runs row by row, visible and hidden in turn, visible first. Each number is a little-endian base-128 varint, and all
of it is base64url without padding. A mask that hides nothing is "". `attnviz/masks/js/paint.js` writes and reads the
same.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.analysis.fills import DTYPES, FILLS, FillChoice, FilledScores, Weighing, fill_scores, one_head
from attnviz.analysis.mask_spec import RULES, MaskSpec, RuleNumbers, rule_from_text, rules_to_text
from attnviz.analysis.rerun import Writing, start_writing
from attnviz.kit import fields
from attnviz.kit.fields import PageState, Problem, Say
from attnviz.kit.focus import SiteBounds
from attnviz.kit.payload import Bands, axis_spans, col_entries, row_entries
from attnviz.kit.views.interventions import changed_head_note
from attnviz.kit.views.labels import KINDS
from attnviz.maps.selection import labels
from attnviz.masks.numbers import both_ways, effect
from attnviz.masks.numbers.effect import Effect, Refused
from attnviz.masks.numbers.findings import findings
from attnviz.models.protocol import Model
from attnviz.text.entries import token_texts
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Kind, Site

MAX_SIDE = 2048  # longer than any accepted text
SCOPES = ("head", "layer", "kind")
MAX_SECOND = 200
LEAST_FILL, MOST_FILL = -40.0, 10.0  # range of a finite fill value
CROSS_CAUSAL = (
    "A causal mask makes no sense between two sentences. The whole source is known before the first "
    "target token is written, and position 3 of the source has nothing to do with position 3 of the "
    "target. The picture shows which cells a causal mask would hide. Useful rules here are padding, "
    "and wait-k for a translator that starts before the speaker has finished."
)


def _rules(text: str, bound: object, default: object, say: Say) -> tuple[RuleNumbers, ...]:
    parts = [] if text == "none" else [rule_from_text(part) for part in text.split("~")[:16]]
    for part in (part for part in parts if isinstance(part, str)):
        say(f"rules are {', '.join(RULES)}, with their numbers", "the mask without it", part)
    return tuple(dict(part for part in parts if not isinstance(part, str)).items())


def read_painting(text: str, bound: object, default: str, say: Say) -> str:
    """Parse the text of a painted mask; for an invalid text, report the problem with `say` and return the default."""
    try:
        painting_of_text(text)
    except ValueError as error:
        say(sentence=str(error))
        return default
    return text


@dataclass(frozen=True)
class MasksState(PageState):
    """A head, the mask applied to it, and the part of its maps that is drawn.

    `rules` are pairs of a rule name and its parameters, `paint` is the painted mask as text. `zoom` is [first row, end
    of rows, first key, end of keys]. `second` is a second sentence for the batch ("" for none), and `item` the index of
    the sentence that is shown.
    """

    kind: Kind = fields.choice("decoder_self")
    layer: int = fields.index(of="layer")
    head: int = fields.index(of="head")
    row: int | None = fields.whole_number()
    zoom: tuple[int, int, int, int] | None = fields.window()
    rules: tuple[RuleNumbers, ...] = fields.declare(
        (), _rules, rules_to_text, name="masks", shape=[[str, [(int, float)]]]
    )
    paint: str = fields.declare("", read_painting)
    fill: str = fields.choice("-inf", FILLS)
    number: float = fields.number(-10.0, LEAST_FILL, MOST_FILL)
    dtype: str = fields.choice("float32", DTYPES)
    scope: str = fields.choice("head", SCOPES)
    second: str = fields.text(limit=MAX_SECOND)
    item: int = fields.whole_number(0, 2)

    @property
    def choice(self) -> FillChoice:
        """The fill and the dtype."""
        return FillChoice(self.fill, self.dtype, self.number)

    @property
    def recipe(self) -> MaskSpec:
        """The mask as rules and painted cells."""
        painted = painting_of_text(self.paint)
        return MaskSpec(dict(self.rules), None if painted is None else torch.from_numpy(painted))


def view_of(params: Mapping[str, str], bounds: SiteBounds) -> tuple[MasksState, tuple[Problem, ...]]:
    """Parse the state from address parameters, and return it with a message for each invalid one."""
    first = "decoder_self" if "decoder_self" in bounds.shapes else next(iter(bounds.shapes))
    view, problems = fields.read(MasksState, params, bounds.by_field(), MasksState(kind=first))  # type: ignore[arg-type]
    if view.kind == "decoder_self" and not params.get("masks"):  # decoders are causally masked by default
        view = replace(view, rules=(("causal", ()),))
    return view if view.second.strip() else replace(view, item=0), problems


@dataclass(frozen=True, eq=False)
class MaskBench:
    """One head of one run under a state's mask. `trace` has one sentence, or two as a padded batch."""

    model: Model
    trace: Trace
    view: MasksState

    @cached_property
    def call(self) -> AttentionCall:
        """The attention call of the chosen head for the sentence that is shown."""
        return one_head(self.trace.call(self.view.kind, self.view.layer), self.view.head, self.view.item)

    @cached_property
    def recipe(self) -> MaskSpec:
        """The mask as rules and painted cells."""
        return self.view.recipe

    @cached_property
    def real_keys(self) -> Tensor:
        """Keys that are not padding, `(batch, k_len)`."""
        rows = [self.trace.key_tokens(self.view.kind, item) for item in range(len(self.trace.sentences))]
        return torch.tensor([[not self.model.is_pad(token) for token in row] for row in rows])

    @property
    def shape(self) -> tuple[int, int]:
        """`(q_len, k_len)` of the attention site."""
        return self.call.query.shape[2], self.call.key.shape[2]

    @cached_property
    def rules(self) -> Tensor:
        """The mask without the painted cells for the sentence that is shown, `(q_len, k_len)`."""
        return self._and_chosen(self._shown_item(self.recipe.rules_mask(*self.shape, real=self.real_keys)))

    @property
    def indexed(self) -> Tensor | None:
        """Cells that the rules leave visible but the model's indexer hides; None for a model without an indexer."""
        if self.call.chosen is None:
            return None
        return self._shown_item(self.recipe.rules_mask(*self.shape, real=self.real_keys)) & ~self.call.chosen[0, 0]

    @cached_property
    def mask(self) -> Tensor:
        """The mask with rules and paint for the sentence that is shown, `(q_len, k_len)`."""
        return self._and_chosen(self._shown_item(self.recipe.build(*self.shape, real=self.real_keys)))

    @cached_property
    def filled_scores(self) -> FilledScores:
        """Scores, masked scores, weights and context, without batch and head dimensions."""
        result = fill_scores(self.call, self.mask, self.view.choice)
        parts = ("mask", "scores", "masked_scores", "attn", "context")
        cut = {name: None if (part := getattr(result, name)) is None else part[0, 0] for name in parts}
        return replace(result, **cut)

    @property
    def findings(self) -> tuple[str, ...]:
        """Sentences about the mask's effect on this head, preceded by notes on a causal mask in cross-attention
        and on interventions on this head, which the pipeline leaves out.
        """
        no_sense = self.view.kind == "cross" and "causal" in self.recipe.rules
        changes = changed_head_note(self.trace.interventions, (self.view.kind, self.view.layer, self.view.head))
        return (*((CROSS_CAUSAL,) if no_sense else ()), *((changes,) if changes else ()), *findings(self.filled_scores))

    @property
    def rows(self) -> list[tuple[str, str | None]]:
        """The input and output token of each row, as displayable texts."""
        ins = self.trace.query_tokens(self.view.kind, self.view.item)
        outs = self.trace.output_tokens(self.view.kind, self.view.item)
        return list(zip(token_texts(ins), [None] * len(ins) if outs is None else token_texts(outs), strict=True))

    @property
    def cols(self) -> list[str]:
        """Each key token as a displayable text."""
        return token_texts(self.trace.key_tokens(self.view.kind, self.view.item))

    @property
    def spans(self) -> dict[str, Bands]:
        """The conversation turns along rows and keys."""
        return axis_spans(*labels(self.trace, self.view.kind, item=self.view.item))

    @property
    def entries(self) -> tuple[list, list]:
        """The vocabulary entries of each row's input and output tokens, and of each key."""
        rows, cols = labels(self.trace, self.view.kind, item=self.view.item)
        return row_entries(rows), col_entries(cols)

    @property
    def sites(self) -> list[Site]:
        """The attention sites to which the mask is applied in a rerun."""
        layers = range(self.trace.shape(self.view.kind)[0]) if self.view.scope == "kind" else (self.view.layer,)
        return [Site(self.view.kind, layer) for layer in layers]

    @property
    def mask_name(self) -> str:
        """Words that name the mask within a sentence: "with this mask" or "with no mask"."""
        return "with no mask" if self.recipe.is_none else "with this mask"

    @property
    def scope_text(self) -> str:
        """The heads to which the mask is applied, in words that follow "in" in a sentence: "every head of L1"."""
        view, one = self.view, "any" if self.recipe.is_none else "every"
        if view.scope == "head":
            return f"L{view.layer} H{view.head}"
        of = f"head of L{view.layer}" if view.scope == "layer" else f"{KINDS[view.kind].name.lower()} head"
        return f"{one} {of}"

    def probe(self, *, writing: bool) -> MaskOverride:
        """Return the mask as a probe.

        With `writing`, it has no padding of the decoder's sentence, because a sentence has none while the model writes
        it.
        """
        own = self.view.kind == "decoder_self" and writing
        real = None if own else self.real_keys
        choice = self.view.choice
        plain = choice.fill == "fused" and choice.dtype == "float32"
        return MaskOverride(
            self.sites,
            lambda q_len, k_len: self._hide_padding(self.recipe.build(q_len, k_len, real=real)),
            head=self.view.head if self.view.scope == "head" else None,
            weigh=None if plain else Weighing(choice),
        )

    def effect(self) -> Effect | Refused:
        """Run the model again with the mask."""
        return effect.effect(self.model, self.trace, self.probe(writing=False))

    def written_up_to(self, step: int) -> Trace:
        """Run the model with the mask on the target up to row `step`, as in generation, where no later token exists."""
        return both_ways.run_up_to(self.model, self.trace, self.probe(writing=False), step)

    def start_writing(self) -> Writing:
        """Start generating the model's text with the mask."""
        ahead = self.view.kind == "decoder_self" and self.recipe.sees_ahead(self.shape[0])
        return start_writing(self.model, self.trace, self.probe(writing=True), cached=not ahead)

    def unmasked_writing(self) -> Writing:
        """Start generating the model's text without the mask."""
        return start_writing(self.model, self.trace, None)

    def _hide_padding(self, mask: Tensor) -> Tensor:
        """Hide the keys behind an image's tokens, with which some models pad images to a fixed number of patches."""
        if not self.trace.sentences[0].images:
            return mask
        return mask & (torch.arange(mask.shape[-1]) < len(self.trace.key_tokens(self.view.kind)))

    def _and_chosen(self, mask: Tensor) -> Tensor:
        """Return the mask without the cells that the model's indexer (sparse attention) hides."""
        return mask if self.call.chosen is None else mask & self.call.chosen[0, 0]

    def _shown_item(self, mask: Tensor) -> Tensor:
        return mask[min(self.view.item, len(mask) - 1)]


class PaintingError(ValueError):
    """Error for a text that is not a painted mask; the message is one sentence."""


def painting_to_text(painted: Bool[np.ndarray, "rows cols"]) -> str:
    """Return a mask (True = may attend) as text."""
    if painted.all():
        return ""
    flat = painted.reshape(-1)
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    runs = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    numbers = [*painted.shape, *([0] if not flat[0] else []), *runs]
    return base64.urlsafe_b64encode(b"".join(map(_varint, numbers))).decode().rstrip("=")


def painting_of_text(text: str) -> Bool[np.ndarray, "rows cols"] | None:
    """Parse what `painting_to_text` wrote; return None for "". Raise PaintingError for any other text."""
    if not text:
        return None
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        rows, cols, *runs = _numbers(data)
    except (ValueError, binascii.Error):
        raise PaintingError(_unreadable_error(text)) from None
    if not (0 < rows <= MAX_SIDE and 0 < cols <= MAX_SIDE) or sum(runs) != rows * cols:
        raise PaintingError(_unreadable_error(text))
    visible = np.arange(len(runs)) % 2 == 0
    return np.repeat(visible, runs).reshape(rows, cols)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _numbers(data: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if shift > 28:
            raise ValueError("a number is too long")
        if byte < 128:
            yield number
            number = shift = 0
    if shift:
        raise ValueError("the last number has no end")


def _unreadable_error(text: str) -> str:
    return (
        f"The painted mask “{text[:20]}…” in the link cannot be read, because the link was cut or changed. "
        "The page opens without paint."
    )
