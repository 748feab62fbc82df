"""The head that a picture looks at: the state of that choice, and what a trace has to choose from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnviz.kit.fields import PageState, choice, or_mean

if TYPE_CHECKING:
    from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class SiteBounds:
    """Kinds, and layers and heads of each, that a trace has to choose from."""

    shapes: Mapping[str, tuple[int, int]]

    @classmethod
    def from_trace(cls, trace: Any) -> "SiteBounds":
        """Return the bounds of a trace."""
        return cls({kind: trace.shape(kind) for kind in trace.kinds})

    def by_field(self) -> dict[str, Any]:
        """Return the bounds of fields called kind, layer and head."""
        return {
            "kind": tuple(self.shapes),
            "layer": lambda found: self.shapes[found["kind"]][0],
            "head": lambda found: self.shapes[found["kind"]][1],
        }


@dataclass(frozen=True)
class FocusState(PageState):
    """The head that is looked at: `layer` and `head` are numbers or "mean"."""

    kind: "Kind" = choice("cross")
    layer: int | str = or_mean(of="layer")
    head: int | str = or_mean(of="head")

    def site_in(self, trace: Any) -> tuple[Any, int, int]:
        """Return kind, layer and head as `trace` has them: the first for one that it has not, and for a mean."""
        kind = known_kind(self.kind, trace)
        chosen = zip((self.layer, self.head), trace.shape(kind), strict=True)
        layer, head = (at if isinstance(at, int) and at < count else 0 for at, count in chosen)
        return kind, layer, head


def known_kind(kind: str, trace: Any) -> Any:
    """Return a kind of attention that the trace has: `kind`, or its first."""
    return kind if kind in trace.kinds else trace.kinds[0]


def open_head(view: Mapping[str, Any], texts: dict[str, str]) -> dict[str, str]:
    """Return the texts that open the clicked head on the tab Heads; without a click the pointer's head is no choice."""
    if view.get("open"):
        return texts | {"tab": "heads"}
    return {name: text for name, text in texts.items() if name not in ("layer", "head")}


def is_of_other_sentence(view: Mapping[str, Any], texts: Mapping[str, str]) -> bool:
    """Check whether a reported view is of a kind whose rows are another sentence's than those of the address."""
    kinds = view.get("kind"), texts.get("kind")
    return "encoder_self" in kinds and kinds[0] != kinds[1]
