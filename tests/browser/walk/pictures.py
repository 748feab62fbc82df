"""Two pictures of a page, as shown.js tells them: in what they differ."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

MOST = 5


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Describe each kind of difference in a sentence."""
    found = [
        *(_text_difference(name, before[name], after[name]) for name in ("path", "title")),
        _fields(before["fields"], after["fields"]),
        *(_list_difference(name, before[name], after[name]) for name in ("lines", "views", "plots")),
    ]
    said = [sentence for sentence in found if sentence]
    return said or [sentence for sentence in [_pixel_difference(before["drawn"], after["drawn"])] if sentence]


def _text_difference(name: str, before: str, after: str) -> str:
    return "" if before == after else f"the {name} is {after!r}, no longer {before!r}"


def _fields(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    changed = [
        f"{name}: {before.get(name)!r} → {after.get(name)!r}"
        for name in {**before, **after}
        if before.get(name, "") != after.get(name, "") and None not in (before.get(name, ""), after.get(name, ""))
    ]
    return f"controls differ: {'; '.join(changed[:MOST])}" if changed else ""


def _list_difference(name: str, before: list[str], after: list[str]) -> str:
    gone, new = Counter(before) - Counter(after), Counter(after) - Counter(before)
    if not gone and not new:
        return ""
    return f"{name} differ: {[text[:200] for text in gone][:MOST]} → {[text[:200] for text in new][:MOST]}"


def _pixel_difference(before: list[tuple[str, int]], after: list[tuple[str, int]]) -> str:
    """Pixels are compared where every canvas has the size that it had: notes that come and go move what is below."""
    if [size for size, _ in before] != [size for size, _ in after]:
        return ""
    changed = sum(first != second for first, second in zip(before, after, strict=True))
    return f"{changed} of {len(before)} canvases show other pixels" if changed else ""
