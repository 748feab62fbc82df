"""Profiles of heads over many sentences: distributions of measures, roles, output norms, and attended tokens.

Made in one batched pass over the corpus. Memory grows with heads times sentences, because no maps are kept.

Row roles (`row_roles`, the group "where") classify each row by its strongest key: in self-attention by the key's
distance from the row's own token, in cross-attention by the side of the diagonal on which the key is, if both sentences
are scaled to the same length. The roles of the group "what" may overlap. Each share is given with the share that a
random visible key would reach, because a large share alone does not show that a head has a role.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.reading import ReadCorpus
from attnviz.analysis.metric_table import METRICS, end_keys
from attnviz.analysis.metrics import (
    RowReader,
    diagonality,
    distance_to_diagonal,
    entropy,
    farthest_key,
    mean_distance,
    places_on_keys,
    share,
)
from attnviz.analysis.output_maps import OutputMap, OutputMaps, output_maps
from attnviz.analysis.projections import NotPlain
from attnviz.analysis.runs import HeadPlace, head_places
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site
from attnviz.transformer.row_blocks import blocks_of_maps

WHERE_IN_SELF: tuple[str, ...] = ("previous token", "itself", "next token", "farther back", "farther ahead")
WHERE_IN_CROSS: tuple[str, ...] = ("diagonal", "before the diagonal", "after the diagonal")
WHAT: tuple[str, ...] = ("first token", "end token", "same token")


def row_roles(kind: Kind) -> tuple[str, ...]:
    """Return the names of the roles by position, such as "previous token", that a key can have in this kind of
    attention.

    A row's strongest key has exactly one of them, so their shares sum to 1.
    """
    return WHERE_IN_CROSS if kind == "cross" else WHERE_IN_SELF


@dataclass(frozen=True, eq=False)
class RoleCounts:
    """Counts of queries for each head of a kind `(layers, heads)`.

    `rows` counts queries that have weight. For each role, `hits` counts the queries whose strongest key has the role,
    and `lot` is the count to expect if each query picked a random visible key.
    """

    rows: Tensor
    hits: Mapping[str, Tensor]
    lot: Mapping[str, Tensor]

    def plus(self, more: "RoleCounts") -> "RoleCounts":
        """Return the sum of these counts and the counts `more` of other sentences."""
        hits, lot = (
            {role: one[role] + other[role] for role in one}
            for one, other in ((self.hits, more.hits), (self.lot, more.lot))
        )
        return RoleCounts(self.rows + more.rows, hits, lot)


def role_counts(
    attn: Float[Tensor, "layers heads q_len k_len"],
    seen: Bool[Tensor, "layers heads q_len k_len"],
    sentence: Sentence,
    kind: Kind,
) -> RoleCounts:
    """Count the roles in one sentence. `seen` is True where a query may attend."""
    counted = attn.sum(dim=-1) > 0
    strongest = attn.argmax(dim=-1, keepdim=True)
    visible = seen.sum(dim=-1).clamp(min=1)
    hits, lot = {}, {}
    for role, fits in _fits(kind, sentence.queries(kind), sentence.keys(kind)).items():
        hit = fits.expand(attn.shape).gather(-1, strongest).squeeze(-1)
        hits[role] = (hit & counted).sum(dim=-1).double()
        lot[role] = ((seen & fits).sum(dim=-1) / visible * counted).double().sum(dim=-1)
    return RoleCounts(counted.sum(dim=-1).double(), hits, lot)


def _fits(kind: Kind, queries: tuple[Token, ...], keys: tuple[Token, ...]) -> dict[str, Tensor]:
    """Return, for each role, a mask `(q_len, k_len)` of the keys that have this role for each query."""
    row, col = torch.arange(len(queries)).unsqueeze(1), torch.arange(len(keys)).unsqueeze(0)
    same = torch.tensor([[query.id == key.id for key in keys] for query in queries])
    ends = torch.zeros(1, len(keys), dtype=torch.bool)
    ends[0, end_keys(keys)] = True
    what = (col == 0).expand(same.shape), ends.expand(same.shape)
    if kind == "cross":
        away = distance_to_diagonal(row[:, 0].float(), col[0].float(), (len(queries), len(keys)))
        before = (col + 0.5) / len(keys) < (row + 0.5) / len(queries)
        near = away <= 1
        return dict(zip(WHERE_IN_CROSS, (near, ~near & before, ~near & ~before), strict=True)) | dict(
            zip(WHAT, (*what, same), strict=True)
        )
    off = col - row
    places = (off == -1, off == 0, off == 1, off < -1, off > 1)
    return dict(zip(WHERE_IN_SELF, places, strict=True)) | dict(zip(WHAT, (*what, same & (off != 0)), strict=True))


@dataclass(frozen=True, eq=False)
class TokenWeights:
    """Attention weight that each head of a kind gives to each token type, summed over all rows of a corpus.

    `given` is the actual weight, and `even` the weight that uniform attention would give, both `(layers, heads,
    types)`, float32. `occurrences` `(types,)` counts how often each type occurs as a key.
    """

    types: tuple[Token, ...]
    given: Tensor
    even: Tensor
    occurrences: Tensor
    _columns: dict[int, int] = field(repr=False)

    @classmethod
    def zeros(cls, kind: Kind, shape: tuple[int, int], sentences: Sequence[Sentence]) -> "TokenWeights":
        """Make an empty sum, with a zero for every token type that occurs as a key in these sentences."""
        types = {token.id: token for sentence in sentences for token in sentence.keys(kind)}
        nothing = torch.zeros(*shape, len(types))
        columns = {id_: column for column, id_ in enumerate(types)}
        return cls(tuple(types.values()), nothing, nothing.clone(), torch.zeros(len(types)), columns)

    def count(self, attn: Tensor, seen: Tensor, keys: Sequence[Token]) -> None:
        """Add one sentence: its maps `attn`, and `seen`, True where a query may attend; `(layers, heads, q_len,
        k_len)`.
        """
        at = torch.tensor([self._columns[key.id] for key in keys], dtype=torch.long)
        holds = attn.sum(dim=-1, keepdim=True)
        even = seen / seen.sum(dim=-1, keepdim=True).clamp(min=1) * holds
        self.given.index_add_(2, at, attn.sum(dim=2))
        self.even.index_add_(2, at, even.sum(dim=2))
        self.occurrences.index_add_(0, at, torch.ones(len(at)))

    def lift(self, layer: int, head: int, *, least: int = 3) -> pd.DataFrame:
        """Return how many times more weight a head gives to each token than uniform attention, highest first.

        The columns are token (its piece if the token is the unknown token), piece, id, lift, share (of the head's total
        weight) and occurrences. Tokens that occur fewer than `least` times are left out, because a single sentence
        could decide their lift.
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


QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class HeadProfiles:
    """Measures of every head in `places`, in each sentence.

    `measured` `(sentences,)` is False for sentences that a stopped run did not reach. `measures` is `(sentences, heads,
    METRICS)`, NaN where a measure is undefined. `written` `(sentences, heads)` is the largest ‖z_h W_o^h‖ among the
    sentence's rows and `written_at` the index of that row; they are NaN and -1 if `W_o` is unknown, for the reason in
    `why_not`. All tensors are float32 on the CPU.
    """

    corpus: ReadCorpus
    places: tuple[HeadPlace, ...]
    measured: Tensor
    measures: Tensor
    written: Tensor
    written_at: Tensor
    roles: dict[Kind, RoleCounts]
    reads: dict[Kind, TokenWeights]
    why_not: str = ""

    def distribution(self) -> pd.DataFrame:
        """Return a table with one row per head and measure: mean and quantiles over sentences; NaN where undefined."""
        values = torch.cat((self.measures, self.written.unsqueeze(2)), dim=2)[self.measured].double().numpy()
        lines = []
        for nth, place in enumerate(self.places):
            for at, name in enumerate((*METRICS, "written")):
                known = values[:, nth, at][~np.isnan(values[:, nth, at])]
                found = np.quantile(known, QUANTILES) if len(known) else np.full(len(QUANTILES), np.nan)
                mean = known.mean() if len(known) else np.nan
                lines.append((*place, name, len(known), mean, *found))
        columns = ["kind", "layer", "head", "measure", "sentences", "mean", *(f"q{100 * at:g}" for at in QUANTILES)]
        return pd.DataFrame(lines, columns=columns)

    def role_shares(self) -> pd.DataFrame:
        """Return a table with one row per head and role: how often the strongest key of a query has the role.

        "by lot" is the share that a random visible key would reach. The shares in the `group` "where" sum to 1; those
        in "what" may overlap.
        """
        lines = []
        for kind, layer, head in self.places:
            counts = self.roles.get(kind)
            if counts is None:
                continue
            rows = float(counts.rows[layer, head])
            for role in (*row_roles(kind), *WHAT):
                shares = (
                    float(each[role][layer, head]) / rows if rows else np.nan for each in (counts.hits, counts.lot)
                )
                lines.append((kind, layer, head, "what" if role in WHAT else "where", role, *shares, int(rows)))
        return pd.DataFrame(lines, columns=["kind", "layer", "head", "group", "role", "share", "by lot", "rows"])

    def lift(self, place: HeadPlace, *, least: int = 3) -> pd.DataFrame:
        """Return the tokens to which a head gives more weight than uniform attention. See `TokenWeights.lift`."""
        kind, layer, head = place
        return self.reads[kind].lift(layer, head, least=least)


@torch.inference_mode()
def head_profiles(model: Model, corpus: ReadCorpus, *, stop: Cancellable = TO_THE_END) -> HeadProfiles:
    """Measure every head in every sentence, or, if stopped, in the sentences of the batches that were run."""
    places, count = head_places(model), len(corpus.sentences)
    measures = torch.full((count, len(places), len(METRICS)), torch.nan)
    written, written_at = torch.full((count, len(places)), torch.nan), torch.full((count, len(places)), -1)
    reads: dict[Kind, TokenWeights] = {
        kind: TokenWeights.zeros(kind, model.shapes[kind], corpus.sentences) for kind in model.kinds
    }
    maps = output_maps(model, corpus.one_sentence(0))
    made = HeadProfiles(
        corpus,
        places,
        torch.zeros(count, dtype=torch.bool),
        measures,
        written,
        written_at,
        {},
        reads,
        _missing_reason(maps),
    )
    for batch in stop.iterate(corpus.batches(model), corpus.batch_count()):
        trace = model.rerun(batch.trace)
        for place, item in enumerate(batch.items):
            _count(made, maps, trace, (place, item))
        made.measured[list(batch.items)] = True
    return made


def _count(made: HeadProfiles, maps: OutputMaps, trace: Trace, which: tuple[int, int]) -> None:
    """Add the measures of one sentence to `made`. `which` is its index in the batch and its index in the corpus."""
    place, item = which
    sentence = made.corpus.sentences[item]
    for kind in trace.kinds:
        heads = [nth for nth, (of, _, _) in enumerate(made.places) if of == kind]
        q_len, k_len = len(sentence.queries(kind)), len(sentence.keys(kind))
        # Whole maps, because roles and tokens are counted over each cell of a few maps of at most 512 tokens.
        attn = trace.attn(kind, item=place)[..., :q_len, :k_len]
        layers = range(len(attn))
        seen = torch.stack([trace.layer_mask(kind, layer, place)[:, :q_len, :k_len] for layer in layers])
        made.measures[item, heads] = _measures(attn, seen, sentence, kind).flatten(0, 1)
        counts = role_counts(attn, seen, sentence, kind)
        made.roles[kind] = made.roles[kind].plus(counts) if kind in made.roles else counts
        made.reads[kind].count(attn, seen, sentence.keys(kind))
        if not made.why_not:
            norms = [_norms(maps, trace, Site(kind, layer), place)[:, :q_len] for layer in layers]
            most, row = torch.cat(norms).max(dim=1)
            made.written[item, heads], made.written_at[item, heads] = most, row


def _measures(attn: Tensor, seen: Tensor, sentence: Sentence, kind: Kind) -> Tensor:
    """Compute every measure of every head in one sentence `(layers, heads, METRICS)`."""
    (layers, heads, q_len, k_len), rows = attn.shape, torch.arange(attn.shape[2])
    places = places_on_keys(rows.float(), (q_len, k_len)), torch.arange(k_len).float()
    beside = {} if kind == "cross" else {"previous_token": rows - 1, "next_token": rows + 1}
    columns = {"first_token_mass": torch.zeros(1, dtype=torch.long), "eos_mass": end_keys(sentence.keys(kind))}
    blocks = blocks_of_maps(attn.flatten(0, 1))
    sums = RowReader(places, beside, columns).read((layers * heads, q_len, k_len), blocks)
    nothing = sums.weight.new_full((layers * heads,), torch.nan)
    found = {
        "entropy": entropy(sums),
        "mean_distance": mean_distance(sums),
        "diagonality": diagonality(sums, farthest_key(places, seen.flatten(0, 1))),
        **{name: share(sums, name) for name in (*beside, *columns)},
    }
    found |= {} if len(columns["eos_mass"]) else {"eos_mass": nothing}
    return torch.stack([found.get(name, nothing) for name in METRICS], dim=1).view(layers, heads, -1)


def _norms(maps: OutputMaps, trace: Trace, site: Site, item: int) -> Tensor:
    """Compute ‖z_h W_o^h‖, the norm of what each head writes to the residual stream in each row."""
    found = maps[site]
    assert isinstance(found, OutputMap)  # otherwise `why_not` is set and norms are not computed
    return found.head_outputs(trace.context(site.kind, site.layer, item)).norm(dim=-1)


def _missing_reason(maps: OutputMaps) -> str:
    return next((found.why for found in maps.values() if isinstance(found, NotPlain)), "")
