"""The record of a whole decoding, collected row by row while it runs, so that no step's full trace has to be kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.models.protocol import Step
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.attention import call_attn
from attnviz.transformer.beam import Hypothesis
from attnviz.transformer.probe import EditedWeights, Kind, Stack, bytes_kept


@dataclass(frozen=True, eq=False)
class StepRow:
    """The rows that one decoding step adds; float32 on the CPU.

    attn: kind -> `(layers, heads, k_len)`. hidden: `(1 + layers, d_model)`, the embedding first. logits:
    `(vocab_size,)`.
    """

    attn: Mapping[Kind, Tensor]
    hidden: Tensor
    logits: Tensor


@dataclass(frozen=True, eq=False)
class DecodingRecord:
    """The record of a decoding, stacked from its rows.

    attn: for decoder kinds `(layers, heads, steps, k_len)`, with zeros for keys that did not exist yet; for the encoder
    the map that was computed once. hidden: stack -> `(1 + layers, length, d_model)`. logits: `(steps, vocab_size)`.
    `fed` are the input tokens, `chosen` the tokens that the model chose after each of them, `hypotheses` the beam's
    hypotheses after each step. `dtype` is the dtype in which the model ran. `recomputes` says that every step ran the
    whole prefix again. `after` is the text's token after the last input token, if the text was teacher-forced.
    """

    attn: Mapping[Kind, Float[Tensor, "layers heads q_len k_len"]]
    hidden: Mapping[Stack, Float[Tensor, "layers length d_model"]]
    logits: Float[Tensor, "steps vocab_size"]
    dtype: str
    fed: tuple[Token, ...] = ()
    chosen: tuple[Token, ...] = ()
    hypotheses: tuple[tuple[Hypothesis, ...], ...] = ()
    seconds: tuple[float, ...] = ()
    src: tuple[Token, ...] = ()
    recomputes: bool = False
    after: Token | None = None

    @property
    def following(self) -> tuple[Token, ...]:
        """The text's next token after each input token. It is the model's choice, unless another token was fed."""
        return (*self.fed[1:], self.after or self.chosen[-1])

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the decoded target: the input tokens and the last choice."""
        return (*(token.id for token in self.fed), self.chosen[-1].id)

    def nbytes(self) -> int:
        """Return the bytes of memory that the maps, hidden states and logits use."""
        return bytes_kept((), (*self.attn.values(), *self.hidden.values(), self.logits))


class DecodingRows:
    """The rows of a decoding that may still continue; after any step they can be stacked to a record."""

    def __init__(self) -> None:
        self._rows: list[list[tuple[StepRow, tuple[Token, ...]]]] = []
        self._records: list[tuple[tuple[Hypothesis, ...], float]] = []
        self._first: Step | None = None
        self._last: Step | None = None

    @property
    def count(self) -> int:
        """The number of steps so far."""
        return len(self._rows)

    def add(self, step: Step) -> None:
        """Add the rows that the next decoding step computed."""
        self._first = self._first or step
        self._last = step
        items = range(len(step.trace.sentences))
        self._rows.append([(newest_row(step.trace, item), step.trace.sentences[item].tgt) for item in items])
        self._records.append((step.hypotheses, step.seconds))

    def record(self) -> DecodingRecord:
        """Return the record of the steps so far; for a beam, with the rows that lead to the best sentence.

        Raises ValueError if there is no step.
        """
        first, last, records = self._first, self._last, self._records
        if last is None or first is None:
            raise ValueError("There are no steps: the target has no tokens.")
        path = _best_path(self._rows, last)
        made = stack_rows([row for row, _ in path], first.trace)
        fed, chosen = (last.best[:-1], last.best[1:]) if last.best else (path[-1][1][:-1], _chosen_tokens(path))
        return replace(
            made,
            fed=fed,
            chosen=chosen,
            hypotheses=tuple(hypotheses for hypotheses, _ in records) if records[0][0] else (),
            seconds=tuple(seconds for _, seconds in records),
            src=first.trace.sentences[0].src,
            recomputes=last is not first and not last.trace.sentences[0].first_row,
        )


def decoding_record(steps: Iterable[Step], rows: DecodingRows | None = None) -> DecodingRecord:
    """Run a decoding to its end and return its record; for a beam, with the rows that lead to the best sentence.

    The steps are also added to `rows`, if given. Raises ValueError if there is no step.
    """
    rows = rows or DecodingRows()
    for step in steps:
        rows.add(step)
    return rows.record()


def newest_row(trace: Trace, item: int = 0) -> StepRow:
    """Return the rows that the latest decoding step added: one for each decoder map, with hidden states and logits."""
    kinds: list[Kind] = [kind for kind in trace.kinds if trace.output_tokens(kind) is not None]
    attn: dict[Kind, Tensor] = {
        kind: torch.stack([_newest_row(trace, kind, layer, item) for layer in _layers(trace, kind)]) for kind in kinds
    }
    outputs = [trace.layers[key] for key in sorted(trace.layers) if key[0] == "decoder"]
    if trace.logits is None:
        raise ValueError(
            "This decoding step was recorded without logits, so the probabilities of its tokens are not known."
        )
    return StepRow(
        attn, torch.stack([output[item, -1].float().cpu() for output in outputs]), _newest_logits(trace.logits, item)
    )


def stack_rows(rows: Sequence[StepRow], encoded: Trace, item: int = 0) -> DecodingRecord:
    """Stack the rows of successive steps to a record; the encoder's part comes from `encoded`, a trace of any step."""
    attn: dict[Kind, Tensor] = {kind: _pad_rows([row.attn[kind] for row in rows]) for kind in rows[0].attn}
    hidden: dict[Stack, Tensor] = {"decoder": torch.stack([row.hidden for row in rows], dim=1)}
    keys = [key for key in sorted(encoded.layers) if key[0] == "encoder"]
    if keys:
        attn["encoder_self"] = encoded.attn("encoder_self", item=item)
        hidden["encoder"] = torch.stack([encoded.layer_output(*key, item) for key in keys])
    return DecodingRecord(attn, hidden, torch.stack([row.logits for row in rows]), encoded.info.dtype)


def _newest_row(trace: Trace, kind: Kind, layer: int, item: int) -> Tensor:
    call = trace.call(kind, layer)
    mask = None if call.mask is None else call.mask[item if len(call.mask) > 1 else 0][None, :, -1:]
    one = slice(item, item + 1)
    bias = None if call.bias is None else call.bias[item if len(call.bias) > 1 else 0][None, :, -1:]
    edited = call.edited and EditedWeights(call.edited.attn[one, :, -1:], call.edited.rows[one, :, -1:])
    parts = {
        "key": call.key[one],
        "value": call.value[one],
        "mask": mask,
        "bias": bias,
        "edited": edited,
        "chosen": None,
    }
    call = replace(call, query=call.query[one, :, -1:], **parts)
    return call_attn(call)[0, :, 0].cpu()


def _layers(trace: Trace, kind: Kind) -> range:
    return range(sum(site.kind == kind for site in trace.calls))


def _newest_logits(logits: Tensor, item: int) -> Tensor:
    return logits[item, -1].float().cpu()


def _pad_rows(rows: list[Tensor]) -> Tensor:
    """Pad rows `(layers, heads, k_len)` of growing length with zeros and stack them to `(layers, heads, rows,
    longest)`.
    """
    longest = max(row.shape[-1] for row in rows)
    return torch.stack([torch.nn.functional.pad(row, (0, longest - row.shape[-1])) for row in rows], dim=2)


def _chosen_tokens(path: list) -> tuple[Token, ...]:
    return tuple(tgt[-1] for _, tgt in path)


def _best_path(rows: list, last: Step) -> list:
    """Return, for each step, the beam item whose prefix leads to the best final sentence."""
    if not last.hypotheses:
        return [items[0] for items in rows]
    bos, best = last.prefix[0].id, last.hypotheses[0].ids
    ids, path = (bos, *best), []
    for length, items in enumerate(rows[: len(best)], start=1):
        row, tgt = next(item for item in items if tuple(t.id for t in item[1][:-1]) == ids[:length])
        path.append((row, tgt))
    return path
