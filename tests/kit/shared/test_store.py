"""A choice goes change → settle → paint → report, and nothing older undoes it."""

import pytest

from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

# `clock.pass(ms)` lets time pass: the module asks for timers by their global names.
SCENE = """(store, script) => {
  const real = [globalThis.setTimeout, globalThis.clearTimeout];
  const clock = { now: 0, timers: new Map(), next: 1 };
  globalThis.setTimeout = (act, wait) => (clock.timers.set(clock.next, { act, at: clock.now + wait }), clock.next++);
  globalThis.clearTimeout = (timer) => clock.timers.delete(timer);
  clock.pass = (ms) => {
    clock.now += ms;
    for (const [timer, { act, at }] of [...clock.timers])
      if (at <= clock.now) (clock.timers.delete(timer), act());
  };
  const log = [];
  const widget = {
    start: { layer: 0, head: 0, zoom: null },
    settle: (app) => (log.push("settle"), (app.view.layer = Math.min(app.view.layer, 3))),
    paint: (app) => log.push(`paint ${app.view.layer}`),
    reportAfter: (app, patch) => ("now" in patch ? 0 : "never" in patch ? null : store.SETTLE_MS),
  };
  const app = store.createApp({}, widget);
  app.host = { report: (name, view) => log.push([name, { ...view }]) };
  const receive = (view) => {
    app.payload = { header: { view } };
    store.adopt(app);
  };
  try {
    script({ ...store, app, clock, log, receive });
    return [log, app.view, app.seq];
  } finally {
    [globalThis.setTimeout, globalThis.clearTimeout] = real;
  }
}"""


@pytest.fixture(scope="module")
def play(module):
    """Play a scene; return its log, the view, and the number of choices."""
    store = module("kit/js/store.js")
    return lambda script: store(f"(store) => ({SCENE})(store, {script})")


def test_a_change_settles_paints_and_reports_a_moment_later(play) -> None:
    log, view, seq = play("""({ app, receive, change, clock, log, SETTLE_MS }) => {
      receive({ layer: 1 });
      change(app, { layer: 9 });
      clock.pass(SETTLE_MS - 1);
      log.push("not yet");
      clock.pass(1);
    }""")
    sent = ["view", {"layer": 3, "head": 0, "zoom": None, "seq": 1}]
    assert log == ["settle", "settle", "paint 3", "not yet", sent]
    assert view == {"layer": 3, "head": 0, "zoom": None}
    assert seq == 1


def test_only_the_last_of_quick_changes_is_reported(play) -> None:
    log, *_ = play("""({ app, receive, change, clock, SETTLE_MS }) => {
      receive({});
      for (const layer of [1, 2, 3]) (change(app, { layer }), clock.pass(SETTLE_MS / 2));
      clock.pass(10 * SETTLE_MS);
    }""")
    assert [entry[1]["layer"] for entry in log if isinstance(entry, list)] == [3]


def test_what_only_python_answers_is_reported_at_once_and_a_player_stays_silent(play) -> None:
    log, *_ = play("""({ app, receive, change, clock }) => {
      receive({});
      change(app, { layer: 2, never: 1 });
      clock.pass(100000);
      change(app, { layer: 1, now: 1 });
      clock.pass(0);
    }""")
    assert [entry[1]["layer"] for entry in log if isinstance(entry, list)] == [1]


def test_an_answer_to_an_older_choice_does_not_undo_a_newer_one(play) -> None:
    script = """({ app, receive, change }) => {
      receive({ layer: 0 });
      change(app, { layer: 1 });
      change(app, { layer: 2 });
      receive({ layer: 0, seq: SEQ });
    }"""
    assert play(script.replace("SEQ", "1"))[1]["layer"] == 2
    assert play(script.replace("SEQ", "2"))[1]["layer"] == 0  # Python has heard of both: its view holds
    assert play(script.replace("SEQ", "7"))[2] == 7  # another page of the same session counted on


def test_what_python_says_nothing_of_stays_as_it_is(play) -> None:
    _, view, _ = play("""({ app, receive, change }) => {
      receive({ layer: 1 });
      change(app, { zoom: [0, 1] });
      receive({ head: 2, seq: 1 });
    }""")
    assert view == {"layer": 1, "head": 2, "zoom": [0, 1]}


def test_reporting_by_hand_takes_the_place_of_the_report_that_waits(play) -> None:
    log, *_ = play("""({ app, receive, change, report, clock }) => {
      receive({});
      change(app, { layer: 2 });
      report(app);
      clock.pass(100000);
    }""")
    assert len([entry for entry in log if isinstance(entry, list)]) == 1


def test_a_view_beside_the_numbers_is_newer_than_any_choice_and_leaves_other_fields(play) -> None:
    _, view, seq = play("""({ app, change }) => {
      const adopt = (viewBeside) => {
        app.payload = { header: { view: { layer: 1, head: 5 } }, viewBeside };
        store.adopt(app);
      };
      adopt({ layer: 2 });
      change(app, { zoom: [0, 1, 0, 1], never: true });
      adopt({ layer: 3 });
    }""")
    assert view == {"layer": 3, "head": 5, "zoom": [0, 1, 0, 1], "never": True}
    assert seq == 1


def test_what_nobody_answers_is_not_chosen_and_the_rest_of_a_choice_is(play) -> None:
    log, view, seq = play("""({ app, receive, change, log }) => {
      receive({ layer: 1 });
      app.lacks = new Set(["head"]);
      log.length = 0;
      change(app, { head: 2 });
      log.push("and then");
      change(app, { layer: 2, head: 2, never: true });
    }""")
    assert log == ["and then", "settle", "paint 2"]
    assert (view["layer"], view["head"], seq) == (2, 0, 1)
