"""The sentences that students read, and their translations: complete, and with the same values and marks."""

import ast
import re
from functools import cache
from pathlib import Path

from attnviz.lessons.folder.lesson_data import script_sentences
from attnviz.lessons.phrases import FOLDER, LANGUAGES, Translatable, sentence, translate, translations
from tests.each_case import each_case

ROOT = Path(__file__).parents[2]
MAKERS = ("Translatable", "phrase")  # what declares a sentence, with the sentence itself as its first argument
PLACEHOLDER = re.compile(r"\{\w*\}")
MARKS = re.compile(r"[*_`<>\[\]$#|~\\]|:[a-z]+[\[:]")  # what Streamlit's Markdown and HTML give a meaning


def calls() -> list[tuple[str, ast.Call]]:
    """Every declaration of a sentence in the package, but for the one that passes its argument on."""
    found = []
    for path in sorted((ROOT / "attnviz").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if isinstance(node, ast.Call) and name in MAKERS and path.name != "wording.py":
                found.append((f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return found


@cache
def declared_phrases() -> set[str]:
    """Every sentence of the package, and of the scripts of a folder of lessons."""
    return set(script_sentences()) | {
        str(call.args[0].value) for _, call in calls() if isinstance(call.args[0], ast.Constant)
    }


def test_each_sentence_is_written_out_with_all_its_values() -> None:
    for place, call in calls():
        said = call.args[0] if call.args else None
        assert isinstance(said, ast.Constant), place
        assert isinstance(said.value, str), place
        assert {f"{{{word.arg}}}" for word in call.keywords} == set(PLACEHOLDER.findall(said.value)), place


@each_case("language", LANGUAGES)
def test_a_language_has_every_sentence_and_no_other(language: str) -> None:
    assert len(declared_phrases()) > 80
    assert set(translations(language)) == declared_phrases()


@each_case("language", LANGUAGES)
def test_translations_keep_values_and_add_no_marks(language: str) -> None:
    for english, said in translations(language).items():
        assert said.strip() == said != "", english
        assert sorted(PLACEHOLDER.findall(said)) == sorted(PLACEHOLDER.findall(english)), english
        assert sorted(MARKS.findall(said)) == sorted(MARKS.findall(english)), english


def test_the_languages_of_the_shipped_model_have_a_file() -> None:
    assert set(LANGUAGES) >= {"de", "es", "fr", "zh"}
    assert sorted(path.name for path in FOLDER.iterdir()) == [f"{code}.json" for code in LANGUAGES]


def test_a_phrase_is_english_until_it_is_translated() -> None:
    said = Translatable("Please choose {count} cells first.", count=3)
    assert said == "Please choose 3 cells first."
    assert translate(said, "de") == translate(said, " de-CH ") == "Wähle zuerst 3 Zellen."
    for language in ("en", "", "it", "../de", "{count}"):
        assert translate(said, language) == "Please choose 3 cells first."


def test_what_was_typed_is_no_template() -> None:
    said = Translatable("Right: “{answer}”.", answer="{answer} {0} {")
    assert translate(said, "de") == "Richtig: „{answer} {0} {“."
    assert translate("Skipped.", "de") == "Skipped."  # a text that is no phrase


def test_phrases_inside_of_phrases_are_translated() -> None:
    said = Translatable("{refusal} Your earlier answer counts.", refusal=Translatable("Choose one of the heads first."))
    assert translate(said, "fr").startswith("Choisis d’abord une des têtes.")


def test_an_error_keeps_its_phrase() -> None:
    said = Translatable("Write an answer first.")
    assert sentence(ValueError(said)) is said
    assert sentence(ValueError("no phrase")) == "no phrase"
    assert sentence(ValueError()) == ""
