"""The head in focus: the state of that choice, and the heads of a trace to choose from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnviz.kit.fields import PageState, choice, or_mean

if TYPE_CHECKING:
    from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class SiteBounds:
    """The attention kinds of a trace, with the number of layers and heads of each."""

    shapes: Mapping[str, tuple[int, int]]

    @classmethod
    def from_trace(cls, trace: Any) -> "SiteBounds":
        """Return the bounds of a trace."""
        return cls({kind: trace.shape(kind) for kind in trace.kinds})

    def by_field(self) -> dict[str, Any]:
        """Return the bounds of the fields kind, layer and head."""
        return {
            "kind": tuple(self.shapes),
            "layer": lambda found: self.shapes[found["kind"]][0],
            "head": lambda found: self.shapes[found["kind"]][1],
        }


@dataclass(frozen=True)
class FocusState(PageState):
    """The head in focus: `layer` and `head` are numbers or "mean"."""

    kind: "Kind" = choice("cross")
    layer: int | str = or_mean(of="layer")
    head: int | str = or_mean(of="head")

    def site_in(self, trace: Any) -> tuple[Any, int, int]:
        """Return kind, layer and head that exist in `trace`: the first one for a missing one and for "mean"."""
        kind = known_kind(self.kind, trace)
        chosen = zip((self.layer, self.head), trace.shape(kind), strict=True)
        layer, head = (at if isinstance(at, int) and at < count else 0 for at, count in chosen)
        return kind, layer, head


def known_kind(kind: str, trace: Any) -> Any:
    """Return `kind` if the trace has it, otherwise the trace's first kind."""
    return kind if kind in trace.kinds else trace.kinds[0]


def open_head(view: Mapping[str, Any], texts: dict[str, str]) -> dict[str, str]:
    """Return the address parameters that open the clicked head in the tab Heads.

    Without a click, the head under the pointer is dropped.
    """
    if view.get("open"):
        return texts | {"tab": "heads"}
    return {name: text for name, text in texts.items() if name not in ("layer", "head")}


def is_of_other_sentence(view: Mapping[str, Any], texts: Mapping[str, str]) -> bool:
    """Return whether the rows of a reported view belong to another sentence than those in the address."""
    kinds = view.get("kind"), texts.get("kind")
    return "encoder_self" in kinds and kinds[0] != kinds[1]
