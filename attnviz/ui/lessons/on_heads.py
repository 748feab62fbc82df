"""What an open lesson does to the Heads page: what of its numbers is kept back, and what is marked on its map."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.analysis.heads.metric_table import METRICS, Columns
from attnviz.maps.cover import Cover, CoveredMaps
from attnviz.maps.maps import Maps
from attnviz.ui.heads.state import HeadsState
from attnviz.ui.lessons import cover, marks
from attnviz.ui.lessons.opened import is_open, opened
from attnviz.widgets.wire import Payload


@dataclass(frozen=True)
class OnHeads:
    """`cover` is what is kept back, `asked` what the widget is told of the question, `marks` of the view."""

    cover: Cover | None = None
    asked: Mapping[str, Any] | None = None
    marks: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def now(cls, view: HeadsState) -> "OnHeads":
        """That of this visitor's lesson, if one is open."""
        if not is_open():
            return cls()
        now, asked = opened(), marks.on_map(view)
        is_asking = now is not None and now.question is not None and asked is not None and "most" in asked
        cells = marks.marked(now, now.question) if is_asking and now and now.question else None
        return cls(cover.cover(), asked, {} if cells is None else {"marks": cells})

    def covered(self, maps: "dict[str, Maps]", metrics: Columns) -> "tuple[dict[str, Maps], Columns]":
        """The maps without what is covered, and the metrics without those of covered heads."""
        if self.cover is None or self.cover.kind not in maps:
            return maps, metrics
        under = CoveredMaps.of(maps[self.cover.kind], self.cover)
        heads = [pair in under.heads() for pair in zip(metrics["layer"], metrics["head"], strict=True)]
        hidden = (metrics["kind"] == under.kind) & np.array(heads)
        blank = {name: np.where(hidden, np.nan, metrics[name]) for name in METRICS}
        return maps | {self.cover.kind: under}, metrics | blank

    def on(self, payload: Payload) -> Payload:
        """The payload with what is asked; the same picture with another question has another id."""
        if self.asked is None:
            return payload
        told = json.dumps([payload.header["id"], self.asked])
        name = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return payload._replace(header={**payload.header, "id": name, "lesson": dict(self.asked)})
