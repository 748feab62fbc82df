"""`attnviz.ablate`, `patch`, `edit`, `exchange`: make interventions for the argument `interventions=[…]` of
any model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.tracing.causes.intervention import KINDS, OF_STACK, WHATS, How, Intervention, MeanContexts, Place, What
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace_like import TraceLike, validate_choice
from attnviz.transformer.probe import Kind, Stack

Put = Literal["zero", "mean", "uniform", "diagonal"]
_PUTS: tuple[Put, ...] = get_args(Put)
_MOST_ROWS = 100_000  # most rows of a map that is written by hand
_STACK: dict[str, Stack] = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "decoder"}


@reads_arguments
def ablate(
    kind: Kind | str, *, layer: int | None = None, heads: Sequence[int] | None = None,
    to: Put | str | MeanContexts | TraceLike = "zero", positions: Sequence[Place] | None = None, item: int = 0,
) -> Intervention:  # fmt: skip
    """Ablate heads: replace their context before `W_o` joins the heads, or their attention weights.

    Without `layer` or `heads`, all of them are ablated; `positions` are query rows, by number or word. `to` is one of:

    - "zero": the context becomes zero;
    - a mean measured over a reference set (`attnviz.mean_contexts`): the context becomes that mean; "mean" marks a mean
      that must still be measured before the intervention can run;
    - a trace: the context becomes that of the trace's `item`, at the same positions;
    - "uniform" or "diagonal": the heads attend uniformly to all visible keys, or only to their own position.

    Raises ValueError for a replacement that is not possible. See Michel et al. 2019 and Voita et al. 2019 on ablating
    heads.
    """
    chosen = _Chosen.check(kind, layer, heads, positions)
    if isinstance(to, MeanContexts):
        means = {at: mean.unsqueeze(1) for (of, at), mean in to.values.items() if of == kind and layer in (None, at)}
        if not means:
            raise ValueError(f"There is no mean of {kind}{'' if layer is None else f' layer {layer}'} among these.")
        return replace(
            chosen.put("context", "mean", chosen.select_heads(means), to.measured_rows), model_id=to.model_id
        )
    if isinstance(to, TraceLike):
        return replace(patch(to, kind, layer=layer, heads=heads, positions=positions, item=item), tokens=())
    how: How = validate_choice(to, "to", _PUTS)
    if how == "diagonal" and kind == "cross":
        raise ValueError("Cross-attention has no diagonal: a target row has no position of its own in the source.")
    return chosen.put("context" if how in ("zero", "mean") else "attn", how)


@reads_arguments
def patch(
    donor: TraceLike, kind: Kind | Stack | str, *, layer: int | None = None, heads: Sequence[int] | None = None,
    positions: Sequence[Place] | None = None, what: What | str = "context", item: int = 0,
) -> Intervention:  # fmt: skip
    """Patch a run with values that another run computed: `donor` is a trace of the same model.

    `what` names the quantity: for a kind of attention "context" (before `W_o`), "query", "key", "value" or "attn"; for
    a stack the hidden states after a "layer", or its "embedding". `positions` are positions of the sentence that runs,
    by number or word: query rows, or keys for "key" and "value". If the source, or the prompt, differs in length from
    the donor's, their tokens are aligned by id and word (`alignment.align_tokens`); tokens without a partner stay
    unchanged, and the trace's notes say so. Positions of a target keep their numbers. Weights need the same number of
    keys. The context of cross-attention may come from another source. Raises ValueError for a donor that lacks the
    quantity. See Vig et al. 2020 and Meng et al. 2022.
    """
    asked: What = validate_choice(what, "what", WHATS)
    if donor.sentences[donor._item(item)].first_row:
        raise ValueError("The trace to copy from is a single decoding step. Please pass the trace of a whole sentence.")
    made = _stream(donor, kind, layer, positions, asked, item) if asked in OF_STACK else None
    if made is None:
        chosen = _Chosen.check(validate_choice(kind, "kind", donor.kinds), layer, heads, positions)
        layers = range(donor.shape(chosen.kind)[0]) if layer is None else (layer,)
        values = {at: _values(donor, chosen.kind, at, asked, item) for at in layers}
        made = chosen.put(asked, "values", chosen.select_heads(values))
    sentence = donor.sentences[item]
    source = sentence.src_text if made.on_source or sentence.src else sentence.tgt_text
    return _attach_tokens(replace(made, source=source, model_id=donor.model_id), sentence)


@reads_arguments
def edit(
    kind: Kind | str, weights: Tensor | Sequence[Any], *, layer: int, heads: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
) -> Intervention:  # fmt: skip
    """Replace a map, or some of its rows, by weights written by hand.

    `weights` is `(rows, k_len)`, the same for all the heads, or `(heads, rows, k_len)`; `rows` are the numbers of the
    rows, by default counted from 0. The weights are used as they are and need not sum to 1. Raises ValueError for a
    wrong shape, for weights that are not finite numbers, and for decoder weights on later tokens.
    """
    given = _to_weights(weights)
    numbers = list(range(given.shape[1])) if rows is None else list(rows)
    chosen = _Chosen.check(kind, layer, heads, numbers)
    if beyond := [row for row in numbers if row >= _MOST_ROWS]:
        raise ValueError(f"There is no row {beyond[0]:,}: no text has as many as {_MOST_ROWS:,} tokens.")
    if len(numbers) != given.shape[1] or (heads is not None and len(given) not in (1, len(heads))):
        many = "all" if heads is None else len(heads)
        raise ValueError(f"weights has shape {tuple(given.shape)}, but must fit {many} heads and {len(numbers)} rows.")
    if kind == "decoder_self":
        for nth, row in enumerate(numbers):
            if bool(given[:, nth, row + 1 :].any()):
                raise ValueError(f"Row {row} of a decoder cannot look at what comes after it.")
    if heads is not None and chosen.heads is not None and len(given) > 1:
        given = given[[list(heads).index(head) for head in chosen.heads]]  # chosen.heads is sorted
    placed = given.new_zeros(len(given), max(numbers) + 1, given.shape[2])
    placed[:, numbers] = given
    return chosen.put("attn", "values", {layer: placed}, source="")


@reads_arguments
def exchange(
    kind: Kind | str, columns: Sequence[Place], *, layer: int | None = None, heads: Sequence[int] | None = None,
    positions: Sequence[Place] | None = None,
) -> Intervention:  # fmt: skip
    """Exchange two columns of attention maps: each key gets the other key's weight, in every row that sees both.

    Columns are positions, or words with equally many tokens. Raises ValueError unless there are exactly two.
    """
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(
            f"exchange swaps two columns, but the given columns are {columns!r:.60}. Please pass two "
            "positions, or two words."
        )
    chosen = _Chosen.check(kind, layer, heads, positions)
    return replace(chosen.put("attn", "exchange"), columns=_places(columns))


@dataclass(frozen=True)
class _Chosen:
    """The kind, layer, heads and positions of an intervention, checked."""

    kind: Kind
    layer: int | None
    heads: tuple[int, ...] | None
    positions: tuple[Place, ...] | None

    @classmethod
    def check(
        cls, kind: str, layer: int | None, heads: Sequence[int] | None, positions: Sequence[Place] | None
    ) -> "_Chosen":
        """Check a choice. Raises ValueError for a layer, head or position that no model can have."""
        found: Kind = validate_choice(kind, "kind", KINDS)
        numbers = () if heads is None else tuple(heads)
        for name, each in (("layer", () if layer is None else (layer,)), ("head", numbers)):
            if wrong := [one for one in each if not isinstance(one, int) or isinstance(one, bool) or one < 0]:
                raise ValueError(f"A {name} must be a number (0 or more), not {wrong[0]!r:.60}.")
        if heads is not None and not numbers:
            raise ValueError("heads names no head. Please leave it out to take all heads of a layer.")
        return cls(found, layer, None if heads is None else tuple(sorted(set(numbers))), _or_places(positions))

    def put(self, what: What, how: How, values: Mapping[int, Tensor] | None = None, source: str = "") -> Intervention:
        """Return an intervention that changes the quantity `what` of the chosen heads and positions."""
        return Intervention(
            self.kind, what, how, self.layer, self.heads, self.positions, values=values or {}, source=source
        )

    def select_heads(self, values: Mapping[int, Tensor]) -> dict[int, Tensor]:
        """Return the values of the chosen heads. Raises ValueError for a head that is not in the values."""
        if self.heads is None:
            return dict(values)
        count = len(next(iter(values.values())))
        if beyond := [head for head in self.heads if head >= count]:
            raise ValueError(f"There is no head {beyond[0]}: this model has {self.kind} heads 0 to {count - 1}.")
        return {layer: put[list(self.heads)] for layer, put in values.items()}


def _stream(
    donor: TraceLike, kind: str, layer: int | None, positions: Sequence[Place] | None, what: What, item: int
) -> Intervention:
    """Take the hidden states of a stack from the donor. A kind of attention means the stack that contains it."""
    where = _STACK.get(kind, kind)
    stack: Stack = validate_choice(where, "kind", ("encoder", "decoder"))
    if what == "layer" and layer is None:
        raise ValueError("Hidden states need a layer. Please pass layer=…, or patch the embedding.")
    at = -1 if what == "embedding" or layer is None else layer
    values = {at: donor.layer_output(stack, at, item).clone()}
    return Intervention(stack, what, "values", at, positions=_or_places(positions), values=values)


def _values(donor: TraceLike, kind: Kind, layer: int, what: What, item: int) -> Tensor:
    """Take one quantity of each head at a site from the donor: `(heads, positions, size)`, float32 on the CPU."""
    if what == "context":
        return donor.context(kind, layer, item).clone()
    if what == "attn":
        return donor.attn(kind, layer=layer, item=item).clone()
    length = len(donor.query_tokens(kind, item) if what == "query" else donor.key_tokens(kind, item))
    return getattr(donor.call(kind, layer), what)[item, :, :length].float().cpu().clone()


def _attach_tokens(made: Intervention, sentence: Sentence) -> Intervention:
    """Attach the tokens that the values belong to: the source's, or the prompt's without the generated text."""
    if made.on_source:
        return replace(made, tokens=sentence.src)
    if sentence.src:
        return made
    given = tuple(token for token in sentence.tgt_in if not token.segment)
    first = slice(len(given))
    cut = {layer: put[first] if made.what in OF_STACK else put[:, first] for layer, put in made.values.items()}
    return replace(made, tokens=given, values=cut)


def _to_weights(weights: Tensor | Sequence[Any]) -> Tensor:
    """Convert weights to a tensor `(heads or 1, rows, k_len)`.

    Raises ValueError for another shape or for values that are not finite.
    """
    try:
        given = torch.as_tensor(weights, dtype=torch.float32).detach().clone()
    except (TypeError, ValueError):
        raise ValueError("weights must be numbers, in equally long rows.") from None
    given = given.unsqueeze(0) if given.dim() == 2 else given
    if given.dim() != 3 or not given.numel():
        shape = tuple(given.shape)
        raise ValueError(f"weights must have axes (rows, k_len) or (heads, rows, k_len), not the shape {shape}.")
    if not bool(given.isfinite().all()):
        raise ValueError("weights must be finite numbers, but one of these is infinite or NaN.")
    return given


def _or_places(positions: Sequence[Place] | None) -> tuple[Place, ...] | None:
    return None if positions is None else _places(positions)


def _places(positions: Sequence[Place]) -> tuple[Place, ...]:
    """Return positions and words as a tuple. Raises ValueError for anything else, and for an empty list."""
    places = (positions,) if isinstance(positions, str) else tuple(positions)
    for place in places:
        if isinstance(place, bool) or not isinstance(place, int | str) or (isinstance(place, int) and place < 0):
            raise ValueError(f"A position must be a number (0 or more) or a word, not {place!r:.60}.")
    if not places:
        raise ValueError("positions names no position. Please leave it out to take all positions.")
    return places
