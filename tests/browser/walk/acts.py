"""What can be done with a control that was found in the page, and how it is done."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import ElementHandle, Page
from playwright.sync_api import Error as PlaywrightError

from tests.browser.walk import pointer

PRESS = 4_000  # milliseconds that a control has to be within reach
MOST_OVER = 3  # things that lie over each other: numbers, the help, a menu
CLEARS = 400  # that a list or a note has to go away
GONE = "not attached to the DOM"
STRANGE = "naïve \u200b🙂 <b>x</b> $y$"
LONG = " ".join(f"word{i}" for i in range(90))
POINTS = ((0.31, 0.37), (0.62, 0.71))
_NAMED = {"←": "ArrowLeft", "→": "ArrowRight", "↑": "ArrowUp", "↓": "ArrowDown", "Esc": "Escape", "space": "Space",
          "Space": "Space", "Enter": "Enter", "−": "-", "+": "+"}  # fmt: skip
_SCROLL = "(node) => walkControls.handle(node).scrollIntoView({ block: 'nearest', inline: 'nearest' })"
_IS_COVERED = "(node) => walkControls.isCovered(node)"
_BY_POINTER = ("drag", "double click", "wheel")


@dataclass(frozen=True)
class Act:
    """One thing that a visitor does: `do` is the verb, `control` what it is done with, `value` how."""

    do: str
    control: tuple[tuple[str, Any], ...] = ()
    value: Any = None

    def __str__(self) -> str:
        told = dict(self.control)
        where = f" {told['place']} › {told['role']} “{told['name']}”" if told else ""
        return f"{self.do}{where}{'' if self.value is None else f' {self.value!r}'}"

    def to_json(self) -> str:
        """As a line of a script."""
        return json.dumps([self.do, dict(self.control), self.value], ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> "Act":
        """From a line of a script."""
        do, control, value = json.loads(line)
        return cls(do, control_key(control), _to_tuples(value))


def _to_tuples(value: Any) -> Any:
    return tuple(map(_to_tuples, value)) if isinstance(value, list) else value


def control_key(control: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the properties that tell a control from the others on its page."""
    return tuple((name, control[name]) for name in ("place", "role", "name", "nth") if name in control)


def kin(control: dict[str, Any]) -> tuple[str, str, str]:
    """Name the family of a control: heads, rows and maps that differ only in numbers or in their data share one."""
    return control["place"], control["role"], control.get("like") or strip_numbers(control["name"])


def strip_numbers(name: str) -> str:
    """Cut a name at its first number."""
    start, *numbered = re.split(r"\d", name, maxsplit=1)
    return f"{start}#" if numbered else start


def ways(control: dict[str, Any], texts: tuple[str, ...]) -> Iterator[Act]:
    """List every act on a control; `texts` are the texts to type."""
    me, role = control_key(control), control["role"]
    if role in ("select", "combobox"):
        last = control.get("value")  # which is chosen already
        options = sorted(control["options"], key=lambda option: option == last)
        yield from (Act("choose" if role == "select" else "pick", me, option) for option in options)
    elif role in ("text", "textarea", "search"):
        yield from (Act("type", me, text) for text in texts)
    elif role in ("number", "spinbutton"):
        yield from (Act("type", me, text) for text in ("1", "-3", "99999", "0.5"))
    elif role in ("range", "slider"):
        yield from (Act("slide", me, key) for key in ("Home", "ArrowRight", "End"))
    elif role == "file":
        yield from (Act("hand in", me, file) for file in ("weights.npz", "nonsense.npz"))
    elif role in ("img", "canvas", "application", "rect"):
        yield from (Act(how, me, point) for point in POINTS for how in ("point", "double"))
        yield from (Act("drag", me, POINTS), Act("wheel", me, POINTS[0]))
    else:
        yield Act("click", me)


def presses(place: str, said: list[str]) -> Iterator[Act]:
    """Read the keys of a component's help, as it writes them: "Shift ↑ ↓", "j k", "Esc"."""
    for text in said:
        if text in _BY_POINTER or len(text) > 16:
            continue
        shift = "Shift" in text
        names = text.replace("Shift +", "").replace("Shift", "").replace("arrows", "← ↑ ↓ →").split()
        for name in names:
            key = _NAMED.get(name, name)
            yield Act("press", (("place", place), ("role", "keys"), ("name", text)), f"Shift+{key}" if shift else key)
    yield Act("press", (("place", place), ("role", "keys"), ("name", "?")), "?")


def do(page: Page, act: Act, files: dict[str, str]) -> None:
    """Carry the act out. Raises PlaywrightError or LookupError with the obstacle."""
    page.evaluate("walkPage.act()")
    if act.do in _PLAIN:
        _PLAIN[act.do](page, act.value)
    elif act.do == "press":
        _press(page, dict(act.control)["place"], act.value)
    else:
        _use(page, act, files.get(act.value, act.value))
    with suppress(PlaywrightError):  # where it leads to another page
        page.evaluate("window.walkPage?.act()")


def _use(page: Page, act: Act, value: Any) -> None:
    """Use the control; once more where the page draws another one in its place meanwhile, as a hand would meet it."""
    try:
        _DONE[act.do](page, _uncover(page, dict(act.control)), value)
    except PlaywrightError as error:
        if GONE not in str(error):
            raise
        _DONE[act.do](page, _uncover(page, dict(act.control)), value)


def _uncover(page: Page, wanted: dict[str, Any]) -> ElementHandle:
    """Return the control, with nothing lying over it."""
    found = page.evaluate_handle("(wanted) => walkControls.get(wanted)", wanted).as_element()
    if not found:
        raise LookupError("it is not on the page any more")
    page.evaluate(_SCROLL, found)
    if page.evaluate(_IS_COVERED, found):
        page.mouse.click(4, page.viewport_size["height"] - 4)
        with suppress(PlaywrightError):
            page.wait_for_function(f"(node) => !({_IS_COVERED})(node)", arg=found, timeout=CLEARS)
    return found


def uncovers(page: Page, act: Act) -> bool:
    """Press Escape where a list or a note lies over what the act is done with, or would not come back after a reload;
    whether there was one.
    """
    is_covered = bool(page.evaluate("walkControls.overlays()")) if act.do == "reload" else _is_covered(page, act)
    for _ in range(MOST_OVER if is_covered else 0):
        page.evaluate("walkPage.act(), walkControls.focusOverlay()")
        page.keyboard.press("Escape")
        if not page.evaluate("walkControls.overlays()"):
            break
    return is_covered


def _is_covered(page: Page, act: Act) -> bool:
    wanted = dict(act.control)
    found = page.evaluate_handle("(wanted) => walkControls.get(wanted)", wanted).as_element() if act.control else None
    if not found:
        return False
    page.evaluate(_SCROLL, found)
    return bool(page.evaluate(f"(node) => !walkControls.isOver(node) && ({_IS_COVERED})(node)", found))


def _handle(page: Page, node: ElementHandle) -> ElementHandle:
    handle = page.evaluate_handle("(node) => walkControls.handle(node)", node).as_element()
    assert handle is not None, "what was found is still there"
    return handle


def _click(page: Page, node: ElementHandle, value: Any) -> None:
    handle = _handle(page, node)
    page.mouse.move(*pointer.spot(handle, (0.5, 0.5)))  # tools that a table shows under the pointer only
    handle.click(timeout=PRESS)


def _pick(page: Page, node: ElementHandle, wanted: str | int) -> None:
    options = open_list(page, node)
    texts = options.all_inner_texts()
    at = texts.index(wanted) if wanted in texts else int(wanted) % len(texts) if isinstance(wanted, int) else None
    if at is None:
        raise LookupError(f"the list has no {wanted!r}, only {texts}")
    options.nth(at).click(timeout=PRESS)


def open_list(page: Page, node: ElementHandle):
    """Return the options of one of Streamlit's lists, which it shows while it is open and nothing is scrolled."""
    node.scroll_into_view_if_needed(timeout=PRESS)
    node.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    node.click(timeout=PRESS)
    dropdown = "is([data-testid=stSelectboxVirtualDropdown], [data-testid=stMultiSelectDropdown])"
    options = page.locator(f":{dropdown} [role=option]")
    options.first.wait_for(timeout=PRESS)
    return options


def _type(page: Page, node: ElementHandle, text: str) -> None:
    node.click(timeout=PRESS)
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)
    page.keyboard.press("Enter")


def _slide(page: Page, node: ElementHandle, key: str) -> None:
    node.focus()
    page.keyboard.press(key)


def _press(page: Page, place: str, key: str) -> None:
    target = page.evaluate_handle("(place) => walkControls.keyTarget(place)", place).as_element()
    if not target:
        raise LookupError("the component is not on the page any more")
    target.focus()
    page.keyboard.press(key)


def _go(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")


_PLAIN = {
    "open": _go,
    "back": lambda page, _: page.go_back(wait_until="commit"),
    "forward": lambda page, _: page.go_forward(wait_until="commit"),
    "reload": lambda page, _: page.reload(wait_until="commit"),
}
_DONE = {
    "click": _click,
    "choose": lambda page, node, value: node.select_option(value, timeout=PRESS),
    "pick": _pick,
    "type": _type,
    "slide": _slide,
    "hand in": lambda page, node, file: node.set_input_files(file),
    "point": pointer.point,
    "double": pointer.double,
    "drag": pointer.drag,
    "wheel": pointer.wheel,
}
FAILED = (PlaywrightError, LookupError)
