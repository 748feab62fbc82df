"""The options of Streamlit's lists, which it has on the page only while a list is open."""

from dataclasses import dataclass, field
from typing import Any

from tests.browser.walk.acts import FAILED, Act, control_key, open_list
from tests.browser.walk.visitor import Visitor


@dataclass(frozen=True)
class _List:
    """The options of a list, read when it showed `value`."""

    value: str = ""
    options: list[str] = field(default_factory=list)


class Lists:
    """The options of each list that a visitor has opened."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self._known: dict[Any, _List] = {}

    def options(self, control: dict[str, Any]) -> list[str]:
        """Return the options of a list as they were read last."""
        return self._known.get(control_key(control), _List()).options

    def read(self, control: dict[str, Any]) -> bool:
        """Read the options of a list; those of another state of the page anew. Whether the list had to be opened."""
        key, value = control_key(control), control["value"]
        known = self._known.get(key)
        if known is not None and (not value or value == known.value or value in known.options):
            return False
        options = self._open(key)
        self._known[key] = _List(value, options or [])
        if options is None:
            self.visitor.fail(f"the list “{control['name']}” of {control['place']} does not open")
        return True

    def is_outdated(self, act: Act) -> bool:
        """Check whether an option is gone from a list that was read before: another choice, such as the step whose
        likely tokens are listed, makes another list. That one is walked over from now on.
        """
        options = self._open(act.control) if act.do == "pick" else None
        if options is None or act.value in options:
            return False  # of a list that something lies over, the act itself tells
        self._known[act.control] = _List(self._known[act.control].value, options)
        return True

    def _open(self, key: Any) -> list[str] | None:
        page = self.visitor.page
        try:
            node = page.evaluate_handle("(wanted) => walkControls.get(wanted)", dict(key)).as_element()
            return open_list(page, node).all_inner_texts() if node else None
        except FAILED:
            return None
        finally:
            page.keyboard.press("Escape")
