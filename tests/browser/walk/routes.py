"""Where a visitor goes: every control alone, or at random. What follows a reload, and Back, is compared."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.browser.walk.acts import Act, control_key, kin, presses, ways
from tests.browser.walk.lists import Lists
from tests.browser.walk.visitor import Visitor

FRAME = ("top-bar", "sidebar")
EVERYWHERE = (*FRAME, "plotly", "table", "help")
# What these open, or a key, lies over the page until it is left: they have tests of their own.
OVER = ("Model drawing", "Ask the room")
SHEETS = ("drawing-sheet",)
SWITCHES = ("tab", "radio")  # what they open has controls of its own: these come last


@dataclass
class Alone:
    """Every control of some pages, one after the other. `most` of those that differ in a number or in data only, and of
    a list's options where not `each` is wanted; after every `compared` acts a reload.

    The frame's controls and Streamlit's own tools, which are the same everywhere, are used on pages of `framed`.
    """

    visitor: Visitor
    addresses: tuple[str, ...]
    framed: tuple[str, ...]
    texts: tuple[str, ...]
    most: int = 2
    compared: int = 7
    each: bool = True
    done: set[Act] = field(default_factory=set)
    counts: Counter[Any] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.lists = Lists(self.visitor)

    def __iter__(self) -> Iterator[Act]:
        for address in self.addresses:
            yield from self._page(address)

    def _page(self, address: str) -> Iterator[Act]:
        yield Act("open", value=address)
        seen, since = _Seen(), 0
        while True:
            here = self._possible(address)
            seen.add(here)
            if since == self.compared and not any(its.is_over for its in here.values()):
                since = 0
                yield Act("reload")
                continue
            act = seen.next(here) or seen.way_to(self.counts, self._reachable())
            if act is None and seen.begins_anew(self.counts):
                yield Act("open", value=address)
                continue
            if act is None:
                break
            self.done.add(act)
            if self.lists.is_outdated(act):
                continue
            self.counts[seen.kin[act].family] += 1
            yield from self._act_and_return(act, address)
            seen.last = act
            since = min(since + 1, self.compared)
        yield Act("reload")

    def _act_and_return(self, act: Act, address: str) -> Iterator[Act]:
        """Do an act; go back after one that leaves the page or changes the sentence in the bar."""
        here = self.visitor.page.url
        if _turn(act) > 1:
            self.visitor.leave()
        yield act
        if self.visitor.is_lost:
            yield Act("open", value=address)
        elif _turn(act) > 1 and self.visitor.page.url != here:
            yield Act("back")
        if urlsplit(self.visitor.page.url).path != urlsplit(address).path:
            yield Act("open", value=address)

    def _possible(self, address: str) -> dict[Act, "_Kin"]:
        """Return the acts that are possible here and were not done yet."""
        found: dict[Act, _Kin] = {}
        controls = self._controls(address)
        opened = [self.lists.read(control) for control in controls if control["role"] == "combobox"]
        if any(opened):
            controls = self._controls(address)  # a list that is opened closes what was open
        for control in controls:
            if control["role"] == "combobox":
                control["options"] = self.lists.options(control)
            for act in ways(control, self.texts):
                is_option = self.each and act.do in ("choose", "pick")
                family = (*kin(control), act.do, _option_family(act.value) if is_option else "")
                found[act] = _Kin(family, control["over"])
        for place, said in self.visitor.shortcuts():
            for act in presses(place, said):
                found[act] = _Kin((place, act.value))
        return {act: its for act, its in found.items() if act not in self.done and self.counts[its.family] < self.most}

    def _controls(self, address: str) -> list[dict[str, Any]]:
        """Return the controls to walk over: the frame's on one page only, and none that lies over the page."""
        is_framed = urlsplit(address).path in self.framed
        return [
            control
            for control in self.visitor.controls()
            if not control["name"].endswith(OVER)  # an icon has a name too, before it
            and not control["place"].startswith(SHEETS)
            and (is_framed or not control["place"].startswith(EVERYWHERE))
        ]

    def _reachable(self) -> set[tuple]:
        return {control_key(control) for control in self.visitor.controls()}


@dataclass(frozen=True)
class _Kin:
    """To what family an act belongs, and whether it is done in a list or note that lies over the page."""

    family: tuple
    is_over: bool = False


@dataclass
class _Seen:
    """What was possible on a page at any time: `by` which act each family came to be seen."""

    last: Act | None = None
    kin: dict[Act, _Kin] = field(default_factory=dict)
    by: dict[tuple, Act | None] = field(default_factory=dict)
    is_anew: bool = False

    def add(self, here: dict[Act, _Kin]) -> None:
        self.kin |= here
        for its in here.values():
            self.by.setdefault(its.family, self.last)

    def next(self, here: dict[Act, _Kin]) -> Act | None:
        """Choose the act whose control came last: it may be gone after the next act."""
        order = {family: place for place, family in enumerate(self.by)}

        def turn(act: Act) -> tuple[bool, int, int]:
            late = _turn(act)
            return not here[act].is_over, late, late or -order[here[act].family]

        return min(here, key=turn, default=None)

    def way_to(self, counts: Counter[Any], reachable: set[tuple]) -> Act | None:
        """Find an act to repeat, such as opening a menu, that shows a control which was never used."""
        for family, act in reversed(self.by.items()):
            tried = set[Act]()
            while act is not None and act not in tried and not counts[family]:
                if act.control in reachable:
                    self.by[family] = None  # once
                    return act
                tried.add(act)
                act = self.by.get(self.kin[act].family)
        return None

    def begins_anew(self, counts: Counter[Any]) -> bool:
        """Whether something is left that the page as it is has no way to: once, it is opened again."""
        is_wanted = not self.is_anew and any(act and not counts[family] for family, act in self.by.items())
        self.is_anew |= is_wanted
        return is_wanted


def _option_family(option: str) -> str:
    """Name the family of an option: those with numbers in them, such as tokens and how likely they are, are one."""
    return "#" if re.search(r"\d", option) else option


def _is_frames(act: Act) -> bool:
    return str(dict(act.control).get("place", "")).startswith(FRAME)


def _turn(act: Act) -> int:
    """Rank an act: the page's own controls first, then tabs, then the frame's controls, then links to other pages."""
    told = dict(act.control)
    if told.get("role") == "link":
        return 3
    return 2 if _is_frames(act) else 1 if told.get("role") in SWITCHES else 0


def walk_at_random(
    visitor: Visitor, *, dice: random.Random, steps: int, texts: tuple[str, ...], start: str
) -> Iterator[Act]:
    """Walk over all pages at random: controls of the page, typing, other pages, Back, Forward, reload."""
    yield Act("open", value=start)
    for _ in range(steps):
        if visitor.is_lost:
            yield Act("open", value=start)
        act = _throw(visitor, dice, texts)
        if act.do != "back" or visitor.page.evaluate("navigation.canGoBack"):  # before the first page there is none
            yield act
    yield Act("reload")


def _throw(visitor: Visitor, dice: random.Random, texts: tuple[str, ...]) -> Act:
    found = visitor.controls()
    groups = {
        "page": [control for control in found if not control["place"].startswith(FRAME)],
        "bar": [control for control in found if control["place"].startswith("top-bar")],
        "menu": [control for control in found if control["place"].startswith("sidebar")],
    }
    kind = dice.choices(("page", "bar", "menu", "keys", "back", "forward", "reload"), (46, 17, 9, 10, 8, 3, 7))[0]
    if kind in ("back", "forward", "reload"):
        return Act(kind)
    if kind == "keys" and (listed := visitor.shortcuts()):
        return dice.choice([act for place, said in listed for act in presses(place, said)])
    control = dice.choice(_families(groups.get(kind) or found, dice))
    if control["role"] == "combobox":
        control["options"] = range(6)
    return dice.choice(list(ways(control, texts)))


def _families(controls: list[dict[str, Any]], dice: random.Random) -> list[dict[str, Any]]:
    """Choose one control of each family: forty heads are no likelier than one switch."""
    found: dict[tuple, list[dict[str, Any]]] = {}
    for control in controls:
        found.setdefault(kin(control), []).append(control)
    return [dice.choice(members) for members in found.values()]
