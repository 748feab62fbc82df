"""A page of facts: every number is the loaded model's, nothing is invented, and a card is text."""

from pathlib import Path

import pytest
import torch

import attnviz
from attnviz.app.frame.top_bar import facts_html
from attnviz.models.card import card
from attnviz.models.example_images import draw_example
from attnviz.models.facts import any_input, sections
from attnviz.models.huggingface import load
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case
from tests.models.huggingface import checkpoints

CARD = """---
license: mit
language: [en, fr]
base_model: somebody/else
datasets:
- wiki
tags: {not: said}
---
# A model
## License and attribution

Made by **somebody** ([here](https://example.org)); <b>free</b>.

More words.
"""


def facts_of(folder: Path, name: str, **changed) -> dict[str, dict[str, str]]:
    """Return the facts of a checkpoint, by section."""
    made = load(
        checkpoints.save(folder, checkpoints.ALL[name], **changed), device=torch.device("cpu"), dtype=torch.float32
    )
    return {section.title: section.facts for section in sections(made, made.trace("Hello."))}


@each_case("name", ["toy:french", "toy:digits"])
def test_a_toy_says_what_it_learned(name: str) -> None:
    toy = attnviz.load(name)
    image = any_input(toy)
    trace = toy.trace(draw_example(image) if toy.inputs.is_image else image)
    facts = {section.title: section.facts for section in sections(toy, trace)}
    assert facts["Model"]["learned"] == toy.experiment.toy_task.title
    assert facts["Size"]["parameters"] == f"{sum(each.numel() for each in toy.model.parameters()):,}"


def test_a_decoder_with_groups_and_a_window(tmp_path: Path) -> None:
    folder = tmp_path / "models--some--body" / "snapshots" / "0123456789abcdef"  # as the hub's cache has it
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    facts = facts_of(folder, "mistral")
    assert facts["Model"]["from"] == "huggingface.co/some/body, revision 0123456789ab"
    attention = facts["Attention"]
    assert attention["decoder self-attention"] == "3 layers × 6 heads, d_k 14, 2 groups of keys, 3 heads each"
    assert (attention["positions"], attention["room for"]) == ("rotary", "61 tokens")
    assert attention["sliding window"].startswith("7 ")
    assert attention["d_model"] == "29"
    assert facts["Model"]["architecture"] == "decoder, MistralForCausalLM"
    assert facts["Size"]["computes in"] == "float32 on cpu"
    assert facts["Card"] == {
        "licence": "mit",
        "made from": "somebody/else",
        "learned from": "wiki",
        "languages": "en, fr",
        "from its card": "Made by somebody (here); <b>free</b>.",
    }


@pytest.mark.parametrize(
    ("name", "positions", "unknown"),
    [("bert", "a learned table of 61", "[UNK], id 1"), ("marian", "sinusoidal", "<unk>, id 2")],
)
def test_positions_are_seen_in_the_modules_and_what_is_not_there_is_left_out(
    tmp_path: Path, name: str, positions: str, unknown: str
) -> None:
    facts = facts_of(tmp_path / "m", name)
    assert facts["Attention"]["positions"] == positions
    assert facts["Text"]["unknown text"] == unknown
    assert "sliding window" not in facts["Attention"]
    assert "Card" not in facts
    assert all("each head has its own keys" in said for kind, said in facts["Attention"].items() if "self" in kind)


def test_the_translators_are_its_own() -> None:
    model = tiny_translator()
    facts = {section.title: section.facts for section in sections(model, model.trace("a dog", to="fr"))}
    config = model.model.config
    assert facts["Attention"]["cross-attention"].startswith(
        f"{config.n_layers} layers × {config.n_heads} heads, d_k {config.d_k}, "
    )
    assert facts["Size"]["parameters"] == f"{model.n_parameters:,}"
    assert facts["Text"]["unknown text"] == f"<unk>, id {model.codec.unk_id}"


@each_case(
    "text",
    [
        "",
        "no head at all",
        "---\n: : :\n---\n",
        "---\n- a\n- list\n---\n",
        "---\nlicense: {a: b}\n---\n",
        "---\nlicense: !!python/object/apply:os.system [echo]\n---\n",
        "---\n" + "[" * 9_000 + "\n---\n",
        "---\na: &a {x: y}\nb: &b {<<: [*a, *a]}\nlicense: mit\n---\n",  # each line like it doubles the mapping
        "---\nlicense: mit",
        "\x00\xff",
    ],
)
def test_a_card_that_says_nothing_readable_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "README.md").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert card(tmp_path).facts == {}
    assert card(tmp_path).words == ""


def test_a_card_is_bounded_and_a_licence_file_names_itself(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nlicense: " + "x" * 15_000 + "\n---\n", encoding="utf-8")
    assert len(card(tmp_path).facts["licence"]) == 400
    (tmp_path / "README.md").write_text("x" * 2_000_000, encoding="utf-8")
    (tmp_path / "LICENSE").write_text("\n   Apache License\n  Version 2.0\n", encoding="utf-8")
    assert card(tmp_path).facts == {"licence": "Apache License"}
    assert card(None).facts == card(tmp_path / "nowhere").facts == {}


def test_what_a_card_says_is_never_markup(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(CARD.replace("mit", "<script>x</script>"), encoding="utf-8")
    model = tiny_translator()
    model.folder = tmp_path
    html = facts_html(sections(model, model.trace("a dog", to="fr")))
    assert "<script>" not in html
    assert "&lt;script&gt;x&lt;/script&gt;" in html
