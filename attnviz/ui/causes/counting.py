"""What is switched off, counted over many sentences: one sentence tells a story that many may refute."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnviz.analysis.causes.comparing import findings
from attnviz.analysis.causes.usual.means import reference_lines
from attnviz.analysis.corpus.counted import ChangeCount, Untouched, counted, untouched
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.corpus.stoppable import Stoppable
from attnviz.ui.cache import threads
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.causes import progress

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.causes.intervention import Intervention

_FEW = 40  # sentences, where the model has to write each target before it is scored
_SENTENCE = 60  # characters: how long they are
_untouched: BoundedCache[tuple[str, str], Untouched] = BoundedCache(most=6)  # about a megabyte each
_counts: BoundedCache[tuple, ChangeCount] = BoundedCache(most=512)


def sentences_for(loaded: "Model", to: str) -> tuple[CorpusLine, ...]:
    """The sentences that come along, as many as are counted with this model."""
    lines = reference_lines(loaded, to)
    is_given = all(line.target for line in lines) or not loaded.inputs.takes_target
    return lines if is_given else lines[:_FEW]


def said_of_many(loaded: "Model", to: str, done: "Sequence[Intervention]") -> tuple[str, ...]:
    """What interventions do over those sentences, in words, or why it cannot be counted; empty where somebody
    stopped it.
    """
    asked = (loaded.model_id, to, tuple(each.digest for each in done))

    def run(tell: progress.Tell) -> tuple[str, ...]:
        stop = Stoppable(tell)
        try:
            return findings.of_many(_counts.get(asked, read=lambda *_: _counted(loaded, to, done, stop)))
        except ValueError as why:
            return (f"This cannot be counted. {why}",)

    return progress.stoppable("count", asked, "Counting over many sentences", run) or ()


def _counted(loaded: "Model", to: str, done: "Sequence[Intervention]", stop: Stoppable) -> ChangeCount:
    with threads.enough_for(_SENTENCE):
        before = _untouched.get(
            (loaded.model_id, to), read=lambda *_: untouched(loaded, sentences_for(loaded, to), to=to, stop=stop)
        )
        return counted(loaded, before, done, stop=stop)
