"""Controls that work in a folder without Python: Python draws an HTML fragment for each value of the control."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attnviz.hosts.html.one_file import deflate
from attnviz.kit.views.terms import without_terms

MOST_VALUES = 32
MOST_BYTES = 100_000  # of a control's fragments, deflated


@dataclass(frozen=True)
class Variants:
    """A control of a tab: its name in links, its label in the app, its values as texts, and an HTML fragment for each.

    `at` is the index of the value in the link. `offered` is the number of values that the app offers; those farthest
    from the link's value may be left out here. A slider is for positions, a list for values without an order.
    """

    name: str
    label: str
    values: tuple[str, ...]
    fragments: tuple[str, ...]
    at: int
    offered: int
    is_list: bool = False


Part = str | Variants  # HTML that no control of the tab changes, or what one draws


def variants(
    name: str,
    label: str,
    values: Sequence[str],
    at: int,
    draw: Callable[[int], str],
    *,
    is_list: bool = False,
    most: int = MOST_VALUES,
) -> Variants:
    """Draw a fragment for each value. If they are too many or too large, only those nearest to `at` are kept.

    Raises ValueError for a value that cannot be drawn.
    """
    kept = nearest(len(values), at, most)
    drawn = {value: without_terms(draw(value)) for value in kept}
    while len(kept) > 1 and _size([drawn[value] for value in kept]) > MOST_BYTES:
        kept = nearest(len(values), at, len(kept) * 3 // 4)
    return Variants(
        name,
        label,
        values=tuple(values[value] for value in kept),
        fragments=tuple(drawn[value] for value in kept),
        at=at - kept.start,
        offered=len(values),
        is_list=is_list,
    )


def nearest(count: int, at: int, most: int) -> range:
    """Return a range of at most `most` indices below `count`, with `at` in the middle if there are enough around it."""
    first = max(0, min(at - most // 2, count - most))
    return range(first, min(count, first + max(1, most)))


def _size(fragments: Sequence[str]) -> int:
    return len(deflate(json.dumps(fragments).encode()))
