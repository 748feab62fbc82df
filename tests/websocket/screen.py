"""A visitor whose page stays: it asks for news by itself, and a part of it is drawn again while the rest stands."""

import time
from collections.abc import Callable
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.websocket.visitor import Shown, Visitor, id_of


class Screen(Visitor):
    """As a browser, it asks as often as the page says, and has only that part of the page run that a widget is in."""

    _fragment = _script = ""
    _every = 1.0  # seconds
    _before = Shown()

    def _take(self, message: Any) -> None:
        kind = message.WhichOneof("type")
        super()._take(message)
        if kind == "new_session":
            self._script = message.new_session.page_script_hash
            self._keep_the_rest(set(message.metadata.run.fragment_ids))
        elif kind == "navigation":  # a page that was opened by its name has its hash only here
            self._script = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self._fragment, self._every = message.auto_rerun.fragment_id, message.auto_rerun.interval

    def _keep_the_rest(self, drawn: set[str]) -> None:
        """Keep what the fragments of this run have not drawn; a whole run keeps nothing."""
        before = self._before
        stays = [place for place in before.elements if drawn and before.fragments.get(place) not in drawn]
        self.shown.elements = {place: before.elements[place] for place in stays}
        self.shown.fragments = {place: before.fragments.get(place, "") for place in stays}

    def tell(self, message: BackMsg) -> Shown:
        """Change some widgets as a visitor does; other elements may stay."""
        self._before = self.shown
        return super().tell(message)

    def go(self, page: str) -> None:
        """Open the page that the last run has switched to."""
        self._page = page

    def press(self, key: str, *others: WidgetState) -> Shown:
        """Press a button; `others` are the states of the widgets beside it."""
        return self.choose(key, *others, trigger_value=True)

    def choose(self, key: str, *others: WidgetState, **value: Any) -> Shown:
        """Set a widget, as `Visitor.state` has it."""
        id_ = self.shown.widgets[key][1].id
        of = next(place for place, one in self.shown.elements.items() if id_of(one) == id_)
        return self._run(self.shown.fragments.get(of, ""), *others, self.state(key, **value))

    def ask_for_news(self) -> Shown:
        """Ask as the page does by itself."""
        return self._run(self._fragment, is_by_itself=True)

    def wait_for(self, found: Callable[[Shown], bool]) -> None:
        """Ask until the page shows it. Raises TimeoutError."""
        deadline = time.monotonic() + self._patience
        while not found(self.shown):
            if time.monotonic() > deadline:
                raise TimeoutError(f"The page never came to it; it shows {self.shown.alerts} {self.shown.exceptions}.")
            time.sleep(self._every)
            self.ask_for_news()

    def poll(self) -> BackMsg:
        """Return the message with which the page that is open now asks for news by itself."""
        message = BackMsg()
        asked = message.rerun_script
        asked.page_script_hash, asked.fragment_id, asked.is_auto_rerun = self._script, self._fragment, True
        return message

    def _run(self, fragment: str, *states: WidgetState, is_by_itself: bool = False) -> Shown:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash, asked.fragment_id = self._query, self._script, fragment
        asked.is_auto_rerun = is_by_itself
        asked.widget_states.widgets.extend(states)
        asked.cached_message_hashes.extend(self._kept)
        return self.tell(message)
