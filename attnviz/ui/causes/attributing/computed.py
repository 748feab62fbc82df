"""What the Attribute tab computes, once for all who ask the same."""

from collections.abc import Mapping
from typing import Any

from attnviz.analysis.causes.attribution import LogitOf
from attnviz.analysis.causes.lens import LogitLens, encoder_lens, logit_lens
from attnviz.analysis.causes.parts.drops import drops
from attnviz.analysis.causes.parts.explained import SplitModel
from attnviz.analysis.causes.runs import HeadPlace
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.causes.once import once

_splits: BoundedCache[Any, SplitModel] = BoundedCache(most=4)  # of a large model some hundred megabytes
_LONG = 48  # tokens: of a longer text a lens tells fewer candidates
_MANY, _FEW = 5, 2


def split(model: Model, trace: Trace) -> SplitModel:
    """How this run's logits are taken apart. Raises ValueError for a model whose logits are no such sum."""
    return once(("split",), (trace,), lambda: SplitModel.of(model, trace), results=_splits)


def fallen(model: Model, trace: Trace, asked: LogitOf) -> Mapping[HeadPlace, float]:
    """What the logit loses without each head."""
    return once(("drops", asked), (trace,), lambda: drops(model, trace, asked))


def lenses(model: Model, trace: Trace, weight: Any, asked: LogitOf) -> tuple[LogitLens, LogitLens | None]:
    """Of the stack that puts tokens out, and of an encoder beside a decoder."""

    def made() -> tuple[LogitLens, LogitLens | None]:
        sentence = trace.sentences[0]
        count = _MANY if max(len(sentence.src), len(sentence.tgt)) <= _LONG else _FEW
        beside = encoder_lens(model, trace, weight, count=count) if "cross" in model.kinds else None
        return logit_lens(model, trace, count=count, wanted={asked.row: asked.id}), beside

    return once(("lens", asked.row, asked.id), (trace,), made)
