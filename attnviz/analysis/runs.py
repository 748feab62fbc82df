"""Batched ablations: many changed runs of one sentence in a few passes, one change per batch row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnviz.models.protocol import Model
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import likeliest_ids
from attnviz.transformer.probe import Kind

HeadPlace = tuple[Kind, int, int]  # kind, layer and head
_MOST_BYTES = 12_000_000  # maximum bytes of logits at a time
_MOST_COPIES, _MOST_TOKENS = 104, 4_000  # limits of one pass; hidden states take memory too
Tell = Callable[[int, int], None]  # (finished runs, all runs)


def untold(done: int, total: int) -> None:
    """Ignore the progress of a run. Functions call this if their caller passes no `tell`."""


def head_places(model: Model) -> tuple[HeadPlace, ...]:
    """Return kind, layer and number of every head of a model, kind by kind, encoder first."""
    return tuple(
        (kind, layer, head)
        for kind, (layers, heads) in model.shapes.items()
        for layer in range(layers)
        for head in range(heads)
    )


def rows_of_edits(model: Model, trace: Trace, changes: Iterable[Intervention]) -> Edits:
    """Return the edits for a batch in which each row runs the sentence with one of the changes.

    The trace's own interventions apply to every row.
    """
    sentences, before = trace.sentences[:1], tuple(trace.interventions)
    rows: list = []
    for change in changes:
        resolved = CheckedInterventions.check((*before, change), model.shapes, model.model_id).resolve(sentences)
        assert resolved.edits is not None  # `change` always gives edits
        rows += resolved.edits.rows
    return Edits(tuple(rows))


@torch.inference_mode()
def measure_runs(
    model: Model, trace: Trace, edits: Edits, measure: Callable[[Tensor], Tensor], *, rows: Sequence[int] | None = None,
    tell: Tell = untold,
) -> Tensor:  # fmt: skip
    """Apply `measure` to the logits `(copies, rows, vocab_size)` of each changed run, and concatenate the results.

    `rows` selects rows of the target, by default all. Runs are batched up to a memory limit. `tell` is called before
    the first of several batches and after each.
    """
    each = 4 * _logits(trace).shape[-1] * (_logits(trace).shape[1] if rows is None else len(rows))
    count = max(1, min(copies_at_once(trace), _MOST_BYTES // each))

    def run(part: Edits) -> Tensor:
        return measure(model.logits_under(trace, part, rows=rows).float())

    return run_in_batches(run, edits, count, tell)


def copies_at_once(trace: Trace) -> int:
    """Return how many copies of the first sentence of a trace run in one pass."""
    sentence = trace.sentences[0]
    return max(1, min(_MOST_COPIES, _MOST_TOKENS // (len(sentence.src) + len(sentence.tgt))))


def run_in_batches(run: Callable[[Edits], Tensor], edits: Edits, count: int, tell: Tell = untold) -> Tensor:
    """Call `run` with at most `count` rows of the edits at a time, and concatenate its results.

    `tell` is called before the first of several batches and after each.
    """
    found = []
    if count < len(edits.rows):
        tell(0, len(edits.rows))
    for first in range(0, len(edits.rows), count):
        found.append(run(Edits(edits.rows[first : first + count])))
        tell(min(first + count, len(edits.rows)), len(edits.rows))
    return torch.cat(found)


@torch.inference_mode()
def write_runs(model: Model, trace: Trace, edits: Edits, *, tell: Tell = untold) -> list[tuple[int, ...]]:
    """Write by greedy decoding in each changed run; return the ids, including `<eos>` if it was reached.

    `tell` is called before each step with the number of finished steps and their maximum.
    """
    sentence = trace.sentences[0]
    limit = min(2 * len(sentence.src) + 20, max(2 * len(sentence.tgt), 24))
    copies = _copies(trace, len(edits.rows))
    writer = model.generator(copies, edits, limit=limit)
    stepper, rows, fed = writer.stepper, list(range(len(edits.rows))), writer.prompt_ids
    ids: list[list[int]] = [[] for _ in rows]
    at = 0
    most = int(min(limit, writer.max_new_tokens))
    while rows and at < most:
        tell(at, most)
        start = 0 if at == 0 else at + writer.prompt_ids.shape[1] - 1
        fed = likeliest_ids(writer.vocabulary.forbid(stepper.step(fed, probe=edits.start_at(start)))).unsqueeze(1)
        chosen, at = fed[:, 0].tolist(), at + 1
        for row, id_ in zip(rows, chosen, strict=True):
            ids[row].append(id_)
        going = [place for place, id_ in enumerate(chosen) if id_ not in writer.vocabulary.ends]
        if going and len(going) < len(rows):
            kept = torch.tensor(going, device=fed.device)
            fed = fed[kept]
            stepper.select_rows(kept)
            edits = edits.select_rows(kept)
        rows = [rows[place] for place in going]
    return [tuple(row) for row in ids]


def _copies(trace: Trace, count: int) -> Trace:
    return replace(trace, sentences=trace.sentences[:1] * count, interventions=())


def _logits(trace: Trace) -> Tensor:
    if trace.logits is None:
        raise ValueError("This trace was recorded without logits, so there are no probabilities to compare.")
    return trace.logits
