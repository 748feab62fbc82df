"""Both ends of a line between two windows agree, and each knows whether the other is there."""

import pytest

from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

# `end(role, name)` begins a line and keeps what it was told; `soon(found)` waits until something is so.
SCENE = """async ({ lineOf }, script) => {
  const made = [];
  const end = (role, name = "one") => {
    const log = { heard: [], met: [], left: 0, isOn: true };
    const line = lineOf({
      name,
      role,
      every: 30,
      isOn: () => log.isOn,
      hear: ({ text }) => log.heard.push(text),
      meet: (isMet) => log.met.push(isMet),
      leave: () => (log.left += 1),
    });
    made.push(log);
    return Object.assign(log, { line });
  };
  const soon = async (found) => {
    for (let tries = 0; tries < 400 && !found(); tries++) await new Promise((resume) => setTimeout(resume, 5));
    return found();
  };
  try {
    return structuredClone(await script({ end, soon }));
  } finally {
    made.forEach(({ isEnded, line }) => isEnded || line.end());
  }
}"""


@pytest.fixture
def play(run):
    """`play(script)`: what a script gives that has two ends to play with."""
    return lambda script: run("globalThis", f"(() => ({SCENE})(globalThis.modules['line'], {script}))")


@pytest.fixture(autouse=True)
def line_module(module, empty_page) -> None:
    module("lessons/lesson_window/js/line.js")
    empty_page.evaluate("() => (globalThis.modules.line = globalThis.modules['lessons/lesson_window/js/line.js'])")


def test_what_one_end_is_told_the_other_hears_once(play) -> None:
    script = """async ({ end, soon }) => {
      const [panel, picture] = [end("panel"), end("picture")];
      panel.line.tell({ revision: 5, text: "a" });
      await soon(() => picture.heard.length);
      picture.line.tell({ revision: 6, text: "b" });
      await soon(() => panel.heard.length);
      panel.line.tell({ revision: 4, text: "old" });
      await new Promise((resume) => setTimeout(resume, 100));
      return [panel.heard, picture.heard, panel.met, picture.met];
    }"""
    assert play(script) == [["b"], ["a"], [True], [True]]


def test_a_window_that_is_loaded_anew_is_told_what_it_missed_also_of_its_own(play) -> None:
    script = """async ({ end, soon }) => {
      const [panel, picture] = [end("panel"), end("picture")];
      panel.line.tell({ revision: 5, text: "a" });
      await soon(() => picture.heard.length);
      panel.line.end((panel.isEnded = true));
      const again = end("panel");
      return [await soon(() => again.heard.length === 1), again.heard, picture.met];
    }"""
    assert play(script) == [True, ["a"], [True]]


def test_an_end_that_says_goodbye_or_is_silent_is_missed(play) -> None:
    script = """async ({ end, soon }) => {
      const [panel, picture] = [end("panel"), end("picture")];
      await soon(() => picture.line.isMet);
      panel.line.end((panel.isEnded = true));
      await soon(() => !picture.line.isMet);
      const silent = end("panel");
      await soon(() => picture.line.isMet);
      silent.isOn = false;
      await soon(() => !picture.line.isMet);
      return picture.met;
    }"""
    assert play(script) == [True, False, True, False]


def test_lines_of_two_names_never_meet_nor_two_ends_of_one_kind(play) -> None:
    script = """async ({ end }) => {
      const ends = [end("panel", "one"), end("picture", "two"), end("panel", "one")];
      ends[0].line.tell({ revision: 5, text: "a" });
      await new Promise((resume) => setTimeout(resume, 150));
      return ends.map(({ met, heard }) => [met, heard]);
    }"""
    assert play(script) == [[[], []]] * 3


def test_the_other_window_is_asked_to_close(play) -> None:
    script = """async ({ end, soon }) => {
      const [panel, picture] = [end("panel"), end("picture")];
      picture.line.askToClose();
      await soon(() => panel.left);
      return [panel.left, picture.left];
    }"""
    assert play(script) == [1, 0]
