"""Tabs that are HTML: every value of their controls shows the numbers that the analysis gives for that value."""

import re
import secrets
from collections.abc import Callable

import pytest

from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.lessons.folder import many_sentences
from attnviz.lessons.folder.drawn import Drawn, draw
from attnviz.lessons.folder.variants import MOST_BYTES, Variants, nearest, variants
from attnviz.lessons.phrases import translate
from attnviz.lessons.picture import LinkedPicture, Pictures, pictures
from attnviz.lessons.reading import link_of
from attnviz.masks.figures.tables import format_number
from attnviz.masks.numbers.leakage import leak_test
from attnviz.text.entries import token_texts
from tests.each_case import each_case

RED = "src=A+big+red+dog+jumped+over+a+small+pond.&to=fr&kind=decoder_self&layer=1&head=0"
LOVE = "src=I+love+you.&to=fr"
HOSTILE = "%3Cimg+src%3Dx+onerror%3Dalert(1)%3E"
Drawing = Callable[[str], tuple[Drawn, LinkedPicture]]


@pytest.fixture(scope="module")
def run() -> Pictures:
    return pictures()


@pytest.fixture(scope="module")
def drawing(run: Pictures) -> Drawing:
    def draw_link(address: str) -> tuple[Drawn, LinkedPicture]:
        link = link_of(address)
        assert link is not None
        shown = run(link)
        return draw(link, shown, None, lambda said: said, run=run), shown

    return draw_link


def controls(drawn: Drawn) -> list[Variants]:
    return [part for part in drawn.parts if isinstance(part, Variants)]


def exact_numbers(fragment: str) -> list[str]:
    """Read what the cells of maps say under the pointer."""
    return re.findall(r"<td style='[^']*' title='([^']*)'>", fragment)


def test_the_leak_test_replaces_every_position(drawing: Drawing) -> None:
    drawn, shown = drawing(f"/masks?{RED}&tab=leak&at=4&instead=vert")
    (control,) = controls(drawn)
    ins = token_texts(shown.trace.query_tokens("decoder_self"))
    assert (control.label, control.at, control.offered) == ("Replace target token", 4, len(ins))
    assert control.values == tuple(f"{at}: {name}" for at, name in enumerate(ins))
    new = shown.model.encode_target("vert", to="fr")[0]
    for at, fragment in enumerate(control.fragments):
        changes = [one.change.flatten().tolist() for one in leak_test(shown.model, shown.trace, at, new)]
        expected = [f"{change:.3g}" if change else "0, bitwise equal" for case in changes for change in case]
        assert exact_numbers(fragment) == expected, at
        assert f"<span>{ins[at]} → vert</span>".replace("<bos:fr>", "&lt;bos:fr&gt;") in fragment


def test_next_tokens_are_there_for_every_step(drawing: Drawing) -> None:
    drawn, shown = drawing(f"/masks?{RED}&tab=says&masks=none&step=2")
    (control,) = controls(drawn)
    assert (control.label, control.at) == ("Next tokens after", 2)
    assert shown.trace.logits is not None
    chances = shown.model.vocabulary.forbid(shown.trace.logits[0]).softmax(dim=-1).amax(dim=-1)
    unchanged = [re.findall(r"<td class='p'[^>]*>([\d.]+)</td>", fragment)[0] for fragment in control.fragments]
    assert unchanged == [f"{chance:.4f}" for chance in chances.tolist()]


def test_all_fills_have_every_row_and_one_without_keys(drawing: Drawing) -> None:
    drawn, shown = drawing(f"/masks?{RED}&tab=fills&row=3")
    (control,) = controls(drawn)
    call = shown.trace.call("decoder_self", 1)
    open_weights = (call.query[0, 0] @ call.key[0, 0].T * call.scale).softmax(dim=-1)
    seen = [float(row[: at + 1].sum()) for at, row in enumerate(open_weights)]
    pattern = r"0 after softmax</th><td>\(after\)</td><td>.*?</td><td>([\d.]+)</td>"
    found = [re.findall(pattern, fragment)[0] for fragment in control.fragments[:-1]]
    assert (control.at, control.is_list) == (3, True)
    assert list(map(float, found)) == pytest.approx(seen, abs=2e-6)
    assert control.values[-1] == f"A row without keys: {control.values[3]}"
    assert "Row 3 has no key left." in control.fragments[-1]


def test_row_by_row_has_every_number_of_tokens(drawing: Drawing) -> None:
    drawn, shown = drawing(f"/masks?{RED}&tab=rows&arrived=3")
    (control,) = controls(drawn)
    assert (control.values[control.at], len(control.fragments)) == ("3: <bos:fr> Un gros", 6)
    context = shown.trace.context("decoder_self", 1)[0]
    for at, fragment in enumerate(control.fragments):
        cells = re.findall(r"<td>([^<]*)</td>", fragment)
        expected = [format_number(number) for number in context[at, :3].tolist()]
        assert cells[3 * at : 3 * at + 3] == expected


def test_broadcast_has_no_control_as_in_the_app(drawing: Drawing) -> None:
    drawn, _ = drawing(f"/masks?{LOVE}&tab=broadcast&second=Hello.&kind=decoder_self")
    assert controls(drawn) == []
    assert "<td>raises</td>" in str(drawn.parts[0])


def test_many_sentences_have_every_measure_and_every_head(drawing: Drawing, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (CorpusLine("I love you.", "Je t'aime."), CorpusLine("The <b>dog</b> sleeps.", "Le chien dort."))
    monkeypatch.setattr(many_sentences, "shipped_lines", lambda to: lines)
    drawn, _ = drawing(f"/causes?{LOVE}&tab=sentences&read=1&spread=diagonality&kind=cross&layer=2&head=4")
    spread, head = controls(drawn)
    assert drawn.parts[0].startswith("<p>2 sentences of manythings.org")  # type: ignore[union-attr]
    assert (spread.label, spread.values[spread.at]) == ("Spread of", "diagonality")
    assert all(fragment.count("<tr>") == 1 + 72 for fragment in spread.fragments)
    means = [re.findall(r"Cross L2 H4</td><td>([^<]+)</td>", fragment)[0] for fragment in spread.fragments]
    medians = dict(re.findall(r"<tr><th>([^<]+)</th><td>([^<]+)</td>", head.fragments[head.at]))
    assert (head.values[head.at], len(head.fragments)) == ("Cross L2 H4", 72)
    for title, mean in zip(spread.values, means, strict=True):  # of two sentences, the median is the mean
        if mean != "nan":
            assert float(mean) == pytest.approx(float(medians[title]), rel=6e-3, abs=6e-4), title
    assert "The &lt;b&gt;dog&lt;/b&gt; sleeps." in head.fragments[head.at]


def test_the_pruning_curve_is_a_table(drawing: Drawing) -> None:
    drawn, _ = drawing(f"/causes?{LOVE}&tab=sentences&part=pruning")
    assert controls(drawn) == []
    assert "random, mean of" in str(drawn.parts[0])


def test_a_tab_says_what_only_the_app_can_do(drawing: Drawing) -> None:
    note = drawing(f"/masks?{LOVE}&tab=leak")[0].note
    assert note == "In attnviz itself, where the model runs, you can also type another token to put there."
    assert translate(note, "de").startswith("In attnviz selbst, wo das Modell läuft, kannst du auch ein anderes Token")


@each_case("tab", ["leak&instead=" + HOSTILE, "says&step=1", "fills", "rows", "broadcast"])
def test_a_text_that_looks_like_markup_stays_text_in_every_fragment(drawing: Drawing, tab: str) -> None:
    drawn, _ = drawing(f"/masks?src=Hi.&to=fr&tgt={HOSTILE}&kind=decoder_self&tab={tab}")
    texts = [part for part in drawn.parts if isinstance(part, str)]
    assert not [one for one in (*texts, *controls_fragments(drawn)) if re.search(r"<img|<[^>]* onerror", one)]


def controls_fragments(drawn: Drawn) -> list[str]:
    return [fragment for control in controls(drawn) for fragment in control.fragments]


@each_case(
    ("count", "at", "kept"),
    [(5, 4, range(5)), (100, 0, range(32)), (100, 50, range(34, 66)), (100, 99, range(68, 100))],
)
def test_the_values_nearest_to_the_links_are_kept(count: int, at: int, kept: range) -> None:
    assert nearest(count, at, 32) == kept


def test_fragments_that_take_too_much_room_are_left_out_far_from_the_links() -> None:
    noise = [secrets.token_hex(MOST_BYTES // 8) for _ in range(30)]
    made = variants("at", "At", [str(at) for at in range(30)], 20, noise.__getitem__)
    assert made.offered == 30
    assert 1 < len(made.fragments) < 8
    assert (made.values[made.at], made.fragments[made.at]) == ("20", noise[20])
