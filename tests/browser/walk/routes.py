"""Where a visitor goes: every control alone, or at random; each act with whether the page is then compared."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.browser.walk.acts import FAILED, Act, kin, named, opened_list, presses, unnumbered, ways
from tests.browser.walk.visitor import Visitor

FRAME = ("top-bar", "sidebar")
SWITCHES = ("tab", "radio")  # what they open has controls of its own: these come last


@dataclass
class Alone:
    """Every control of some pages, one after the other. `most` of those that differ in a number only; every
    `compared`-th act is followed by a reload. The frame's own controls are used on pages of `framed`.
    """

    visitor: Visitor
    addresses: tuple[str, ...]
    framed: tuple[str, ...]
    texts: tuple[str, ...]
    most: int = 2
    compared: int = 7
    done: set[Act] = field(default_factory=set)
    counts: dict[Any, int] = field(default_factory=dict)
    lists: dict[Any, list[str]] = field(default_factory=dict)
    shown_by: dict[Act, Act] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Act, bool]]:
        for address in self.addresses:
            yield from self._page(address)

    def _page(self, address: str) -> Iterator[tuple[Act, bool]]:
        yield Act("open", value=address), False
        last, pending = None, dict[Act, tuple]()
        while True:
            if self._is_away(address) or _is_frames(last):
                yield Act("open", value=address), False
            here = self._possible(address)
            for act in here:
                if act not in pending and last:
                    self.shown_by[act] = last
            pending |= here
            act = self._next(here) or self._hidden(pending, here)
            if act is None:
                return
            self._count(act, pending)
            pending.pop(act, None)
            last = act
            yield act, len(self.done) % self.compared == 0

    def _is_away(self, address: str) -> bool:
        return self.visitor.is_lost or urlsplit(self.visitor.page.url).path != urlsplit(address).path

    def _possible(self, address: str) -> dict[Act, tuple]:
        """What could be done here and was not done yet, with its family."""
        found: dict[Act, tuple] = {}
        for control in self.visitor.controls():
            if control["place"].startswith(FRAME) and urlsplit(address).path not in self.framed:
                continue
            if control["role"] == "combobox":
                control["options"] = self._options(control)
            for act in ways(control, self.texts):
                found[act] = (*kin(control), act.do, unnumbered(act.value) if act.do in ("choose", "pick") else "")
        for place, said in self.visitor.shortcuts():
            for act in presses(place, said):
                found[act] = (place, act.control, act.value)
        return {act: family for act, family in found.items() if self._is_open(act, family)}

    def _is_open(self, act: Act, family: tuple) -> bool:
        return act not in self.done and self.counts.get(family, 0) < self.most

    def _options(self, control: dict[str, Any]) -> list[str]:
        """The options of a list of Streamlit's, which it has on the page only while it is open."""
        key = named(control)
        if key not in self.lists:
            page = self.visitor.page
            try:
                node = page.evaluate_handle("(wanted) => walkControls.get(wanted)", dict(key)).as_element()
                self.lists[key] = opened_list(page, node).all_inner_texts()
            except FAILED:
                return []
            finally:
                page.keyboard.press("Escape")
        return self.lists[key]

    def _next(self, here: dict[Act, tuple]) -> Act | None:
        return min(here, key=_turn, default=None)

    def _hidden(self, pending: dict[Act, tuple], here: dict[Act, tuple]) -> Act | None:
        """What has to be done again for something to be seen that was seen before, such as a menu to be opened."""
        for act, family in list(pending.items()):
            if not self._is_open(act, family):
                del pending[act]
            elif act in self.shown_by:
                return self.shown_by.pop(act)
        return None

    def _count(self, act: Act, pending: dict[Act, tuple]) -> None:
        self.done.add(act)
        if family := pending.get(act):
            self.counts[family] = self.counts.get(family, 0) + 1


def _is_frames(act: Act | None) -> bool:
    return act is not None and str(dict(act.control).get("place", "")).startswith(FRAME)


def _turn(act: Act) -> int:
    """The page's own controls before those that change what is below them, the frame's, and links to other pages."""
    told = dict(act.control)
    if told.get("role") == "link":
        return 3
    return 2 if _is_frames(act) else 1 if told.get("role") in SWITCHES else 0


def at_random(
    visitor: Visitor, *, dice: random.Random, steps: int, texts: tuple[str, ...], start: str
) -> Iterator[tuple[Act, bool]]:
    """A walk over all pages by dice: what is on the page, typing, other pages, Back, Forward, reload."""
    yield Act("open", value=start), False
    for step in range(steps):
        if visitor.is_lost:
            yield Act("open", value=start), False
        act = _thrown(visitor, dice, texts)
        if act.do == "back" and step < 2:
            continue
        yield act, act.do in ("back", "forward", "reload") or dice.random() < 0.15


def _thrown(visitor: Visitor, dice: random.Random, texts: tuple[str, ...]) -> Act:
    found = visitor.controls()
    groups = {
        "page": [control for control in found if not control["place"].startswith(FRAME)],
        "bar": [control for control in found if control["place"].startswith("top-bar")],
        "menu": [control for control in found if control["place"].startswith("sidebar")],
    }
    kind = dice.choices(("page", "bar", "menu", "keys", "back", "forward", "reload"), (48, 17, 9, 10, 8, 3, 5))[0]
    if kind in ("back", "forward", "reload"):
        return Act(kind)
    if kind == "keys" and (listed := visitor.shortcuts()):
        return dice.choice([act for place, said in listed for act in presses(place, said)])
    control = dice.choice(_families(groups.get(kind) or found, dice))
    if control["role"] == "combobox":
        control["options"] = range(6)
    return dice.choice(list(ways(control, texts)))


def _families(controls: list[dict[str, Any]], dice: random.Random) -> list[dict[str, Any]]:
    """One of each family: forty heads are no likelier than one switch."""
    found: dict[tuple, list[dict[str, Any]]] = {}
    for control in controls:
        found.setdefault(kin(control), []).append(control)
    return [dice.choice(members) for members in found.values()]
