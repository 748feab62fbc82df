"""A shipped model's card has the pruning curve beside its weights, and a curve of other weights is never drawn."""

import io
import sys

import pytest

import attnviz
from attnviz.analysis.corpus.lines import FOLDER
from attnviz.causes.corpus import __main__ as command
from attnviz.causes.corpus.numbers.pruning import COMMAND, card_section, insert_section, shipped_curve, write_card
from attnviz.models import catalogue
from attnviz.models.card import pruning_facts
from tests.causes.corpus.conftest import LINES

SHIPPED = catalogue.SHIPPED / catalogue.DEFAULT


def test_the_command_writes_the_curve_and_the_card_of_a_shipped_model(model, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)
    monkeypatch.setattr(catalogue, "translator", lambda: model)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(LINES[:4])))
    folder = tmp_path / model.name
    folder.mkdir()
    (folder / "README.md").write_text("# A model\n\n## Limits\n\nMany.\n", encoding="utf-8")
    assert command.main(["--to", "fr", "--card", "--halves", "--step", "9", "--no-bleu", "--no-greedy"]) == 0
    table = shipped_curve(folder, "fr", model.model_id)
    assert set(table["sentences"]) == set(table["orders_from"]) == {2}
    assert len(set(table["order"])) == 8
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# A model\n\n## Heads removed, French\n\nHeads taken out one after another")
    assert card.endswith("\n\n## Limits\n\nMany.\n")
    assert "| gradient, least important first | −" in card
    write_card(folder, "fr")  # again changes nothing
    assert (folder / "README.md").read_text(encoding="utf-8") == card
    with pytest.raises(ValueError, match="was computed with other weights than these: python -m attnviz"):
        shipped_curve(folder, "fr", "other")
    assert shipped_curve(folder, "de", model.model_id) is None
    assert pruning_facts(folder, model.model_id) == {}  # no BLEU was counted


def test_the_shipped_curve_is_of_the_shipped_weights_and_in_the_card() -> None:
    model = attnviz.load()
    table = shipped_curve(SHIPPED, "fr", model.model_id)
    assert set(table["sentences"]) == set(table["orders_from"]) == {100}
    assert {"gradient, least important first", "greedy, 4 a step", *(f"random, seed {at}" for at in range(5))} < set(
        table["order"]
    )
    whole = table[table["removed"] == 0]
    assert (whole["bleu"].nunique(), whole["log_probability"].nunique()) == (1, 1)  # the left end is the whole model
    assert whole["heads"].isna().to_numpy().all()
    full = table[table["removed"] == 72]
    assert all(len(set(heads.split())) == 72 for heads in full["heads"])
    assert card_section(table, "fr") in (SHIPPED / "README.md").read_text(encoding="utf-8")
    assert (FOLDER / "fr.tsv").is_file()
    assert "assets/sentences/fr.tsv" in COMMAND.format(to="fr")
    ((name, said),) = pruning_facts(SHIPPED, model.model_id).items()
    assert name == "into French, without 24 of 72 heads"
    gradient = table[table["order"] == "gradient, least important first"].set_index("removed")["bleu"]
    assert said.startswith(f"BLEU {gradient[24]:.1f} of {gradient[0]:.1f}, on 100 sentences")
    assert pruning_facts(SHIPPED, "other weights") == {}


def test_a_section_takes_the_place_of_the_one_before() -> None:
    card = "# A\n\n## Heads removed, French\n\nold\n\n## Heads removed, German\n\nkept\n\n## Limits\n\nx\n"
    made = insert_section(card, "## Heads removed, French\n\nnew")
    assert made == "# A\n\n## Heads removed, German\n\nkept\n\n## Heads removed, French\n\nnew\n\n## Limits\n\nx\n"
    assert insert_section("# A\n", "## B\n\nnew") == "# A\n\n## B\n\nnew\n"


@pytest.mark.parametrize("text", ["", "\0,\n\0", "removed,bleu\nx,y\n", "order\n" + '"' * 200_000])
def test_a_file_that_says_nothing_is_passed_over(tmp_path, text) -> None:
    (tmp_path / "pruning-fr.csv").write_text(text, encoding="utf-8")
    assert pruning_facts(tmp_path, "weights") == {}
