"""Run a corpus under interventions: score its targets, and let the model write its own."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.reading import ReadCorpus, log_probabilities
from attnviz.analysis.rerun import write_again
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention

Done = Sequence[Intervention]


def log_probabilities_under(model: Model, corpus: ReadCorpus, done: Done, *, stop: Cancellable = TO_THE_END) -> Tensor:
    """Return each target's summed log-probability in nats under interventions, `(sentences,)`, float64.

    Sentences that were not reached are NaN. Every sentence needs a target.
    """
    found = torch.full((len(corpus.sentences),), torch.nan, dtype=torch.double)
    for batch in stop.iterate(corpus.batches(model), corpus.batch_count()):
        logits = model.rerun(replace(batch.trace, interventions=tuple(done))).logits
        assert logits is not None  # every sentence has a target
        found[list(batch.items)] = log_probabilities(corpus, batch, logits).cpu()
    return found


def written_under(model: Model, corpus: ReadCorpus, done: Done, *, stop: Cancellable = TO_THE_END) -> list[str]:
    """Write a target for each source by greedy decoding under interventions; "" for sentences that were not reached."""
    texts, count = [""] * len(corpus.sentences), corpus.batch_count()
    for number, batch in enumerate(stop.iterate(corpus.batches(model), count)):
        changed = replace(batch.trace, interventions=tuple(done))
        again = write_again(model, changed, None, work=stop.inside_step(number, count))
        for item, written in zip(batch.items, again, strict=True):
            texts[item] = written.text
    return texts
