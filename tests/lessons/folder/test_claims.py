"""A text that says something untrue of its picture is found, whatever it says it of."""

import pytest

from attnviz.__main__ import main
from attnviz.lessons.folder.claims import untrue_claims
from attnviz.lessons.phrases import LANGUAGES
from attnviz.lessons.picture import Pictures, pictures
from attnviz.lessons.reading import read
from tests.each_case import each_case
from tests.lessons.front_matter import FRONT_MATTER

LOVE = "src=I+love+you.&to=fr&tgt=Je+t%27aime."
MASKS = f"/masks?{LOVE}&kind=decoder_self&layer=1&head=0&masks=causal"
HEADS = f"/heads?{LOVE}&kind=cross&layer=2&head=4"
ANATOMY = f"/anatomy?{LOVE}&kind=encoder_self&layer=0&head=0"
LOSS = (
    "kind: choice\nask: b\nmeasure: loss\nwith: {mask: none}\noptions: [{say: a, when: 0 to 1}, {say: b, when: 1 to 9}]"
)
SKIPPED = "kind: number\nask: b\nmeasure: skip_raises\nwith: {line: transpose back}"
SCORE = "kind: number\nask: b\nmeasure: run_score\nwith: {run: french, score: own_prefix}"
MOVED, FED = ("kind: number\nask: b\nmeasure: " + name for name in ("moved", "tokens_fed"))
BLIND = "kind: number\nask: b\nmeasure: nan_weights\nrow: '2'\nwith: {fill: -inf, blind: '2'}"


@pytest.fixture(scope="module")
def run() -> Pictures:
    return pictures()


def claims(run: Pictures, text: str, link: str, question: str = "kind: text\nask: b") -> str:
    step = f"## One\n\n{text}\n\n{link}\n\n```question\n{question}\n```\n"
    lesson = read(FRONT_MATTER + step)
    shown = None if link.startswith("/learning") else run(lesson.steps[0].link)
    return " ".join(untrue_claims(lesson.steps[0], lesson.steps[0].link, shown))


@each_case(
    ("text", "link", "question", "said"),
    [
        ("Look at row 2.", MASKS, "", "the step is about row 2, which the link does not choose: add row=2"),
        ("Look at row 2.", f"{MASKS}&row=2", "", ""),
        ("Look at row 17.", f"{MASKS}&row=17", "", "the text names row 17, but the picture ends at row 5"),
        ("Look at “Je → vous”.", HEADS, "", "the row “Je → vous”, but the picture's rows are <bos:fr> → Je"),
        ("Look at “Je → t”.", HEADS, "", ""),
        ("Row 2.", f"{MASKS}&row=2", BLIND, "row 2 has no keys in the question, but sees some in the picture"),
        ("", f"{MASKS}&row=2&fill=zero+before", BLIND, "about fill -inf, but the picture has zero before"),
        ("", f"{MASKS}&row=2&paint=BgYMBhI", BLIND, ""),
        ("", HEADS, BLIND, "the question is about a fill; please link to Masks"),
        ("Press **A row without keys**.", HEADS, "", "names “A row without keys”, which is not on Heads"),
        ("Press **A row without keys**.", MASKS, "", ""),
        ("On **Masks**, press **A row without keys**.", HEADS, "", ""),
        ("See the tab **Neuron**.", MASKS, "", "the text names the tab “Neuron”, but Masks has no such tab"),
        ("See the tab **Neuron**.", HEADS, "", ""),
        ("This is **one row** of **Weights**.", HEADS, "", ""),
        ("`<eos>` never goes in.", f"/decoding?{LOVE}", "", "in the picture it does; please add padding=0"),
        ("`<eos>` never goes in, and six tokens go in.", f"/decoding?{LOVE}&padding=0", "", ""),
        ("Seven tokens go in.", f"/decoding?{LOVE}&padding=0", "", "7 tokens go in, but in the picture 6 do"),
        ("", f"/decoding?{LOVE}", FED, "in the picture padding goes in, too"),
        ("", f"/decoding?{LOVE}", LOSS, "about the mask none: add causal=none"),
        ("", f"{ANATOMY}&tab=skip&skip=contiguous", SKIPPED, "about line transpose back, not contiguous"),
        ("", f"{ANATOMY}&tab=walk", MOVED, "is shown by Anatomy; please link there, with tab=modulation"),
        ("", "/learning?task=french&first=leak-one-head", SCORE, "but the link shows french-leak-one-head"),
    ],
)  # fmt: skip
def test_an_untrue_claim_is_found_and_a_true_one_is_not(
    run: Pictures, text: str, link: str, question: str, said: str
) -> None:
    found = claims(run, text, link, question or "kind: text\nask: b")
    assert said in found
    assert bool(said) == bool(found)


CLAIMS = {  # `<eos>` never goes in, and six tokens go in
    "en": "`<eos>` never goes in: six tokens go in.",
    "de": "„<eos>“ geht nie hinein: Sechs Tokens gehen hinein.",
    "es": "`<eos>` nunca entra: entran seis tokens.",
    "fr": "« <eos> » n’entre jamais : six tokens entrent.",
    "zh": "`<eos>` 从不进入解码器，六个词元进入解码器。",
}


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_claims_on_tokens_are_read_in_every_language_for_students(run: Pictures, language: str) -> None:
    assert claims(run, CLAIMS[language], f"/decoding?{LOVE}&padding=0") == ""
    found = claims(run, CLAIMS[language], f"/decoding?{LOVE}")
    assert "<eos> never goes in, but in the picture it does" in found
    assert "6 tokens go in, but in the picture" in found


def test_the_commands_tell_the_author(tmp_path, capsys) -> None:
    (file := tmp_path / "love.md").write_text(
        f"{FRONT_MATTER}## One\n\nSee row 2, and the tab **All fills**.\n\n{MASKS}\n"
    )
    assert main(["lessons", "check", str(file)]) == 2
    assert "love.md:7: step 1: the step is about row 2, which the link does not choose" in capsys.readouterr().err
    assert main(["lessons", "export", str(file), "--to", str(tmp_path / "out")]) == 0
    assert "warning: love, step 1: the text names “All fills”, which the folder lacks" in capsys.readouterr().out
