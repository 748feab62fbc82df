"""Hide a part of the Heads picture while a question about it is open, and mark the answers on its map."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.analysis.metric_table import METRICS, Columns
from attnviz.kit.wire import Payload
from attnviz.maps.cover import Cover, CoveredMaps
from attnviz.maps.maps import Maps


@dataclass(frozen=True)
class Covering:
    """What to hide in a picture.

    `cover` is the hidden part; `asked` is sent to the widget with the question, and `marks` with its view. By default
    nothing is hidden.
    """

    cover: Cover | None = None
    asked: Mapping[str, Any] | None = None
    marks: Mapping[str, Any] = field(default_factory=dict)

    def cover_maps(self, maps: dict[str, Maps], metrics: Columns) -> tuple[dict[str, Maps], Columns]:
        """Remove the hidden values from the maps, and the hidden heads' values from the metrics."""
        if self.cover is None or self.cover.kind not in maps:
            return maps, metrics
        under = CoveredMaps.cover_rows(maps[self.cover.kind], self.cover)
        heads = [pair in under.heads() for pair in zip(metrics["layer"], metrics["head"], strict=True)]
        hidden = (metrics["kind"] == under.kind) & np.array(heads)
        blank = {name: np.where(hidden, np.nan, metrics[name]) for name in METRICS}
        return maps | {self.cover.kind: under}, metrics | blank

    def add_question(self, payload: Payload) -> Payload:
        """Add the question to a payload. The id changes with the question."""
        if self.asked is None:
            return payload
        return payload.adding(lesson=dict(self.asked))


NOTHING = Covering()
