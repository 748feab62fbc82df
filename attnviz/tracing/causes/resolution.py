"""Resolve interventions to a model's sites and a sentence's positions.

An impossible intervention raises an error before anything runs. In a source or a prompt, a donor's tokens are aligned
with the sentence's tokens. In a target, which may not be written yet, positions keep their numbers, so that decoding
step by step gives the same result as one pass over the whole target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from attnviz.text.tokens import Token
from attnviz.tracing.causes.alignment import Alignment, align_by_position, align_tokens, word_positions
from attnviz.tracing.causes.edits import Edit, Edits
from attnviz.tracing.causes.intervention import OF_STACK, Intervention, Place
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace_like import validate_choice
from attnviz.transformer.probe import Kind, Probe, Site

Shapes = Mapping[Kind, tuple[int, int]]
Numbers = tuple[int, ...]


@dataclass(frozen=True)
class ResolvedInterventions:
    """Interventions resolved for sentences: the edits (None for none), and notes on tokens that stay unchanged."""

    edits: Edits | None = None
    notes: tuple[str, ...] = ()

    def chain_with(self, probe: Probe) -> Probe:
        """Return a probe that applies the edits and then calls `probe`, which sees the edited run."""
        return probe if self.edits is None else Chain((self.edits, probe))


@dataclass(frozen=True)
class CheckedInterventions:
    """Interventions that fit a model; `shapes` are the model's numbers of layers and heads of each kind."""

    interventions: tuple[Intervention, ...] = ()
    shapes: Shapes = field(default_factory=dict)

    @classmethod
    def check(cls, interventions: Sequence[Any], shapes: Shapes, model_id: str) -> "CheckedInterventions":
        """Check interventions against a model.

        Raises ValueError for a kind, layer or head that the model does not have, and for a donor from another model.
        """
        for each in interventions:
            if not isinstance(each, Intervention):
                raise ValueError(
                    "An intervention must be made with attnviz.ablate, patch, edit or exchange, but "
                    f"this is {each!r:.60}."
                )
            _require_fit(each, shapes, model_id)
        return cls(tuple(interventions), dict(shapes))

    def resolve(self, sentences: Sequence[Sentence]) -> ResolvedInterventions:
        """Resolve the interventions for each sentence; a target that is not written yet is an empty `tgt`.

        Raises ValueError for a word or position that a sentence does not have, and if a donor's tokens do not match.
        """
        if not self.interventions:
            return ResolvedInterventions()
        binding = [_Resolver(sentence, self.shapes) for sentence in sentences]
        rows = [[edit for each in self.interventions for edit in one.edits(each)] for one in binding]
        notes = [note for each in self.interventions for one in binding for note in one.notes(each)]
        return ResolvedInterventions(Edits(tuple(map(tuple, rows))), tuple(dict.fromkeys(notes)))


NO_INTERVENTIONS = CheckedInterventions()


def _require_fit(each: Intervention, shapes: Shapes, model_id: str) -> None:
    if each.model_id and each.model_id != model_id:
        raise ValueError(
            f"{each}: this was recorded with other weights ({each.model_id}) than this model has "
            f"({model_id}). Please trace the donor with this model."
        )
    kinds = [kind for kind in shapes if (kind == "encoder_self") == (each.where == "encoder")]
    if each.where not in shapes and not (each.what in OF_STACK and kinds):
        raise ValueError(f"This model has no {each.where} attention: it has {', '.join(shapes)}.")
    if each.where not in shapes:
        return
    kind: Kind = validate_choice(each.where, "kind", tuple(shapes))
    layers, heads = shapes[kind]
    for name, count, numbers in (
        ("layer", layers, () if each.layer is None or each.what in OF_STACK else (each.layer,)),
        ("head", heads, each.heads or ()),
    ):
        if beyond := [number for number in numbers if not 0 <= number < count]:
            raise ValueError(f"There is no {name} {beyond[0]}: this model has {each.where} {name}s 0 to {count - 1}.")
    if each.how == "mean":
        _require_mean(each, layers)
    wanted = heads if each.heads is None else len(each.heads)
    if wrong := [len(put) for put in each.values.values() if each.what not in OF_STACK and len(put) not in (1, wanted)]:
        raise ValueError(f"{each}: that is for {wrong[0]} heads, and there are {wanted}.")


def _require_mean(each: Intervention, layers: int) -> None:
    """Raise ValueError unless a mean has values for every layer that it replaces; a missing layer would become zero."""
    if each.is_unmeasured:
        raise ValueError(f"{each}: this mean has not been measured yet. Please measure it with attnviz.mean_contexts.")
    if lacking := [layer for layer in _layers(each, layers) if layer not in each.values]:
        raise ValueError(f"{each}: no mean was measured for layer {lacking[0]}.")


def _layers(each: Intervention, count: int) -> Sequence[int]:
    """Return the layers that an intervention changes, in a kind with `count` layers."""
    return range(count) if each.layer is None else (each.layer,)


@dataclass(frozen=True)
class _Resolver:
    """Resolves interventions to the tokens of one sentence."""

    sentence: Sentence
    shapes: Shapes

    @property
    def _prompt(self) -> bool:
        """Whether the model is decoder-only, so that its text begins with a prompt."""
        return "encoder_self" not in self.shapes

    def edits(self, each: Intervention) -> list[Edit]:
        """Return the edits of an intervention, one for each layer."""
        positions, from_ = self._positions(each)
        made = Edit(("encoder", 0), each.what, each.how, each.heads, positions, swap=self._swap(each))
        if each.what in OF_STACK:
            return [
                replace(made, place=(each.stack, layer), put=put if from_ is None else put[list(from_)])
                for layer, put in each.values.items()
            ]
        edits = []
        kind: Kind = validate_choice(each.where, "kind", tuple(self.shapes))
        for layer in _layers(each, self.shapes[kind][0]):
            put = each.values.get(layer)
            if put is not None and from_ is not None and put.shape[1] > 1:
                put = put[:, list(from_)]
            edits.append(replace(made, place=Site(kind, layer), put=put))
        return edits

    def notes(self, each: Intervention) -> list[str]:
        """Return a note that names the tokens that stay unchanged because the donor has no partner for them."""
        tokens = self._tokens(each)
        if each.how != "values" or not tokens or each.positions is not None:
            return []
        lone = self._alignment(each, tokens).only_here
        if not lone:
            return []
        named = ", ".join(f"{at} “{tokens[at].text}”" for at in lone[:8])
        more = f" and {len(lone) - 8} more" if len(lone) > 8 else ""
        return [f"{each}: {len(tokens) - len(lone)} of {len(tokens)} tokens have a partner in the donor; left "
                f"unchanged: {named}{more}."]  # fmt: skip

    def _tokens(self, each: Intervention) -> Sequence[Token]:
        """Return the tokens that an intervention's positions refer to: the source, the prompt, or the target so far."""
        if each.on_source:
            return self.sentence.src
        given = self.sentence.tgt_in
        return [token for token in given if not token.segment] if self._prompt else given

    def _positions(self, each: Intervention) -> tuple[Numbers | None, Numbers | None]:
        """Return the positions to change and the matching positions of the values; None means all of them, in order."""
        tokens = self._tokens(each)
        wanted = None if each.positions is None else self._numbers(each, each.positions, tokens)
        if each.how != "values":
            return wanted, None
        pairs = self._alignment(each, tokens).pairs
        if wanted is not None:
            partners = dict(pairs)
            if lone := [at for at in wanted if at not in partners]:
                named = f" “{tokens[lone[0]].text}”" if lone[0] < len(tokens) else ""
                raise ValueError(f"{each}: position {lone[0]}{named} has no partner in the donor.")
            pairs = tuple((at, partners[at]) for at in wanted)
        if each.what == "attn":
            self._require_keys(each, pairs)
        return tuple(here for here, _ in pairs), tuple(there for _, there in pairs)

    def _alignment(self, each: Intervention, tokens: Sequence[Token]) -> Alignment:
        if each.tokens and (each.on_source or self._prompt):
            return align_tokens(tokens, each.tokens)
        put = next(iter(each.values.values()))
        count = put.shape[0 if each.what in OF_STACK else 1]
        return align_by_position(max(len(tokens), count) if not each.on_source else len(tokens), count)

    def _require_keys(self, each: Intervention, pairs: Sequence[tuple[int, int]]) -> None:
        """Raise ValueError unless the donor's weights are over the same keys as this sentence's rows.

        Decoder rows must keep their positions; other kinds need the same number of keys.
        """
        if each.where == "decoder_self":
            if moved := [here for here, there in pairs if here != there]:
                raise ValueError(f"{each}: row {moved[0]} has different keys in the donor, so its weights do not fit.")
            return
        theirs = next(iter(each.values.values())).shape[-1]
        if theirs != (own := len(self.sentence.src)):
            raise ValueError(f"{each}: the donor's weights are over {theirs} keys, but this sentence has {own}.")

    def _swap(self, each: Intervention) -> tuple[Numbers, Numbers]:
        if not each.columns:
            return (), ()
        tokens = self.sentence.tgt_in if each.where == "decoder_self" else self.sentence.src
        one, other = (self._columns(each, place, tokens) for place in each.columns)
        if len(one) != len(other) or set(one) & set(other):
            raise ValueError(
                f"{each}: {each.columns[0]} is {len(one)} and {each.columns[1]} {len(other)} tokens "
                "long. Please choose two different places of the same length."
            )
        return one, other

    def _columns(self, each: Intervention, place: Place, tokens: Sequence[Token]) -> Numbers:
        found = self._places(each, place, tokens)
        if len(found) > 1:
            raise ValueError(f"“{place}” occurs {len(found)} times. Give the position of one.")
        return found[0]

    def _numbers(self, each: Intervention, places: Sequence[Place], tokens: Sequence[Token]) -> Numbers:
        found = (group for place in places for group in self._places(each, place, tokens))
        return tuple(sorted({at for group in found for at in group}))

    def _places(self, each: Intervention, place: Place, tokens: Sequence[Token]) -> list[Numbers]:
        """Return the positions that `place` denotes: a position itself, or the tokens of every occurrence of a word."""
        is_open = not (each.on_source or (each.columns and each.where == "cross"))
        if isinstance(place, int):
            if not is_open and place >= len(tokens):
                raise ValueError(f"There is no position {place}: “{self.sentence.src_text}” has {len(tokens)} tokens.")
            return [(place,)]
        if not tokens:
            raise ValueError(f"“{place}” is in a target that is not written yet. Give the target, or a position.")
        if not (found := word_positions(place, tokens)):
            text = self.sentence.tgt_text if is_open else self.sentence.src_text
            raise ValueError(f"There is no word “{place}” in “{text}”.")
        return found


class Fitting(NamedTuple):
    """Interventions that can be applied, those that cannot, and a reason for each of the latter."""

    kept: tuple[Intervention, ...]
    dropped: tuple[Intervention, ...] = ()
    notes: tuple[str, ...] = ()


def split_by_fit(
    interventions: Sequence[Intervention], shapes: Shapes, model_id: str, sentence: Sentence | None = None
) -> Fitting:
    """Split interventions into those that a model can apply to a sentence and those that it cannot.

    Without a sentence, only the model is checked. A target that the model is to write is empty in `sentence`.
    """
    why = {number: _refusal(each, shapes, model_id, sentence) for number, each in enumerate(interventions)}
    kept = tuple(each for number, each in enumerate(interventions) if not why[number])
    dropped = tuple(each for number, each in enumerate(interventions) if why[number])
    return Fitting(kept, dropped, tuple(reason for reason in why.values() if reason))


def drop_target(sentence: Sentence) -> Sentence:
    """Return the sentence without its target, as before decoding."""
    return replace(sentence, tgt=(), tgt_text="")


def _refusal(each: Intervention, shapes: Shapes, model_id: str, sentence: Sentence | None) -> str:
    try:
        changes = CheckedInterventions.check([each], shapes, model_id)
        if sentence is not None:
            changes.resolve([sentence])
    except ValueError as why:
        return f"“{each}” is left out: {why}"
    return ""
