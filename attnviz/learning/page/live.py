"""Live runs that this visitor watches, and the feed that sends their recorded steps to the browser."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.app.frame.page import current_page
from attnviz.app.markdown import literal
from attnviz.app.mount import learning_feed
from attnviz.app.reports import NUMBER, TEXT, reported_value
from attnviz.guards.network import network_of
from attnviz.kit.wire import Blobs, Payload
from attnviz.learning.live.runs import LiveRun, LiveView
from attnviz.learning.page import runs
from attnviz.learning.widget.payload import describe_run, moments, run_key
from attnviz.toys.experiment import Experiment
from attnviz.toys.recording import recording_from_moments
from attnviz.toys.switches import title_of

EVERY = 1.0  # seconds between updates; the browser animates them at 5 Hz (learning/widget/js/feeds.js)
_KEPT = 4  # recent runs that are kept for each visitor
_WATCHED, _SENT, _FEED = "learning-runs", "learning-sent", "learning-feed"


@dataclass(frozen=True)
class Piece:
    """The recorded steps of a live run that the browser does not have yet: `looked.moments`, which begin at index
    `since`.
    """

    experiment: Experiment
    looked: LiveView
    since: int


def feed_payload(pieces: Sequence[Piece]) -> Payload:
    """Pack new recorded steps of several runs for the browser.

    A run's labels, which never change, are sent only with its first recorded steps.
    """
    blobs = Blobs()
    return Payload({"runs": [_piece(piece, blobs) for piece in pieces]}, blobs.join())


def _piece(piece: Piece, blobs: Blobs) -> Mapping[str, Any]:
    looked, about = piece.looked, piece.experiment.toy_task
    header: dict[str, Any] = {
        "key": run_key(piece.experiment),
        "state": looked.state,
        "ahead": looked.ahead,
        "since": piece.since,
    }
    if looked.moments:
        lines = tuple(about.watched()) if not piece.since else ()
        found = recording_from_moments(piece.experiment, looked.moments, lines, {})
        header["moments"] = moments(found, blobs)
        if not piece.since:
            header["about"] = describe_run(found)
    return header


def watch(experiment: Experiment) -> LiveRun:
    """Return the run that this visitor watches.

    Raise ValueError as `LiveRuns.watch` does. A failed run stays failed until the visitor asks again, because otherwise
    a run that always fails would restart forever.
    """
    mine: dict[str, LiveRun] = st.session_state.setdefault(_WATCHED, {})
    if experiment.key not in mine:
        mine[experiment.key] = runs.queue().watch(experiment, _address())
        for old in [*mine][:-_KEPT]:
            del mine[old]
    return mine[experiment.key]


def _address() -> str | None:
    """Return the network of this visitor; None for this machine."""
    address = st.context.ip_address
    return network_of(address) if address else None


def feed(found: Sequence[LiveRun], waited: set[str]) -> None:
    """Send new recorded steps every second until every run is over, then redraw the page.

    The page is also redrawn when a waiting run starts: `waited` has the keys of runs whose recording is shown
    meanwhile.
    """
    place = current_page().above.empty()

    def tick() -> None:
        looks = [piece(run) for run in found]
        learning_feed(feed_payload(looks), key=_FEED, on_change=_send_again)
        waiting = [look for look in looks if look.looked.state == "waiting"]
        if all(look.looked.state in ("done", "failed") for look in looks) or waited - _keys(waiting):
            st.rerun()
        if said := [waiting_in_words(look) for look in waiting if runs.recording_or_none(look.experiment) is not None]:
            place.info(literal(" ".join(said)), icon=":material/hourglass_top:")

    st.fragment(tick, run_every=EVERY)()


def _keys(looks: Sequence[Piece]) -> set[str]:
    return {look.experiment.key for look in looks}


def waiting_in_words(look: Piece) -> str:
    """Say how many runs are ahead of this one, and that its recording is shown until it starts."""
    ahead = look.looked.ahead
    before = f"{ahead} before you" if ahead else "about to start"
    return f"“{title_of(look.experiment)}” is waiting to be trained: {before}. Its recording is shown meanwhile."


def piece(run: LiveRun) -> Piece:
    """Return the recorded steps of a run that this visitor's browser has not been sent yet."""
    sent: dict[str, int] = st.session_state.setdefault(_SENT, {})
    key = run_key(run.experiment)
    since = sent.get(key, 0)
    looked = run.look(since=since)
    sent[key] = since + len(looked.moments)
    return Piece(run.experiment, looked, since)


def _send_again() -> None:
    """Forget that steps were sent, so that those that the browser reports as missing are sent again."""
    said = reported_value(_FEED, "have", {"key": TEXT, "count": NUMBER})
    if said is not None:
        sent: dict[str, int] = st.session_state.setdefault(_SENT, {})
        sent[said["key"]] = min(max(0, said["count"]), sent.get(said["key"], 0))
