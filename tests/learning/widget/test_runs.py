"""What the browser makes of a run is what its recording says, whole or piece by piece."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz.learning.live.runs import LiveView
from attnviz.learning.page.live import Piece, feed_payload
from attnviz.learning.widget.payload import Asked, ShownRun, learning_payload
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from attnviz.toys.recording import Recording
from attnviz.toys.run import Moment
from attnviz.toys.storage import toy_recording
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER
KINDS = ("encoder_self", "decoder_self", "cross")


@pytest.fixture(scope="module")
def blind() -> Recording:
    return toy_recording(shipped.path(Experiment("french", without=("causal-mask",))))


@pytest.fixture(scope="module")
def decode_run(module) -> Callable[[Recording, str], Any]:
    """Evaluate a function of JavaScript on a recording as the widget reads it."""
    script = module("learning/widget/js/payload.js")

    def read(recording: Recording, act: str) -> Any:
        payload = learning_payload([ShownRun(recording.experiment, "one", "recorded", recording)], None, view={})
        return script(
            f"async (script, bytes) => ({act})((await script.decodePayload(new Uint8Array(bytes))).runs[0])",
            payload_bytes(payload),
        )

    return read


def test_every_moment_arrives_as_it_was_recorded(decode_run, blind) -> None:
    got = decode_run(
        blind,
        "(run) => run.moments.map((m) => ({ ...m, losses: [...m.losses], scores: [...m.scores], maps: [...m.maps] }))",
    )
    assert [moment["step"] for moment in got] == list(blind.steps)
    for name, curve in (("teacher", blind.teacher_prefix), ("own", blind.own_prefix), ("held", blind.held_out_loss)):
        np.testing.assert_array_equal(np.array([moment[name] for moment in got], dtype=np.float32), curve)
    losses = np.array([loss for moment in got for loss in moment["losses"]], dtype=np.float16)
    np.testing.assert_array_equal(losses, blind.losses)
    for at in (0, 30, 59):
        assert [tuple(line) for line in got[at]["said"]] == list(blind.answers_at(at))
        np.testing.assert_array_equal(got[at]["maps"], np.concatenate([blind.maps[kind][at].ravel() for kind in KINDS]))
    assert got[0]["loss"] is None
    assert got[-1]["loss"] == pytest.approx(float(got[-1]["losses"][0]), abs=0.05)


def test_a_heads_map_is_found_and_the_moment_at_which_its_score_passes_a_half(module, decode_run, blind) -> None:
    script = module("learning/widget/js/runs.js")
    payload = decode_run(blind, "(run) => ({ kinds: run.about.kinds, maps: [...run.moments[59].maps] })")
    for at, kind in enumerate(KINDS):
        for head in (0, 1):
            cells = script(
                "(script, [kind, maps, head]) => [...script.mapOf(kind, Uint8Array.from(maps), 0, head)]",
                [payload["kinds"][at], payload["maps"], head],
            )
            np.testing.assert_array_equal(cells, blind.maps[kind][59, 0, head].ravel())
    names = {"decoder_self": "superdiagonal", "cross": "alignment"}
    for kind, name in names.items():
        for head in (0, 1):
            found = strongest(script, decode_run, blind, [kind, 0, head])
            assert found["name"] == name
            assert found["passed"] == blind.passes(name, layer=0, head=head)
            assert found["value"] == pytest.approx(float(blind.heads[name][-1, 0, head]))
    assert strongest(script, decode_run, blind, ["encoder_self", 0, 0]) is None


def test_what_a_toy_of_images_confuses_is_counted_from_its_recording(module, decode_run) -> None:
    recording = toy_recording(shipped.path(Experiment("digits", without=("positions",))))
    script = module("learning/widget/js/images.js")
    run = decode_run(
        recording,
        "(run) => ({ about: { held_out: run.about.held_out }, moments: run.moments.slice(-1).map("
        "({ step, own, confusion }) => ({ step, own, confusion: [...confusion] })) })",
    )
    counts = recording.confusion[-1].astype(int)
    found = script("(script, run) => script.confused(run, 0)", run)
    wrong = counts - np.diag(np.diag(counts))
    assert {(right, read): count for right, read, count in found} == {
        place: count for place, count in np.ndenumerate(wrong) if count
    }
    assert [count for *_, count in found] == sorted((count for *_, count in found), reverse=True)
    text = script("(script, run) => script.accuracyText(run, 0)", run)
    assert (
        f"After 1000 updates: {100 * recording.scores['accuracy']:.1f}% of 360 held-out images are read right." in text
    )
    assert f"It misreads {wrong.sum()} of 360, most often {found[0][0]} as {found[0][1]} ({found[0][2]})" in text


def strongest(script, decoded, recording: Recording, site: list) -> Any:
    run = decoded(
        recording,
        "(run) => ({ about: { scores: run.about.scores }, moments: run.moments.map(({ step, scores }) => "
        "({ step, scores: [...scores] })) })",
    )
    return script("(script, [run, site]) => script.strongest(run, site, run.moments.length - 1)", [run, site])


def test_a_live_run_in_pieces_is_the_recording_and_a_lost_piece_is_noticed(module, decode_run, blind) -> None:
    """Pieces come as the feed brings them; one is lost, and is asked for again."""
    found = [_moment(blind, at) for at in range(len(blind.steps))]

    def piece(since: int, end: int) -> list[int]:
        looked = LiveView("running", 0, tuple(found[since:end]))
        return payload_bytes(feed_payload([Piece(blind.experiment, looked, since)]))

    for file in ("learning/widget/js/feeds.js", "kit/js/unpack.js"):
        module(file)
    live = learning_payload([ShownRun(blind.experiment, "one", "live")], None, view={})
    told, moments = module("learning/widget/js/payload.js")(
        """async (script, [pieces, live]) => {
          const { feed, feedOf } = globalThis.modules["learning/widget/js/feeds.js"];
          const { unpack } = globalThis.modules["kit/js/unpack.js"];
          const [run] = (await script.decodePayload(new Uint8Array(live))).runs;
          const told = pieces.map((bytes) => {
            const { header, array } = unpack(new Uint8Array(bytes));
            const isWhole = feed(header.runs[0].key, header.runs[0], array);
            return [isWhole, feedOf(header.runs[0].key).count];
          });
          await new Promise((shown) => setTimeout(shown, 1200));
          return [told, run.moments.map((m) => [m.step, m.teacher, m.said, [...m.losses], [...m.maps]])];
        }""",
        [[piece(0, 1), piece(1, 9), piece(20, 30), piece(9, 30), piece(30, 60)], payload_bytes(live)],
    )
    assert told == [[True, 1], [True, 9], [False, 9], [True, 30], [True, 60]]
    whole = decode_run(
        blind, "(run) => run.moments.map((m) => [m.step, m.teacher, m.said, [...m.losses], [...m.maps]])"
    )
    assert moments == whole


def test_what_a_second_brought_is_shown_in_five_beats_and_all_of_it_once_the_run_is_over(module, blind) -> None:
    found = tuple(_moment(blind, at) for at in range(20))

    def piece(since: int, end: int, state: str) -> list[int]:
        view = LiveView(state, 0, found[since:end])  # type: ignore[arg-type]
        return payload_bytes(feed_payload([Piece(blind.experiment, view, since)]))

    module("kit/js/unpack.js")
    shown = module("learning/widget/js/feeds.js")(
        """async ({ feed, feedOf }, pieces) => {
          const { unpack } = globalThis.modules["kit/js/unpack.js"];
          const [key] = feedKeys(pieces[0]).map((name) => `${name}, in beats`);
          const run = feedOf(key);
          const seen = [];
          run.hear.add(() => seen.push(Math.floor(run.shown + 1e-6)));
          const take = (bytes) => {
            const { header, array } = unpack(new Uint8Array(bytes));
            feed(key, header.runs[0], array);
          };
          take(pieces[0]);
          await new Promise((over) => setTimeout(over, 1300));
          take(pieces[1]);
          return seen;
          function feedKeys(bytes) { return unpack(new Uint8Array(bytes)).header.runs.map((one) => one.key); }
        }""",
        [piece(0, 10, "running"), piece(10, 20, "done")],
    )
    assert shown == [2, 4, 6, 8, 10, 20]


def _moment(recording: Recording, at: int) -> Moment:
    first = recording.steps[at - 1] if at else 0
    return Moment(
        recording.steps[at],
        tuple(map(float, recording.losses[first : recording.steps[at]])),
        float(recording.held_out_loss[at]), float(recording.teacher_prefix[at]), float(recording.own_prefix[at]),
        {name: score[at] for name, score in recording.heads.items()},
        {kind: maps[at] for kind, maps in recording.maps.items()},
        tuple(tuple(id_ for id_ in ids if id_) for ids in recording.wrote[at].tolist()),
    )  # fmt: skip


def test_runs_of_other_lengths_go_in_step_by_their_updates(module) -> None:
    script = module("learning/widget/js/runs.js")
    act = "(script, [steps, step]) => script.momentAt(steps.map((step) => ({ step })), step)"
    assert [script(act, [[0, 5, 20, 40], step]) for step in (0, 4, 5, 19, 40, 99)] == [0, 0, 1, 1, 3, 3]


@each_case(
    ("said", "right", "wrong", "missing"),
    [
        ("a b c", "a b c", [False, False, False], 0),
        ("a c", "a b c", [False, True], 1),
        ("a b c d", "a b c", [False, False, False, True], 0),
        ("", "a b", [], 2),
    ],
)
def test_wrong_words_are_marked_place_by_place(module, said, right, wrong, missing) -> None:
    script = module("learning/widget/js/runs.js")
    found = script("(script, [said, right]) => script.marked(said, right)", [said.split(), right.split()])
    assert [word["isWrong"] for word in found["words"]] == wrong
    assert found["missing"] == missing
    assert found["isRight"] == (said == right)


def test_a_recording_of_two_runs_is_sent_in_little(blind) -> None:
    other = toy_recording(shipped.path(Experiment("twice")))
    for pair, most in (((blind, blind), 60_000), ((other,), 60_000), ((other, other), 120_000)):
        runs = [ShownRun(run.experiment, "one", "recorded", run) for run in pair]
        assert len(learning_payload(runs, Asked(0, "?"), view={}).pack()) < most
