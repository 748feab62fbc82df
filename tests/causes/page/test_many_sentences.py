"""Many sentences on the Causes page, without a browser: a list is measured, stopped, refused; a head is chosen."""

import json
import time
from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.causes.corpus.numbers import studies
from attnviz.causes.corpus.numbers.studies import Studies
from attnviz.causes.corpus.page import lists, watch
from tests.app.pages.on_screen import notes

LINES = (
    "I love fun\tje t'aime", "a big red dog\tun petit chien rouge", "machine learning is fun\tun chien",
    "you love a dog\tje t'aime un chien", "a pond\trouge", "learning is over\tun petit", "a big pond\tun",
    "I jumped\tje",
)  # fmt: skip
OPEN = {"src": "a big red dog", "to": "fr", "tab": "sentences"}


@pytest.fixture(autouse=True)
def queue(monkeypatch):
    made = Studies(share=1.0)
    monkeypatch.setattr(watch, "queue", lambda: made)
    return made


def type_lines(app: AppTest, *lines: str) -> AppTest:
    return app.text_area(key="corpus-text").set_value("\n".join(lines)).run()


def run_study(app: AppTest) -> AppTest:
    """Press the button, and wait for the end."""
    app.button(key="corpus-read").click().run()
    until = time.monotonic() + 60
    while watch.queue().queue.thread is not None and time.monotonic() < until:
        time.sleep(0.05)
    return app.run()


def charts(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def test_a_pasted_list_is_gone_over_and_every_head_is_told_of(open_page) -> None:
    app = run_study(type_lines(open_page("causes", sentences="own", **OPEN), *LINES))
    assert not app.exception
    assert not app.error
    table = next(each.value for each in app.dataframe if "spread" in each.value)
    assert len(table) == 3 * 2 * 5
    assert all(sum(counts) == len(LINES) for counts in table["spread"])
    assert not table["lost without"].isna().to_numpy().any()
    scatter = next(chart for chart in charts(app) if chart["data"][0]["mode"] == "markers")
    assert sum(len(trace["customdata"]) for trace in scatter["data"] if "customdata" in trace) == 30
    headings = [heading.value for heading in app.subheader]
    assert headings == ["Cross L0 H1 over 8 sentences"]
    links = [part.proto.query_string for part in app.get("page_link") if "row=" in part.proto.query_string]
    asked = {name: values[0] for name, values in parse_qs(links[0]).items()}
    assert asked["kind"] == "cross"
    assert f"{asked['src']}\t{asked['tgt']}" in LINES


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "\n".join(f"line {at}" for at in range(10_000)),
            "There are 10,000 lines, but at most 1,000 are allowed. Please delete",
        ),
        ("...\nI love", "Line 1 (“...”) has neither a letter nor a digit. Please leave it out."),
        ("I love\0", "Line 1 (“I love\ufffd”) has a character that is not text (U+0000). Please remove it."),
        ("x" * 200_001, "These are 200,001 characters; at most 200,000 are read. Split the list."),
    ],
    ids=["10,000 lines", "no letter", "binary", "too long"],
)
def test_a_list_that_cannot_be_read_is_refused_in_one_sentence_and_stays(open_page, text, sentence) -> None:
    app = type_lines(open_page("causes", sentences="own", **OPEN), text)
    assert not app.exception
    assert len(app.error) == 1
    assert notes(app).startswith(sentence)
    assert app.text_area(key="corpus-text").value == text
    assert not any(button.key == "corpus-read" for button in app.button)


def test_a_line_that_the_model_cannot_read_is_named_and_the_list_stays(open_page) -> None:
    app = run_study(type_lines(open_page("causes", sentences="own", **OPEN), "I love", "too " * 499))
    assert notes(app).startswith("Line 2 (“too too")
    assert app.text_area(key="corpus-text").value.startswith("I love\ntoo")
    assert any(button.key == "corpus-read" for button in app.button)  # it can be tried again


def test_stop_keeps_what_was_done(open_page, monkeypatch) -> None:
    real = studies.RestingProgress.note

    def tell(self, done, total):
        real(self, done, total)
        if self.run.stage == "ablation" and done == 2:
            self.run._seen.clear()
            self.run.stop()

    monkeypatch.setattr(studies.RestingProgress, "note", tell)
    app = run_study(
        type_lines(open_page("causes", sentences="own", kind="decoder_self", layer="1", head="3", **OPEN), *LINES[:4])
    )
    assert notes(app).startswith("Stopped: heads were measured on 4 of 4 sentences, and switched off on 2.")
    assert [heading.value for heading in app.subheader] == ["Decoder self L1 H3 over 4 sentences"]
    monkeypatch.setattr(studies.RestingProgress, "note", real)
    assert "stopped" not in notes(run_study(app))


def test_a_link_to_a_pasted_list_says_that_it_carries_none(open_page) -> None:
    app = open_page("causes", sentences="own", read="1", **OPEN)
    assert "a link cannot contain these sentences. Please paste them again" in notes(app)


def test_a_list_stays_while_another_page_is_looked_at(open_page) -> None:
    app = type_lines(open_page("causes", sentences="own", **OPEN), *LINES[:2])
    app.switch_page("pages/heads.py").run()
    app.switch_page("pages/causes.py").run()
    assert app.text_area(key="corpus-text").value == "\n".join(LINES[:2])


def test_a_decoder_alone_reads_sentences_without_targets(open_page, folder) -> None:
    app = open_page("causes", model=folder("gpt2"), src="It was late.", tab="sentences", sentences="own")
    run_study(type_lines(app, "It was late.", "We were late."))
    assert not app.exception
    assert notes(app) == ""
    assert "over 2 sentences" in app.subheader[0].value


def test_an_encoder_says_why_nothing_is_important(open_page, folder) -> None:
    app = open_page("causes", model=folder("bert"), src="It was late.", tab="sentences", sentences="own")
    run_study(type_lines(app, "It was late.", "We were late."))
    assert not app.exception
    assert any("writes no targets" in caption.value for caption in app.caption)


def test_what_is_done_to_the_run_is_left_out_and_that_is_said(open_page) -> None:
    app = open_page("causes", do="off.cross.0.1", **OPEN)
    assert "are not applied here" in notes(app)


def test_the_curve_is_drawn_for_what_was_counted_and_others_read_the_command(open_page, tiny_catalogue) -> None:
    app = open_page("causes", part="pruning", **OPEN)
    assert not app.exception
    assert "--model" in app.code[0].value
    assert app.get("plotly_chart") == []


def test_a_file_that_is_longer_than_a_field_is_refused_and_the_field_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    file = SimpleNamespace(name="long.txt", type="text/plain", getvalue=lambda: b"x" * 200_001)
    session = {lists._FILE: file, lists._TEXT: "I love you."}
    monkeypatch.setattr(lists.st, "session_state", session)
    lists._take_file()
    assert session[lists._TEXT] == "I love you."
    assert session["corpus-file-said"].startswith("These are 200,001 characters; at most 200,000 are read")
